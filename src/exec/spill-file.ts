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
const BLOCK_BYTES = 64 * 1024;

/** Memory that waits for the disk, used again afterwards. */
interface Block {
  readonly memory: Buffer;
  length: number;
}

export class SpillFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #behind: (until: Promise<void>) => void;
  /** In their order; only the last one may have room. */
  #queue: Block[] = [];
  readonly #free: Block[] = [];
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

  /** Copies the bytes. */
  append(bytes: Uint8Array): void {
    if (this.#error !== undefined) return;
    const part = bytes.subarray(0, this.#maxBytes - this.#bytes);
    if (part.length < bytes.length) this.#complete = false;
    if (part.length === 0) return;
    this.#bytes += part.length;
    this.#enqueue(part);
    this.#queuedBytes += part.length;
    this.#writing ??= this.#write();
    if (this.#queuedBytes < HIGH_BYTES || this.#relief) return;
    this.#relief = new Deferred();
    this.#behind(this.#relief.promise);
  }

  #enqueue(part: Uint8Array): void {
    for (let at = 0; at < part.length; ) {
      let block = this.#queue.at(-1);
      if (!block || block.length === BLOCK_BYTES) {
        block = this.#free.pop() ?? { memory: Buffer.allocUnsafeSlow(BLOCK_BYTES), length: 0 };
        this.#queue.push(block);
      }
      const piece = part.subarray(at, at + BLOCK_BYTES - block.length);
      block.memory.set(piece, block.length);
      block.length += piece.length;
      at += piece.length;
    }
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
        await this.#file.writev(batch.map(({ memory, length }) => memory.subarray(0, length)));
        for (const block of batch) {
          this.#queuedBytes -= block.length;
          block.length = 0;
          this.#free.push(block);
        }
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
