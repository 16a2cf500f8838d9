// All threads of the daemon: the loaded ones and the ways to load, make, copy and put away the others. A thread is loaded once.

import { nowSeconds } from '../common/clock.ts';
import { invalidRequest, messageOf, unknownThread, unloadedThread } from '../common/errors.ts';
import { isUuid, newId } from '../common/ids.ts';
import { KeyedLock } from '../common/keyed-lock.ts';
import { PROTOCOL_VERSION } from '../common/version.ts';
import { withoutSecretKeys } from '../config/read.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { featureEnabled } from '../config/switches.ts';
import type { SandboxMode, SandboxPolicy } from '../protocol/primitives.ts';
import { type MetaLine, ROLLOUT_VERSION } from '../protocol/rollout.ts';
import { ArtifactStore, noArtifacts } from '../tools/artifacts.ts';
import type { DynamicTool } from '../tools/sources/dynamic-specs.ts';
import { type HistoryEntry, isCompacted } from './history.ts';
import { IdleThreads, type IdleVerdict } from './idle-threads.ts';
import type { EventSink, FrontendRequests, ModelSource } from './ports.ts';
import { isHeldElsewhere, lockThread } from './rollout/lock.ts';
import { Outlines } from './rollout/outlines.ts';
import { guessRollout, newRolloutPath, type StoredFile } from './rollout/paths.ts';
import { type ReadRollout, replayRollout } from './rollout/reader.ts';
import { recover } from './rollout/recovery.ts';
import { type LostQuestion, type ReplayedThread, revert } from './rollout/replay.ts';
import { skimRollout } from './rollout/skim.ts';
import { lostMeta } from './rollout/summary.ts';
import { checkPatch, patchSettings, type SettingsPatch, type ThreadSettings, withSandbox } from './settings.ts';
import type { SkillScan } from './skills.ts';
import { Thread } from './thread.ts';
import { cutTurns, fillFork } from './thread-fork.ts';
import { newState, stateFromReplay, stateFromSkim, type ThreadState } from './thread-state.ts';
import { ThreadStore } from './thread-store.ts';
import type { ThreadToolsFactory } from './thread-tools.ts';
import type { TurnRecord } from './turn-record.ts';
import { World } from './world.ts';

/** What a thread is built with, from its configuration. */
export interface ThreadSetup {
  config: EffectiveConfig;
  settings: ThreadSettings;
  models: ModelSource;
  tools: ThreadToolsFactory;
  /** The skills that a folder may use. May reject: a folder's configuration can be broken. */
  skills(cwd: string): Promise<SkillScan>;
  /** What a sandbox by its short name means under this configuration. */
  sandbox(mode: SandboxMode): SandboxPolicy;
}

export interface ManagerPorts {
  home: string;
  sink: EventSink;
  frontends: FrontendRequests;
  shellName: string;
  /** Some client listens to the thread. */
  isHeard(threadId: string): boolean;
  /** The configuration for a folder and the overrides of one thread. Throws an RpcError that names key and file. */
  setup(cwd: string | null, threadConfig: Record<string, unknown> | null): Promise<ThreadSetup>;
}

export interface StartRequest {
  cwd: string | null;
  config: Record<string, unknown> | null;
  patch: SettingsPatch;
  ephemeral: boolean;
  dynamicTools: readonly DynamicTool[];
  originator: string | null;
}

export interface ResumeOptions {
  patch: SettingsPatch;
  config: Record<string, unknown> | null;
  /** The turns and the history of a long thread may be read afterwards: whoever needs them waits for `whole`. */
  restLater?: boolean;
}

export class ThreadManager {
  readonly store: ThreadStore;
  readonly #ports: ManagerPorts;
  readonly #loaded = new Map<string, Thread>();
  /** One load, move or delete of a thread at a time. */
  readonly #locks = new KeyedLock();
  readonly #outlines: Outlines;
  readonly #idle = new IdleThreads((threadId) => this.#unloadIdle(threadId));

