// The one line that the log has of a turn: enough to see what it cost and how it went, nothing of what was said.
import type { ThreadItem } from '../protocol/item.ts';
import type { ThreadTokenUsage } from '../protocol/turn.ts';
import type { ThreadSettings } from './settings.ts';
import type { TurnRecord } from './turn-record.ts';

const CALLS: ReadonlySet<ThreadItem['type']> = new Set([
  'commandExecution',
  'fileChange',
  'mcpToolCall',
  'dynamicToolCall',
  'collabAgentToolCall',
  'imageView',
  'webSearch',
]);

export interface TurnSummary {
  threadId: string;
  turnId: string;
  status: string;
  provider: string;
  model: string;
  ms: number | null;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  /** Calls that show as items. */
  tools: number;
  /** The kind of the failure. */
  error?: string;
}

/** @param before the usage of the thread when the turn began */
export function turnSummary(
  threadId: string,
  record: TurnRecord,
  settings: ThreadSettings,
  before: ThreadTokenUsage | null,
  after: ThreadTokenUsage | null,
): TurnSummary {
  const spent = (key: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') => (after?.total[key] ?? 0) - (before?.total[key] ?? 0);
  const kind = record.error?.codexErrorInfo;
  return {
    threadId,
    turnId: record.id,
    status: record.status,
    provider: settings.modelProvider,
    model: settings.model,
    ms: record.durationMs,
    inputTokens: spent('inputTokens'),
    cachedTokens: spent('cachedInputTokens'),
    outputTokens: spent('outputTokens'),
    tools: record.items.filter((item) => CALLS.has(item.type)).length,
    ...(record.error ? { error: typeof kind === 'string' ? kind : Object.keys(kind ?? { other: null })[0] } : {}),
  };
}
