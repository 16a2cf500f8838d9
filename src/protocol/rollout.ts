// The persisted lines of a thread. One line is one fact; a reader keeps what it does not know and skips what it cannot read.
import type { ThreadItem } from './item.ts';
import type { ResponseItem } from './response-item.ts';
import type { SessionSource } from './thread.ts';
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
  | { type: 'itemStarted'; turnId: string; item: ThreadItem }
  | { type: 'item'; turnId: string; item: ThreadItem }
  | { type: 'usage'; usage: ThreadTokenUsage }
  | { type: 'turnCompleted'; turnId: string; status: TurnStatus; error: TurnError | null; completedAt: number; durationMs: number }
  /** The history begins anew with these items; the turns that a client sees stay. */
  | { type: 'compacted'; items: { origin: HistoryOrigin; item: ResponseItem; section?: string }[] }
  /** Turns from this one on are gone, for the client and for the model. */
  | { type: 'reverted'; beforeTurnId: string }
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
    };

export type RolloutLineType = RolloutLine['type'];

const KNOWN: ReadonlySet<string> = new Set<RolloutLineType>([
  'meta',
  'settings',
  'dynamicTools',
  'name',
  'gitInfo',
  'external',
  'turnStarted',
  'history',
  'itemStarted',
  'item',
  'usage',
  'turnCompleted',
  'compacted',
  'reverted',
  'summary',
]);

/** Reads one line; null when it is torn, odd or of an unknown kind. */
export function readRolloutLine(text: string): RolloutLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const type = (value as { type?: unknown }).type;
  return typeof type === 'string' && KNOWN.has(type) ? (value as RolloutLine) : null;
}
