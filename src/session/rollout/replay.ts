// From the lines of a rollout to the state of a thread. Torn and odd lines are skipped and counted; a turn that did not end is
// interrupted, and what it left open is failed. What a reader works out here, `recovery.ts` makes a part of the record.
import type { ThreadItem } from '../../protocol/item.ts';
import type { ToolCallOutputItem } from '../../protocol/response-item.ts';
import type { MetaLine, RolloutLine } from '../../protocol/rollout.ts';
import type { QueuedSubmission, ThreadGoal } from '../../protocol/thread-queue-goal.ts';
import type { ThreadTokenUsage } from '../../protocol/turn.ts';
import { failedItem } from '../../tools/terminal-item.ts';
import { History, type HistoryEntry } from '../history.ts';
import { newTurnRecord, type TurnRecord } from '../turn-record.ts';
import { plainModelMessage, type UserMessage, userMessageItem } from '../user-input.ts';

/** A question to the frontend that no answer came to while its process lived. */
export interface LostQuestion {
  turnId: string;
  method: string;
  itemId: string | null;
}

/** What the user said and no turn came to take whole. */
export interface LostInput {
  turnId: string;
  message: UserMessage;
  /** Its item is there; its place in the history is not. */
  shown: boolean;
}

/** What a process that ended in the middle left open; empty when the last one ended well. */
export interface Remains {
  /** Outputs that were written when their call ended and have no place in the history yet, by call id. */
  results: Map<string, { turnId: string; item: ToolCallOutputItem }>;
  /** Those of them whose place a reader worked out; the record does not say it yet. */
  placed: { turnId: string; callId: string }[];
  /** Inputs that were answered for and not taken, by their id. */
  inputs: Map<string, LostInput>;
  /** By ask id. */
  questions: Map<string, LostQuestion>;
  /** Items without an end, in their failed form. */
  items: { turnId: string; item: ThreadItem }[];
  turns: TurnRecord[];
}

/** The first `length` entries of a history that has grown since, or was replaced. */
export interface HistoryBegin {
  entries: readonly HistoryEntry[];
  length: number;
  /** How often the history had been compacted by then. */
  compactions: number;
}

export interface ReplayedThread {
  meta: MetaLine | null;
  settings: Record<string, unknown>;
  dynamicTools: unknown[];
  name: string | null;
  gitInfo: unknown;
  external: boolean;
  usage: ThreadTokenUsage | null;
  /** Tokens of the last request and its answer; 0 when the history was replaced since. */
  windowTokens: number;
  history: HistoryEntry[];
  /** The history where each turn began, by turn: what a compaction has replaced since is needed again when the thread goes back behind it. */
  begins: Map<string, HistoryBegin>;
  compactions: number;
  turns: TurnRecord[];
  /** The same turns. */
  turnsById: Map<string, TurnRecord>;
  queue: readonly QueuedSubmission[];
  goal: ThreadGoal | null;
  goalTurnsLeft: number;
  updatedAt: number | null;
  /** The time of the last line, in seconds. */
  lastHeardAt: number | null;
  /** Lines that were read and understood. */
  readLines: number;
  /** Lines that could not be read. */
  skippedLines: number;
  /** Images of the history whose files are missing. */
  lostBlobs: number;
  remains: Remains;
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
  windowTokens: 0,
  history: [],
  begins: new Map(),
  compactions: 0,
  turns: [],
  turnsById: new Map(),
  queue: [],
  goal: null,
  goalTurnsLeft: 0,
  updatedAt: null,
  lastHeardAt: null,
  readLines: 0,
  skippedLines: 0,
  lostBlobs: 0,
  remains: { results: new Map(), placed: [], inputs: new Map(), questions: new Map(), items: [], turns: [] },
  endsWhole: true,
});

/** The turn of an id, made when it is first heard of. */
export function turnOf(state: ReplayedThread, id: string): TurnRecord {
  let record = state.turnsById.get(id);
  if (!record) {
    record = newTurnRecord(id);
    state.begins.set(id, { entries: state.history, length: state.history.length, compactions: state.compactions });
    state.turns.push(record);
    state.turnsById.set(id, record);
  }
  return record;
}

function endItem(record: TurnRecord, item: ThreadItem): void {
  record.open.delete(item.id);
  record.items.push(item);
}

function inputShown(state: ReplayedThread, id: string): void {
  const input = state.remains.inputs.get(id);
  if (input) input.shown = true;
}

/** An item and a message to the model come one after the other: the oldest item without its message has it now. */
export function inputTaken(state: ReplayedThread, turnId: string | null): void {
  for (const [id, input] of state.remains.inputs) {
    if (input.turnId !== turnId || !input.shown) continue;
    state.remains.inputs.delete(id);
    return;
  }
}

function place(state: ReplayedThread, callId: string): void {
  const result = state.remains.results.get(callId);
  if (!result) return;
  state.remains.results.delete(callId);
  state.history.push({ origin: 'tool', turnId: result.turnId, item: result.item });
}

