// Splits a byte stream into chunks that end between characters. The split never changes the text: invalid bytes become the same
// replacement characters whatever the chunks were.

/** How many bytes a character has that begins with this byte; 0 for a byte no character begins with. */
const lengthOf = (byte: number): number => (byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0);

/** Whether `second` may follow `first`: some first bytes allow only part of the range (no overlong forms, no surrogates). */
function follows(first: number, second: number): boolean {
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

/** Bytes at the end that are a good but unfinished beginning of a character. */
export function unfinishedTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const at = bytes.length - back;
    const first = bytes[at];
    if ((first & 0xc0) === 0x80) continue;
    return lengthOf(first) > back && (back === 1 || follows(first, bytes[at + 1])) ? back : 0;
  }
  return 0;
}

export class Utf8Splitter {
  /** The unfinished character the last chunk ended with; at most 3 bytes. */
  #held: Uint8Array = new Uint8Array(0);

  /** The bytes up to the last whole character. The result may share memory with the argument. */
  push(bytes: Uint8Array): Uint8Array {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes;
    const keep = unfinishedTail(all);
    // A copy: the slice of a Buffer would share its memory, which is not ours to keep.
    this.#held = Uint8Array.from(all.subarray(all.length - keep));
    return keep > 0 ? all.subarray(0, all.length - keep) : all;
  }

  /** At the end of the stream: what never became a character. */
  end(): Uint8Array {
    const rest = this.#held;
    this.#held = new Uint8Array(0);
    return rest;
  }
}

/** Invalid bytes become U+FFFD, NUL and a byte order mark stay. */
export const decodeUtf8 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
