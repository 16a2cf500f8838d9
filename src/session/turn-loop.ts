// The life of a turn: input, then steps until the model has nothing more to do, then exactly one end. The order here is the order on the
// wire and on disk: what the user said is recorded before the model is asked, and every item is closed before the turn is.
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { TokenUsage } from '../model/client.ts';
import type { TurnError } from '../protocol/turn.ts';
import { FatalToolError } from '../tools/result.ts';
import { beginNewContext } from './compaction.ts';
import { inputMessage } from './input-message.ts';
import { Interrupted, runStep, TurnFailure } from './sampling.ts';
import type { StepContext } from './step-context.ts';
import type { TurnEnd } from './turn.ts';
import type { TurnContext } from './turn-context.ts';
import { admitPrompt, recordCallContext, recordHookContext, StopSeat } from './turn-hooks.ts';
import { plainModelMessage, toModelMessage, type UserMessage, userMessageItem } from './user-input.ts';

export interface LoopPorts {
  /** Tells the model what has changed since it was told last. */
  describeWorld(step: StepContext): Promise<void>;
  /** Tells the model what agents of the thread have come to. */
  tellNews(): void;
  /** Waits, for a bounded time, for tools that are still coming up. */
  toolsReady(): Promise<void>;
  nextStep(): StepContext;
  /** Called when a step has ended, with what it cost. */
  stepDone(usage: TokenUsage | null, step: StepContext): void;
  /** Makes room when the history is near the model's limit; called before a step. */
  makeRoom(step: StepContext): Promise<void>;
  /** What a user message brings along (skills, context), told before it. */
  beforeMessage(message: UserMessage): Promise<void>;
}

export interface LoopResult {
  end: TurnEnd;
  error: TurnError | null;
}

const ABORTED_MARKER = `<turn_aborted>
The user stopped this turn on purpose. Calls that were running were aborted; they may have had effects. Check before you go on.
</turn_aborted>`;

const textOfMessage = ({ input }: UserMessage): string => input.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

/** Takes the input that waits; false when there was some and hooks refused all of it. */
async function takeInputs(context: TurnContext, ports: LoopPorts, step: StepContext): Promise<boolean> {
  const inputs = context.turn.takeInputs();
  let taken = inputs.length === 0;
  for (const message of inputs) {
    const verdict = await admitPrompt(context, message);
    if (!verdict.admitted) {
      context.refuseInput(message.id);
      continue;
    }
    taken = true;
    const said = message.input.length > 0; // context may come without a word
    if (said) context.ledger.addItem(userMessageItem(message));
    await ports.beforeMessage(message);
    const suggestion = step.suggestion(textOfMessage(message));
    if (suggestion) context.record('context', inputMessage('developer', suggestion));
    if (said) context.record('user', await toModelMessage(message.input, step.settings.cwd));
    recordHookContext(context, verdict.context);
  }
  return taken;
}

/** What was said and no step came to read is kept for the next turn, unless hooks refuse it. */
export async function keepUnread(context: TurnContext): Promise<void> {
  for (const message of context.turn.takeInputs()) {
    if (!(await admitPrompt(context, message)).admitted) {
      context.refuseInput(message.id);
      continue;
    }
    if (message.input.length === 0) continue;
    context.ledger.addItem(userMessageItem(message));
    context.record('user', plainModelMessage(message.input));
  }
}

/** Steps until the model has nothing more to do and no input waits. */
export async function steps(context: TurnContext, ports: LoopPorts): Promise<void> {
  const stop = new StopSeat(context);
  // The model has yet to read something of an earlier step.
  let unread = false;
  for (;;) {
    await ports.toolsReady();
    const step = ports.nextStep();
    await ports.makeRoom(step);
    await ports.describeWorld(step);
    ports.tellNews();
    const taken = await takeInputs(context, ports, step);
    await context.flush();
    if (context.signal.aborted) throw new Interrupted();
    if (!taken && !unread) {
      if (context.turn.closeIfIdle()) return;
      continue;
    }
    const outcome = await runStep(context, step);
    ports.stepDone(outcome.usage, step);
    recordCallContext(context, outcome.calls);
    if (outcome.calls.some((call) => call.output.newContext)) beginNewContext(context);
    if (outcome.empty) context.ledger.warning('The model gave an empty response: nothing was answered and no tool was called.');
    unread = outcome.unread;
    if (unread || context.turn.hasInput) continue;
    unread = await stop.wantsMore();
    if (context.signal.aborted) throw new Interrupted();
    if (!unread && context.turn.closeIfIdle()) return;
  }
}

/** Runs the turn to its end. Never rejects. */
export const runTurn = (context: TurnContext, ports: LoopPorts): Promise<LoopResult> => endOf(context, () => steps(context, ports));

/** How a turn ended whose work is `work`. Never rejects. */
export async function endOf(context: TurnContext, work: () => Promise<void>): Promise<LoopResult> {
  let result: LoopResult;
  try {
    await work();
    result = { end: 'completed', error: null };
  } catch (error) {
    result = context.signal.aborted ? { end: 'interrupted', error: null } : resultOf(error);
  }
  context.turn.close();
  if (result.end === 'interrupted') {
    context.record('marker', inputMessage('user', ABORTED_MARKER));
    context.hooks.interrupted(context.turn.id);
  }
  return result;
}

function resultOf(error: unknown): LoopResult {
  if (error instanceof Interrupted) return { end: 'interrupted', error: null };
  if (error instanceof TurnFailure) return { end: 'failed', error: error.error };
  if (error instanceof FatalToolError)
    return { end: 'failed', error: { message: error.message, codexErrorInfo: 'other', additionalDetails: null } };
  logger().error({ error: messageOf(error), stack: error instanceof Error ? error.stack : undefined }, 'a turn failed unexpectedly');
  return {
    end: 'failed',
    error: { message: `The turn failed unexpectedly: ${messageOf(error)}`, codexErrorInfo: 'other', additionalDetails: null },
  };
}
