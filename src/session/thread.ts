// A loaded thread. One turn is active at a time, and this is where that is decided. Everything that happens to a thread goes through here.
import { monotonicMs, nowSeconds } from '../common/clock.ts';
import { invalidRequest } from '../common/errors.ts';
import type { TokenUsage } from '../model/client.ts';
import type { ResponseItem } from '../protocol/response-item.ts';
import type { ThreadStatus, Thread as WireThread } from '../protocol/thread.ts';
import type { Turn as WireTurn } from '../protocol/turn.ts';
import type { ArtifactPort } from '../tools/artifacts.ts';
import { Orchestrator } from '../tools/orchestrator.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { dynamicRuntime } from '../tools/sources/dynamic.ts';
import type { DynamicTool } from '../tools/sources/dynamic-specs.ts';
import { compact } from './compaction.ts';
import type { HistoryEntry } from './history.ts';
import { ItemLedger } from './item-ledger.ts';
import type { EventSink, FrontendRequests, ModelSource } from './ports.ts';
import { patchSettings, type SettingsPatch, wireSettings } from './settings.ts';
import { StepBuilder, type StepContext } from './step-context.ts';
import { ThreadFrontend } from './thread-frontend.ts';
import { ThreadLog } from './thread-log.ts';
import { factsOf, type ThreadState } from './thread-state.ts';
import type { ThreadTools, ThreadToolsFactory, UserShellRun } from './thread-tools.ts';
import { previewOf, wireThread } from './thread-view.ts';
import { addUsage, estimateTokens } from './token-usage.ts';
import { Turn } from './turn.ts';
import type { TurnContext } from './turn-context.ts';
import { endOf, type LoopPorts, type LoopResult, runTurn } from './turn-loop.ts';
import { completedTurn, wireTurn } from './turn-record.ts';
import type { UserMessage } from './user-input.ts';
import { WaitingCounts } from './waiting-flags.ts';
import type { World } from './world.ts';

export interface ThreadPorts {
  sink: EventSink;
  frontends: FrontendRequests;
  models: ModelSource;
  tools: ThreadToolsFactory;
  artifacts: ArtifactPort;
  world: World;
  /** Frees the writer's lock of the rollout. */
  release(): void;
}

/** What the thread does now. Written by `#begin` and `#finish` only. */
type Activity = { type: 'idle' } | { type: 'active'; turn: Turn; ledger: ItemLedger; ended: Promise<void> };

