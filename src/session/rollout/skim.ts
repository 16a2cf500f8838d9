// What a long record says of its thread as a whole, without what was said in it: enough to open the thread for a client, while turns and
// history are read afterwards. Only for a record whose last process ended well; any other is read whole before its thread is opened.
import { stat } from 'node:fs/promises';
import type { LineReading, RolloutLine } from '../../protocol/rollout.ts';
import type { BlobFolder } from './blobs.ts';
import { type Chunk, chunkBefore, eachChunk, HeadReader, lineText } from './lines.ts';
import { applyLine, emptyReplay, type ReplayedThread } from './replay.ts';

export interface SkimmedThread {
  /** Without turns, history and remains. */
  replay: ReplayedThread;
  /** How many turns there are. */
  turns: number;
  preview: string;
}

/** Shorter records are read whole at once. */
const MIN_BYTES = 256 * 1024;
/** How much of the end is gone back over. */
const END_BYTES = 256 * 1024;

/** Lines of turns: most of a record. */
const OF_TURNS = 'turnStarted|turnCompleted|input|inputRefused|itemStarted|item|history|result|placed';
/** The last ones count, and stand near the end. */
const STANDING = 'usage|summary';
const PASSED_OVER = `\\{"timestamp":"[^"\\n]{24}","type":"(?:${OF_TURNS}|${STANDING})"`;
const isPassedOver = new RegExp(`^${PASSED_OVER}`);
/** The end of a line before one that is not passed over, written by us or not. Begins with a character that is quick to find. */
const BEFORE_OTHERS = new RegExp(`\\n(?!${PASSED_OVER}|\\n|$)`, 'g');
/** As much of a line as the above looks at. */
const HEAD_CHARS = 100;
const isOfTurn = new RegExp(`^(?:${OF_TURNS})$`);

function read(blobs: BlobFolder, chunk: Chunk, start: number, end: number): LineReading {
  return blobs.read(lineText(chunk, start, end)).reading;
}

type Usage = Extract<RolloutLine, { type: 'usage' }>;

interface Ending {
  summary: Extract<RolloutLine, { type: 'summary' }>;
  /** What was spent last, for whatever. */
  spent: Usage | null;
  /** The last request of the thread itself since its history began. */
  window: Usage | null;
}

/** Goes back over the end of a record, line by line, until it knows all of an ending. */
class EndReader {
  readonly #windowFrom: number;
  readonly #blobs: BlobFolder;
  #summary: Ending['summary'] | null = null;
  #ended = false;
  #spent: Usage | null = null;
  #window: Usage | null = null;
  #refused = false;

  /** `windowFrom`: the place in the file where the history began anew. */
  constructor(windowFrom: number, blobs: BlobFolder) {
    this.#windowFrom = windowFrom;
    this.#blobs = blobs;
  }

  /** Null when the last turn has no end, was not summed up, or has something behind it. */
  read(chunk: Chunk): Ending | null {
    const heads = new HeadReader();
    let known = false;
    for (let end = chunk.text.length - 1; end > 0 && !known && !this.#refused; ) {
      const start = chunk.text.lastIndexOf('\n', end - 1) + 1;
      this.#take(heads.read(chunk, start, end)?.type ?? '', chunk, start, end);
      known = this.#ended && this.#spent !== null && (this.#window !== null || chunk.offset + start <= this.#windowFrom);
      end = start - 1;
    }
    if (this.#refused || !this.#summary || !this.#ended || !(known || chunk.offset === 0)) return null;
    return { summary: this.#summary, spent: this.#spent, window: this.#window };
  }

  #take(type: string, chunk: Chunk, start: number, end: number): void {
    if (type === 'turnCompleted') {
      this.#refused = this.#summary === null;
      this.#ended = true;
    } else if (isOfTurn.test(type)) this.#refused = !this.#ended;
    else if (type === 'summary') this.#summary ??= this.#line(chunk, start, end, 'summary');
    else if (type === 'usage' && !this.#window) {
      const usage = this.#line(chunk, start, end, 'usage');
      this.#spent ??= usage;
      if (usage && !usage.aside && chunk.offset + start > this.#windowFrom) this.#window = usage;
    }
  }

  #line<T extends RolloutLine['type']>(chunk: Chunk, start: number, end: number, type: T): Extract<RolloutLine, { type: T }> | null {
    const reading = read(this.#blobs, chunk, start, end);
    if (reading.type === 'line' && reading.line.type === type) return reading.line as Extract<RolloutLine, { type: T }>;
    this.#refused = true;
    return null;
  }
}

/** Takes what is told of the thread as a whole. */
class Skimmer {
  readonly state = emptyReplay();
  readonly #blobs: BlobFolder;
  readonly #asked = new Set<string>();
  /** Where the history began anew for the last time, −1 for never. */
  windowFrom = -1;
  #odd = false;

  constructor(blobs: BlobFolder) {
    this.#blobs = blobs;
  }

  /** Nothing was found that has to be understood with all the rest. */
  get plain(): boolean {
    return !this.#odd && this.#asked.size === 0 && this.state.meta !== null;
  }

  take(chunk: Chunk): void {
    if (!isPassedOver.test(chunk.text.slice(0, HEAD_CHARS))) this.#read(chunk, 0);
    for (const { index } of chunk.text.matchAll(BEFORE_OTHERS)) this.#read(chunk, index + 1);
  }

  #read(chunk: Chunk, start: number): void {
    const end = chunk.text.indexOf('\n', start);
    if (start === end) return;
    const reading = read(this.#blobs, chunk, start, end);
    if (reading.type === 'line') this.#apply(reading.line, chunk.offset + start);
    else if (reading.type === 'unreadable') this.#odd = true;
  }

  #apply(line: RolloutLine, offset: number): void {
    if (isOfTurn.test(line.type) || line.type === 'usage' || line.type === 'summary') this.#odd = true;
    else if (line.type === 'asked') this.#asked.add(line.askId);
    else if (line.type === 'settled') this.#asked.delete(line.askId);
    else if (line.type === 'compacted' || line.type === 'reverted') this.windowFrom = offset;
    else applyLine(this.state, line);
  }
}

/** Null for a record that has to be read whole. Rejects when the file cannot be read. */
export async function skimRollout(file: string, blobs: BlobFolder): Promise<SkimmedThread | null> {
  if ((await stat(file)).size < MIN_BYTES) return null;
  const skimmer = new Skimmer(blobs);
  const { to, torn } = await eachChunk(file, 0, (chunk) => skimmer.take(chunk));
  if (!skimmer.plain || torn.length > 0) return null;
  const ending = new EndReader(skimmer.windowFrom, blobs).read(await chunkBefore(file, to, END_BYTES));
  if (!ending) return null;
  const { state } = skimmer;
  const { summary, spent, window } = ending;
  state.updatedAt = summary.updatedAt;
  state.usage = spent?.usage ?? null;
  state.windowTokens = window?.usage.last.totalTokens ?? 0;
  return { replay: state, turns: summary.turns, preview: summary.preview };
}
