// Token counts of a thread, added up over its responses.

import { tokensOf } from '../common/bound-text.ts';
import type { TokenUsage } from '../model/client.ts';
import type { ThreadTokenUsage, TokenUsageBreakdown } from '../protocol/turn.ts';
import type { HistoryEntry } from './history.ts';
import { windowBytes } from './item-images.ts';

const KEYS = ['totalTokens', 'inputTokens', 'cachedInputTokens', 'cacheWriteInputTokens', 'outputTokens', 'reasoningOutputTokens'] as const;

export function addUsage(before: ThreadTokenUsage | null, usage: TokenUsage, window: number): ThreadTokenUsage {
  const total = {} as TokenUsageBreakdown;
  for (const key of KEYS) total[key] = (before?.total[key] ?? 0) + usage[key];
  return { total, last: { ...usage }, modelContextWindow: window };
}

/** Before any response was counted: from the size of what would be sent. */
export const estimateTokens = (entries: readonly HistoryEntry[]): number =>
  tokensOf(entries.reduce((bytes, { item }) => bytes + windowBytes(item), 0));
