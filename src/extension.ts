// The typed entry point for authors of extensions (`harnessd/extension`): a module named in `extensions = ["./path.mjs"]` gives what
// defineExtension returns as its default export. Stands alone: an extension runs in a thread of its own and imports nothing else of ours.

/** JSON Schema of an object, as written. */
export type JsonSchemaObject = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** A schema of a library that speaks Standard Schema and gives JSON Schema: zod 4.2 or newer, for one. */
export interface StandardInput<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...more: never[]) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a tool's `run` gets for its `input`. */
export type InputOf<S> = S extends { readonly '~standard': { readonly types?: { readonly output: infer O } | undefined } }
  ? O
  : Readonly<Record<string, unknown>>;

export type ToolContent = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

/** A text, content items, or any value, which the model then reads as JSON. A throw is a failed call with the error's message. */
export type ToolResult =
  | string
  | { content: readonly ToolContent[]; isError?: boolean }
  | Readonly<Record<string, unknown>>
  | readonly unknown[]
  | number
  | boolean
  | null
  | undefined;

export interface ToolContext {
  readonly callId: string;
  readonly threadId: string;
  readonly turnId: string;
  /** Folder of the thread. */
  readonly cwd: string;
  readonly model: string;
  /** Aborts at an interrupt, at the tool's timeout and when the extension is stopped. */
  readonly signal: AbortSignal;
}

export interface ExtensionTool<S extends StandardInput | JsonSchemaObject | undefined = StandardInput | JsonSchemaObject | undefined> {
  /** 1 to 64 letters, digits, _ or -. */
  readonly name: string;
  /** Read by the model. */
  readonly description: string;
  /** Nothing: the tool takes no arguments. */
  readonly input?: S;
  /** It changes nothing: it may run beside others and, with approval "auto", is not asked about. Default false. */
  readonly readOnly?: boolean;
  /** "auto" (default): asked about unless read-only; "always": every time; "never". */
  readonly approval?: 'auto' | 'always' | 'never';
  /** May run beside other calls. Default: as readOnly. */
  readonly parallel?: boolean;
  /** Found by search instead of listed, where the model can search. */
  readonly deferLoading?: boolean;
  /** Of one call, in ms; default 120 000, at most 3 600 000. */
  readonly timeoutMs?: number;
  run(input: InputOf<S>, context: ToolContext): ToolResult | Promise<ToolResult>;
}

export type HookEvent =
  | 'PreToolUse'
  | 'PermissionRequest'
  | 'PostToolUse'
  | 'PreCompact'
  | 'PostCompact'
  | 'SessionStart'
  | 'SessionEnd'
  | 'UserPromptSubmit'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'Stop'
  | 'Interrupt';

/** The same fields that a command hook reads on stdin; `tool_name`, `tool_input`, `prompt` and so on by event. */
export interface HookInput {
  readonly session_id: string;
  readonly turn_id: string | null;
  readonly transcript_path: string | null;
  readonly cwd: string;
  readonly hook_event_name: HookEvent;
  readonly model: string;
  readonly permission_mode: string;
  readonly [field: string]: unknown;
}

/** The same answer that a command hook prints; a text is context for the model at SessionStart, UserPromptSubmit and SubagentStart. */
export type HookAnswer =
  | string
  | undefined
  | null
  | {
      readonly continue?: boolean;
      readonly stopReason?: string;
      readonly systemMessage?: string;
      readonly decision?: 'approve' | 'block';
      readonly reason?: string;
      readonly hookSpecificOutput?: { readonly hookEventName: HookEvent } & Readonly<Record<string, unknown>>;
    };

export type HookFunction = (input: HookInput, context: { readonly signal: AbortSignal }) => HookAnswer | Promise<HookAnswer>;

export interface ExtensionHook {
  /** Regular expression on the names of tools; none: all. */
  readonly matcher?: string;
  /** Default 600. */
  readonly timeoutSec?: number;
  /** A throw or a timeout blocks what the hook guards. Default false. */
  readonly failClosed?: boolean;
  readonly statusMessage?: string;
  readonly run: HookFunction;
}

export interface ExtensionDefinition {
  /** 1 to 64 letters, digits, _ or -; also the namespace of its tools. */
  readonly name: string;
  /** Of the namespace, read by the model; at most 1024 bytes. */
  readonly description?: string;
  /** Another namespace, or false for tools with plain names. */
  readonly namespace?: string | false;
  readonly tools?: readonly AnyExtensionTool[];
  readonly hooks?: { readonly [E in HookEvent]?: HookFunction | ExtensionHook | readonly (HookFunction | ExtensionHook)[] };
  /** Runs once before anything else of the extension; what it throws leaves the extension out, as does taking over 5 s. */
  onStart?(): void | Promise<void>;
  /** Runs once at the end, for at most a second. */
  onStop?(): void | Promise<void>;
}

/** A tool whose input type is its own business. */
export interface AnyExtensionTool extends Omit<ExtensionTool, 'run'> {
  run(input: never, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/** Gives a tool its types: `run` knows the type of `input`. */
export const defineTool = <const S extends StandardInput | JsonSchemaObject | undefined = undefined>(
  tool: ExtensionTool<S>,
): ExtensionTool<S> => tool;

/** Checks the types of a definition and gives it back. */
export const defineExtension = (definition: ExtensionDefinition): ExtensionDefinition => definition;
