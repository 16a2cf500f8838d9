// Where the turns of a thread lie in its record: byte ranges of their lines, so that what a client sees of a turn is read when it is asked
// for and no memory holds it meanwhile. The rest of the file is looked at once, line by line, without being kept.
import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ThreadItem } from '../../protocol/item.ts';
import type { RolloutLine } from '../../protocol/rollout.ts';
import type { TurnRecord } from '../turn-record.ts';
import type { BlobFolder } from './blobs.ts';
import { type Chunk, chunkOf, eachLine, HeadReader, type LineHead, lineText, parsedHeadOf, secondsOf, timeAt } from './lines.ts';
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
  /** Its lines lie between these bytes, among lines of the model's history. */
  readonly from: number;
  to: number;
  over: boolean;
  /** Offset and length of lines that came when it was over, in turn. */
  readonly late: number[];
}

/** An outline as it is kept. */
interface KeptForm {
  scannedTo: number;
  lastHeard: string | null;
  turns: TurnPlace[];
  gone?: string[];
}

const isPlace = (value: unknown): value is TurnPlace => {
  const place = value as TurnPlace | null;
  return typeof place?.id === 'string' && typeof place.from === 'number' && typeof place.to === 'number' && Array.isArray(place.late);
};

/** The file is not the one that the outline was made of. */
export class StaleOutline extends Error {}

export class RolloutOutline {
  readonly #file: string;
  readonly #blobs: BlobFolder;
  readonly #heads = new HeadReader();
  #turns: TurnPlace[] = [];
  readonly #byId = new Map<string, TurnPlace>();
  /** Turns that were taken back: what still comes of them belongs to none. */
  readonly #gone = new Set<string>();
  /** Everything before this byte was looked at; it is the beginning of a line. */
  #scannedTo = 0;
  #lastHeard: string | null = null;

  constructor(file: string, blobs: BlobFolder) {
    this.#file = file;
    this.#blobs = blobs;
  }

  /** An outline that was kept, or null for a text that is none or tells of more than the file has. */
  static from(text: string, { file, blobs, size }: { file: string; blobs: BlobFolder; size: number }): RolloutOutline | null {
    const outline = new RolloutOutline(file, blobs);
    try {
      const { scannedTo, lastHeard, turns, gone = [] } = JSON.parse(text) as KeptForm;
      if (!(scannedTo <= size) || !turns.every(isPlace)) return null;
      outline.scanned(scannedTo, lastHeard);
      outline.#turns = turns;
      for (const place of turns) outline.#byId.set(place.id, place);
      for (const id of gone) outline.#gone.add(id);
      return outline;
    } catch {
      return null;
    }
  }

  toJSON(): KeptForm {
    return { scannedTo: this.#scannedTo, lastHeard: this.#lastHeard, turns: this.#turns, gone: [...this.#gone] };
  }

  get turnIds(): readonly string[] {
    return this.#turns.map(({ id }) => id);
  }

  /** How many bytes of the file it knows. */
  get scannedTo(): number {
    return this.#scannedTo;
  }

  /** Looks at what was appended since the last time. A last line that is torn is left for the next time. */
  async extend(): Promise<void> {
    const { to, torn } = await eachLine(this.#file, this.#scannedTo, (chunk, start, end) => this.#take(chunk, start, end));
    this.#scannedTo = to;
    // A line that is whole but for its end counts, as it does for whoever reads all of the record.
    const last = chunkOf(torn, to);
    if (torn.length === 0 || !parsedHeadOf(lineText(last, 0, torn.length))) return;
    this.#take(last, 0, torn.length);
    this.#scannedTo = to + torn.length;
  }

  #take(chunk: Chunk, start: number, end: number): void {
    const head = this.#headOf(chunk, start, end);
    if (!head) return;
    this.#lastHeard = head.timestamp ?? this.#lastHeard;
    this.put(head, chunk.offset + start, end - start);
  }

  #headOf(chunk: Chunk, start: number, end: number): (LineHead & { timestamp: string | null }) | null {
    const head = this.#heads.read(chunk, start, end);
    // A line of a turn that does not begin with it was not written by us.
    if (!head || (head.turnId === null && (SHOWN.has(head.type) || head.type === 'reverted')))
      return parsedHeadOf(lineText(chunk, start, end));
    return { ...head, timestamp: timeAt(chunk, start) };
  }

