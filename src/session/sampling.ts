// One step: a request to the model, the stream that comes back, and the calls in it. A call starts when its item is complete. When the
// stream breaks, what was complete stays, running calls are awaited, and the next attempt carries their results: nothing runs twice.
import { nowMs, sleep } from '../common/clock.ts';
import { newRandomId } from '../common/ids.ts';
import { ModelError, type ModelEvent, type TokenUsage } from '../model/client.ts';
import { codexErrorInfo, decideRetry, type RetryCounts } from '../model/retry.ts';
import { isToolCall, type ResponseItem, type ToolCallItem } from '../protocol/response-item.ts';
import type { TurnError } from '../protocol/turn.ts';
import { ParallelGate } from '../tools/gates/parallel.ts';
import { textOf } from '../tools/result.ts';
import { readCallItem } from '../tools/router.ts';
import type { ToolCall } from '../tools/runtime.ts';
import { CallScheduler, type FinishedCall } from '../tools/scheduler.ts';
import { CallPreviews } from './call-previews.ts';
import { inputMessage } from './input-message.ts';
import { buildRequest } from './prompt.ts';
import { ResponseItems } from './response-items.ts';
import type { StepContext } from './step-context.ts';
import type { TurnContext } from './turn-context.ts';

export interface StepOutcome {
  /** Calls that ended in this step, in call order, those of broken attempts included. */
  calls: readonly FinishedCall[];
  /** The last response held calls: the model has yet to read their results. */
  unread: boolean;
  usage: TokenUsage | null;
  /** The response held nothing at all. */
  empty: boolean;
}

/** The turn failed for a reason that the client is told. */
export class TurnFailure extends Error {
  readonly error: TurnError;

  constructor(error: TurnError) {
    super(error.message);
    this.name = 'TurnFailure';
    this.error = error;
  }
}

/** The turn was interrupted while the step ran. Everything it did is in history. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
    this.name = 'Interrupted';
  }
}

class Attempt {
  readonly #turn: TurnContext;
  readonly #step: StepContext;
  /** Length of the history when the step began. */
  readonly #begin: number;
  readonly #scheduler: CallScheduler;
  readonly #items: ResponseItems;
  readonly #previews: CallPreviews;
  usage: TokenUsage | null = null;
  itemsDone = 0;

  constructor(turn: TurnContext, step: StepContext, begin: number) {
    this.#turn = turn;
    this.#step = step;
    this.#begin = begin;
    this.#items = new ResponseItems(turn.ledger, {
      plans: step.settings.collaborationMode?.mode === 'plan',
      reasoning: step.binding.reasoningShown ?? 'all',
    });
    this.#previews = new CallPreviews({
      events: turn.ledger,
      router: step.router,
      step: step.facts,
      isCall: (callId) => turn.history.hasCallId(callId),
      isItem: (itemId) => turn.ledger.has(itemId),
    });
    this.#scheduler = new CallScheduler({
      orchestrator: turn.orchestrator,
      router: step.router,
      gate: new ParallelGate(),
      step: step.facts,
      events: turn.ledger,
      artifacts: turn.artifacts,
      signal: turn.signal,
      beforeCall: () => turn.flush(),
      afterCall: ({ item }) => turn.keepResult(item),
      interrupt: () => turn.turn.interrupt(),
    });
  }

  /** Follows the stream to its end. Throws the ModelError that ended it. */
  async stream(): Promise<void> {
    const { turn, history, sessionId } = this.#turn;
    const request = buildRequest(history, this.#step, { sessionId, outputSchema: turn.outputSchema });
    for await (const batch of this.#step.binding.client.stream(request, turn.signal)) {
      for (const event of batch) this.#take(event);
    }
  }

  #take(event: ModelEvent): void {
    switch (event.type) {
      case 'textDelta':
      case 'reasoningPartAdded':
      case 'reasoningSummaryDelta':
      case 'reasoningTextDelta':
        this.#items.delta(event);
        return;
      case 'itemAdded':
        this.#items.added(event.item);
        this.#previews.added(event.item);
        return;
      case 'argumentsDelta':
        this.#previews.delta(event);
        return;
      case 'itemDone':
        this.itemsDone++;
        if (isToolCall(event.item)) this.#call(event.item);
        else {
          this.#items.done(event.item);
          this.#turn.record('model', event.item);
        }
        return;
      case 'completed':
        this.usage = event.usage;
        return;
      case 'created':
      case 'rateLimits':
        return;
    }
  }

  #call(item: ToolCallItem): void {
    const shown = this.#previews.take(item);
    const repeated = this.#turn.history.sameCall(this.#begin, item);
    shown?.preview.end(repeated ? 'cut' : 'whole');
    if (repeated) return; // the model repeated a call of this step: it ran, or runs, already
    const named = { ...item, call_id: shown?.callId ?? this.#freshId(item.call_id ?? '') } as ToolCallItem;
    this.#turn.record('model', named);
    const { name, payload, replyAs } = readCallItem(named);
    const callId = named.call_id as string;
    const itemId = shown?.itemId ?? (this.#turn.ledger.has(callId) ? newRandomId() : callId);
    const call: ToolCall = { callId, itemId, name, payload, replyAs };
    this.#scheduler.start(call);
  }

  /** Call ids pair calls and outputs, so each is used once in a thread; a missing one is made up. */
  #freshId(given: string): string {
    const id = given || `call_${newRandomId()}`;
    const isFree = (wanted: string) => !this.#turn.history.hasCallId(wanted) && !this.#previews.reserves(wanted);
    if (isFree(id)) return id;
    for (let n = 2; ; n++) if (isFree(`${id}_${n}`)) return `${id}_${n}`;
  }

  /** Awaits the calls and puts their outputs into history, in call order. */
  async finishCalls(): Promise<FinishedCall[]> {
    if (this.#scheduler.size === 0) return [];
    const finished = await this.#scheduler.results();
    for (const { item, external } of finished) {
      this.#turn.record('tool', item);
      if (external) this.#turn.markExternal();
    }
    // A provider's own search answer has no place for words: what would help the next search is said beside it, behind all outputs.
    for (const { call, output } of finished)
      if (call.replyAs === 'search' && output.found?.length === 0) this.#turn.record('context', inputMessage('developer', textOf(output)));
    if (this.#scheduler.fatal) throw this.#scheduler.fatal;
    return finished;
  }

  /** Text that was cut off is shown to the client; for the model it is kept only when the user stopped it. */
  closeText(keepForModel: boolean): void {
    if (keepForModel) for (const text of this.#items.partialTexts()) this.#turn.record('model', assistantText(text));
    this.#previews.cut();
    this.#turn.ledger.closeStreaming();
  }
}

const assistantText = (text: string): ResponseItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });

