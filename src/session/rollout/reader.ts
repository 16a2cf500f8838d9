// A whole rollout from its file. Only what the model's history needs is parsed; what a client sees of the turns is left as text until
// someone looks at it, which for a long thread is most of the file.
import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { ThreadItem } from '../../protocol/item.ts';
import { type RolloutLine, readRolloutLine } from '../../protocol/rollout.ts';
import { deferItems } from '../turn-record.ts';
import { applyLine, emptyReplay, inputTaken, type ReplayedThread, settle, turnOf } from './replay.ts';

const secondsOf = (timestamp: string): number | null => {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
};

/** What a line is, from its first bytes as our writer puts them. */
const PREFIX = /^\{"timestamp":"([^"\\]{24})","type":"(\w+)"(?:,"turnId":"([^"\\]+)")?/;
/** What a client sees of a turn: read when it is looked at, as it is most of a record and a resumed thread needs none of it. */
const DEFERRED: ReadonlySet<string> = new Set<RolloutLine['type']>(['input', 'inputRefused', 'itemStarted', 'item']);
/** Only the last one of each counts. */
const LATEST: ReadonlySet<string> = new Set<RolloutLine['type']>(['usage', 'summary']);

/** Takes the lines of a file in order and makes a thread of them. */
class RolloutReader {
  readonly state = emptyReplay();
  #heard: string | null = null;
  /** By turn: lines that were not parsed. */
  readonly #deferred = new Map<string, string[]>();
  readonly #latest = new Map<string, string>();

  take(text: string): void {
    if (text === '') return;
    const [, timestamp, type, turnId] = PREFIX.exec(text) ?? [];
    // A line that lacks its end is torn, whatever it was to be.
    if (type === undefined || !text.endsWith('}') || !this.#put(text, type, turnId)) {
      this.#apply(text);
      return;
    }
    this.state.readLines++;
    this.#heard = timestamp;
  }

  /** False when the line has to be read now. */
  #put(text: string, type: string, turnId: string | undefined): boolean {
    if (LATEST.has(type)) this.#latest.set(type, text);
    else if (DEFERRED.has(type) && turnId !== undefined) {
      turnOf(this.state, turnId); // turns keep the order in which they are first heard of
      const lines = this.#deferred.get(turnId);
      if (lines) lines.push(text);
      else this.#deferred.set(turnId, [text]);
    } else return false;
    return true;
  }

  #apply(text: string): void {
    if (text.trim() === '') return;
    const reading = readRolloutLine(text);
    if (reading.type === 'unreadable') this.state.skippedLines++;
    if (reading.type !== 'line') return;
    this.state.readLines++;
    this.#heard = reading.timestamp ?? this.#heard;
    applyLine(this.state, reading.line);
  }

  end(): ReplayedThread {
    const { state } = this;
    for (const text of this.#latest.values()) applyText(state, text);
    for (const record of state.turns) {
      const lines = this.#deferred.get(record.id);
      if (!lines) continue;
      if (record.status === 'inProgress') this.#readCutTurn(record.id, lines);
      else deferItems(record, () => itemsIn(record.id, lines));
    }
    state.lastHeardAt = this.#heard === null ? null : secondsOf(this.#heard);
    settle(state);
    return state;
  }

  /** A turn that did not end: what was said in it and not taken counts. */
  #readCutTurn(turnId: string, lines: readonly string[]): void {
    for (const text of lines) applyText(this.state, text);
    for (const entry of this.state.history) if (entry.origin === 'user' && entry.turnId === turnId) inputTaken(this.state, turnId);
  }
}

function applyText(state: ReplayedThread, text: string): void {
  const reading = readRolloutLine(text);
  if (reading.type === 'line') applyLine(state, reading.line);
  else state.skippedLines++;
}

/** The items of a turn that has ended. */
function itemsIn(turnId: string, lines: readonly string[]): ThreadItem[] {
  const state = emptyReplay();
  for (const text of lines) applyText(state, text);
  state.remains.inputs.clear();
  const record = turnOf(state, turnId);
  record.status = 'completed';
  settle(state);
  return record.items;
}

/** Reads a whole rollout. Rejects only when the file cannot be read at all. */
export async function replayRollout(file: string): Promise<ReplayedThread> {
  const reader = new RolloutReader();
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) reader.take(line);
  }
  rest += decoder.end();
  reader.state.endsWhole = rest === '';
  reader.take(rest);
  return reader.end();
}
