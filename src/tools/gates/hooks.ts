// The seats of hooks in a call's journey, as a port. They fire in one place (the orchestrator), for every tool and call form.
import type { ToolName } from '../../protocol/tool-spec.ts';
import type { ToolOutput } from '../result.ts';
import type { ToolPayload } from '../runtime.ts';

export interface HookedCall {
  readonly threadId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly tool: ToolName;
  /** Arguments in their parsed form. */
  readonly input: unknown;
  readonly cwd: string;
}

export type PreToolDecision = { type: 'continue' } | { type: 'block'; reason: string } | { type: 'rewrite'; payload: ToolPayload };
export type PermissionDecision = { type: 'ask' } | { type: 'allow' } | { type: 'deny'; reason: string };
export type PostToolDecision =
  | { type: 'keep'; context?: string }
  /** What the model reads instead; the original stays in the record. */
  | { type: 'replace'; text: string; context?: string };

/** Contract: never throws; a hook that fails decides as its own `fail_closed` says, inside the port. */
export interface HookPort {
  preToolUse(call: HookedCall, signal: AbortSignal): Promise<PreToolDecision>;
  permissionRequest(call: HookedCall, signal: AbortSignal): Promise<PermissionDecision>;
  postToolUse(call: HookedCall, output: ToolOutput, signal: AbortSignal): Promise<PostToolDecision>;
}

/** No hooks are configured: every seat passes. */
export const noHooks: HookPort = {
  preToolUse: async () => ({ type: 'continue' }),
  permissionRequest: async () => ({ type: 'ask' }),
  postToolUse: async () => ({ type: 'keep' }),
};
