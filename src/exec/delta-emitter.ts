// Turns a stream of bytes into few, small text deltas: the first at once, then what came within a moment together, up to a cap.
import { utf8HeadLength } from '../common/text.ts';
import { decodeUtf8 } from './utf8.ts';

/** A promise says that the receiver is behind: the process is paused until it settles. */
export type DeltaListener = (text: string) => undefined | Promise<void>;

const WINDOW_MS = 15;
/** No delta is longer than this in bytes (a single character aside). */
const MAX_DELTA_BYTES = 8192;

export class DeltaEmitter {
  readonly #listener: DeltaListener;
  readonly #behind: (until: Promise<void>) => void;
  /** Bytes that may still be emitted; 0 closes the emitter for good. */
  #left: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Runs after an emission; while it does, bytes are collected. */
  #window: NodeJS.Timeout | undefined;

  constructor(listener: DeltaListener, cap: number, behind: (until: Promise<void>) => void) {
    this.#listener = listener;
    this.#left = cap;
    this.#behind = behind;
  }

  /** Takes chunks that end between characters; what waits is copied. */
  push(bytes: Uint8Array): void {
    if (this.#left === 0 || bytes.length === 0) return;
    const fits = bytes.length <= this.#left;
    const part = fits ? bytes : bytes.subarray(0, utf8HeadLength(bytes, this.#left));
    this.#left = fits ? this.#left - bytes.length : 0;
    this.#pendingBytes += part.length;
    const isDue = !this.#window || this.#pendingBytes >= MAX_DELTA_BYTES;
    this.#pending.push(isDue ? part : Uint8Array.from(part));
    if (isDue) this.flush();
  }

  flush(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    if (this.#pendingBytes === 0) return;
    let rest = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    while (rest.length > 0) {
      const length = utf8HeadLength(rest, MAX_DELTA_BYTES) || Math.min(rest.length, MAX_DELTA_BYTES);
      const answer = this.#listener(decodeUtf8(rest.subarray(0, length)));
      if (answer) this.#behind(answer);
      rest = rest.subarray(length);
    }
    this.#window = setTimeout(() => {
      this.#window = undefined;
      this.flush();
    }, WINDOW_MS);
  }

  /** The last bytes go out now; nothing after this. */
  end(): void {
    this.flush();
    clearTimeout(this.#window);
    this.#left = 0;
  }
}
