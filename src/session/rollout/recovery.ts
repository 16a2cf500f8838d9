// What a thread does at load about a process that ended in the middle of its work: it writes down the ends that are missing, so that
// every later reader sees the same, and tells the model and the client what happened.
import type { ResponseItem, ToolCallOutputItem } from '../../protocol/response-item.ts';
import { isToolCall } from '../../protocol/response-item.ts';
import { unknownOutcome } from '../history.ts';
import { inputMessage } from '../input-message.ts';
import type { ThreadLog } from '../thread-log.ts';
import type { ThreadState } from '../thread-state.ts';
import { plainModelMessage, userMessageItem } from '../user-input.ts';
import type { LostQuestion, Remains } from './replay.ts';

const CRASH_MARKER = `<turn_aborted>
The daemon ended in the middle of this turn and was started again. Calls without a result were cut off and may have had effects; nothing of them runs any more. Check before you go on.
</turn_aborted>`;

const marker = inputMessage('user', CRASH_MARKER);

const UNANSWERED =
  'aborted: the daemon ended while this call waited for an answer of the user. The request is lost; what it asked for was not done. Steps of the call before the request may have had effects.';

/** The output of a cut call that says what is known: it waited for the user, or nothing is known. */
function cutOutput(call: ResponseItem, waiting: ReadonlySet<string>): ToolCallOutputItem | null {
  const output = unknownOutcome(call);
  if (!output || output.type === 'tool_search_output' || !waiting.has(output.call_id)) return output;
  return { ...output, output: UNANSWERED };
}

/** Gives each call that has no output one that says what is known. */
function answerCalls(state: ThreadState, log: ThreadLog, remains: Remains): void {
  for (const { turnId, callId } of remains.placed) log.append({ type: 'placed', turnId, callId });
  const waiting = new Set([...remains.questions.values()].map(({ itemId }) => itemId ?? ''));
  const turns = new Map(state.history.entries.map(({ item, turnId }) => [isToolCall(item) ? (item.call_id ?? '') : '', turnId]));
  for (const call of state.history.openCalls()) {
    const output = cutOutput(call, waiting);
    if (output) log.history('tool', output, turns.get(call.call_id ?? '') ?? null);
  }
}

/** Writes the missing ends. Gives the questions that were lost. Does nothing to a thread whose last process ended well. */
export function recover(state: ThreadState, log: ThreadLog, remains: Remains): LostQuestion[] {
  const lost = [...remains.questions.values()];
  // Turns that ended before they began: their own lines come first.
  const begun = new Set<string>();
  for (const { turnId, message, shown } of remains.inputs.values()) {
    const turn = remains.turns.find(({ id }) => id === turnId);
    if (turn && !shown && !begun.has(turnId)) log.append({ type: 'turnStarted', turnId, startedAt: turn.startedAt ?? 0 });
    begun.add(turnId);
    if (!shown) log.append({ type: 'item', turnId, item: userMessageItem(message) });
    log.append({ type: 'history', turnId, origin: 'user', item: plainModelMessage(message.input) });
  }
  answerCalls(state, log, remains);
  for (const { turnId, item } of remains.items) log.append({ type: 'item', turnId, item });
  for (const askId of remains.questions.keys()) log.append({ type: 'settled', askId });
  for (const turn of remains.turns) {
    log.history('marker', marker, turn.id);
    const { id, status, error, completedAt, startedAt } = turn;
    log.append({ type: 'turnCompleted', turnId: id, status, error, completedAt: completedAt ?? startedAt ?? 0, durationMs: null });
  }
  if (remains.turns.length > 0) log.summary();
  return lost;
}
