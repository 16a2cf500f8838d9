// A loaded thread: what it is, how it is set, and the ways in. What it does now is the turn runner's business.
import { invalidRequest } from '../common/errors.ts';
import type { SandboxMode, SandboxPolicy } from '../protocol/primitives.ts';
import { isToolCall, type ResponseItem } from '../protocol/response-item.ts';
import type { ReviewTarget } from '../protocol/review.ts';
import type { ThreadStatus, Thread as WireThread } from '../protocol/thread.ts';
import type { Turn as WireTurn } from '../protocol/turn.ts';
import type { AgentPort } from '../tools/agents.ts';
import type { ArtifactPort } from '../tools/artifacts.ts';
import { Orchestrator } from '../tools/orchestrator.ts';
import type { ModelAbilities } from '../tools/plan.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { dynamicRuntime } from '../tools/sources/dynamic.ts';
import type { DynamicTool } from '../tools/sources/dynamic-specs.ts';
import { ContextWindow } from './context-window.ts';
import { FollowUps } from './follow-ups.ts';
import { isCompacted } from './history.ts';
import type { EventSink, FrontendRequests, ModelSource } from './ports.ts';
import { reviewerSources } from './review.ts';
import { type BlobFolder, detached } from './rollout/blobs.ts';
import { RolloutOutline } from './rollout/outline.ts';
import { recordedQuestions } from './rollout/questions.ts';
import { checkPatch, patchSettings, type SettingsPatch, wireSettings, withSandbox } from './settings.ts';
import { StepBuilder } from './step-context.ts';
import { ThreadFrontend } from './thread-frontend.ts';
import { ThreadLog } from './thread-log.ts';
import type { RecordedHistory } from './thread-records.ts';
import { factsOf, identityOf, type ThreadState } from './thread-state.ts';
import type { ThreadTools, ThreadToolsFactory } from './thread-tools.ts';
import { wireThread } from './thread-view.ts';
import type { LoopResult } from './turn-loop.ts';
import { type TurnRecord, wireTurn } from './turn-record.ts';
import { TurnRunner } from './turn-runner.ts';
import { TurnShelf } from './turn-shelf.ts';
import type { UserMessage } from './user-input.ts';
import { WaitingCounts } from './waiting-flags.ts';
import type { World } from './world.ts';

export interface ThreadPorts {
  sink: EventSink;
  frontends: FrontendRequests;
  models: ModelSource;
  tools: ThreadToolsFactory;
  artifacts: ArtifactPort;
  /** Where images of its record go. */
  blobs: BlobFolder;
  world: World;
  /** What a sandbox by its short name means here. */
  sandbox(mode: SandboxMode): SandboxPolicy;
  /** The agents of this thread. */
  team: {
    port: AgentPort;
    news(): readonly ResponseItem[];
    turnEnded(result: LoopResult, record: TurnRecord): void;
    /** What the thread may do has changed. */
    rightsChanged(thread: Thread): void;
    reverted(turnIds: ReadonlySet<string>): Promise<void>;
  };
  /** The thread that this one works for in the end; null for one that works for nobody. */
  rootThreadId: string | null;
  /** How many agents there may be below the root of this thread. */
  maxAgents: number;
  /** Reads turns and history of a thread that was opened without them, and makes good what a crash left. */
  readRest(thread: Thread): Promise<void>;
  /** The history before a turn, from the record; null where there is none. */
  recordedHistory(thread: Thread, beforeTurnId: string): Promise<RecordedHistory | null>;
  /** Called when a turn has ended: the thread may be idle for long now. */
  settled(): void;
  /** Frees the writer's lock of the rollout. */
  release(): void;
}

/** Settings that say what a thread may do. */
const RIGHTS = ['sandbox', 'approvalPolicy', 'approvalsReviewer'] as const;

