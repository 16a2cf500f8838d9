// What a client's command prints: kept up to a cap for the answer, or passed on as it comes. The two streams are apart; a terminal has
// one, called stdout. A cut is always marked.
import type { ProcessOutput } from '../exec/process.ts';
import { decodeUtf8, unfinishedTail } from '../exec/utf8.ts';

export type OutputStream = 'stdout' | 'stderr';

/** `bytes` is empty only to tell that the cap was reached. */
export type DeltaSink = (stream: OutputStream, bytes: Uint8Array, capReached: boolean) => void;

export interface CapturedStream {
  readonly text: string;
  /** True when bytes were left out. */
  readonly capReached: boolean;
}

interface StreamState {
  readonly chunks: Uint8Array[];
  taken: number;
  /** Set by the first byte that had no room, and for good. */
  capReached: boolean;
}

export const DEFAULT_CAP_BYTES = 1024 * 1024;
/** An answer is one message: beyond this it could not be written, whatever the client asks for. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const emptyStream = (): StreamState => ({ chunks: [], taken: 0, capReached: false });

export class OutputCapture {
  readonly #cap: number;
  readonly #sink: DeltaSink | null;
  readonly #streams: Readonly<Record<OutputStream, StreamState>> = { stdout: emptyStream(), stderr: emptyStream() };

  /**
   * @param capBytes of each stream; null for no cap
   * @param sink takes the output as it comes; then nothing is kept
   */
  constructor(capBytes: number | null, sink: DeltaSink | null) {
    const cap = capBytes ?? Number.POSITIVE_INFINITY;
    this.#cap = sink ? cap : Math.min(cap, MAX_KEPT_BYTES);
    this.#sink = sink;
  }

  get isStreamed(): boolean {
    return this.#sink !== null;
  }

  push(output: ProcessOutput): void {
    const name = output.stream === 'stderr' ? 'stderr' : 'stdout';
    const stream = this.#streams[name];
    const part = output.bytes.subarray(0, this.#cap - stream.taken);
    const isCut = part.length < output.bytes.length && !stream.capReached;
    stream.taken += part.length;
    stream.capReached ||= isCut;
    if (!this.#sink) {
      if (part.length > 0) stream.chunks.push(part);
    } else if (part.length > 0 || isCut) this.#sink(name, part, stream.capReached);
  }

  /** Empty when a sink took the output. */
  read(name: OutputStream): CapturedStream {
    const { chunks, capReached } = this.#streams[name];
    const bytes = Buffer.concat(chunks);
    return { text: decodeUtf8(capReached ? bytes.subarray(0, bytes.length - unfinishedTail(bytes)) : bytes), capReached };
  }
}
