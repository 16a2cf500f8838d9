// The end of what a server wrote to stderr. Always drained, so that a chatty server never blocks on it; kept for the reason of a failure.
import { StringDecoder } from 'node:string_decoder';
import { tailOf } from '../common/text.ts';

const KEPT = 8 * 1024;

export class StderrRing {
  readonly #decoder = new StringDecoder('utf8');
  #text = '';

  push(bytes: Uint8Array): void {
    // Only the end can be kept, so only the end is decoded.
    const part = bytes.length > KEPT ? bytes.subarray(bytes.length - KEPT) : bytes;
    this.#text = tailOf(this.#text + this.#decoder.write(Buffer.from(part)), KEPT);
  }

  /** The last lines that say something, in at most `length` characters. */
  lastLines(length: number): string {
    return tailOf(this.#text.trim(), length).trim();
  }
}
