// Where the turns of a thread lie in its record: byte ranges of their lines, so that what a client sees of a turn is read when it is asked
// for and no memory holds it meanwhile. The rest of the file is looked at once, line by line, without being kept.
import { closeSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { ThreadItem } from '../../protocol/item.ts';
import type { RolloutLine } from '../../protocol/rollout.ts';
import type { TurnRecord } from '../turn-record.ts';
import type { BlobFolder } from './blobs.ts';
import { type Chunk, eachLine, HeadReader, type LineHead, lineText, parsedHeadOf, secondsOf, timeAt } from './lines.ts';
import { applyLine, emptyReplay, settle } from './replay.ts';

/** Lines that make up what a client sees of a turn. */
export const SHOWN: ReadonlySet<string> = new Set<RolloutLine['type']>([
  'input',
  'inputRefused',
  'turnStarted',
  'itemStarted',
  'item',
  'turnCompleted',
]);

interface TurnPlace {
  readonly id: string;
  /** Offset and length of each of its lines, in turn. */
  readonly ranges: number[];
}

export class RolloutOutline {
  readonly #file: string;
  readonly #blobs: BlobFolder;
  readonly #heads = new HeadReader();
  #turns: TurnPlace[] = [];
  readonly #byId = new Map<string, TurnPlace>();
  /** Everything before this byte was looked at; it is the beginning of a line. */
  #scannedTo = 0;
  #lastHeard: string | null = null;

  constructor(file: string, blobs: BlobFolder) {
    this.#file = file;
    this.#blobs = blobs;
  }

  get turnIds(): readonly string[] {
    return this.#turns.map(({ id }) => id);
  }

  /** Looks at what was appended since the last time. A last line without its end is left for the next time. */
  async extend(): Promise<void> {
    const { to } = await eachLine(this.#file, this.#scannedTo, (chunk, start, end) => this.#take(chunk, start, end));
    this.#scannedTo = to;
  }

  #take(chunk: Chunk, start: number, end: number): void {
    const head = this.#heads.read(chunk, start, end);
    // A line of a turn that does not begin with it was not written by us.
    if (head && (head.turnId !== null || !(SHOWN.has(head.type) || head.type === 'reverted'))) {
      this.#lastHeard = timeAt(chunk, start);
      this.put(head, chunk.offset + start, end - start);
      return;
    }
    const parsed = parsedHeadOf(lineText(chunk, start, end));
    if (!parsed) return;
    this.#lastHeard = parsed.timestamp ?? this.#lastHeard;
    this.put(parsed, chunk.offset + start, end - start);
  }

  /** Takes down a line that a reader of the whole record has come to. */
  put({ type, turnId }: LineHead, offset: number, length: number): void {
    if (turnId === null) return;
    if (type === 'reverted') this.#revert(turnId);
    else if (SHOWN.has(type)) this.#placeOf(turnId).ranges.push(offset, length);
  }

  /** Says how far a reader of the whole record has come. */
  scanned(to: number, lastHeard: string | null): void {
    this.#scannedTo = to;
    this.#lastHeard = lastHeard;
  }

  #placeOf(turnId: string): TurnPlace {
    let place = this.#byId.get(turnId);
    if (!place) {
      place = { id: turnId, ranges: [] };
      this.#byId.set(turnId, place);
      this.#turns.push(place);
    }
    return place;
  }

  #revert(beforeTurnId: string): void {
    const at = this.#turns.findIndex(({ id }) => id === beforeTurnId);
    if (at < 0) return;
    for (const { id } of this.#turns.slice(at)) this.#byId.delete(id);
    this.#turns = this.#turns.slice(0, at);
  }

  /** The turns of these ids, in the order of the ids, read from the file. `running`: the last one may still be written to. */
  async load(turnIds: readonly string[], { running = false } = {}): Promise<TurnRecord[]> {
    const handle = await open(this.#file, 'r');
    try {
      const records: TurnRecord[] = [];
      for (const id of turnIds) {
        const place = this.#byId.get(id);
        const goesOn = running && id === this.#turns.at(-1)?.id;
        const record = place && this.#recordOf(await linesAt(handle, place.ranges), goesOn);
        if (record) records.push(record);
      }
      return records;
    } finally {
      await handle.close();
    }
  }

  /** The lines of one turn. Throws system errors. */
  linesOf(turnId: string): string[] {
    const { ranges } = this.#byId.get(turnId) ?? { ranges: [] };
    const lines: string[] = [];
    const file = openSync(this.#file, 'r');
    try {
      for (let i = 0; i < ranges.length; i += 2) {
        const line = Buffer.allocUnsafe(ranges[i + 1]);
        lines.push(line.toString('utf8', 0, readSync(file, line, 0, line.length, ranges[i])));
      }
    } finally {
      closeSync(file);
    }
    return lines;
  }

  /** The items of a turn that has ended. Throws system errors. */
  itemsOf(turnId: string): ThreadItem[] {
    return this.#recordOf(this.linesOf(turnId))?.items ?? [];
  }

  #recordOf(lines: readonly string[], running = false): TurnRecord | undefined {
    const state = emptyReplay();
    for (const line of lines) {
      const { reading } = this.#blobs.read(line);
      if (reading.type === 'line') applyLine(state, reading.line);
    }
    state.lastHeardAt = secondsOf(this.#lastHeard);
    if (!running) settle(state);
    return state.turns[0];
  }
}

async function linesAt(handle: FileHandle, ranges: readonly number[]): Promise<string[]> {
  const lines: string[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const line = Buffer.allocUnsafe(ranges[i + 1]);
    const { bytesRead } = await handle.read(line, 0, line.length, ranges[i]);
    lines.push(line.toString('utf8', 0, bytesRead));
  }
  return lines;
}

interface Kept {
  outline: RolloutOutline;
  size: number;
  mtimeMs: number;
}

const KEPT_OUTLINES = 8;

/** Outlines of the threads that were read last, brought up to date when their files grow. */
export class Outlines {
  /** By file, the least used first. */
  readonly #kept = new Map<string, Kept>();

  async of(file: string, blobs: BlobFolder): Promise<RolloutOutline> {
    const { size, mtimeMs } = await stat(file);
    const known = this.#kept.get(file);
    const unchanged = known?.size === size && known.mtimeMs === mtimeMs;
    const outline = known && (unchanged || size > known.size) ? known.outline : new RolloutOutline(file, blobs);
    if (!unchanged) await outline.extend();
    this.#kept.delete(file);
    this.#kept.set(file, { outline, size, mtimeMs });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_OUTLINES) break;
      this.#kept.delete(oldest);
    }
    return outline;
  }
}