/** Takes the turns from one on out of a thread, for the client and for the model: the history is again what it was before them. */
export function revert(state: ReplayedThread, beforeTurnId: string): void {
  const at = state.turns.findIndex((turn) => turn.id === beforeTurnId);
  if (at < 0) return;
  state.windowTokens = 0;
  const gone = new Set(state.turns.slice(at).map((turn) => turn.id));
  state.turns = state.turns.slice(0, at);
  for (const id of gone) state.turnsById.delete(id);
  for (const [callId, { turnId }] of state.remains.results) if (gone.has(turnId)) state.remains.results.delete(callId);
  for (const [id, { turnId }] of state.remains.inputs) if (gone.has(turnId)) state.remains.inputs.delete(id);
  for (const [askId, { turnId }] of state.remains.questions) if (gone.has(turnId)) state.remains.questions.delete(askId);
  const kept = state.history.filter((entry) => entry.turnId === null || !gone.has(entry.turnId));
  const begin = state.begins.get(beforeTurnId);
  for (const id of gone) state.begins.delete(id);
  if (!begin || begin.compactions === state.compactions) {
    state.history = kept;
    return;
  }
  // What was brought in since belongs to no turn and stays; a summary tells of what is gone.
  state.history = [
    ...begin.entries.slice(0, begin.length).filter(({ turnId }) => turnId === null || !gone.has(turnId)),
    ...kept.filter(({ origin, turnId }) => origin === 'injected' && turnId === null),
  ];
  state.compactions = begin.compactions;
}

/** Applies one line. */
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
      // Its input may have been heard of while the turn before it was ending.
      state.begins.set(line.turnId, { entries: state.history, length: state.history.length, compactions: state.compactions });
      return;
    }
    case 'history':
      state.history.push({ origin: line.origin, turnId: line.turnId, item: line.item, section: line.section });
      if (line.origin === 'user') inputTaken(state, line.turnId);
      return;
    case 'input':
      state.remains.inputs.set(line.id, {
        turnId: line.turnId,
        message: { id: line.id, clientId: line.clientId, input: line.input, context: [] },
        shown: false,
      });
      return;
    case 'inputRefused':
      state.remains.inputs.delete(line.id);
      return;
    case 'result':
      state.remains.results.set(line.item.call_id ?? '', { turnId: line.turnId, item: line.item });
      return;
    case 'placed':
      place(state, line.callId);
      return;
    case 'asked':
      state.remains.questions.set(line.askId, { turnId: line.turnId, method: line.method, itemId: line.itemId });
      return;
    case 'settled':
      state.remains.questions.delete(line.askId);
      return;
    case 'itemStarted':
      turnOf(state, line.turnId).open.set(line.item.id, line.item);
      return;
    case 'item':
      if (line.item.type === 'userMessage') inputShown(state, line.item.id);
      endItem(turnOf(state, line.turnId), line.item);
      return;
    case 'usage':
      state.usage = line.usage;
      if (!line.aside) state.windowTokens = line.usage.last.totalTokens;
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
      state.windowTokens = 0;
      state.compactions++;
      state.history = line.items.map((entry) => ({ ...entry, turnId: entry.turnId ?? null }));
      return;
    case 'reverted':
      revert(state, line.beforeTurnId);
      return;
    case 'queue':
      state.queue = line.entries;
      return;
    case 'goal':
      state.goal = line.goal;
      state.goalTurnsLeft = line.turnsLeft;
      return;
    case 'summary':
      state.updatedAt = line.updatedAt;
      return;
  }
}

/** An input whose turn took it or ended without it is no remainder; every other one is what its turn was begun with. */
function settleInputs(state: ReplayedThread): void {
  for (const [id, { turnId, message, shown }] of state.remains.inputs) {
    const record = turnOf(state, turnId);
    if (record.status !== 'inProgress') {
      state.remains.inputs.delete(id);
      continue;
    }
    record.startedAt ??= state.lastHeardAt;
    if (!shown) record.items.push(userMessageItem(message));
    state.history.push({ origin: 'user', turnId, item: plainModelMessage(message.input) });
  }
}

/** What a crash left: unfinished turns are interrupted, at the time of their last sign of life; unfinished items failed. */
export function settle(state: ReplayedThread): void {
  for (const call of new History(state.history).openCalls()) {
    const callId = call.call_id ?? '';
    const result = state.remains.results.get(callId);
    if (!result) continue;
    place(state, callId);
    state.remains.placed.push({ turnId: result.turnId, callId });
  }
  settleInputs(state);
  // Nothing came of a turn whose input was refused before it began.
  state.turns = state.turns.filter(({ startedAt, status }) => startedAt !== null || status !== 'inProgress');
  for (const record of state.turns) {
    for (const item of record.open.values()) {
      const failed = failedItem(item, 'the daemon ended before the call did');
      record.items.push(failed);
      state.remains.items.push({ turnId: record.id, item: failed });
    }
    record.open.clear();
    if (record.status !== 'inProgress') continue;
    record.status = 'interrupted';
    record.completedAt = state.lastHeardAt;
    state.remains.turns.push(record);
  }
}