export class Thread {
  readonly state: ThreadState;
  readonly log: ThreadLog;
  readonly tools: ThreadTools;
  readonly followUps: FollowUps;
  readonly #ports: ThreadPorts;
  readonly #window: ContextWindow;
  /** Null for an ephemeral thread, which has no record. */
  readonly #shelf: TurnShelf | null;
  readonly #runner: TurnRunner;
  readonly #waiting = new WaitingCounts(() => {
    if (this.activeTurnId !== null) this.#tellStatus();
  });
  /** Runtimes of the dynamic tools and of what runs outside, kept as long as both lists: plans are cached by its identity. */
  #external: { tools: readonly DynamicTool[]; outside: readonly ToolRuntime[]; runtimes: readonly ToolRuntime[] } | null = null;
  /** The reading of what is still only in the record, once it has begun. */
  #reading: Promise<void> | null = null;
  #closed = false;
  /** Set by the first `close`; the others wait for it. */
  #closing: Promise<void> | null = null;

  constructor(state: ThreadState, ports: ThreadPorts, stored: { begun: boolean; endsWhole: boolean }) {
    this.state = state;
    this.#ports = ports;
    this.log = new ThreadLog(state, { ...stored, blobs: ports.blobs, onFault: (message) => this.warn(message) });
    const { sink, models, artifacts, world } = ports;
    const { path } = state;
    this.#shelf = path === null ? null : new TurnShelf(() => (state.outline ??= new RolloutOutline(path, ports.blobs)), this.log);
    const window = new ContextWindow(state, this.log, ports);
    this.#window = window;
    const frontend = new ThreadFrontend(
      recordedQuestions(ports.frontends, this.log),
      this.id,
      () => this.activeTurnId ?? '',
      this.#waiting,
      ports.rootThreadId,
    );
    const identity = identityOf(state.meta);
    this.tools = ports.tools({
      threadId: this.id,
      frontend,
      artifacts,
      identity,
      agents: ports.team.port,
      keepsArtifacts: !state.ephemeral,
      settings: () => this.state.settings,
      rolloutPath: () => this.state.path,
      tokens: () => window.standing(),
    });
    this.followUps = new FollowUps({
      state,
      log: this.log,
      sink,
      activeTurnId: () => (this.#closed ? 'none' : this.activeTurnId),
      startTurn: (message) => {
        const { turn, run } = this.#runner.start(message, undefined);
        this.log.input(turn.id, message);
        run();
      },
      startOwnTurn: (words) => this.#runner.startOwn(words),
    });
    const { approvals, hooks } = this.tools;
    const orchestrator = new Orchestrator({ approvals, hooks, onTrace: (trace) => this.tools.onTrace(trace) });
    const external = (abilities: ModelAbilities) => this.#externalRuntimes(frontend, this.tools.sources.external(abilities));
    const steps = new StepBuilder(
      this.followUps.withGoalTool({ ...this.tools.sources, external }),
      (message) => this.warn(message),
      () => state.history.entries.map((entry) => entry.item),
    );
    const reviewSteps = new StepBuilder(reviewerSources(this.tools.sources), (message) => this.warn(message));
    const statusChanged = () => this.#tellStatus();
    this.#runner = new TurnRunner({
      state,
      log: this.log,
      tools: this.tools,
      sink,
      models,
      artifacts,
      world,
      window,
      orchestrator,
      steps,
      reviewSteps,
      statusChanged,
      news: () => ports.team.news(),
      agent: identity.type === 'subAgent' ? { id: state.meta.id, kind: 'default' } : null,
      turnEnded: (result, record) => {
        this.followUps.turnEnded(result.end, result.error, record);
        ports.team.turnEnded(result, record);
        void this.#shelf?.tidy(state.turns);
        ports.settled();
      },
    });
  }

  get id(): string {
    return this.state.meta.id;
  }

  /** It is being put away, or was. */
  get closed(): boolean {
    return this.#closed;
  }

  get maxAgents(): number {
    return this.#ports.maxAgents;
  }

  get activeTurnId(): string | null {
    return this.#runner.activeTurnId;
  }

  get status(): ThreadStatus {
    if (this.activeTurnId !== null) return { type: 'active', activeFlags: this.#waiting.flags };
    return this.#runner.lastFailed ? { type: 'systemError' } : { type: 'idle' };
  }

  view(turns: WireTurn[] = []): WireThread {
    return wireThread(factsOf(this.state), this.status, turns);
  }

  warn(message: string): void {
    this.#ports.sink.thread(this.id, 'warning', { threadId: this.id, message });
  }

  /**
   * Resolves when turns and history are here; whoever asks for more than the thread's settings waits for it. Rejects with an RpcError when
   * the record cannot be read.
   */
  async whole(): Promise<void> {
    if (!this.state.unread) return;
    this.#reading ??= this.#ports.readRest(this).finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  // ---- turns ----

  /**
   * Starts a turn, or hands the input to the active one. `run` begins the work of a new turn; call it once the answer is on its way, so
   * that the client knows the turn before it hears of it.
   */
  startTurn(message: UserMessage | null, options: { patch: SettingsPatch; outputSchema: unknown }): { turn: WireTurn; run: () => void } {
    if (this.#closed) throw invalidRequest(`unknown thread: ${this.id}`);
    this.#runner.checkStart(message); // a request that is refused changes nothing
    const patched = this.patchSettings(options.patch);
    const joined = message && this.#runner.join(message);
    if (joined && message) this.log.input(joined.id, message);
    if (joined) return { turn: wireTurn(joined.record, 'notLoaded'), run: patched };
    this.followUps.userTurnBegins();
    const { turn, run } = this.#runner.start(message, options.outputSchema);
    if (message) this.log.input(turn.id, message);
    return {
      turn: wireTurn(turn.record, 'notLoaded'),
      run: () => {
        patched();
        run();
      },
    };
  }

  steer(message: UserMessage, expectedTurnId: string): string {
    const turnId = this.#runner.steer(message, expectedTurnId);
    this.log.input(turnId, message);
    return turnId;
  }

  interrupt(turnId: string): void {
    this.#runner.interrupt(turnId);
  }

  /** Interrupts what is active, if anything, and resolves when it has ended. */
  stop(): Promise<void> {
    return this.#runner.stop();
  }

  shellCommand(command: string, timeoutMs: number | null): () => void {
    return this.#runner.shellCommand(command, timeoutMs);
  }

  review(target: ReviewTarget): { turn: WireTurn; run: () => void } {
    const { turn, run } = this.#runner.review(target);
    return { turn: wireTurn(turn.record, 'notLoaded'), run };
  }

  compact(): () => void {
    return this.#runner.compact();
  }

  // ---- settings and tools ----

  /** Applies a patch; the returned function tells the client when something changed. */
  patchSettings(given: SettingsPatch): () => void {
    const patch = withSandbox(given, this.#ports.sandbox);
    const next = patchSettings(this.state.settings, patch);
    checkPatch(patch, next, this.#ports.models);
    const before = this.state.settings;
    if (next === before) return () => {};
    this.state.settings = next;
    this.log.appendIfBegun({ type: 'settings', settings: { ...next } });
    if (RIGHTS.some((key) => next[key] !== before[key])) this.#ports.team.rightsChanged(this);
    return () => this.#ports.sink.thread(this.id, 'thread/settings/updated', { threadId: this.id, threadSettings: wireSettings(next) });
  }

  /** Replaces the dynamic tools; a running turn sees them at its next step. */
  setDynamicTools(tools: readonly DynamicTool[]): void {
    this.state.dynamicTools = tools;
    this.log.appendIfBegun({ type: 'dynamicTools', tools: [...tools] });
  }

  #externalRuntimes(frontend: ThreadFrontend, outside: readonly ToolRuntime[]): readonly ToolRuntime[] {
    const tools = this.state.dynamicTools;
    if (this.#external?.tools !== tools || this.#external.outside !== outside) {
      const runtimes = [...tools.map((tool) => dynamicRuntime(tool, frontend) as ToolRuntime), ...outside];
      this.#external = { tools, outside, runtimes };
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
    // Calls that run just now get their outputs from themselves.
    const calls = new Set(items.map((item) => (isToolCall(item) ? item.call_id : undefined)));
    for (const item of this.state.history.missingOutputs())
      if (item.call_id && calls.has(item.call_id)) this.log.history('injected', item, null);
  }

  /** Throws an RpcError for a turn that is none of the thread's. */
  checkTurn(turnId: string): void {
    if (this.activeTurnId !== turnId && !this.state.turns.some(({ id }) => id === turnId))
      throw invalidRequest(`turn not found: ${turnId}`);
  }

  /** Drops the turns from one on, for the client and for the model. The thread must be idle. Rejects with an RpcError for an unknown turn. */
  async revert(beforeTurnId: string): Promise<void> {
    const { state } = this;
    const at = state.turns.findIndex((turn) => turn.id === beforeTurnId);
    if (at < 0) throw invalidRequest(`turn not found: ${beforeTurnId}`);
    const gone = new Set(state.turns.slice(at).map((turn) => turn.id));
    state.turns = state.turns.slice(0, at);
    const compacted = isCompacted(state.history.entries);
    state.history.replace(state.history.entries.filter((entry) => entry.turnId === null || !gone.has(entry.turnId)));
    this.#ports.world.forget();
    this.#window.reverted();
    this.log.append({ type: 'reverted', beforeTurnId });
    this.log.summary();
    await this.#ports.team.reverted(gone);
    if (!compacted) return;
    // What a summary stands for is in the record, from before the turns that it tells of.
    await this.log.flush();
    const recorded = await this.#ports.recordedHistory(this, beforeTurnId);
    if (!recorded) return;
    const entries = recorded.foreign ? recorded.entries.map((entry) => ({ ...entry, item: detached(entry.item) })) : recorded.entries;
    // Another record may be deleted: this one has it from now on.
    if (recorded.foreign) this.#window.replace(entries);
    else state.history.replace(entries);
  }

  instructionSources(): Promise<string[]> {
    return this.#ports.world.sources(this.state.settings.cwd);
  }

  // ---- status and end ----

  #tellStatus(): void {
    this.#ports.sink.all('thread/status/changed', { threadId: this.id, status: this.status });
  }

  /** Stops what runs, ends what was left running, and lets go of the files. */
  close(): Promise<void> {
    this.#closed = true;
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    try {
      await this.stop();
      // What agents came to is read when the thread is loaded again.
      if (!this.state.unread) for (const item of this.#ports.team.news()) this.log.history('injected', item, null);
      await this.tools.close();
    } finally {
      await this.log.close();
      this.#ports.release();
    }
  }
}
