// Token counts of a thread, added up over its responses.
import type { TokenUsage } from '../model/client.ts';
import type { ThreadTokenUsage, TokenUsageBreakdown } from '../protocol/turn.ts';

const KEYS = ['totalTokens', 'inputTokens', 'cachedInputTokens', 'cacheWriteInputTokens', 'outputTokens', 'reasoningOutputTokens'] as const;

export function addUsage(before: ThreadTokenUsage | null, usage: TokenUsage, window: number): ThreadTokenUsage {
  const total = {} as TokenUsageBreakdown;
  for (const key of KEYS) total[key] = (before?.total[key] ?? 0) + usage[key];
  return { total, last: { ...usage }, modelContextWindow: window };
}