  constructor(ports: ManagerPorts) {
    this.#ports = ports;
    this.store = new ThreadStore(ports.home);
    this.#outlines = new Outlines(this.store);
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
    if (thread) return thread;
    throw isUuid(threadId) && guessRollout(this.#ports.home, threadId) ? unloadedThread(threadId) : unknownThread(threadId);
  }

  async start(request: StartRequest): Promise<Thread> {
    const setup = await this.#ports.setup(request.cwd, request.config);
    const meta = this.#newMeta(request.originator, request.config, null);
    const path = request.ephemeral ? null : newRolloutPath(this.#ports.home, meta.id, new Date(meta.createdAt * 1000));
    const state = newState({
      meta,
      ephemeral: request.ephemeral,
      path,
      settings: settingsFor(setup, setup.settings, request.patch),
      dynamicTools: request.dynamicTools,
    });
    return this.#adopt(state, setup, { begun: false, endsWhole: true });
  }

  #newMeta(originator: string | null, config: Record<string, unknown> | null, forkedFromId: string | null): MetaLine {
    return {
      type: 'meta',
      version: ROLLOUT_VERSION,
      id: newId(),
      createdAt: nowSeconds(),
      cliVersion: PROTOCOL_VERSION,
      source: 'vscode',
      originator,
      forkedFromId,
      parentThreadId: null,
      config: config && withoutSecretKeys(config),
    };
  }

  #adopt(state: ThreadState, setup: ThreadSetup, stored: { begun: boolean; endsWhole: boolean }): Thread {
    const release = this.#lock(state);
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
      skills: setup.skills,
      warn: (message) => sink.thread(state.meta.id, 'warning', { threadId: state.meta.id, message }),
    });
    const artifacts = state.ephemeral ? noArtifacts : new ArtifactStore(this.store.artifactsOf(state.meta.id));
    const { models, tools, sandbox } = setup;
    const { id } = state.meta;
    const settled = () => this.#idle.touch(id);
    const blobs = this.store.blobsOf(id);
    const readRest = (opened: Thread) => this.#readRest(opened);
    const recordedHistory = ({ state: { path } }: Thread, turnId: string) => this.#historyBefore(id, path, turnId);
    const ports = { sink, frontends, models, tools, sandbox, artifacts, blobs, world, readRest, recordedHistory, settled, release };
    const thread = new Thread(state, ports, stored);
    this.#loaded.set(id, thread);
    // Its wait begins when whoever opened it listens, or has failed to.
    this.#idle.watch(id, config.thread_unload_delay_secs * 1000);
    return thread;
  }

  #lock(state: ThreadState): () => void {
    if (!state.path) return () => {};
    const lock = lockThread(this.#ports.home, state.meta.id);
    if (lock.ok) return lock.release;
    throw invalidRequest(
      `thread ${state.meta.id} is in use: another process (pid ${lock.ownerPid}) is its writer. Close it there, or fork it.`,
    );
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
      const loaded = this.#loaded.get(threadId);
      if (loaded) {
        this.#idle.hold(threadId);
        return loaded;
      }
      const stored = await this.#stored(threadId);
      if (stored.archived) throw invalidRequest(`thread ${threadId} is archived; unarchive it first (thread/unarchive)`);
      return this.#load(stored, options);
    });
  }

  async #load(stored: StoredFile, options: ResumeOptions): Promise<Thread> {
    const skim = options.restLater ? await this.#reading(stored, () => skimRollout(stored.file)) : null;
    const replay = skim?.replay ?? (await this.#replay(stored));
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
    const replay = await this.#replay({ threadId: thread.id, file: state.path, archived: false });
    state.turns = replay.turns;
    state.outline = replay.outline;
    state.history.replace(replay.history);
    state.unread = null;
    makeGood(thread, replay);
  }

  async #reading<T>(stored: StoredFile, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw invalidRequest(`thread ${stored.threadId} cannot be read: ${messageOf(error)}`);
    }
  }

  async #replay(stored: StoredFile): Promise<ReadRollout> {
    const replay = await this.#reading(stored, () => replayRollout(stored.file, this.store.blobsOf(stored.threadId)));
    if (replay.readLines === 0) throw invalidRequest(`thread ${stored.threadId} cannot be read: no line of ${stored.file} is readable`);
    return replay;
  }

  /** The history of a thread before one of its turns, whether that was reverted or not. Null where nothing is recorded. */
  async #historyBefore(threadId: string, file: string | null, turnId: string): Promise<readonly HistoryEntry[] | null> {
    if (file === null) return null;
    const replay = await this.#replay({ threadId, file, archived: false });
    revert(replay, turnId);
    return replay.history;
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
    const skim = await this.#reading(stored, () => skimRollout(stored.file));
    return skim?.replay ?? (await this.#replay(stored));
  }

  /** The turns of a thread that is not loaded, as they lie in its record. Another daemon may be writing the last one. */
  async storedTurns(stored: StoredFile): Promise<{ ids: readonly string[]; load(ids: readonly string[]): Promise<TurnRecord[]> }> {
    const running = isHeldElsewhere(this.#ports.home, stored.threadId);
    const place = { ...stored, blobs: this.store.blobsOf(stored.threadId) };
    const ids = await this.#reading(stored, () => this.#outlines.turnIds(place));
    return { ids, load: (wanted) => this.#reading(stored, () => this.#outlines.load(place, wanted, { running })) };
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
    const meta = this.#newMeta(request.originator, request.config ?? source.meta.config, threadId);
    const setup = await this.#ports.setup(request.cwd ?? source.settings.cwd, request.config ?? source.meta.config);
    const path = request.ephemeral ? null : newRolloutPath(this.#ports.home, meta.id, new Date(meta.createdAt * 1000));
    const state = newState({
      meta,
      ephemeral: request.ephemeral,
      path,
      settings: settingsFor(setup, source.settings, request.patch),
      dynamicTools: source.dynamicTools,
    });
    const thread = this.#adopt(state, setup, { begun: false, endsWhole: true });
    fillFork(thread, source, turns, entries);
    return thread;
  }

  /** The history of the first turns of a thread. */
  async #forkHistory(source: ThreadState, turns: number): Promise<readonly HistoryEntry[]> {
    const { entries } = source.history;
    const next = source.turns.at(turns);
    const recorded = next && isCompacted(entries) ? await this.#historyBefore(source.meta.id, source.path, next.id) : null;
    if (recorded) return recorded;
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
    const replay = await this.#replay(stored);
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
      if ((await thread.tools.terminals()).length > 0) return 'later';
      if (thread.activeTurnId !== null || this.#ports.isHeard(threadId)) return 'wait'; // begun while the terminals were looked at
      await this.unload(threadId);
      this.#ports.sink.all('thread/status/changed', { threadId, status: { type: 'notLoaded' } });
      this.#ports.sink.all('thread/closed', { threadId });
      return 'gone';
    });
  }

  /** Stops and unloads a thread; nothing when it is not loaded. */
  async unload(threadId: string): Promise<void> {
    const thread = this.#loaded.get(threadId);
    if (!thread) return;
    this.#idle.forget(threadId);
    try {
      await thread.close();
    } finally {
      this.#loaded.delete(threadId);
    }
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

/** The name of the file says which thread it is: an id inside that says otherwise was copied there, and would name other files. */
const metaOf = (replay: ReplayedThread, stored: StoredFile): MetaLine => ({ ...(replay.meta ?? lostMeta(stored)), id: stored.threadId });

/** Writes down what a crash left open in a thread that was just read, and keeps what a client is to be told of it. */
function makeGood(thread: Thread, replay: ReplayedThread): void {
  const { state } = thread;
  state.lostQuestions = recover(state, thread.log, replay.remains);
  if (state.lostQuestions.length > 0) state.loadWarnings.push(lostText(state.lostQuestions));
  if (replay.lostBlobs > 0) state.loadWarnings.push(`Images of this thread are gone, as their files are missing: ${replay.lostBlobs}.`);
  if (replay.skippedLines > 0) state.loadWarnings.push(`${replay.skippedLines} damaged lines in the record of this thread were skipped.`);
}

const lostText = (lost: readonly LostQuestion[]): string =>
  `The daemon ended while ${lost.length === 1 ? 'a request waited' : `${lost.length} requests waited`} for an answer (${lost.map(({ method }) => method).join(', ')}): lost, and nothing of it was done.`;

/** Throws an RpcError for a patch that no request to a model could follow. */
function settingsFor(setup: ThreadSetup, before: ThreadSettings, given: SettingsPatch): ThreadSettings {
  const patch = withSandbox(given, setup.sandbox);
  const settings = patchSettings(before, patch);
  checkPatch(patch, settings, setup.models);
  return settings;
}
