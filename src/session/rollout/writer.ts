// The one writer of a thread's rollout: lines are appended in order, batched per tick, each byte once, and the data that a line names is
// there before the line. A write that fails is tried again from the byte where it stopped, while the turn goes on; whoever listens is told
// when it begins to fail and when it works again.
import { constants, type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../common/errors.ts';
import { logger } from '../../common/log.ts';
import type { RolloutLine } from '../../protocol/rollout.ts';
import type { BlobFolder, StrippedLine } from './blobs.ts';

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 5_000;
/** What one write takes at most: a long backlog is written piece by piece. */
const MAX_BATCH_CHARS = 4 << 20;

export interface RolloutSink {
  append(line: RolloutLine): void;
  /**
   * Resolves when all that was appended before is with the operating system, or when the disk has just refused it: the turn goes on then,
   * and the lines wait for the next try. Never rejects.
   */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** For ephemeral threads: nothing is kept. */
export const nowhere: RolloutSink = { append: () => {}, flush: async () => {}, close: async () => {} };

export interface WriterOptions {
  /** Where images and other data of the lines go. */
  blobs: BlobFolder;
  /** The file may end inside a line (a crash): the first write begins on a fresh one. */
  tornEnd: boolean;
  /** The file is there: one that is gone is not made anew, without what it said. */
  exists?: boolean;
  /** Called when writing begins to fail and when it works again. */
  onFault(message: string): void;
}

interface Batch {
  /** Data of the lines, as far as it is not written. */
  stripped: StrippedLine[];
  /** From the first unwritten byte on: kept over failures, so that no byte is written twice. */
  rest: Buffer;
}

export class RolloutWriter implements RolloutSink {
  readonly #file: string;
  readonly #blobs: BlobFolder;
  readonly #exists: boolean;
  readonly #onFault: (message: string) => void;
  /** Lines not yet given to a write; only the pump takes from it. */
  #waiting: string[] = [];
  /** Data of these lines. */
  #stripped: StrippedLine[] = [];
  /** What is being written. */
  #batch: Batch | null = null;
  /** The running pass over what waits, if any. Invariant: at most one. */
  #pump: Promise<void> | null = null;
  /** Set while the disk refuses: the next try. */
  #retry: NodeJS.Timeout | null = null;
  #retryMs = FIRST_RETRY_MS;
  #handle: FileHandle | null = null;
  #tornEnd: boolean;
  #failing = false;
  #closed = false;

  constructor(file: string, { blobs, tornEnd, exists = false, onFault }: WriterOptions) {
    this.#exists = exists;
    this.#file = file;
    this.#blobs = blobs;
    this.#tornEnd = tornEnd;
    this.#onFault = onFault;
  }

  append(line: RolloutLine): void {
    if (this.#closed) return;
    const stripped = this.#blobs.strip(line);
    if (stripped) this.#stripped.push(stripped);
    this.#waiting.push(JSON.stringify({ timestamp: new Date().toISOString(), ...(stripped?.line ?? line) }));
    if (!this.#retry) this.#start();
  }

  async flush(): Promise<void> {
    while (this.#pump) await this.#pump;
  }

  /** Tries once more what could not be written; what the disk still refuses is lost, and the log says so. */
  async close(): Promise<void> {
    this.#cancelRetry();
    this.#start();
    await this.flush();
    this.#closed = true;
    this.#cancelRetry();
    if (this.#batch || this.#waiting.length > 0)
      logger().error({ file: this.#file, lines: this.#waiting.length }, 'a record is incomplete');
    await this.#handle?.close().catch(() => {});
    this.#handle = null;
  }

  #start(): void {
    this.#pump ??= Promise.resolve()
      .then(() => this.#drain())
      .finally(() => {
        this.#pump = null;
      });
  }

  #cancelRetry(): void {
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = null;
  }

  async #drain(): Promise<void> {
    for (;;) {
      this.#batch ??= this.#nextBatch();
      if (!this.#batch) return;
      try {
        await this.#writeData(this.#batch);
        await this.#writeLines(this.#batch);
      } catch (error) {
        this.#failed(error);
        return;
      }
      this.#batch = null;
      if (this.#failing) this.#works();
    }
  }

  #nextBatch(): Batch | null {
    if (this.#waiting.length === 0) return null;
    let chars = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || chars < MAX_BATCH_CHARS)) chars += this.#waiting[count++].length;
    const lines = count === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, count);
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count);
    const fresh = this.#tornEnd ? '\n' : '';
    this.#tornEnd = false;
    // Those of lines that wait for a later batch among them: data may come long before its line.
    const stripped = this.#stripped;
    this.#stripped = [];
    return { stripped, rest: Buffer.from(`${fresh}${lines.join('\n')}\n`) };
  }

  async #writeData({ stripped }: Batch): Promise<void> {
    for (let next = stripped.at(0); next; next = stripped.at(0)) {
      await this.#blobs.write(next);
      this.#blobs.release(next);
      stripped.shift();
    }
  }

  async #writeLines(batch: Batch): Promise<void> {
    this.#handle ??= await this.#open();
    while (batch.rest.length > 0) {
      const { bytesWritten } = await this.#handle.write(batch.rest);
      batch.rest = batch.rest.subarray(bytesWritten);
    }
  }

  #failed(error: unknown): void {
    void this.#handle?.close().catch(() => {});
    this.#handle = null;
    if (!this.#failing) this.#onFault(`The thread's record cannot be written (${messageOf(error)}); trying again. The turn goes on.`);
    this.#failing = true;
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#start();
    }, this.#retryMs);
    this.#retry.unref();
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 3);
  }

  #works(): void {
    this.#failing = false;
    this.#retryMs = FIRST_RETRY_MS;
    this.#onFault("The thread's record is written again; nothing of it is missing.");
  }

  async #open(): Promise<FileHandle> {
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    return open(this.#file, this.#exists ? constants.O_WRONLY | constants.O_APPEND : 'a', 0o600);
  }
}
