// A whole rollout from its file. Only what the model's history needs is parsed; what a client sees of the turns stays in the file until
// someone looks at it, which for a long thread is most of it.
import type { RolloutLine } from '../../protocol/rollout.ts';
import { WORK } from '../item-ledger.ts';
import { deferItems } from '../turn-record.ts';
import type { BlobFolder } from './blobs.ts';
import { type Chunk, chunkOf, eachLine, HeadReader, headOfLine, itemTypeAt, type LineHead, lineText, secondsOf, timeAt } from './lines.ts';
import { RolloutOutline } from './outline.ts';
import { applyLine, emptyReplay, inputTaken, type ReplayedThread, settle, turnOf } from './replay.ts';

/** What a client sees of a turn: read when it is looked at. */
const DEFERRED: ReadonlySet<string> = new Set<RolloutLine['type']>(['input', 'inputRefused', 'itemStarted', 'item']);
/** Only the last one of each counts. */
const LATEST: ReadonlySet<string> = new Set<RolloutLine['type']>(['usage', 'summary']);
/** What says how full the window is counts only until one of these. */
const WINDOW_BEGINS: ReadonlySet<string> = new Set<RolloutLine['type']>(['compacted', 'reverted']);

export type ReadRollout = ReplayedThread & { outline: RolloutOutline };

const count = (counts: Map<string, number>, key: string, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

/** Takes the lines of a file in order and makes a thread of them. */
class RolloutReader {
  readonly state = emptyReplay();
  readonly outline: RolloutOutline;
  readonly #blobs: BlobFolder;
  readonly #heads = new HeadReader();
  #heard: string | null = null;
  readonly #latest = new Map<string, string>();
  /** Messages of the user that the history took, by turn: a compaction may have dropped some since. */
  readonly #taken = new Map<string, number>();
  /** Work that has begun and not ended, by turn: some of it outlives its turn. */
  readonly #atWork = new Map<string, number>();

  constructor(file: string, blobs: BlobFolder) {
    this.outline = new RolloutOutline(file, blobs);
    this.#blobs = blobs;
  }

  take(chunk: Chunk, start: number, end: number): void {
    const head = this.#heads.read(chunk, start, end);
    const place = { offset: chunk.offset + start, length: end - start };
    if (head && this.#put(head, chunk, start, end)) {
      this.outline.put(head, place.offset, place.length);
      this.state.readLines++;
      this.#heard = timeAt(chunk, start);
      return;
    }
    const line = this.#read(lineText(chunk, start, end));
    if (!line) return;
    const { type, turnId } = headOfLine(line);
    this.outline.put({ type, turnId }, place.offset, place.length);
    if (LATEST.has(type) || WINDOW_BEGINS.has(type)) this.#applyLatest();
    if (DEFERRED.has(type)) turnOf(this.state, turnId ?? '');
    else applyLine(this.state, line);
    if (line.type === 'history' && line.origin === 'user' && line.turnId) count(this.#taken, line.turnId, 1);
    if (line.type === 'itemStarted' || line.type === 'item') this.#countWork(type, line.turnId, line.item.type);
  }

  /** False when the line has to be read now. */
  #put({ type, turnId }: LineHead, chunk: Chunk, start: number, end: number): boolean {
    if (LATEST.has(type)) this.#putLatest(type, lineText(chunk, start, end));
    else if (DEFERRED.has(type) && turnId !== null) {
      turnOf(this.state, turnId); // turns keep the order in which they are first heard of
      if (type !== 'input' && type !== 'inputRefused') this.#countWork(type, turnId, itemTypeAt(chunk, start, { type, turnId }));
    } else return false;
    return true;
  }

  #countWork(type: string, turnId: string, itemType: string): void {
    if (WORK.has(itemType)) count(this.#atWork, turnId, type === 'itemStarted' ? 1 : -1);
  }

  /** What was spent aside says nothing of the window, so it does not stand for what does. */
  #putLatest(type: string, text: string): void {
    const kind = text.endsWith('"aside":true}') ? 'aside' : type;
    this.#latest.delete(kind); // applied in the order of the last ones
    this.#latest.set(kind, text);
  }

  #read(text: string): RolloutLine | null {
    if (text.trim() === '') return null;
    const { reading, lost } = this.#blobs.read(text);
    if (reading.type === 'unreadable') this.state.skippedLines++;
    if (reading.type !== 'line') return null;
    this.state.lostBlobs += lost;
    this.state.readLines++;
    this.#heard = reading.timestamp ?? this.#heard;
    return reading.line;
  }

  #applyText(text: string): void {
    const { reading } = this.#blobs.read(text);
    if (reading.type === 'line') applyLine(this.state, reading.line);
    else this.state.skippedLines++;
  }

  #applyLatest(): void {
    for (const text of this.#latest.values()) this.#applyText(text);
    this.#latest.clear();
  }

  /** `to`: the file was read up to there. */
  end(to: number): ReadRollout {
    const { state, outline } = this;
    outline.scanned(to, this.#heard);
    this.#applyLatest();
    for (const record of state.turns) {
      if (record.status === 'inProgress') this.#readCutTurn(record.id);
      else if ((this.#atWork.get(record.id) ?? 0) > 0) for (const text of outline.linesOf(record.id)) this.#applyText(text);
      else deferItems(record, () => outline.itemsOf(record.id));
    }
    state.lastHeardAt = secondsOf(this.#heard);
    settle(state);
    return { ...state, outline };
  }

  /** A turn that did not end: what was said in it and not taken counts. */
  #readCutTurn(turnId: string): void {
    for (const text of this.outline.linesOf(turnId)) this.#applyText(text);
    for (let left = this.#taken.get(turnId) ?? 0; left > 0; left--) inputTaken(this.state, turnId);
  }
}

/** Reads a whole rollout. Rejects only when the file cannot be read at all. */
export async function replayRollout(file: string, blobs: BlobFolder): Promise<ReadRollout> {
  const reader = new RolloutReader(file, blobs);
  const { to, torn } = await eachLine(file, 0, (chunk, start, end) => reader.take(chunk, start, end));
  reader.state.endsWhole = torn.length === 0;
  if (torn.length > 0) reader.take(chunkOf(torn, to), 0, torn.length);
  return reader.end(to + torn.length);
}