const asModelError = (error: unknown): ModelError =>
  error instanceof ModelError ? error : new ModelError('other', error instanceof Error ? error.message : String(error), { cause: error });

/** Runs one step with its retries. Throws Interrupted, TurnFailure, or FatalToolError. */
export async function runStep(turn: TurnContext, step: StepContext): Promise<StepOutcome> {
  const done: FinishedCall[] = [];
  const begin = turn.history.length;
  let counts: RetryCounts = { request: 0, stream: 0 };
  for (;;) {
    const attempt = new Attempt(turn, step, begin);
    let failure: ModelError | null = null;
    try {
      await attempt.stream();
    } catch (error) {
      failure = asModelError(error);
    }
    if (failure) attempt.closeText(turn.signal.aborted);
    const finished = await attempt.finishCalls();
    done.push(...finished);
    if (turn.signal.aborted) throw new Interrupted();
    if (!failure) {
      attempt.closeText(false);
      return { calls: done, unread: finished.length > 0, usage: attempt.usage, empty: attempt.itemsDone === 0 };
    }
    counts = await retryOrFail(turn, step, failure, counts);
  }
}

/** Waits for the next try and tells the client, or throws the failure of the turn. */
async function retryOrFail(turn: TurnContext, step: StepContext, failure: ModelError, counts: RetryCounts): Promise<RetryCounts> {
  const decision = decideRetry({ error: failure, counts, limits: step.binding.retries });
  if (!decision.retry) {
    throw new TurnFailure({
      message: decision.message,
      codexErrorInfo: codexErrorInfo(failure, { exhausted: true }),
      additionalDetails: null,
    });
  }
  const { counter, delayMs } = decision;
  const next = { ...counts, [counter]: counts[counter] + 1 };
  const limit = counter === 'stream' ? step.binding.retries.streamMaxRetries : step.binding.retries.requestMaxRetries;
  turn.tellRetry({
    message: `Reconnecting... ${next[counter]}/${limit}`,
    codexErrorInfo: codexErrorInfo(failure, { exhausted: false }),
    additionalDetails: `${failure.message} (next try in ${(delayMs / 1000).toFixed(1)} s, at ${new Date(nowMs() + delayMs).toISOString()})`,
  });
  if (!(await sleep(delayMs, turn.signal))) throw new Interrupted();
  return next;
}
