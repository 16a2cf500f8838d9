// What crosses between the daemon and the thread of an extension. Everything is plain data; what comes from the extension is checked
// before it is believed.

export interface ExtensionCallFacts {
  readonly callId: string;
  readonly threadId: string;
  readonly turnId: string;
  readonly cwd: string;
  readonly model: string;
}

export type ToExtension =
  | { type: 'call'; id: number; tool: number; input: unknown; facts: ExtensionCallFacts }
  | { type: 'hook'; id: number; hook: number; input: unknown }
  | { type: 'abort'; id: number }
  /** Answered at once, unless the extension is in a loop that never ends. */
  | { type: 'ping' }
  | { type: 'stop' };

export type ExtensionReply =
  | { ok: true; value: unknown }
  /** `input`: the extension's own schema refused the arguments. */
  | { ok: false; kind: 'input' | 'error'; problem: string };

export type FromExtension =
  | { type: 'ready'; manifest: unknown }
  | { type: 'failed'; problem: string }
  | { type: 'settled'; id: number; reply: ExtensionReply }
  | { type: 'pong' }
  | { type: 'stopped'; problem: string | null };
