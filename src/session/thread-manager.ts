// All threads of the daemon: the loaded ones and the ways to load, make, copy and put away the others. A thread is loaded once.

import { invalidRequest, unknownThread, unloadedThread } from '../common/errors.ts';
import { isUuid } from '../common/ids.ts';
import { KeyedLock } from '../common/keyed-lock.ts';
import { featureEnabled } from '../config/switches.ts';
import type { SpawnRequest } from '../tools/agents.ts';
import { ArtifactStore, noArtifacts } from '../tools/artifacts.ts';
import { AgentTeam } from './agents.ts';
import { type HistoryEntry, isCompacted } from './history.ts';
import { IdleThreads, type IdleVerdict } from './idle-threads.ts';
import { guessRollout, newRolloutPath, type StoredFile } from './rollout/paths.ts';
import { patchSettings, type SettingsPatch } from './settings.ts';
import { Thread } from './thread.ts';
import { cutTurns, fillContext, fillFork } from './thread-fork.ts';
import { agentMeta, makeGood, metaOf, newMeta, settingsFor } from './thread-making.ts';
import { ThreadRecords } from './thread-records.ts';
import type { ManagerPorts, ResumeOptions, StartRequest, ThreadSetup } from './thread-requests.ts';
import { type NewThread, newState, stateFromReplay, stateFromSkim, type ThreadState } from './thread-state.ts';
import { ThreadStore } from './thread-store.ts';
import type { LoopResult } from './turn-loop.ts';
import type { TurnRecord } from './turn-record.ts';
import { World } from './world.ts';

/** Agents below one root, unless the configuration says otherwise. */
const MAX_AGENTS = 6;

export class ThreadManager {
  readonly store: ThreadStore;
  readonly #ports: ManagerPorts;
  readonly #loaded = new Map<string, Thread>();
  /** One load, move or delete of a thread at a time. */
  readonly #locks = new KeyedLock();
  #records: ThreadRecords | null = null;
  #agents: AgentTeam | null = null;
  readonly #idle = new IdleThreads((threadId) => this.#unloadIdle(threadId));

  constructor(ports: ManagerPorts) {
    this.#ports = ports;
    this.store = new ThreadStore(ports.home);
  }

  /** Made when the first thread is: a start needs neither. */
  get records(): ThreadRecords {
    this.#records ??= new ThreadRecords(this.#ports.home, this.store);
    return this.#records;
  }