  /** Takes down a line that a reader of the whole record has come to. */
  put({ type, turnId }: LineHead, offset: number, length: number): void {
    if (turnId === null) return;
    if (type === 'reverted') this.#revert(turnId);
    else if (SHOWN.has(type) && !this.#gone.has(turnId)) this.#putShown(type, this.#placeOf(turnId, offset), offset, length);
  }

  #putShown(type: string, place: TurnPlace, offset: number, length: number): void {
    if (place.over) place.late.push(offset, length);
    else place.to = offset + length;
    if (type === 'turnCompleted') place.over = true;
  }

  /** Says how far a reader of the whole record has come. */
  scanned(to: number, lastHeard: string | null): void {
    this.#scannedTo = to;
    this.#lastHeard = lastHeard;
  }

  #placeOf(turnId: string, offset: number): TurnPlace {
    let place = this.#byId.get(turnId);
    if (!place) {
      place = { id: turnId, from: offset, to: offset, over: false, late: [] };
      this.#byId.set(turnId, place);
      this.#turns.push(place);
    }
    return place;
  }

  #revert(beforeTurnId: string): void {
    const at = this.#turns.findIndex(({ id }) => id === beforeTurnId);
    if (at < 0) return;
    for (const { id } of this.#turns.slice(at)) {
      this.#byId.delete(id);
      this.#gone.add(id);
    }
    this.#turns = this.#turns.slice(0, at);
  }

  /**
   * The turns of these ids, in the order of the ids, read from the file. `running`: the last one may still be written to. Rejects with
   * StaleOutline when the file is another one.
   */
  async load(turnIds: readonly string[], { running = false } = {}): Promise<TurnRecord[]> {
    const handle = await open(this.#file, 'r');
    try {
      const records: TurnRecord[] = [];
      for (const id of turnIds) {
        const place = this.#byId.get(id);
        if (!place) continue;
        const pieces: Buffer[] = [];
        for (const [offset, length] of rangesOf(place)) {
          const piece = Buffer.allocUnsafe(length);
          const { bytesRead } = await handle.read(piece, 0, length, offset);
          pieces.push(piece.subarray(0, bytesRead));
        }
        const record = this.#recordOf(this.#linesIn(pieces, id), running && place === this.#turns.at(-1));
        if (record) records.push(record);
      }
      return records;
    } finally {
      await handle.close();
    }
  }

  /** The lines of one turn. Throws system errors. */
  linesOf(turnId: string): string[] {
    const place = this.#byId.get(turnId);
    if (!place) return [];
    const file = openSync(this.#file, 'r');
    try {
      const pieces = rangesOf(place).map(([offset, length]) => {
        const piece = Buffer.allocUnsafe(length);
        return piece.subarray(0, readSync(file, piece, 0, length, offset));
      });
      return this.#linesIn(pieces, turnId);
    } finally {
      closeSync(file);
    }
  }

  /** The lines of a turn out of what was read of its place. */
  #linesIn(pieces: readonly Buffer[], turnId: string): string[] {
    const lines: string[] = [];
    for (const bytes of pieces) {
      const chunk = chunkOf(bytes, 0);
      let first = true;
      for (let start = 0; start < bytes.length; ) {
        const lf = chunk.text.indexOf('\n', start);
        const end = lf < 0 ? bytes.length : lf;
        const head = end > start ? this.#headOf(chunk, start, end) : null;
        if (first && head?.turnId !== turnId) throw new StaleOutline(`there is no line of turn ${turnId} where it was`);
        if (head?.turnId === turnId && SHOWN.has(head.type)) lines.push(lineText(chunk, start, end));
        first = false;
        start = end + 1;
      }
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

/** Offset and length of each piece of the file that holds lines of a turn. */
function rangesOf({ from, to, late }: TurnPlace): [number, number][] {
  const ranges: [number, number][] = [[from, to - from]];
  for (let i = 0; i < late.length; i += 2) ranges.push([late[i], late[i + 1]]);
  return ranges;
}
