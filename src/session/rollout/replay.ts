// From the lines of a rollout to the state of a thread. Torn and odd lines are skipped and counted; a turn that did not end is
// interrupted, and what it left open is failed.
import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { ThreadItem } from '../../protocol/item.ts';
import { type MetaLine, type RolloutLine, readRolloutLine } from '../../protocol/rollout.ts';
import type { ThreadTokenUsage } from '../../protocol/turn.ts';
import { failedItem } from '../../tools/terminal-item.ts';
import type { HistoryEntry } from '../history.ts';
import { newTurnRecord, type TurnRecord } from '../turn-record.ts';

export interface ReplayedThread {
  meta: MetaLine | null;
  settings: Record<string, unknown>;
  dynamicTools: unknown[];
  name: string | null;
  gitInfo: unknown;
  external: boolean;
  usage: ThreadTokenUsage | null;
  history: HistoryEntry[];
  turns: TurnRecord[];
  updatedAt: number | null;
  /** Lines that could not be read. */
  skippedLines: number;
  /** A turn was cut off by the end of a process. */
  interrupted: boolean;
  /** The last line is whole; otherwise what is appended must begin on a fresh line. */
  endsWhole: boolean;
}

export const emptyReplay = (): ReplayedThread => ({
  meta: null,
  settings: {},
  dynamicTools: [],
  name: null,
  gitInfo: null,
  external: false,
  usage: null,
  history: [],
  turns: [],
  updatedAt: null,
  skippedLines: 0,
  interrupted: false,
  endsWhole: true,
});

function turnOf(state: ReplayedThread, id: string): TurnRecord {
  let record = state.turns.findLast((turn) => turn.id === id);
  if (!record) {
    record = newTurnRecord(id);
    state.turns.push(record);
  }
  return record;
}

function endItem(record: TurnRecord, item: ThreadItem): void {
  record.open.delete(item.id);
  record.items.push(item);
}

function revert(state: ReplayedThread, beforeTurnId: string): void {
  const at = state.turns.findIndex((turn) => turn.id === beforeTurnId);
  if (at < 0) return;
  const gone = new Set(state.turns.slice(at).map((turn) => turn.id));
  state.turns = state.turns.slice(0, at);
  state.history = state.history.filter((entry) => entry.turnId === null || !gone.has(entry.turnId));
}

/** Applies one line. Exported for tests of single lines. */
export function applyLine(state: ReplayedThread, line: RolloutLine): void {
  switch (line.type) {
    case 'meta':
      state.meta ??= line;
      return;
    case 'settings':
      state.settings = line.settings;
      return;
    case 'dynamicTools':
      state.dynamicTools = line.tools;
      return;
    case 'name':
      state.name = line.name;
      return;
    case 'gitInfo':
      state.gitInfo = line.gitInfo;
      return;
    case 'external':
      state.external = true;
      return;
    case 'turnStarted': {
      const record = turnOf(state, line.turnId);
      record.startedAt = line.startedAt;
      return;
    }
    case 'history':
      state.history.push({ origin: line.origin, turnId: line.turnId, item: line.item, section: line.section });
      return;
    case 'itemStarted':
      turnOf(state, line.turnId).open.set(line.item.id, line.item);
      return;
    case 'item':
      endItem(turnOf(state, line.turnId), line.item);
      return;
    case 'usage':
      state.usage = line.usage;
      return;
    case 'turnCompleted': {
      const record = turnOf(state, line.turnId);
      record.status = line.status;
      record.error = line.error;
      record.completedAt = line.completedAt;
      record.durationMs = line.durationMs;
      return;
    }
    case 'compacted':
      state.history = line.items.map((entry) => ({ ...entry, turnId: null }));
      return;
    case 'reverted':
      revert(state, line.beforeTurnId);
      return;
    case 'summary':
      state.updatedAt = line.updatedAt;
      return;
  }
}

/** What a crash left: unfinished turns are interrupted, unfinished items failed. */
export function settle(state: ReplayedThread): void {
  for (const record of state.turns) {
    for (const item of record.open.values()) record.items.push(failedItem(item, 'the daemon ended before the call did'));
    record.open.clear();
    if (record.status !== 'inProgress') continue;
    record.status = 'interrupted';
    state.interrupted = true;
  }
}

/** Reads a whole rollout. Rejects only when the file cannot be read at all. */
export async function replayRollout(file: string): Promise<ReplayedThread> {
  const state = emptyReplay();
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string) => {
    if (text.trim() === '') return;
    const line = readRolloutLine(text);
    if (line) applyLine(state, line);
    else state.skippedLines++;
  };
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  }
  rest += decoder.end();
  state.endsWhole = rest === '';
  take(rest);
  settle(state);
  return state;
}
