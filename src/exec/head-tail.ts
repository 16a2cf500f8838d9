// Keeps the first and the last bytes of a stream of any length in constant memory, and knows exactly what lies between.
import { utf8TailStart } from '../common/text.ts';
import { decodeUtf8, unfinishedTail } from './utf8.ts';

export interface Excerpt {
  readonly text: string;
  /** Bytes left out in the middle; 0 when the text is whole. */
  readonly omittedBytes: number;
}

const FIRST_CAPACITY = 4096;

export class HeadTail {
  readonly #half: number;
  #head: Buffer = Buffer.alloc(0);
  #headLength = 0;
  /** A ring of `#half` bytes, made when the head is full. The byte with number n (counted from the end of the head) is at n mod half. */
  #ring: Buffer | undefined;
  #total = 0;

  /** `cap`: as long as the stream is not longer, all of it is kept. */
  constructor(cap: number) {
    this.#half = cap >> 1;
  }

  get totalBytes(): number {
    return this.#total;
  }

  get capacity(): number {
    return 2 * this.#half;
  }

  push(bytes: Uint8Array): void {
    const forHead = Math.min(bytes.length, this.#half - this.#headLength);
    if (forHead > 0) this.#pushHead(bytes.subarray(0, forHead));
    if (bytes.length > forHead) this.#pushTail(bytes.subarray(forHead));
    this.#total += bytes.length;
  }

  /** What is kept of the stream from byte `from` on, cut between characters, with a line that counts what is missing. */
  read(from = 0): Excerpt {
    const kept = Math.min(this.#half, this.#total - this.#headLength);
    const tailFrom = this.#total - kept;
    const tail = this.#tail(kept - Math.max(0, Math.min(kept, from - tailFrom)));
    const head = this.#head.subarray(Math.min(from, this.#headLength), this.#headLength);
    if (from >= tailFrom || tailFrom === this.#headLength)
      return { text: decodeUtf8(head.length > 0 ? Buffer.concat([head, tail]) : tail), omittedBytes: 0 };
    const first = head.subarray(0, head.length - unfinishedTail(head));
    const last = tail.subarray(utf8TailStart(tail, tail.length));
    const omittedBytes = this.#total - from - first.length - last.length;
    return { text: `${decodeUtf8(first)}\n... ${omittedBytes} bytes omitted ...\n${decodeUtf8(last)}`, omittedBytes };
  }

  /** The stream from its beginning; whole as long as it is not longer than the capacity. A copy. */
  bytes(): Buffer {
    return Buffer.concat([this.#head.subarray(0, this.#headLength), this.#tail(Math.min(this.#half, this.#total - this.#headLength))]);
  }

  #pushHead(bytes: Uint8Array): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#half, Math.max(FIRST_CAPACITY, length, this.#head.length * 2)));
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = length;
  }

  #pushTail(bytes: Uint8Array): void {
    const ring = (this.#ring ??= Buffer.allocUnsafe(this.#half));
    const rest = bytes.subarray(Math.max(0, bytes.length - ring.length));
    // The total still lacks these bytes and, when they came with bytes of the head, those too: count from the head's end.
    const at = (Math.max(0, this.#total - this.#half) + bytes.length - rest.length) % ring.length;
    const first = Math.min(rest.length, ring.length - at);
    ring.set(rest.subarray(0, first), at);
    ring.set(rest.subarray(first), 0);
  }

  /** The last `length` bytes of the ring. */
  #tail(length: number): Buffer {
    const ring = this.#ring;
    if (!ring || length <= 0) return Buffer.alloc(0);
    const end = (this.#total - this.#headLength) % ring.length;
    const start = (end - length + ring.length) % ring.length;
    return start < end ? ring.subarray(start, end) : Buffer.concat([ring.subarray(start), ring.subarray(0, end)]);
  }
}
