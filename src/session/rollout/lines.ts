// The lines of a record as bytes: cut out of its file, and told apart by their first bytes, so that most of them need not be parsed.
import { open } from 'node:fs/promises';
import { type RolloutLine, readRolloutLine } from '../../protocol/rollout.ts';

const CHUNK_BYTES = 1 << 20;
const LF = 10;

/** Whole lines of a file: their bytes, and the same as a string of one character a byte, which is quick to look at. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly text: string;
  /** Where it begins in the file. */
  readonly offset: number;
}

export const chunkOf = (bytes: Buffer, offset: number): Chunk => ({ bytes, text: bytes.toString('latin1'), offset });

/**
 * Gives the whole lines of a file from byte `from` on, many at a time. `to` is behind the last line that has an end, `torn` what follows it.
 * Chunks are not used again: what is kept of one keeps its memory.
 */
export async function eachChunk(file: string, from: number, take: (chunk: Chunk) => void): Promise<{ to: number; torn: Buffer }> {
  const handle = await open(file, 'r');
  let torn: Buffer = Buffer.alloc(0);
  let to = from;
  try {
    for (;;) {
      // Grows with the line that is being read: joining it piece by piece would copy it again and again.
      const size = Math.max(CHUNK_BYTES, torn.length);
      const room = Buffer.allocUnsafe(torn.length + size);
      torn.copy(room);
      const { bytesRead } = await handle.read(room, torn.length, size, to + torn.length);
      if (bytesRead === 0) return { to, torn };
      const bytes = room.subarray(0, torn.length + bytesRead);
      const whole = bytes.lastIndexOf(LF) + 1;
      if (whole > 0) take(chunkOf(bytes.subarray(0, whole), to));
      torn = bytes.subarray(whole);
      to += whole;
    }
  } finally {
    await handle.close();
  }
}

/** The whole lines in the last `length` bytes before byte `to`, which is the end of a line. */
export async function chunkBefore(file: string, to: number, length: number): Promise<Chunk> {
  const handle = await open(file, 'r');
  try {
    const from = Math.max(0, to - length);
    const bytes = Buffer.allocUnsafe(to - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    const start = from === 0 ? 0 : bytes.indexOf(LF) + 1;
    return chunkOf(bytes.subarray(start, bytesRead), from + start);
  } finally {
    await handle.close();
  }
}

/** Gives each line with its chunk and its place in there, without its end; empty lines are left out. Otherwise as `eachChunk`. */
export function eachLine(
  file: string,
  from: number,
  take: (chunk: Chunk, start: number, end: number) => void,
): Promise<{ to: number; torn: Buffer }> {
  return eachChunk(file, from, (chunk) => {
    let start = 0;
    for (let end = chunk.text.indexOf('\n'); end >= 0; end = chunk.text.indexOf('\n', start)) {
      if (end > start) take(chunk, start, end);
      start = end + 1;
    }
  });
}

export const lineText = ({ bytes }: Chunk, start: number, end: number): string => bytes.toString('utf8', start, end);

export interface LineHead {
  type: string;
  /** Of the turn that the line tells of, or before which it takes the thread back. */
  turnId: string | null;
}

/** How our writer begins each line; between the two stands the time. */
const TIME = '{"timestamp":"';
const TYPE = '","type":"';
const TIME_LENGTH = 24;
const TYPE_AT = TIME.length + TIME_LENGTH + TYPE.length;
const TURN_KEYS = [',"turnId":"', ',"beforeTurnId":"'];
/** A text that stands in its line as it is. */
const PLAIN = /^[ !#-[\]-~]+$/;

/** Tells lines apart by their first characters. One after the other mostly tells of the same turn. */
export class HeadReader {
  #turn = { id: '', text: '' };

  /** What a line is, or null when it is not as our writer puts it or lacks its end. */
  read({ text }: Chunk, start: number, end: number): LineHead | null {
    if (text[end - 1] !== '}' || !text.startsWith(TIME, start) || !text.startsWith(TYPE, start + TYPE_AT - TYPE.length)) return null;
    const typeEnd = text.indexOf('"', start + TYPE_AT);
    if (typeEnd < 0 || typeEnd > end) return null;
    return { type: text.slice(start + TYPE_AT, typeEnd), turnId: this.#turnAt(text, typeEnd + 1) };
  }

  #turnAt(text: string, at: number): string | null {
    if (this.#turn.text !== '' && text.startsWith(this.#turn.text, at)) return this.#turn.id;
    const key = TURN_KEYS.find((wanted) => text.startsWith(wanted, at));
    if (!key) return null;
    const end = text.indexOf('"', at + key.length);
    const id = text.slice(at + key.length, end);
    if (end < 0 || !PLAIN.test(id)) return null;
    this.#turn = { id, text: `${key}${id}"` };
    return id;
  }
}

const ITEM = ',"item":{"type":"';

/** The type of the item of a line whose head was read; the empty text when it is not as our writer puts it. */
export function itemTypeAt({ text }: Chunk, start: number, { type, turnId }: LineHead): string {
  const at = start + TYPE_AT + type.length + 1 + TURN_KEYS[0].length + (turnId?.length ?? 0) + 1;
  if (!text.startsWith(ITEM, at)) return '';
  return text.slice(at + ITEM.length, text.indexOf('"', at + ITEM.length));
}

/** The time of a line that a `HeadReader` knows. */
export const timeAt = ({ text }: Chunk, start: number): string => text.slice(start + TIME.length, start + TIME.length + TIME_LENGTH);

export function headOfLine(line: RolloutLine): LineHead {
  const { type, turnId, beforeTurnId } = line as { type: string; turnId?: string | null; beforeTurnId?: string };
  return { type, turnId: turnId ?? beforeTurnId ?? null };
}

/** The same from the whole line, whoever wrote it; null for one that cannot be read. */
export function parsedHeadOf(line: string): (LineHead & { timestamp: string | null }) | null {
  const reading = readRolloutLine(line);
  if (reading.type !== 'line') return null;
  return { ...headOfLine(reading.line), timestamp: reading.timestamp };
}

/** In whole seconds; null for what is no time. */
export function secondsOf(timestamp: string | null): number | null {
  const ms = Date.parse(timestamp ?? '');
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}
