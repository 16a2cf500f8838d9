// The one writer of a thread's rollout: lines are appended in order, batched per tick, and never lost to a passing fault. A write that
// fails is retried; the turn goes on, and whoever listens is told once.
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { sleep } from '../../common/clock.ts';
import { messageOf } from '../../common/errors.ts';
import type { RolloutLine } from '../../protocol/rollout.ts';

const RETRY_MS = [50, 250, 1000, 4000];

export interface RolloutSink {
  append(line: RolloutLine): void;
  /** Resolves when all that was appended before is with the operating system. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** For ephemeral threads: nothing is kept. */
export const nowhere: RolloutSink = { append: () => {}, flush: async () => {}, close: async () => {} };

export class RolloutWriter implements RolloutSink {
  readonly #file: string;
  readonly #onFault: (message: string) => void;
  /** Lines not yet written; only the pump takes from it. */
  #waiting: string[] = [];
  /** The running write, if any. Invariant: at most one. */
  #pump: Promise<void> | null = null;
  #handle: FileHandle | null = null;
  /** The file may end inside a line (a crash): the first write begins on a fresh one. */
  #fresh: boolean;
  #faultTold = false;
  #closed = false;

  constructor(file: string, options: { continues: boolean; onFault: (message: string) => void }) {
    this.#file = file;
    this.#fresh = !options.continues;
    this.#onFault = options.onFault;
  }

  append(line: RolloutLine): void {
    if (this.#closed) return;
    this.#waiting.push(JSON.stringify({ timestamp: new Date().toISOString(), ...line }));
    this.#pump ??= Promise.resolve().then(() => this.#drain());
  }

  async flush(): Promise<void> {
    while (this.#pump) await this.#pump;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#closed = true;
    await this.#handle?.close().catch(() => {});
    this.#handle = null;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#waiting;
        this.#waiting = [];
        if (await this.#write(`${lines.join('\n')}\n`)) continue;
        this.#waiting = [...lines, ...this.#waiting]; // kept in order for the next append; a flush does not hang on a dead disk
        return;
      }
    } finally {
      this.#pump = null;
    }
  }

  /** False when every try failed. */
  async #write(text: string): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      try {
        const handle = (this.#handle ??= await this.#open());
        await handle.appendFile(this.#fresh ? text : `\n${text}`);
        this.#fresh = true;
        return true;
      } catch (error) {
        await this.#handle?.close().catch(() => {});
        this.#handle = null;
        this.#fresh = false; // part of it may have been written: what comes begins on a fresh line
        if (!this.#faultTold) {
          this.#faultTold = true;
          this.#onFault(`The thread's record cannot be written (${messageOf(error)}); trying again. The turn goes on.`);
        }
        if (attempt >= RETRY_MS.length) return false;
        await sleep(RETRY_MS[attempt]);
      }
    }
  }

  async #open(): Promise<FileHandle> {
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    return open(this.#file, 'a', 0o600);
  }
}
