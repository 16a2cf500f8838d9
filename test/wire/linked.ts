// A client on the other end of two in-process pipes: sends raw bytes or messages, parses every line that comes back.
import './quiet.ts';
import { PassThrough } from 'node:stream';
import { StreamTransport, type TransportLimits } from '../../src/server/transport.ts';

export type Wire = Record<string, unknown>;

export class LinkedClient {
  readonly toServer = new PassThrough();
  readonly fromServer: PassThrough;
  readonly transport: StreamTransport;
  readonly received: Wire[] = [];
  /** Everything the server wrote. */
  text = '';
  #rest = '';
  readonly #waiters = new Set<() => void>();

  constructor(limits: TransportLimits = {}, highWaterMark = 64 * 1024) {
    this.fromServer = new PassThrough({ highWaterMark });
    this.transport = new StreamTransport(this.toServer, this.fromServer, limits);
  }

  /** Nothing is read before: the way to be a slow client. */
  read(): this {
    this.fromServer.setEncoding('utf8');
    this.fromServer.on('data', (chunk: string) => {
      this.text += chunk;
      this.#rest += chunk;
      const lines = this.#rest.split('\n');
      this.#rest = lines.pop() ?? '';
      // Header-framed answers are looked at as text.
      if (!this.text.startsWith('Content-Length')) for (const line of lines) this.received.push(JSON.parse(line) as Wire);
      for (const check of [...this.#waiters]) check();
    });
    return this;
  }

  send(message: unknown): void {
    this.toServer.write(`${JSON.stringify(message)}\n`);
  }

  sendRaw(bytes: string | Uint8Array): void {
    this.toServer.write(bytes);
  }

  async until(test: () => boolean, what: string): Promise<void> {
    if (test()) return;
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error): void => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        if (error) reject(error);
        else resolve();
      };
      const check = (): void => void (test() && done());
      const timer = setTimeout(
        () =>
          done(
            new Error(
              `never came: ${what}; received ${JSON.stringify(this.received.map((m) => m.method ?? [m.id, m.error])).slice(0, 1500)}`,
            ),
          ),
        5_000,
      );
      this.#waiters.add(check);
    });
  }

  /** The first `count` messages. */
  async messages(count: number): Promise<Wire[]> {
    await this.until(() => this.received.length >= count, `${count} messages`);
    return this.received.slice(0, count);
  }
}

/** Without a time: until what was scheduled for this turn of the event loop has run. */
export const tick = (ms?: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms === undefined) setImmediate(() => setImmediate(resolve));
    else setTimeout(resolve, ms);
  });