  get #team(): AgentTeam {
    const { joined } = this.#ports;
    this.#agents ??= new AgentTeam({
      find: (threadId) => this.#loaded.get(threadId),
      make: (parent, request, nickname) => this.#makeAgent(parent, request, nickname),
      load: (threadId, parentId) => this.#loadAgent(threadId, parentId),
      putAway: (threadId) => this.#putAway(threadId),
      announce: (parentId, agent, isNew) => {
        joined(parentId, agent, isNew);
        this.#idle.touch(agent.id);
      },
      limit: (parent) => parent.maxAgents,
    });
    return this.#agents;
  }

  get loaded(): readonly Thread[] {
    return [...this.#loaded.values()];
  }

  find(threadId: string): Thread | undefined {
    return this.#loaded.get(threadId);
  }

  /** A loaded thread, or the one error for an id that none has, which says so where the thread is only stored. */
  get(threadId: string): Thread {
    const thread = this.#loaded.get(threadId);
    // What is asked of one that is being put away would be lost.
    if (thread && !thread.closed) return thread;
    throw isUuid(threadId) && guessRollout(this.#ports.home, threadId) ? unloadedThread(threadId) : unknownThread(threadId);
  }

  async start(request: StartRequest): Promise<Thread> {
    const setup = await this.#ports.setup(request.cwd, request.config);
    const meta = newMeta(request.originator, request.config, null);
    const settings = settingsFor(setup, setup.settings, request.patch);
    const { ephemeral, dynamicTools } = request;
    return this.#create(setup, { meta, ephemeral, settings, dynamicTools });
  }

  /** A thread that nothing was said in yet. */
  #create(setup: ThreadSetup, given: Omit<NewThread, 'path'>): Thread {
    const { id, createdAt } = given.meta;
    const path = given.ephemeral ? null : newRolloutPath(this.#ports.home, id, new Date(createdAt * 1000));
    return this.#adopt(newState({ ...given, path }), setup, { begun: false, endsWhole: true });
  }

  #adopt(state: ThreadState, setup: ThreadSetup, stored: { begun: boolean; endsWhole: boolean }): Thread {
    const release = state.path ? this.store.hold(state.meta.id) : () => {};
    const { home, sink, frontends, shellName } = this.#ports;
    const { config } = setup;
    const world = new World({
      home,
      shellName,
      docs: {
        maxBytes: config.project_doc_max_bytes,
        fallbackNames: config.project_doc_fallback_filenames ?? [],
        rootMarkers: config.project_root_markers ?? ['.git'],
      },
      tellsContextLeft: featureEnabled(config, 'token_budget'),
      worksForPlan: () => this.#plansAbove(state.meta.parentThreadId),
      skills: setup.skills,
      warn: (message) => sink.thread(state.meta.id, 'warning', { threadId: state.meta.id, message }),
    });
    const artifacts = state.ephemeral ? noArtifacts : new ArtifactStore(this.store.artifactsOf(state.meta.id));
    const { models, tools, sandbox } = setup;
    const { id } = state.meta;
    const settled = () => this.#idle.touch(id);
    const blobs = this.store.blobsOf(id);
    const readRest = (opened: Thread) => this.#readRest(opened);
    const team = {
      port: this.#team.portFor(id),
      news: () => this.#team.takeNews(id),
      turnEnded: (result: LoopResult, record: TurnRecord) => this.#team.turnEnded(id, result, record),
      rightsChanged: (changed: Thread) => this.#team.rightsChanged(changed),
      reverted: (turnIds: ReadonlySet<string>) => this.#team.reverted(id, turnIds),
    };
    const rootThreadId = state.meta.parentThreadId && this.#rootOf(state.meta.parentThreadId);
    const maxAgents = config.agents?.max_threads ?? MAX_AGENTS;
    const recordedHistory = ({ state: { path } }: Thread, turnId: string) => this.records.historyBefore(id, path, turnId);
    const above = { team, rootThreadId, maxAgents, readRest, recordedHistory, settled, release };
    const ports = { sink, frontends, models, tools, sandbox, artifacts, blobs, world, ...above };
    const thread = new Thread(state, ports, stored);
    this.#loaded.set(id, thread);
    // Its wait begins when whoever opened it listens, or has failed to.
    this.#idle.watch(id, config.thread_unload_delay_secs * 1000);
    return thread;
  }

  /** Where a chain of agents begins. */
  #rootOf(threadId: string): string {
    const above = this.#loaded.get(threadId)?.state.meta.parentThreadId;
    return above ? this.#rootOf(above) : threadId;
  }

  /** Loaded threads that work for this one, or for one that does. */
  agentsOf(threadId: string): readonly Thread[] {
    return this.#team.below(threadId);
  }

  /** Some thread that this one works for is in Plan mode. */
  #plansAbove(threadId: string | null): boolean {
    const above = threadId === null ? undefined : this.#loaded.get(threadId)?.state;
    return !!above && (above.settings.collaborationMode?.mode === 'plan' || this.#plansAbove(above.meta.parentThreadId));
  }

  async #makeAgent(parent: Thread, request: SpawnRequest, nickname: string): Promise<Thread> {
    const { meta, settings, ephemeral } = parent.state;
    const setup = await this.#ports.setup(settings.cwd, meta.config);
    const own = agentMeta(newMeta(meta.originator, meta.config, null), meta, nickname);
    const patch: SettingsPatch = {
      ...(request.model ? { model: request.model } : {}),
      ...(request.effort ? { effort: request.effort } : {}),
    };
    const asked = settingsFor(setup, { ...settings, collaborationMode: null }, patch);
    const thread = this.#create(setup, { meta: own, ephemeral, settings: asked, dynamicTools: [] });
    if (request.forkContext) fillContext(thread, parent.state.history.entries);
    return thread;
  }

  async #loadAgent(threadId: string, parentId: string): Promise<Thread | null> {
    const stored = isUuid(threadId) ? await this.store.find(threadId) : null;
    if (!stored || this.store.summaryOf(stored)?.meta.parentThreadId !== parentId) return null;
    return this.resume(threadId, { patch: {}, config: null });
  }

  /** The stored file of a thread that may be loaded. */
  async #stored(threadId: string): Promise<StoredFile> {
    const stored = isUuid(threadId) ? await this.store.find(threadId) : null;
    if (!stored) throw unknownThread(threadId);
    return stored;
  }

  /** Loads a thread, or gives the loaded one. It is not let go as idle before `listenersChanged` is called for it. */
  async resume(threadId: string, options: ResumeOptions): Promise<Thread> {
    const thread = await this.#open(threadId, options);
    if (!options.restLater) await thread.whole();
    return thread;
  }

  #open(threadId: string, options: ResumeOptions): Promise<Thread> {
    return this.#locks.run(threadId, async () => {
      this.#idle.hold(threadId);
      if (this.#loaded.get(threadId)?.closed) await this.unload(threadId);
      return this.#loaded.get(threadId) ?? this.#loadStored(threadId, options);
    });
  }

  async #loadStored(threadId: string, options: ResumeOptions): Promise<Thread> {
    const stored = await this.#stored(threadId);
    if (stored.archived) throw invalidRequest(`thread ${threadId} is archived; unarchive it first (thread/unarchive)`);
    return this.#load(stored, options);
  }

  /** Names a thread, loaded or not. One that is not loaded is not loaded afterwards. */
  rename(threadId: string, name: string): Promise<void> {
    return this.#locks.run(threadId, async () => {
      const loaded = this.#loaded.get(threadId);
      const thread = loaded ?? (await this.#loadStored(threadId, { patch: {}, config: null, restLater: true }));
      thread.setName(name);
      if (!loaded) await this.unload(threadId);
    });
  }

  async #load(stored: StoredFile, options: ResumeOptions): Promise<Thread> {
    const skim = options.restLater ? await this.records.skim(stored) : null;
    const replay = skim?.replay ?? (await this.records.replay(stored));
    const meta = metaOf(replay, stored);
    const cwd = options.patch.cwd ?? (typeof replay.settings.cwd === 'string' ? replay.settings.cwd : null);
    const setup = await this.#ports.setup(cwd, options.config ?? meta.config);
    const settings = settingsFor(setup, patchSettings(setup.settings, replay.settings as SettingsPatch), options.patch);
    const { file } = stored;
    const state = skim ? stateFromSkim(skim, meta, file, settings) : stateFromReplay(replay, meta, file, settings);
    const thread = this.#adopt(state, setup, { begun: true, endsWhole: replay.endsWhole });
    if (!skim) makeGood(thread, replay);
    return thread;
  }

  async #readRest(thread: Thread): Promise<void> {
    const { state } = thread;
    if (!state.path) return;
    const replay = await this.records.replay({ threadId: thread.id, file: state.path, archived: false });
    state.turns = replay.turns;
    state.outline = replay.outline;
    state.history.replace(replay.history);
    state.unread = null;
    makeGood(thread, replay);
  }

  /** A thread for reading: the loaded one, or its file. */
  async read(threadId: string): Promise<{ loaded: Thread } | { stored: StoredFile }> {
    const loaded = this.#loaded.get(threadId);
    if (!loaded) return { stored: await this.#stored(threadId) };
    await loaded.whole();
    return { loaded };
  }

  /** What a thread works towards and what waits in it, loaded or not. */
  async agenda(threadId: string): Promise<Pick<ThreadState, 'goal' | 'queue'>> {
    const found = await this.read(threadId);
    if ('loaded' in found) return found.loaded.state;
    const { stored } = found;
    const skim = await this.records.skim(stored);
    return skim?.replay ?? (await this.records.replay(stored));
  }

  /** A new thread with the turns of another up to a point. */
  async fork(
    threadId: string,
    upTo: { lastTurnId?: string | null; beforeTurnId?: string | null },
    request: Omit<StartRequest, 'dynamicTools'>,
  ): Promise<Thread> {
    const source = await this.#forkSource(threadId);
    const turns = cutTurns(source.turns, upTo);
    const entries = await this.#forkHistory(source, turns.length);
    const meta = newMeta(request.originator, request.config ?? source.meta.config, threadId);
    const setup = await this.#ports.setup(request.cwd ?? source.settings.cwd, request.config ?? source.meta.config);
    const settings = settingsFor(setup, source.settings, request.patch);
    const thread = this.#create(setup, { meta, ephemeral: request.ephemeral, settings, dynamicTools: source.dynamicTools });
    await fillFork(thread, source, turns, [...entries]);
    return thread;
  }

  /** The history of the first turns of a thread. */
  async #forkHistory(source: ThreadState, turns: number): Promise<readonly HistoryEntry[]> {
    const { entries } = source.history;
    const next = source.turns.at(turns);
    const recorded = next && isCompacted(entries) ? await this.records.historyBefore(source.meta.id, source.path, next.id) : null;
    if (recorded) return recorded.entries;
    const kept = new Set(source.turns.slice(0, turns).map(({ id }) => id));
    return entries.filter(({ turnId }) => turnId === null || kept.has(turnId));
  }

  async #forkSource(threadId: string): Promise<ThreadState> {
    const found = await this.read(threadId);
    if ('loaded' in found) {
      if (found.loaded.state.ephemeral) throw invalidRequest(`thread ${threadId} is ephemeral and cannot be forked`);
      await found.loaded.log.flush();
      return found.loaded.state;
    }
    const { stored } = found;
    const replay = await this.records.replay(stored);
    const meta = metaOf(replay, stored);
    const cwd = typeof replay.settings.cwd === 'string' ? replay.settings.cwd : null;
    const setup = await this.#ports.setup(cwd, meta.config);
    return stateFromReplay(replay, meta, stored.file, patchSettings(setup.settings, replay.settings as SettingsPatch));
  }

  /** Looks again when a thread may have lost its last listener, or got its first. */
  listenersChanged(threadIds: Iterable<string>): void {
    for (const threadId of threadIds) this.#idle.touch(threadId);
  }

  /** Unloads a thread that nobody listens to and that does nothing; true when it was looked at for the last time. */
  #unloadIdle(threadId: string): Promise<IdleVerdict> {
    return this.#locks.run(threadId, async () => {
      const thread = this.#loaded.get(threadId);
      if (!thread) return 'gone';
      if (thread.activeTurnId !== null || this.#ports.isHeard(threadId)) return 'wait';
      // Its agents go with it: whatever is in use of them holds it.
      const agents = this.agentsOf(threadId);
      for (const { tools } of [thread, ...agents]) if ((await tools.terminals()).length > 0) return 'later';
      if (agents.some(({ id, activeTurnId }) => activeTurnId !== null || this.#ports.isHeard(id))) return 'later';
      if (thread.activeTurnId !== null || this.#ports.isHeard(threadId)) return 'wait'; // begun while the terminals were looked at
      await this.#putAway(threadId);
      return 'gone';
    });
  }

  /** Unloads a thread and says so. */
  async #putAway(threadId: string): Promise<void> {
    if (!this.#loaded.has(threadId)) return;
    await this.unload(threadId);
    this.#ports.sink.all('thread/status/changed', { threadId, status: { type: 'notLoaded' } });
    this.#ports.sink.all('thread/closed', { threadId });
    this.#ports.left(threadId);
  }

  /** Stops and unloads a thread; nothing when it is not loaded. */
  async unload(threadId: string): Promise<void> {
    const thread = this.#loaded.get(threadId);
    if (!thread) return;
    this.#idle.forget(threadId);
    try {
      await thread.close();
    } finally {
      // At once: what is asked of a thread whose record is closed would be lost.
      this.#loaded.delete(threadId);
    }
    await this.#team.gone(threadId);
  }

  archive(threadId: string): Promise<void> {
    return this.#locks.run(threadId, async () => {
      if (this.#loaded.get(threadId)?.state.ephemeral) throw invalidRequest(`thread ${threadId} is ephemeral and cannot be archived`);
      await this.unload(threadId);
      const stored = await this.#stored(threadId);
      if (stored.archived) throw invalidRequest(`thread ${threadId} is archived already`);
      await this.store.archive(stored);
    });
  }

  unarchive(threadId: string): Promise<StoredFile> {
    return this.#locks.run(threadId, async () => {
      const stored = await this.#stored(threadId);
      if (!stored.archived) throw invalidRequest(`thread ${threadId} is not archived`);
      return { ...stored, archived: false, file: await this.store.unarchive(stored) };
    });
  }

  delete(threadId: string): Promise<void> {
    return this.#locks.run(threadId, async () => {
      const loaded = this.#loaded.get(threadId);
      await this.unload(threadId);
      const stored = isUuid(threadId) ? await this.store.find(threadId) : null;
      if (stored) await this.store.remove(stored);
      else if (!loaded) throw unknownThread(threadId);
    });
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#loaded.keys()].map((id) => this.unload(id)));
    await this.store.close();
  }
}