export class Thread {
  readonly state: ThreadState;
  readonly log: ThreadLog;
  readonly tools: ThreadTools;
  readonly #ports: ThreadPorts;
  readonly #orchestrator: Orchestrator;
  readonly #steps: StepBuilder;
  #activity: Activity = { type: 'idle' };
  /** The last turn failed and none has begun since. */
  #systemError = false;
  readonly #waiting = new WaitingCounts(() => {
    if (this.#activity.type === 'active') this.#tellStatus();
  });
  #external: { tools: readonly DynamicTool[]; runtimes: readonly ToolRuntime[] } = { tools: [], runtimes: [] };
  #closed = false;
  /** Tokens of the last request and its answer; 0 after a compaction. */
  #contextTokens: number;
  /** The provider said that the history does not fit. */
  #overflowed = false;

  constructor(state: ThreadState, ports: ThreadPorts, stored: { begun: boolean; endsWhole: boolean }) {
    this.state = state;
    this.#ports = ports;
    this.#contextTokens = state.usage?.last.totalTokens ?? 0;
    this.log = new ThreadLog(state, { ...stored, onFault: (message) => this.warn(message) });
    const frontend = new ThreadFrontend(ports.frontends, this.id, () => this.activeTurnId ?? '', this.#waiting);
    this.tools = ports.tools({
      threadId: this.id,
      frontend,
      artifacts: ports.artifacts,
      keepsArtifacts: !state.ephemeral,
      settings: () => this.state.settings,
      tokens: () => this.#tokens(),
    });
    this.#orchestrator = new Orchestrator({
      approvals: this.tools.approvals,
      hooks: this.tools.hooks,
      onTrace: (trace) => this.tools.onTrace(trace),
    });
    const external = () => this.#externalRuntimes(frontend);
    this.#steps = new StepBuilder({ ...this.tools.sources, external }, (message) => this.warn(message));
  }

  get id(): string {
    return this.state.meta.id;
  }

  get activeTurnId(): string | null {
    return this.#activity.type === 'active' ? this.#activity.turn.id : null;
  }

  get status(): ThreadStatus {
    if (this.#activity.type === 'active') return { type: 'active', activeFlags: this.#waiting.flags };
    return this.#systemError ? { type: 'systemError' } : { type: 'idle' };
  }

  view(turns: WireTurn[] = []): WireThread {
    return wireThread(factsOf(this.state), this.status, turns);
  }

  warn(message: string): void {
    this.#ports.sink.thread(this.id, 'warning', { threadId: this.id, message });
  }

  // ---- turns ----

  /**
   * Starts a turn, or hands the input to the active one. `run` begins the work of a new turn; call it once the answer is on its way, so
   * that the client knows the turn before it hears of it.
   */
  startTurn(message: UserMessage | null, options: { patch: SettingsPatch; outputSchema: unknown }): { turn: WireTurn; run: () => void } {
    if (this.#closed) throw invalidRequest(`unknown thread: ${this.id}`);
    const patched = this.patchSettings(options.patch);
    if (this.#activity.type === 'active' && message && this.#activity.turn.add(message)) {
      return { turn: wireTurn(this.#activity.turn.record, 'notLoaded'), run: patched };
    }
    const turn = new Turn(options.outputSchema);
    if (message) turn.add(message);
    const work = this.#begin(turn, (context, ports) => runTurn(context, ports));
    return {
      turn: wireTurn(turn.record, 'notLoaded'),
      run: () => {
        patched();
        work();
      },
    };
  }

  /** Adds input to the active turn, which must be the one that the client means. */
  steer(message: UserMessage, expectedTurnId: string): string {
    if (this.#activity.type !== 'active' || this.#activity.turn.closed) throw invalidRequest('no active turn to steer');
    const { turn } = this.#activity;
    if (turn.id !== expectedTurnId) throw invalidRequest(`expected active turn id ${expectedTurnId} but found ${turn.id}`);
    if (!turn.add(message)) throw invalidRequest('no active turn to steer');
    return turn.id;
  }

  /** Interrupts the active turn. An empty id means whichever is active. */
  interrupt(turnId: string): void {
    if (this.#activity.type !== 'active') {
      if (turnId === '') return;
      throw invalidRequest('no active turn to interrupt');
    }
    if (turnId !== '' && this.#activity.turn.id !== turnId)
      throw invalidRequest(`expected active turn id ${turnId} but found ${this.#activity.turn.id}`);
    this.#activity.turn.interrupt();
  }

  /** Interrupts what is active, if anything, and resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.#activity.type !== 'active') return;
    this.#activity.turn.interrupt();
    await this.#activity.ended;
  }

  /** Runs a command of the user: beside the active turn, or in a turn of its own. */
  shellCommand(command: string, timeoutMs: number | null): () => void {
    const run = (context: TurnContext): Promise<string> => {
      const request: UserShellRun = { turnId: context.turn.id, command, timeoutMs, events: context.ledger, signal: context.signal };
      return this.tools.runUserShell(request);
    };
    if (this.#activity.type === 'active') {
      const context = this.#context(this.#activity.turn, this.#activity.ledger);
      return () => void run(context).then((text) => context.record('user', userText(text)));
    }
    return this.#begin(new Turn(), async (context) => {
      context.record('user', userText(await run(context)));
      context.turn.close();
      return { end: context.signal.aborted ? 'interrupted' : 'completed', error: null };
    });
  }

  /** Makes the turn the active one now; the returned function starts its work. */
  #begin(turn: Turn, work: (context: TurnContext, ports: LoopPorts) => Promise<LoopResult>): () => void {
    if (this.#activity.type === 'active')
      throw invalidRequest(`thread ${this.id} is ending a turn; try again when turn/completed has come`);
    const ledger = new ItemLedger(this.id, turn.record, this.#ports.sink, this.log);
    let start: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const ended = started.then(() => this.#run(turn, ledger, work));
    this.#activity = { type: 'active', turn, ledger, ended };
    return start;
  }

  async #run(turn: Turn, ledger: ItemLedger, work: (context: TurnContext, ports: LoopPorts) => Promise<LoopResult>): Promise<void> {
    const began = monotonicMs();
    this.#systemError = false;
    turn.record.startedAt = nowSeconds();
    this.state.turns.push(turn.record);
    this.log.append({ type: 'turnStarted', turnId: turn.id, startedAt: turn.record.startedAt });
    this.#tellStatus();
    this.#ports.sink.thread(this.id, 'turn/started', { threadId: this.id, turn: wireTurn(turn.record, 'notLoaded') });
    const context = this.#context(turn, ledger);
    const result = await work(context, this.#loopPorts(context));
    await this.#finish(turn, ledger, result, monotonicMs() - began);
  }

  async #finish(turn: Turn, ledger: ItemLedger, result: LoopResult, durationMs: number): Promise<void> {
    const { record } = turn;
    await this.tools.turnEnded(turn.id, result.end === 'interrupted');
    ledger.closeOpen({ keepOutliving: result.end !== 'interrupted' });
    if (result.error?.codexErrorInfo === 'contextWindowExceeded') this.#overflowed = true;
    record.status = result.end;
    record.error = result.error;
    record.completedAt = nowSeconds();
    record.durationMs = Math.round(durationMs);
    this.state.updatedAt = record.completedAt;
    this.log.append({
      type: 'turnCompleted',
      turnId: turn.id,
      status: record.status,
      error: record.error,
      completedAt: record.completedAt,
      durationMs: record.durationMs,
    });
    this.log.summary();
    await this.log.flush();
    this.#activity = { type: 'idle' };
    this.#systemError = result.end === 'failed';
    this.#tellStatus();
    if (result.error)
      this.#ports.sink.thread(this.id, 'error', { threadId: this.id, turnId: turn.id, willRetry: false, error: result.error });
    this.#ports.sink.thread(this.id, 'turn/completed', { threadId: this.id, turn: completedTurn(record) });
  }

  #context(turn: Turn, ledger: ItemLedger): TurnContext {
    return {
      turn,
      signal: turn.signal,
      history: this.state.history,
      ledger,
      orchestrator: this.#orchestrator,
      artifacts: this.#ports.artifacts,
      sessionId: this.id,
      record: (origin, item, section) => this.log.history(origin, item, turn.id, section),
      flush: () => this.log.flush(),
      replaceHistory: (entries) => this.#replaceHistory(entries),
      markExternal: () => this.#markExternal(),
      tellRetry: (error) => this.#ports.sink.thread(this.id, 'error', { threadId: this.id, turnId: turn.id, willRetry: true, error }),
    };
  }

  #loopPorts(context: TurnContext): LoopPorts {
    return {
      nextStep: () => {
        const { settings } = this.state;
        return this.#steps.build(this.id, context.turn.id, settings, this.#ports.models.bind(settings.modelProvider, settings.model));
      },
      describeWorld: async (step) => {
        for (const entry of await this.#ports.world.changes(step, this.state.history.entries, context.turn.id))
          context.record(entry.origin, entry.item, entry.section);
      },
      stepDone: (usage, step) => this.#addUsage(context.turn.id, usage, step),
      makeRoom: async (step) => {
        const limit = step.binding.card.autoCompactTokenLimit;
        if (!this.#overflowed && this.#contextTokens <= limit) return;
        this.#overflowed = false; // one try for one overflow
        await compact(context, step);
      },
      beforeMessage: async (message) => {
        if (!this.state.preview) this.state.preview = previewOf(textOfInput(message));
      },
    };
  }

  /** A turn that only compacts the history. */
  compact(): () => void {
    return this.#begin(new Turn(), (context, ports) =>
      endOf(context, async () => {
        await compact(context, ports.nextStep());
      }),
    );
  }

  #replaceHistory(entries: readonly HistoryEntry[]): void {
    this.state.history.replace(entries);
    this.#contextTokens = 0;
    this.#ports.world.forget();
    this.log.append({
      type: 'compacted',
      items: entries.map(({ origin, item, section }) => ({ origin, item, ...(section ? { section } : {}) })),
    });
  }

  #addUsage(turnId: string, usage: TokenUsage | null, step: StepContext): void {
    if (!usage) return;
    this.#contextTokens = usage.totalTokens;
    this.state.usage = addUsage(this.state.usage, usage, step.binding.card.contextWindow);
    this.log.append({ type: 'usage', usage: this.state.usage });
    this.#ports.sink.thread(this.id, 'thread/tokenUsage/updated', { threadId: this.id, turnId, tokenUsage: this.state.usage });
  }

  #tokens(): { used: number; window: number } {
    const { settings, history } = this.state;
    const { contextWindow } = this.#ports.models.bind(settings.modelProvider, settings.model).card;
    return { used: this.#contextTokens || estimateTokens(history.entries), window: contextWindow };
  }

  #markExternal(): void {
    if (this.state.external) return;
    this.state.external = true;
    this.log.append({ type: 'external' });
  }

  // ---- settings and tools ----

  /** Applies a patch; the returned function tells the client when something changed. */
  patchSettings(patch: SettingsPatch): () => void {
    const next = patchSettings(this.state.settings, patch);
    if (next === this.state.settings) return () => {};
    this.state.settings = next;
    this.log.appendIfBegun({ type: 'settings', settings: { ...next } });
    return () => this.#ports.sink.thread(this.id, 'thread/settings/updated', { threadId: this.id, threadSettings: wireSettings(next) });
  }

  /** Replaces the dynamic tools; a running turn sees them at its next step. */
  setDynamicTools(tools: readonly DynamicTool[]): void {
    this.state.dynamicTools = tools;
    this.log.appendIfBegun({ type: 'dynamicTools', tools: [...tools] });
  }

  #externalRuntimes(frontend: ThreadFrontend): readonly ToolRuntime[] {
    if (this.#external.tools !== this.state.dynamicTools) {
      const tools = this.state.dynamicTools;
      this.#external = { tools, runtimes: tools.map((tool) => dynamicRuntime(tool, frontend) as ToolRuntime) };
    }
    return this.#external.runtimes;
  }

  setName(name: string): void {
    this.state.name = name;
    this.log.append({ type: 'name', name });
    this.log.summary();
    this.#ports.sink.all('thread/name/updated', { threadId: this.id, threadName: name });
  }

  inject(items: readonly ResponseItem[]): void {
    for (const item of items) this.log.history('injected', item, null);
    for (const item of this.state.history.missingOutputs()) this.log.history('injected', item, null);
  }

  /** Drops the turns from one on. The thread must be idle. */
  revert(beforeTurnId: string): void {
    const at = this.state.turns.findIndex((turn) => turn.id === beforeTurnId);
    if (at < 0) throw invalidRequest(`turn not found: ${beforeTurnId}`);
    const gone = new Set(this.state.turns.slice(at).map((turn) => turn.id));
    this.state.turns = this.state.turns.slice(0, at);
    this.state.history.replace(this.state.history.entries.filter((entry) => entry.turnId === null || !gone.has(entry.turnId)));
    this.#ports.world.forget();
    this.log.append({ type: 'reverted', beforeTurnId });
    this.log.summary();
  }

  instructionSources(): Promise<string[]> {
    return this.#ports.world.sources(this.state.settings.cwd);
  }

  // ---- status and end ----

  #tellStatus(): void {
    this.#ports.sink.all('thread/status/changed', { threadId: this.id, status: this.status });
  }

  /** Stops what runs, ends what was left running, and lets go of the files. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.stop();
    await this.tools.close();
    await this.log.close();
    this.#ports.release();
  }
}

const userText = (text: string): ResponseItem => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

const textOfInput = (message: UserMessage): string =>
  message.input.map((part) => (part.type === 'text' ? part.text : '')).find((text) => text !== '') ?? placeholder(message);

/** A message of images only still needs something to be listed by. */
const placeholder = (message: UserMessage): string => (message.input.length ? `[${message.input[0].type}]` : '');
