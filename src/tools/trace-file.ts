// The traces of one thread as a file, one JSON line a call, for whoever asks where the time went. Off unless it is switched on; a disk
// that refuses costs the trace and nothing else.
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { CallTrace } from './trace.ts';

/** Microseconds are enough. */
const rounded = (_key: string, value: unknown): unknown => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);

export class TraceFile {
  readonly #file: string;
  /** Lines are written one after the other; the end of the last write. */
  #written: Promise<void> = Promise.resolve();
  /** Set by the first refusal: it is told once, and no more is tried. */
  #refused = false;

  constructor(home: string, threadId: string) {
    this.#file = path.join(home, 'traces', `${threadId}.jsonl`);
  }

  add(trace: CallTrace): void {
    if (this.#refused) return;
    const line = `${JSON.stringify({ endedAt: new Date().toISOString(), ...trace }, rounded)}\n`;
    this.#written = this.#written.then(() => this.#append(line));
  }

  async #append(line: string): Promise<void> {
    if (this.#refused) return;
    try {
      await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      await appendFile(this.#file, line, { mode: 0o600 });
    } catch (error) {
      this.#refused = true;
      logger().warn({ file: this.#file, error: messageOf(error) }, 'traces are not kept');
    }
  }

  /** Resolves when all that was added is written. */
  flush(): Promise<void> {
    return this.#written;
  }
}
