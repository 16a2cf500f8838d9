// Making room: the history is told anew as what the world is, what the user said, and a summary of the rest. What a client sees of the
// thread stays as it was.
import { newId } from '../common/ids.ts';
import { ModelError, type TokenUsage } from '../model/client.ts';
import { codexErrorInfo } from '../model/retry.ts';
import type { ResponseItem } from '../protocol/response-item.ts';
import { isPlanSection, standingPlan } from './context/plan.ts';
import type { HistoryEntry } from './history.ts';
import { inputMessage } from './input-message.ts';
import { windowBytes } from './item-images.ts';
import { buildRequest } from './prompt.ts';
import { messageText } from './response-items.ts';
import { Interrupted, TurnFailure } from './sampling.ts';
import type { StepContext } from './step-context.ts';
import type { CompactionTrigger } from './thread-hooks.ts';
import type { TurnContext } from './turn-context.ts';

const PROMPT = `Write a summary of this conversation for yourself: you will go on from it alone, without the calls and answers above.
Say what the user wants, what was done and decided, what was found (files, facts, errors, exact names), what is still open, and what to do next. Be complete and brief. Answer with the summary only.`;

/** Bytes of user messages that are kept; the oldest go first. */
const KEPT_USER_BYTES = 80_000;

function keptUserMessages(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const kept: HistoryEntry[] = [];
  let bytes = 0;
  for (const entry of [...entries].reverse()) {
    if (entry.origin !== 'user') continue;
    bytes += windowBytes(entry.item);
    if (bytes > KEPT_USER_BYTES && kept.length > 0) break;
    kept.unshift(entry);
  }
  return kept;
}

/** The last telling of each section, in the order of the first. */
function keptSections(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const last = new Map<string, HistoryEntry>();
  for (const entry of entries) if (entry.section && !isPlanSection(entry.section)) last.set(entry.section, entry);
  return [...last.values()];
}

/** The history that takes the place of another one. */
export function compactedEntries(entries: readonly HistoryEntry[], summary: string | null): HistoryEntry[] {
  const plan = standingPlan(entries);
  const kept = [...keptSections(entries), ...keptUserMessages(entries), ...(plan ? [plan] : [])];
  const text = summary ?? 'The context was begun anew at your request: earlier calls and answers are not shown any more.';
  return [
    ...kept,
    { origin: 'summary', turnId: null, item: inputMessage('user', `<summary_of_earlier_work>\n${text}\n</summary_of_earlier_work>`) },
  ];
}

async function summarise(context: TurnContext, step: StepContext): Promise<{ text: string; usage: TokenUsage | null }> {
  const request = buildRequest(context.history, step, { sessionId: context.sessionId });
  const input: ResponseItem[] = [...request.input, inputMessage('user', step.binding.compactPrompt ?? PROMPT)];
  const parts: string[] = [];
  let usage: TokenUsage | null = null;
  for await (const batch of step.binding.client.stream({ ...request, input, tools: [] }, context.signal)) {
    for (const event of batch) {
      if (event.type === 'itemDone' && event.item.type === 'message') parts.push(messageText(event.item));
      else if (event.type === 'completed') usage = event.usage;
    }
  }
  return { text: parts.join('\n'), usage };
}

/**
 * Summarises and replaces the history, shown as one contextCompaction item. One attempt: throws Interrupted, or the TurnFailure of the
 * model's fault; then nothing was replaced. A hook may prevent it; the client is told.
 */
export async function compact(context: TurnContext, step: StepContext, trigger: CompactionTrigger): Promise<TokenUsage | null> {
  const refusal = await context.hooks.preCompact(context.turn.id, trigger, context.signal);
  if (context.signal.aborted) throw new Interrupted();
  if (refusal !== null) {
    context.ledger.warning(`A hook prevented the compaction of the history: ${refusal}`);
    return null;
  }
  const usage = await replaceBySummary(context, step);
  await context.hooks.postCompact(context.turn.id, trigger, context.signal);
  return usage;
}

async function replaceBySummary(context: TurnContext, step: StepContext): Promise<TokenUsage | null> {
  const id = newId();
  const handle = context.ledger.startItem({ type: 'contextCompaction', id }, { abandoned: (item) => item });
  try {
    const { text, usage } = await summarise(context, step);
    if (context.signal.aborted) throw new Interrupted();
    context.replaceHistory(compactedEntries(context.history.entries, text));
    return usage;
  } catch (error) {
    if (error instanceof Interrupted || context.signal.aborted) throw new Interrupted();
    if (!(error instanceof ModelError)) throw error;
    throw new TurnFailure({
      message: error.message,
      codexErrorInfo: codexErrorInfo(error, { exhausted: true }),
      additionalDetails: 'while the history was being compacted',
    });
  } finally {
    handle.complete({ type: 'contextCompaction', id });
  }
}

/** A fresh window at the model's own wish, without a summary. */
export function beginNewContext(context: TurnContext): void {
  const item = { type: 'contextCompaction' as const, id: newId() };
  context.ledger.addItem(item);
  context.replaceHistory(compactedEntries(context.history.entries, null));
}
