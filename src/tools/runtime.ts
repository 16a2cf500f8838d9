// The tool contract: one object holds what the model reads (spec) and what runs (runtime), so they cannot drift. Shared code never asks
// for a tool's name or class; differences are the declared properties below.
import type { AskForApproval, SandboxPolicy } from '../protocol/primitives.ts';
import type { FreeformSpec, FunctionSpec, ToolName, ToolSearchSpec } from '../protocol/tool-spec.ts';
import type { ToolEvents } from './events.ts';
import type { ToolOutput } from './result.ts';

export type ToolSource =
  | { type: 'builtin' }
  | { type: 'mcp'; server: string }
  | { type: 'extension'; extension: string }
  | { type: 'dynamic' };

/** Who registered a tool, in words for warnings. */
export function describeSource(source: ToolSource): string {
  switch (source.type) {
    case 'builtin':
      return 'a built-in tool';
    case 'mcp':
      return `the MCP server ${source.server}`;
    case 'extension':
      return `the extension ${source.extension}`;
    case 'dynamic':
      return 'the frontend (a dynamic tool)';
  }
}

/**
 * Where a tool is seen. `direct`: listed and in code mode. `deferred`: found by search, and in code mode. The `…ModelOnly` forms stay
 * out of code mode. `codeModeOnly`: there alone. `hidden`: registered and runs, never shown.
 */
export type Exposure = 'direct' | 'deferred' | 'directModelOnly' | 'deferredModelOnly' | 'codeModeOnly' | 'hidden';

/**
 * Who has it. `worker`: every thread that works. `reviewer`: these and a guardian, which only looks. `root`: none but the root thread, as
 * it needs the user. `spawner`: threads that may still have sub-agents of their own.
 */
export type Audience = 'worker' | 'reviewer' | 'root' | 'spawner';

export type ToolPayload =
  /** The raw argument text of a function call. */
  | { type: 'function'; arguments: string }
  /** The raw text of a freeform call. */
  | { type: 'freeform'; input: string }
  /** A provider's own search call; its arguments are already JSON. */
  | { type: 'search'; arguments: unknown };

export interface ToolCall {
  /** The id that pairs call and output in history. */
  readonly callId: string;
  /** The id of the thread item: the call id, made unique when a model used one twice. */
  readonly itemId: string;
  readonly name: ToolName;
  readonly payload: ToolPayload;
  /** How the output goes back: in the form in which the call came. */
  readonly replyAs: 'function' | 'custom' | 'search';
}

export type Validation<A> = { ok: true; args: A } | { ok: false; problem: string };

export type ApprovalNeed =
  | { type: 'skip' }
  | { type: 'forbidden'; reason: string }
  | {
      type: 'needsApproval';
      /** All of these must be approved for the session for the call to pass unasked; empty: asks each time. */
      keys: readonly string[];
      ask: ApprovalAsk;
    };

/** What the frontend is shown, by kind of request. */
export type ApprovalAsk =
  | {
      kind: 'command';
      /** As shown. */
      command: string;
      /** What the shell reads. */
      script: string;
      cwd: string;
      reason: string | null;
      commandActions: readonly unknown[];
      proposedAmendment?: readonly string[];
      additionalPermissions?: unknown;
      /** Scope of acceptForSession, in words; part of the request. */
      scope: string;
    }
  | { kind: 'fileChange'; reason: string | null; grantRoot: string | null; scope: string }
  | ElicitedApproval;

/** A tool of an MCP server: asked as a question with an empty form, which is how frontends know it. */
export interface ElicitedApproval {
  kind: 'elicitation';
  server: string;
  message: string;
  /** What is shown besides the message: the tool and its arguments. */
  meta: Record<string, unknown>;
  /** Keeps an approval beyond the session; resolves with a problem when it could not be kept. Null: this one cannot be kept. */
  remember: (() => Promise<string | null>) | null;
  scope: string;
}

/** The step a call belongs to, as far as tools may know it. Frozen: nothing here changes while the step runs. */
export interface StepFacts {
  readonly threadId: string;
  readonly turnId: string;
  readonly cwd: string;
  readonly approvalPolicy: AskForApproval;
  readonly sandbox: SandboxPolicy;
  readonly model: string;
  readonly supportsImages: boolean;
  /** Output tokens that one result may bring into history at most. */
  readonly historyTokenLimit: number;
}

