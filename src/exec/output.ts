// Collects what a process prints: bounded whole text, live deltas, what is new since the last look, and the raw bytes in a file when
// there are many. All of them agree on the same characters in the same order.

import { isUtf8 } from 'node:buffer';
import type { DeltaListener } from './delta-emitter.ts';
import { DeltaEmitter } from './delta-emitter.ts';
import { HeadTail } from './head-tail.ts';
import type { ProcessOutput, RunningProcess } from './process.ts';
import type { SpillState } from './spill-file.ts';
import { SpillFile } from './spill-file.ts';
import { Utf8Splitter } from './utf8.ts';

export interface OutputOptions {
  /** Up to this many bytes all is kept, beyond it the first and the last half. Deltas end there too. Default 1 MiB. */
  readonly capBytes?: number;
  /** The deltas add up to the output until the cap. */
  readonly onDelta?: DeltaListener;
  /** Beyond the threshold (default 64 KiB, at most the cap) all of the output goes to this file, up to `maxBytes` (default 64 MiB). */
  readonly spill?: { readonly path: string; readonly thresholdBytes?: number; readonly maxBytes?: number };
}

export interface NewOutput {
  readonly text: string;
  /** Bytes that had to be dropped from the middle; the text says so too. */
  readonly omittedBytes: number;
  /** Of everything that is new, dropped or not; an unfinished last line counts. */
  readonly lines: number;
  /** There when some of it is not text: NUL bytes, or bytes that are not UTF-8. */
  readonly binary?: true;
}

const MIB = 1024 * 1024;
const SPILL_THRESHOLD = 64 * 1024;
const SPILL_MAX = 64 * MIB;
const NEWLINE = 0x0a;

export class OutputCollector {
  readonly #kept: HeadTail;
  readonly #splitters = new Map<ProcessOutput['stream'], Utf8Splitter>();
  readonly #deltas: DeltaEmitter | undefined;
  readonly #options: OutputOptions;
  readonly #spillAt: number;
  /** Made when the threshold is passed. */
  #spill: SpillFile | undefined;
  /** Who is paused while a consumer is behind. */
  #flow: Pick<RunningProcess, 'pause' | 'resume'> | undefined;
  /** Consumers that are behind; the process is paused exactly while this is not 0. */
  #behind = 0;
  #newlines = 0;
  #endsInLine = false;
  /** Whether what came since the last takeNew() holds what is not text. */
  #binary = false;
  /** Where the last takeNew() ended: a byte of the stream, and the newlines before it. */
  #readTo = { bytes: 0, newlines: 0 };
  #ended = false;

  constructor(options: OutputOptions = {}) {
    const cap = options.capBytes ?? MIB;
    this.#options = options;
    this.#kept = new HeadTail(cap);
    this.#spillAt = Math.min(this.#kept.capacity, options.spill?.thresholdBytes ?? SPILL_THRESHOLD);
    const behind = (until: Promise<void>) => this.#hold(until);
    if (options.onDelta) this.#deltas = new DeltaEmitter(options.onDelta, this.#kept.capacity, behind);
  }

  /** Becomes the listener of a process that was just started, and slows it down when a consumer is behind. */
  attach(process: RunningProcess): void {
    this.#flow = process;
    process.onOutput((output) => this.push(output), 'borrowed');
  }

  /** Keeps nothing of the array itself. */
  push({ stream, bytes }: ProcessOutput): void {
    if (this.#ended) return;
    let splitter = this.#splitters.get(stream);
    if (!splitter) this.#splitters.set(stream, (splitter = new Utf8Splitter()));
    this.#add(splitter.push(bytes));
  }

  /** After the exit: unfinished characters are given up, the last delta goes out. Resolves when the file is complete. */
  async end(): Promise<void> {
    if (!this.#ended) {
      for (const splitter of this.#splitters.values()) this.#add(splitter.end());
      this.#ended = true;
      this.#deltas?.end();
    }
    await this.#spill?.end();
  }

  /** The output so far; the middle is missing, and counted, beyond the cap. */
  aggregated(): string {
    return this.#kept.read().text;
  }

  /** True when aggregated() is not the whole. */
  get truncated(): boolean {
    return this.#kept.totalBytes > this.#kept.capacity;
  }

  get totalBytes(): number {
    return this.#kept.totalBytes;
  }

  /** An unfinished last line counts. */
  get totalLines(): number {
    return this.#newlines + (this.#endsInLine ? 1 : 0);
  }

  get spilled(): SpillState | undefined {
    return this.#spill?.state;
  }

  /** What came since the last call. A character that is not complete yet waits for the next one. */
  takeNew(): NewOutput {
    const from = this.#readTo;
    this.#readTo = { bytes: this.totalBytes, newlines: this.#newlines };
    if (from.bytes === this.totalBytes) return { text: '', omittedBytes: 0, lines: 0 };
    const isBinary = this.#binary;
    this.#binary = false;
    const lines = this.#newlines - from.newlines + (this.#endsInLine ? 1 : 0);
    return { ...this.#kept.read(from.bytes), lines, ...(isBinary ? { binary: true } : {}) };
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#spillOver(bytes);
    this.#kept.push(bytes);
    this.#binary ||= bytes.includes(0) || !isUtf8(bytes);
    this.#newlines += countNewlines(bytes);
    this.#endsInLine = bytes[bytes.length - 1] !== NEWLINE;
    this.#deltas?.push(bytes);
  }

  /** Called before the bytes are kept: up to the threshold all earlier ones still are, and go to the file first. */
  #spillOver(bytes: Uint8Array): void {
    const { spill } = this.#options;
    if (!spill) return;
    if (!this.#spill) {
      if (this.totalBytes + bytes.length <= this.#spillAt) return;
      this.#spill = new SpillFile(spill.path, spill.maxBytes ?? SPILL_MAX, (until) => this.#hold(until));
      this.#spill.append(this.#kept.bytes());
    }
    this.#spill.append(bytes);
  }

  #hold(until: Promise<void>): void {
    if (this.#behind++ === 0) this.#flow?.pause();
    const release = () => {
      if (--this.#behind === 0) this.#flow?.resume();
    };
    until.then(release, release);
  }
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === NEWLINE) count++;
  return count;
}
