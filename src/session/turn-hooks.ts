// What the loop of a turn does with the answers of hooks: prompts that pass or not, context for the model, and more work at the end.
import { newId } from '../common/ids.ts';
import type { MessageItem } from '../protocol/response-item.ts';
import type { FinishedCall } from '../tools/scheduler.ts';
import { inputMessage } from './input-message.ts';
import type { TurnContext } from './turn-context.ts';
import { lastText } from './turn-record.ts';
import type { UserMessage } from './user-input.ts';

/** A Stop hook that always wants more work would keep a turn going for ever. */
const MAX_CONTINUATIONS = 8;

/** What a hook tells the model, as the model reads it. */
export const hookContext = (text: string): MessageItem => inputMessage('developer', `<hook_context>\n${text}\n</hook_context>`);

/** Puts what hooks tell the model into history. */
export function recordHookContext(context: TurnContext, texts: readonly string[]): void {
  for (const text of texts) context.record('context', hookContext(text));
}

/** After all outputs of a step: providers want an output right behind its call. */
export function recordCallContext(context: TurnContext, calls: readonly FinishedCall[]): void {
  for (const { output } of calls) recordHookContext(context, output.hookContext ?? []);
}

const promptOf = ({ input }: UserMessage): string =>
  input
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');

/** Asks the hooks whether a prompt may go on. A refused one leaves no trace in history; the client is told. */
export async function admitPrompt(
  context: TurnContext,
  given: UserMessage,
): Promise<{ admitted: true; context: readonly string[] } | { admitted: false }> {
  const { hooks, turn, signal, ledger, history } = context;
  const source = history.entries.some((entry) => entry.origin === 'user') ? 'resume' : 'startup';
  const started = await hooks.sessionStart(turn.id, source, signal);
  if (started.type === 'pass') recordHookContext(context, started.context);
  const verdict = started.type === 'refuse' ? started : await hooks.userPromptSubmit(turn.id, promptOf(given), signal);
  if (verdict.type === 'pass') return { admitted: true, context: verdict.context };
  ledger.warning(`A hook refused the prompt, so it was not sent to the model: ${verdict.reason}`);
  return { admitted: false };
}

/** Follows the Stop seat over one turn. */
export class StopSeat {
  readonly #context: TurnContext;
  #continuations = 0;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** True when the model is to go on: its reasons are then in history and on the wire. */
  async wantsMore(): Promise<boolean> {
    const { hooks, turn, signal, ledger, record, agent } = this.#context;
    const state = { active: this.#continuations > 0, lastMessage: lastText(turn.record) };
    const verdict = agent ? await hooks.subagentStop(turn.id, agent, state, signal) : await hooks.stop(turn.id, state, signal);
    if (verdict.type === 'end' || signal.aborted) return false;
    if (this.#continuations >= MAX_CONTINUATIONS) {
      ledger.warning(`A Stop hook wanted the model to go on ${MAX_CONTINUATIONS + 1} times in one turn: the turn ends here.`);
      return false;
    }
    this.#continuations++;
    const fragments = verdict.reasons.map(({ runId, text }) => ({ hookRunId: runId, text }));
    ledger.addItem({ type: 'hookPrompt', id: newId(), fragments });
    for (const { hookRunId, text } of fragments) record('context', inputMessage('user', promptText(hookRunId, text)));
    return true;
  }
}

const promptText = (runId: string, text: string): string =>
  `<hook_prompt hook_run_id="${runId.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')}">${text}</hook_prompt>`;
