// What a message of the user is about, among the tools that are not listed: a few names under a small budget, so that the model knows
// what it does not know. It still searches before it calls.
import { headOf } from '../common/text.ts';
import { wireName } from '../model/flat-tools.ts';
import type { ToolRuntime } from './runtime.ts';
import { indexOf } from './runtimes/tool-search.ts';

const LIMIT = 5;
const BUDGET_BYTES = 800;
/** Longer messages hold more words than their subject has. */
const READ_LENGTH = 4_000;

/** A note for the model, or null when nothing fits well enough. */
export function suggestTools(deferred: readonly ToolRuntime[], message: string): string | null {
  if (deferred.length === 0 || message.trim() === '') return null;
  const lines: string[] = [];
  let bytes = 0;
  for (const { runtime } of indexOf(deferred).suggest(headOf(message, READ_LENGTH), LIMIT)) {
    const line = `- ${wireName(runtime.name)}: ${headOf(runtime.spec.description.replace(/\s+/g, ' '), 120)}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > BUDGET_BYTES) break;
    lines.push(line);
  }
  if (lines.length === 0) return null;
  return `<tool_suggestions>\nThese tools are not listed and may fit what the user says; find them with tool_search when you need them:\n${lines.join('\n')}\n</tool_suggestions>`;
}
