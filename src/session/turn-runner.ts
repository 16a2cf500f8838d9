// Which turn is active, and its way from start to end. One turn is active at a time, decided here and nowhere else.
import { monotonicMs, nowSeconds } from '../common/clock.ts';
import { invalidRequest, messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { ResponseItem } from '../protocol/response-item.ts';
import type { ReviewTarget } from '../protocol/review.ts';
import type { ArtifactPort } from '../tools/artifacts.ts';
import type { Orchestrator } from '../tools/orchestrator.ts';
import { compact } from './compaction.ts';
import type { ContextWindow } from './context-window.ts';
import { inputMessage } from './input-message.ts';
import { ItemLedger } from './item-ledger.ts';
import type { EventSink, ModelSource } from './ports.ts';
import { REVIEW_INSTRUCTIONS, type Review, ReviewLedger, reviewHint, runReview } from './review.ts';
import type { StepBuilder } from './step-context.ts';
import type { ThreadLog } from './thread-log.ts';
import type { ThreadState } from './thread-state.ts';
import type { ThreadTools, UserShellRun } from './thread-tools.ts';
import { previewOf } from './thread-view.ts';
import { Turn } from './turn.ts';
import type { TurnContext } from './turn-context.ts';
import { endOf, keepUnread, type LoopPorts, type LoopResult, runTurn, steps } from './turn-loop.ts';
import { completedTurn, type TurnRecord, wireTurn } from './turn-record.ts';
import { turnSummary } from './turn-summary.ts';
import type { UserMessage } from './user-input.ts';
import type { World } from './world.ts';

export interface RunnerParts {
  state: ThreadState;
  log: ThreadLog;
  tools: ThreadTools;
  sink: EventSink;
  models: ModelSource;
  artifacts: ArtifactPort;
  world: World;
  window: ContextWindow;
  orchestrator: Orchestrator;
  steps: StepBuilder;
  /** Steps of a reviewer: fewer tools. */
  reviewSteps: StepBuilder;
  /** What agents of the thread have come to since it was asked last. */
  news(): readonly ResponseItem[];
  /** What the thread is as an agent; null for one that works for nobody. */
  agent: { id: string; kind: string } | null;
  /** Called when the thread becomes active or idle. */
  statusChanged(): void;
  /** Called last, when the client knows of the end: a new turn may begin. */
  turnEnded(result: LoopResult, record: TurnRecord): void;
}

/** What the thread does now. Written by `#begin` and `#finish` only. */
type Activity = { type: 'idle' } | { type: 'active'; turn: Turn; ledger: ItemLedger; ended: Promise<void> };
type Work = (context: TurnContext, ports: LoopPorts) => Promise<LoopResult>;

export class TurnRunner {
  readonly #parts: RunnerParts;
  #activity: Activity = { type: 'idle' };
  /** The last turn failed and none has begun since. */
  #failed = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  get #id(): string {
    return this.#parts.state.meta.id;
  }

  get activeTurnId(): string | null {
    return this.#activity.type === 'active' ? this.#activity.turn.id : null;
  }

  get lastFailed(): boolean {
    return this.#failed;
  }

  /** Throws when a turn/start, with or without a message, could neither join the active turn nor begin one of its own. */
  checkStart(message: UserMessage | null): void {
    this.#checkSteerable();
    if (!message) this.#checkFree();
  }

  #checkFree(): void {
    if (this.#activity.type === 'active' && !this.#activity.turn.closed && !this.#activity.turn.signal.aborted)
      throw invalidRequest(`thread ${this.#id} has an active turn (${this.#activity.turn.id})`);
  }

  /** Hands input to the active turn; null when there is none that takes it. Throws for a turn that no input may enter. */
  join(message: UserMessage): Turn | null {
    this.#checkSteerable();
    return this.#activity.type === 'active' && this.#activity.turn.add(message) ? this.#activity.turn : null;
  }

  /** A new turn; the returned function begins its work. */
  start(message: UserMessage | null, outputSchema: unknown): { turn: Turn; run: () => void } {
    const turn = new Turn('user', outputSchema);
    if (message) turn.add(message);
    return { turn, run: this.#begin(turn, runTurn) };
  }

  /** Adds input to the active turn, which must be the one that the client means. */
  steer(message: UserMessage, expectedTurnId: string): string {
    if (this.#activity.type !== 'active' || this.#activity.turn.closed) throw invalidRequest('no active turn to steer');
    const { turn } = this.#activity;
    if (turn.id !== expectedTurnId) throw invalidRequest(`expected active turn id ${expectedTurnId} but found ${turn.id}`);
    this.#checkSteerable();
    if (!turn.add(message)) throw invalidRequest('no active turn to steer');
    return turn.id;
  }

  #checkSteerable(): void {
    const kind = this.#activity.type === 'active' && !this.#activity.turn.closed ? this.#activity.turn.kind : 'user';
    if (kind === 'user' || kind === 'shell') return;
    const message = `cannot steer a ${kind} turn`;
    throw invalidRequest(message, { message, codexErrorInfo: { activeTurnNotSteerable: { turnKind: kind } }, additionalDetails: null });
  }

  /** Interrupts the active turn. An empty id means whichever is active. */
  interrupt(turnId: string): void {
    if (this.#activity.type !== 'active') {
      if (turnId === '') return;
      throw invalidRequest('no active turn to interrupt');
    }
    const { turn } = this.#activity;
    if (turnId !== '' && turn.id !== turnId) throw invalidRequest(`expected active turn id ${turnId} but found ${turn.id}`);
    turn.interrupt();
  }

  /** Interrupts what is active, if anything, and resolves when nothing is: what follows by itself ends, too. */
  async stop(): Promise<void> {
    while (this.#activity.type === 'active') {
      this.#activity.turn.interrupt();
      await this.#activity.ended;
    }
  }

  /** Runs a command of the user: beside the active turn, or in a turn of its own. */
  shellCommand(command: string, timeoutMs: number | null): () => void {
    const run = (context: TurnContext): Promise<string> => {
      const request: UserShellRun = { turnId: context.turn.id, command, timeoutMs, events: context.ledger, signal: context.signal };
      return this.#parts.tools.runUserShell(request);
    };
    if (this.#activity.type === 'active') {
      const context = this.#context(this.#activity.turn, this.#activity.ledger);
      return () => {
        run(context).then(
          (text) => context.record('user', inputMessage('user', text)),
          (error: unknown) => context.ledger.warning(`The command could not be run: ${messageOf(error)}`),
        );
      };
    }
    return this.#begin(new Turn('shell'), (context, ports) => shellTurn(context, ports, run));
  }

  /** A turn that only compacts the history. */
  compact(): () => void {
    return this.#begin(new Turn('compact'), (context, ports) =>
      endOf(context, async () => {
        const step = ports.nextStep();
        this.#parts.window.countAside(context.turn.id, await compact(context, step, 'manual'), step);
      }),
    );
  }

  /** A turn that begins with words to the model which the client does not see. */
  startOwn(words: ResponseItem): void {
    const work: Work = (context, ports) => {
      context.record('marker', words);
      return runTurn(context, ports);
    };
    this.#begin(new Turn('user'), work)();
  }

  /** A turn in which a reviewer reads a change. */
  review(target: ReviewTarget): { turn: Turn; run: () => void } {
    const { state, models, reviewSteps, window, sink, log } = this.#parts;
    const turn = new Turn('review');
    const ledger = new ReviewLedger(this.#id, turn.record, sink, log);
    const model = models.reviewModel ?? state.settings.model;
    const settings = { ...state.settings, model, baseInstructions: REVIEW_INSTRUCTIONS };
    const work: Work = (context, ports) => {
      const nextStep = () => reviewSteps.build(this.#id, turn.id, settings, models.bind(settings.modelProvider, settings.model));
      const stepDone: LoopPorts['stepDone'] = (usage, step) => window.countAside(turn.id, usage, step);
      if (!state.preview) state.preview = previewOf(reviewHint(target));
      return runReview(
        context,
        { ...ports, nextStep, stepDone, tellNews: () => {} },
        { ledger, target, changes: this.#changesFor(turn.id) },
      );
    };
    return { turn, run: this.#begin(turn, work, ledger) };
  }

  /** What a conversation beside the thread's has to be told of the world. */
  #changesFor(turnId: string): Review['changes'] {
    const { world, window } = this.#parts;
    const fresh = world.another();
    return (step, entries) => fresh.changes(step, entries, turnId, () => window.standing());
  }

  /** Makes the turn the active one now; the returned function starts its work. */
  #begin(turn: Turn, work: Work, given?: ItemLedger): () => void {
    this.#checkFree();
    // A turn that is ending takes no more input: this one follows it.
    const before = this.#activity.type === 'active' ? this.#activity.ended : undefined;
    const ledger = given ?? new ItemLedger(this.#id, turn.record, this.#parts.sink, this.#parts.log);
    let start: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const ended = started.then(() => before).then(() => this.#run(turn, ledger, work));
    this.#activity = { type: 'active', turn, ledger, ended };
    return start;
  }

  async #run(turn: Turn, ledger: ItemLedger, work: Work): Promise<void> {
    const { state, log, sink, statusChanged } = this.#parts;
    const began = monotonicMs();
    const usage = state.usage;
    this.#failed = false;
    turn.record.startedAt = nowSeconds();
    state.turns.push(turn.record);
    log.append({ type: 'turnStarted', turnId: turn.id, startedAt: turn.record.startedAt });
    statusChanged();
    sink.thread(this.#id, 'turn/started', { threadId: this.#id, turn: wireTurn(turn.record, 'notLoaded') });
    const context = this.#context(turn, ledger);
    const result = await work(context, this.#loopPorts(context));
    if (turn.kind !== 'review') await keepUnread(context); // what a reviewer is told is not the user's
    await this.#finish(turn, ledger, result, monotonicMs() - began);
    logger().info(turnSummary(this.#id, turn.record, state.settings, usage, state.usage), 'turn ended');
  }

  /** Whatever fails here, the turn has ended and the thread is free. */
  async #finish(turn: Turn, ledger: ItemLedger, result: LoopResult, durationMs: number): Promise<void> {
    const { state, log, sink, tools, window, statusChanged } = this.#parts;
    const { record } = turn;
    const isInterrupted = result.end === 'interrupted';
    await tools.turnEnded(turn.id, isInterrupted).catch((error: unknown) => faulty('what a turn left running could not be ended', error));
    ledger.closeOpen({ keepOutliving: !isInterrupted });
    if (result.error) window.failedWith(result.error);
    record.status = result.end;
    record.error = result.error;
    record.completedAt = nowSeconds();
    record.durationMs = Math.round(durationMs);
    state.updatedAt = record.completedAt;
    log.append({
      type: 'turnCompleted',
      turnId: turn.id,
      status: record.status,
      error: record.error,
      completedAt: record.completedAt,
      durationMs: record.durationMs,
    });
    log.summary();
    await log.flush();
    if (this.#activity.type === 'active' && this.#activity.turn === turn) this.#activity = { type: 'idle' };
    this.#failed = result.end === 'failed';
    statusChanged();
    if (result.error) sink.thread(this.#id, 'error', { threadId: this.#id, turnId: turn.id, willRetry: false, error: result.error });
    sink.thread(this.#id, 'turn/completed', { threadId: this.#id, turn: completedTurn(record) });
    try {
      this.#parts.turnEnded(result, record);
    } catch (error) {
      faulty('what follows a turn could not begin', error);
    }
  }

  #context(turn: Turn, ledger: ItemLedger): TurnContext {
    const { state, log, sink, orchestrator, artifacts, window } = this.#parts;
    return {
      turn,
      signal: turn.signal,
      history: state.history,
      ledger,
      orchestrator,
      hooks: this.#parts.tools.hooks,
      agent: this.#parts.agent,
      artifacts,
      sessionId: this.#id,
      record: (origin, item, section) => log.history(origin, item, turn.id, section),
      keepResult: (item) => log.result(item, turn.id),
      flush: () => log.flush(),
      refuseInput: (id) => log.append({ type: 'inputRefused', turnId: turn.id, id }),
      replaceHistory: (entries) => window.replace(entries),
      markExternal: () => {
        if (state.external) return;
        state.external = true;
        log.append({ type: 'external' });
      },
      tellRetry: (error) => sink.thread(this.#id, 'error', { threadId: this.#id, turnId: turn.id, willRetry: true, error }),
    };
  }

  #loopPorts(context: TurnContext): LoopPorts {
    const { state, models, steps, world, window, tools } = this.#parts;
    return {
      toolsReady: () => tools.ready(context.turn.waiting.flatMap(textsOf).join('\n'), context.signal),
      nextStep: () =>
        steps.build(this.#id, context.turn.id, state.settings, models.bind(state.settings.modelProvider, state.settings.model)),
      describeWorld: async (step) => {
        for (const entry of await world.changes(step, state.history.entries, context.turn.id, () => window.standing()))
          context.record(entry.origin, entry.item, entry.section);
      },
      tellNews: () => {
        for (const item of this.#parts.news()) context.record('injected', item);
      },
      stepDone: (usage, step) => window.count(context.turn.id, usage, step),
      makeRoom: (step) => window.makeRoom(context, step),
      beforeMessage: async (message) => {
        if (!state.preview) state.preview = previewOf(textOfInput(message));
        const { items, external } = await world.brings(message, state.history.entries);
        for (const item of items) context.record('context', item);
        if (external) context.markExternal();
      },
    };
  }
}

const faulty = (what: string, error: unknown): void =>
  logger().error({ error: messageOf(error), stack: error instanceof Error ? error.stack : undefined }, what);

/** A command of the user, and then whatever the user said meanwhile. */
const shellTurn = (context: TurnContext, ports: LoopPorts, run: (context: TurnContext) => Promise<string>): Promise<LoopResult> =>
  endOf(context, async () => {
    context.record('user', inputMessage('user', await run(context)));
    if (context.turn.hasInput) await steps(context, ports);
  });

const textsOf = ({ input }: UserMessage): string[] =>
  input.map((part) => (part.type === 'text' ? part.text : '')).filter((text) => text !== '');

/** The first text of a message; one of images only still needs something to be listed by. */
const textOfInput = (message: UserMessage): string => textsOf(message)[0] ?? (message.input.length ? `[${message.input[0].type}]` : '');