export interface Invocation<A> {
  readonly call: ToolCall;
  readonly args: A;
  readonly step: StepFacts;
  readonly events: ToolEvents;
  /** How the call was let through: the decision of the approval, if one was needed. */
  readonly approved: 'notNeeded' | 'once' | 'session' | 'amendment';
}

/** A call whose arguments still come. Its ids are those that the call will have. */
export interface StreamingCall {
  readonly callId: string;
  readonly itemId: string;
  readonly replyAs: ToolCall['replyAs'];
}

/**
 * Shows a call while its arguments come. `push` gets the raw argument text, piece by piece. `end` comes once: 'whole' before the call
 * itself begins, which goes on with the item that the preview opened; 'cut' when it never will, and then that item is closed.
 */
export interface ArgumentPreview {
  push(delta: string): void;
  end(how: 'whole' | 'cut'): void;
}

/** A tool as hooks see it. */
export interface HookedForm<A> {
  readonly name: string;
  input(args: A): unknown;
  /** The payload of a call with `args` whose input a hook replaced. Its form is the validation's business. */
  payload(args: A, input: unknown): ToolPayload;
}

/**
 * A second run of a call that the sandbox stopped, one level wider. It is a run of its own: with an item of its own, judged again, and
 * begun only under an approval that was given for exactly that.
 */
export interface Rerun<A> {
  /** The arguments of the second run; null when it is not to be offered. */
  wider(call: ToolCall, args: A, step: StepFacts): A | null;
  /** As `begin`; the need for approval, the run and the end are those of the tool. */
  begin(call: ToolCall, args: A, step: StepFacts, events: ToolEvents): Promise<void> | void;
}

/** What an exclusive call touches; two exclusive calls on different things may overlap. */
export type ResourceClaim = string;

/**
 * Contract: `validate` does no I/O. `begin` makes the item that a client sees, before any approval. `approvalNeed` decides from facts and
 * policy only. `run` resolves with an output, or throws ToolError (the model reads it) or FatalToolError (the turn ends). After the
 * signal aborts, `run` settles within its cleanup time, when `waitsForCleanup`; otherwise its settlement is not awaited.
 */
export interface ToolRuntime<A = unknown> {
  readonly name: ToolName;
  readonly spec: FunctionSpec | FreeformSpec | ToolSearchSpec;
  readonly exposure: Exposure;
  readonly source: ToolSource;
  readonly supportsParallel: boolean;
  readonly waitsForCleanup: boolean;
  /** Its results come from outside the daemon's trust: they mark the thread. */
  readonly external: boolean;
  /** `worker` when absent. */
  readonly audience?: Audience;
  /** Left out for models that lack it. */
  readonly requires?: 'images';
  /** Holds the gate from before its policy check: what it plans depends on what ran before. */
  readonly gateFirst?: boolean;
  /** The description of its namespace, when it has one. */
  readonly namespaceDescription?: string;
  /** How hooks know it, where that is not its own name and arguments. */
  readonly hooked?: HookedForm<A>;
  resources?(args: A): readonly ResourceClaim[];
  /** Called when the arguments begin to come; no I/O, and nothing of the call runs. */
  streamArguments?(call: StreamingCall, step: StepFacts, events: ToolEvents): ArgumentPreview;
  waitUntilReady?(signal: AbortSignal): Promise<void>;
  validate(payload: ToolPayload): Validation<A>;
  /** Called once, after validation; opens the thread item through `events.startItem`, or does nothing for tools without an item. */
  begin?(call: ToolCall, args: A, step: StepFacts, events: ToolEvents): Promise<void> | void;
  approvalNeed?(call: ToolCall, args: A, step: StepFacts): Promise<ApprovalNeed> | ApprovalNeed;
  run(invocation: Invocation<A>, signal: AbortSignal): Promise<ToolOutput>;
  /** Offered when `run` came back as denied by the sandbox. */
  readonly rerun?: Rerun<A>;
  /** Called once when the call has ended, run or not: frees what `begin` set aside. */
  settled?(call: ToolCall): void;
}

/** A runtime whose argument type is nobody else's business. */
export type AnyToolRuntime = ToolRuntime<never> | ToolRuntime<unknown>;
