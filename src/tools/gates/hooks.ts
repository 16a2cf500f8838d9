// The seats of hooks in a call's journey, as a port. They fire in one place (the orchestrator), for every tool and call form.
import { flatName } from '../../protocol/tool-spec.ts';
import type { ToolOutput } from '../result.ts';
import type { ToolPayload, ToolRuntime } from '../runtime.ts';

/** What hooks call the tool that runs commands. */
export const SHELL_TOOL = 'Bash';

export interface HookedCall {
  readonly threadId: string;
  readonly turnId: string;
  readonly callId: string;
  /** The names a hook may match; the first is the one it is told. */
  readonly names: readonly string[];
  /** Arguments in the form in which hooks know them. */
  readonly input: unknown;
  readonly cwd: string;
}

/** What hooks tell the model beside what happens to the call, in their order. */
interface Told {
  readonly context: readonly string[];
}

export type PreToolDecision = Told & ({ type: 'continue' } | { type: 'block'; reason: string } | { type: 'rewrite'; input: unknown });
export type PermissionDecision = { type: 'ask' } | { type: 'allow' } | { type: 'deny'; reason: string };
export type PostToolDecision = Told &
  (
    | { type: 'keep' }
    /** What the model reads instead; the original stays in the record. */
    | { type: 'replace'; text: string }
  );

/** Contract: never throws; a hook that fails decides as its own `fail_closed` says, inside the port. */
export interface HookPort {
  preToolUse(call: HookedCall, signal: AbortSignal): Promise<PreToolDecision>;
  permissionRequest(call: HookedCall, signal: AbortSignal): Promise<PermissionDecision>;
  postToolUse(call: HookedCall, output: ToolOutput, signal: AbortSignal): Promise<PostToolDecision>;
}

/** How hooks know a call of this tool: its own name and arguments, unless it declares another view. */
export function hookView(runtime: ToolRuntime, args: unknown): Pick<HookedCall, 'names' | 'input'> {
  const own = flatName(runtime.name);
  const { hooked } = runtime;
  if (!hooked) return { names: [own], input: args };
  return { names: hooked.name === own ? [own] : [hooked.name, own], input: hooked.input(args) };
}

/** The same call with the input that a hook gave; it still has to pass the tool's own validation. */
export function rewritten(runtime: ToolRuntime, args: unknown, input: unknown): ToolPayload {
  return runtime.hooked?.payload(args, input) ?? { type: 'function', arguments: JSON.stringify(input) };
}

/** The member `command` of an input, which is how hooks see commands and patches; undefined is left to the validation. */
export const commandOf = (input: unknown): unknown =>
  typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined;

/** No hooks at all: every seat passes. */
export const noHooks: HookPort = {
  preToolUse: async () => ({ type: 'continue', context: [] }),
  permissionRequest: async () => ({ type: 'ask' }),
  postToolUse: async () => ({ type: 'keep', context: [] }),
};
