// The whole output of a command in a file, for what does not fit into memory or into the model's context. Bounded, and never in the
// way: an error stops the writing and is reported, the command goes on.
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { Deferred } from '../common/deferred.ts';
import { messageOf } from '../common/errors.ts';

export interface SpillState {
  readonly path: string;
  readonly bytes: number;
  /** False when the cap or an error cut the file short. */
  readonly complete: boolean;
  readonly error: string | undefined;
}

const HIGH_BYTES = 1024 * 1024;
const LOW_BYTES = 256 * 1024;

export class SpillFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #behind: (until: Promise<void>) => void;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Accepted for writing so far; at most `#maxBytes`. */
  #bytes = 0;
  #complete = true;
  #error: string | undefined;
  /** The one loop that empties the queue; undefined while there is nothing to write. */
  #writing: Promise<void> | undefined;
  /** Set while the producer is held back; settled when the queue is short again. */
  #relief: Deferred<void> | undefined;
  #file: FileHandle | undefined;

  constructor(path: string, maxBytes: number, behind: (until: Promise<void>) => void) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#behind = behind;
  }

  get state(): SpillState {
    return { path: this.#path, bytes: this.#bytes, complete: this.#complete, error: this.#error };
  }

  append(bytes: Uint8Array): void {
    if (this.#error !== undefined) return;
    const part = bytes.subarray(0, this.#maxBytes - this.#bytes);
    if (part.length < bytes.length) this.#complete = false;
    if (part.length === 0) return;
    this.#bytes += part.length;
    this.#queue.push(part);
    this.#queuedBytes += part.length;
    this.#writing ??= this.#write();
    if (this.#queuedBytes < HIGH_BYTES || this.#relief) return;
    this.#relief = new Deferred();
    this.#behind(this.#relief.promise);
  }

  /** Resolves when all is in the file and the file is closed. */
  async end(): Promise<void> {
    await this.#writing;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }

  async #write(): Promise<void> {
    try {
      this.#file ??= await open(this.#path, 'w', 0o600);
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        this.#queue = [];
        await this.#file.writev(batch);
        this.#queuedBytes -= batch.reduce((sum, part) => sum + part.length, 0);
        if (this.#queuedBytes <= LOW_BYTES) this.#relieve();
      }
    } catch (error) {
      this.#error = messageOf(error);
      this.#complete = false;
      this.#queue = [];
    } finally {
      this.#writing = undefined;
      this.#relieve();
    }
  }

  #relieve(): void {
    this.#relief?.resolve();
    this.#relief = undefined;
  }
}
