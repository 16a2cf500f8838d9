// The persisted lines of a thread. One line is one fact; a reader keeps what it does not know and skips what it cannot read.
import type { ThreadItem, UserInput } from './item.ts';
import type { ResponseItem, ToolCallOutputItem } from './response-item.ts';
import type { SessionSource } from './thread.ts';
import type { QueuedSubmission, ThreadGoal } from './thread-queue-goal.ts';
import type { ThreadTokenUsage, TurnError, TurnStatus } from './turn.ts';

export const ROLLOUT_VERSION = 1;

/** The header, always the first line. */
export interface MetaLine {
  type: 'meta';
  version: number;
  id: string;
  createdAt: number;
  cliVersion: string;
  source: SessionSource;
  originator: string | null;
  forkedFromId: string | null;
  parentThreadId: string | null;
  /** The `config` of thread/start: it counts again when the thread is resumed. */
  config: Record<string, unknown> | null;
}

/** Who put an item into the history: it decides what compaction keeps and what a client sees as conversation. */
export type HistoryOrigin = 'context' | 'user' | 'model' | 'tool' | 'marker' | 'injected' | 'summary';

export type RolloutLine =
  | MetaLine
  | { type: 'settings'; settings: Record<string, unknown> }
  | { type: 'dynamicTools'; tools: unknown[] }
  | { type: 'name'; name: string | null }
  | { type: 'gitInfo'; gitInfo: unknown }
  | { type: 'external' }
  | { type: 'turnStarted'; turnId: string; startedAt: number }
  | { type: 'history'; turnId: string | null; origin: HistoryOrigin; item: ResponseItem; section?: string }
  /** What the user said, written before the request is answered; it becomes an item and a part of the history when its turn takes it. */
  | { type: 'input'; turnId: string; id: string; clientId: string | null; input: readonly UserInput[] }
  /** A hook refused it: it never becomes either. */
  | { type: 'inputRefused'; turnId: string; id: string }
  /** The output of a call, written when the call ends; its place in the history comes with `placed`, in call order. */
  | { type: 'result'; turnId: string; item: ToolCallOutputItem }
  | { type: 'placed'; turnId: string | null; callId: string }
  /** A question to the frontend, and that it is settled. One without an end was lost with its process. */
  | { type: 'asked'; turnId: string; askId: string; method: string; itemId: string | null }
  | { type: 'settled'; askId: string }
  | { type: 'itemStarted'; turnId: string; item: ThreadItem }
  | { type: 'item'; turnId: string; item: ThreadItem }
  /** `aside`: of a conversation beside the thread's, which says nothing about how full its window is. */
  | { type: 'usage'; usage: ThreadTokenUsage; aside?: true }
  | { type: 'turnCompleted'; turnId: string; status: TurnStatus; error: TurnError | null; completedAt: number; durationMs: number | null }
  /** The history begins anew with these items; the turns that a client sees stay. */
  | { type: 'compacted'; items: { origin: HistoryOrigin; item: ResponseItem; turnId?: string | null; section?: string }[] }
  /** Turns from this one on are gone, for the client and for the model. */
  | { type: 'reverted'; beforeTurnId: string }
  /** The inputs that wait for their turn, whole. */
  | { type: 'queue'; entries: readonly QueuedSubmission[] }
  | { type: 'goal'; goal: ThreadGoal | null; turnsLeft: number }
  /** What a list shows, so that it need not read the whole file: written at the end of each turn and when it changes. */
  | {
      type: 'summary';
      preview: string;
      name: string | null;
      updatedAt: number;
      cwd: string;
      model: string;
      modelProvider: string;
      turns: number;
      gitInfo?: unknown;
      external?: boolean;
    };

export type RolloutLineType = RolloutLine['type'];

type Fields = Record<string, unknown>;
type Check = (line: Fields) => boolean;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const hasTurn: Check = (line) => isText(line.turnId);
const hasTypedItem: Check = (line) => isObject(line.item) && isText(line.item.type);
const isThreadItem: Check = (line) => hasTurn(line) && hasTypedItem(line) && isText((line.item as Fields).id);
const isEntry = (value: unknown): boolean => isObject(value) && hasTypedItem(value);

/** What a line of each kind must have, so that whoever applies it need not doubt it. */
const KNOWN: Record<RolloutLineType, Check> = {
  meta: (line) => isText(line.id) && typeof line.createdAt === 'number',
  settings: (line) => isObject(line.settings),
  dynamicTools: (line) => Array.isArray(line.tools),
  name: (line) => line.name === null || isText(line.name),
  gitInfo: () => true,
  external: () => true,
  turnStarted: (line) => hasTurn(line) && typeof line.startedAt === 'number',
  history: (line) => hasTypedItem(line) && isText(line.origin),
  input: (line) => hasTurn(line) && isText(line.id) && Array.isArray(line.input),
  inputRefused: (line) => hasTurn(line) && isText(line.id),
  result: (line) => hasTurn(line) && hasTypedItem(line) && isText((line.item as Fields).call_id),
  placed: (line) => isText(line.callId),
  asked: (line) => hasTurn(line) && isText(line.askId) && isText(line.method),
  settled: (line) => isText(line.askId),
  itemStarted: isThreadItem,
  item: isThreadItem,
  usage: (line) => isObject(line.usage) && isObject(line.usage.last) && isObject(line.usage.total),
  turnCompleted: (line) => hasTurn(line) && isText(line.status),
  compacted: (line) => Array.isArray(line.items) && line.items.every(isEntry),
  reverted: (line) => isText(line.beforeTurnId),
  queue: (line) => Array.isArray(line.entries),
  goal: (line) => line.goal === null || isObject(line.goal),
  summary: (line) => isText(line.preview) && typeof line.updatedAt === 'number',
};

export type LineReading =
  | { type: 'line'; line: RolloutLine; timestamp: string | null }
  /** Of a kind that a later version writes: left where it is and passed over. */
  | { type: 'unknown' }
  /** Torn, or no line of a rollout. */
  | { type: 'unreadable' };

const UNREADABLE: LineReading = { type: 'unreadable' };

export function readRolloutLine(text: string): LineReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
  if (!isObject(value) || !isText(value.type)) return UNREADABLE;
  if (!Object.hasOwn(KNOWN, value.type)) return { type: 'unknown' };
  if (!KNOWN[value.type as RolloutLineType](value)) return UNREADABLE;
  return { type: 'line', line: value as RolloutLine, timestamp: isText(value.timestamp) ? value.timestamp : null };
}
