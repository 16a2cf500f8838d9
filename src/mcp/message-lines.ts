// Bytes from a server's stdout → its messages. What is not a JSON-RPC message (banners, logs, broken JSON) is skipped and counted: a
// server that prints greetings still works.

/** One message may have this many bytes; more without an end of line is a flood, not a message. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const NEWLINE = 10;

export type JsonRpcMessage = Record<string, unknown> & { jsonrpc: '2.0' };

const isMessage = (value: unknown): value is JsonRpcMessage =>
  typeof value === 'object' && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === '2.0';

export class MessageLines {
  readonly #maxBytes: number;
  /** The parts of the line that has not ended; joined once, at its end. */
  #parts: Uint8Array[] = [];
  #size = 0;
  /** Lines that were no messages. */
  skipped = 0;

  constructor(maxBytes = MAX_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The messages that end in these bytes. Throws when a line grows over the limit. */
  push(bytes: Uint8Array): JsonRpcMessage[] {
    const messages: JsonRpcMessage[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#parts.push(bytes.subarray(from, at));
      this.#take(messages);
      from = at + 1;
    }
    if (from < bytes.length) {
      // A copy: whoever gave the bytes may use their memory again.
      this.#parts.push(bytes.slice(from));
      this.#size += bytes.length - from;
      if (this.#size > this.#maxBytes) throw new Error(`the server sent a line of over ${this.#maxBytes} bytes`);
    }
    return messages;
  }

  #take(messages: JsonRpcMessage[]): void {
    const line = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#size = 0;
    if (line === '') return;
    const found = messagesOf(line);
    if (found.length === 0) this.skipped++;
    messages.push(...found);
  }
}

/** A line holds one message, or an array of them (older revisions of the protocol). */
function messagesOf(line: string): JsonRpcMessage[] {
  if (line[0] !== '{' && line[0] !== '[') return [];
  try {
    const value: unknown = JSON.parse(line);
    return (Array.isArray(value) ? value : [value]).filter(isMessage);
  } catch {
    return [];
  }
}
