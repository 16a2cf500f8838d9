// The transport of a local server: messages as lines over the pipes of a process group. The library's own transport ends only the child
// and closes on long messages, so the process comes from our port and the framing is ours.
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MessageLines } from './message-lines.ts';
import type { McpProcess } from './process-port.ts';
import { StderrRing } from './stderr-ring.ts';

const REASON_LENGTH = 300;

export class StdioTransport implements Transport {
  readonly #process: McpProcess;
  readonly #lines = new MessageLines();
  readonly #stderr = new StderrRing();
  /** Messages that came before anyone listened: a server may talk first. */
  #early: JSONRPCMessage[] | null = [];
  /** Why the connection ended; null while it lives. */
  #ended: string | null = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  /** Takes the process over in the same tick in which it was started, so that no output is lost. */
  constructor(process: McpProcess) {
    this.#process = process;
    process.onOutput((stream, bytes) => (stream === 'stderr' ? this.#stderr.push(bytes) : this.#read(bytes)));
    void process.exited.then((reason) => this.#end(reason));
  }

  /** Why the server is gone, with the end of what it wrote to stderr; null while it lives. */
  get endReason(): string | null {
    if (this.#ended === null) return null;
    const said = this.#stderr.lastLines(REASON_LENGTH);
    return said ? `${this.#ended}; it said: ${said}` : this.#ended;
  }

  async start(): Promise<void> {
    const early = this.#early ?? [];
    this.#early = null;
    for (const message of early) this.onmessage?.(message);
    if (this.#ended !== null) this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#ended !== null || !this.#process.write(`${JSON.stringify(message)}\n`))
      throw new Error(`the server is gone: ${this.endReason ?? 'it no longer reads'}`);
  }

  async close(): Promise<void> {
    this.#end('it was stopped');
    await this.#process.end();
  }

  #read(bytes: Uint8Array): void {
    if (this.#ended !== null) return;
    try {
      for (const message of this.#lines.push(bytes)) {
        if (this.#early) this.#early.push(message as JSONRPCMessage);
        else this.onmessage?.(message as JSONRPCMessage);
      }
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
      void this.#process.end();
    }
  }

  #end(reason: string): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    if (!this.#early) this.onclose?.();
  }
}
