// Fits a text into a token budget: the head and the tail stay, the middle is replaced by an exact count. One token is four bytes.
import { utf8HeadLength, utf8TailStart } from './text.ts';

export const BYTES_PER_TOKEN = 4;

export interface BoundText {
  readonly text: string;
  readonly truncated: boolean;
  /** Of the whole text, whether or not it was cut. */
  readonly originalTokens: number;
}

export const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The cut falls between characters; the count is what is missing in bytes over four, rounded, and 1 at least. */
export function boundOutput(text: string, maxTokens: number): BoundText {
  const budget = Math.max(0, Math.floor(maxTokens)) * BYTES_PER_TOKEN;
  const size = Buffer.byteLength(text);
  const originalTokens = tokensOf(size);
  if (size <= budget) return { text, truncated: false, originalTokens };
  const bytes = Buffer.from(text);
  const head = utf8HeadLength(bytes, budget >> 1);
  const tail = utf8TailStart(bytes, budget - (budget >> 1));
  const missing = Math.max(1, Math.round((tail - head) / BYTES_PER_TOKEN));
  return {
    text: `${bytes.toString('utf8', 0, head)}…${missing} tokens truncated…${bytes.toString('utf8', tail)}`,
    truncated: true,
    originalTokens,
  };
}
