// Where the turns of a stored thread lie in its file: byte ranges of their lines, so that a page of turns costs the reading of these
// lines only. The rest of the file is looked at once, line by line, without being kept.
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { RolloutLine } from '../../protocol/rollout.ts';
import { readRolloutLine } from '../../protocol/rollout.ts';
import type { TurnRecord } from '../turn-record.ts';
import { applyLine, emptyReplay, settle } from './replay.ts';

const CHUNK_BYTES = 1 << 20;
/** As much of a line as its kind and its turn need. */
const PREFIX_BYTES = 160;
const PREFIX = /^\{"timestamp":"([^"\\]*)","type":"(\w+)"(?:,"(turnId|beforeTurnId)":"([^"\\]+)")?/;
/** Lines that make up what a client sees of a turn. */
const SHOWN: ReadonlySet<string> = new Set<RolloutLine['type']>([
  'input',
  'inputRefused',
  'turnStarted',
  'itemStarted',
  'item',
  'turnCompleted',
]);
const LF = 10;

interface LineHead {
  type: string;
  turnId: string | null;
  timestamp: string | null;
}

/** What a line is, from its first bytes when they are as our writer puts them, or from the whole line. */
function headOf(line: Buffer): LineHead | null {
  const found = PREFIX.exec(line.toString('latin1', 0, PREFIX_BYTES));
  if (found && (found[4] !== undefined || !(SHOWN.has(found[2]) || found[2] === 'reverted')))
    return { timestamp: found[1], type: found[2], turnId: found[4] ?? null };
  const reading = readRolloutLine(line.toString('utf8'));
  if (reading.type !== 'line') return null;
  const value = reading.line as { type: string; turnId?: string | null; beforeTurnId?: string };
  return { type: value.type, turnId: value.turnId ?? value.beforeTurnId ?? null, timestamp: reading.timestamp };
}

interface TurnPlace {
  readonly id: string;
  /** Offset and length of each of its lines, in turn. */
  readonly ranges: number[];
}

export class RolloutOutline {
  readonly #file: string;
  #turns: TurnPlace[] = [];
  readonly #byId = new Map<string, TurnPlace>();
  /** Everything before this byte was looked at; it is the beginning of a line. */
  #scannedTo = 0;
  #lastHeard: string | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  get turnIds(): readonly string[] {
    return this.#turns.map(({ id }) => id);
  }

  /** Looks at what was appended since the last time. A last line without its end is left for the next time. */
  async extend(): Promise<void> {
    const handle = await open(this.#file, 'r');
    try {
      let rest = Buffer.alloc(0);
      let at = this.#scannedTo;
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        const whole = chunk.subarray(0, bytesRead);
        rest = this.#takeLines(rest.length > 0 ? Buffer.concat([rest, whole]) : whole);
      }
    } finally {
      await handle.close();
    }
  }

  /** Takes the whole lines from the front of `bytes`, which begin at `#scannedTo`; gives what is left. */
  #takeLines(bytes: Buffer): Buffer<ArrayBuffer> {
    let from = 0;
    for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, from)) {
      if (lf > from) this.#take(bytes.subarray(from, lf), this.#scannedTo + from);
      from = lf + 1;
    }
    this.#scannedTo += from;
    return Buffer.from(bytes.subarray(from));
  }

  #take(line: Buffer, offset: number): void {
    const head = headOf(line);
    if (!head) return;
    this.#lastHeard = head.timestamp ?? this.#lastHeard;
    if (head.turnId === null) return;
    if (head.type === 'reverted') this.#revert(head.turnId);
    else if (SHOWN.has(head.type)) this.#placeOf(head.turnId).ranges.push(offset, line.length);
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

  /** The turns of these ids, in the order of the ids, read from the file. */
  async load(turnIds: readonly string[]): Promise<TurnRecord[]> {
    const handle = await open(this.#file, 'r');
    try {
      const records: TurnRecord[] = [];
      for (const id of turnIds) {
        const record = await this.#loadTurn(handle, this.#byId.get(id));
        if (record) records.push(record);
      }
      return records;
    } finally {
      await handle.close();
    }
  }

  async #loadTurn(handle: FileHandle, place: TurnPlace | undefined): Promise<TurnRecord | undefined> {
    if (!place) return undefined;
    const state = emptyReplay();
    for (let i = 0; i < place.ranges.length; i += 2) {
      const line = Buffer.alloc(place.ranges[i + 1]);
      await handle.read(line, 0, line.length, place.ranges[i]);
      const reading = readRolloutLine(line.toString('utf8'));
      if (reading.type === 'line') applyLine(state, reading.line);
    }
    const ms = Date.parse(this.#lastHeard ?? '');
    state.lastHeardAt = Number.isNaN(ms) ? null : Math.floor(ms / 1000);
    settle(state);
    return state.turns[0];
  }
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

  async of(file: string): Promise<RolloutOutline> {
    const { size, mtimeMs } = await stat(file);
    const known = this.#kept.get(file);
    const unchanged = known?.size === size && known.mtimeMs === mtimeMs;
    const outline = known && (unchanged || size > known.size) ? known.outline : new RolloutOutline(file);
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
