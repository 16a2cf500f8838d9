// Reading the records of stored threads. What cannot be read is an RpcError that names the thread.
import { invalidRequest, messageOf } from '../common/errors.ts';
import { type HistoryEntry, isCompacted } from './history.ts';
import { isHeldElsewhere } from './rollout/lock.ts';
import { Outlines } from './rollout/outlines.ts';
import type { StoredFile } from './rollout/paths.ts';
import { type ReadRollout, replayRollout } from './rollout/reader.ts';
import { revert } from './rollout/replay.ts';
import { type SkimmedThread, skimRollout } from './rollout/skim.ts';
import type { ThreadStore } from './thread-store.ts';
import type { TurnRecord } from './turn-record.ts';

export interface RecordedHistory {
  entries: readonly HistoryEntry[];
  /** It comes from the record of another thread. */
  foreign: boolean;
}

export class ThreadRecords {
  readonly #home: string;
  readonly #store: ThreadStore;
  readonly #outlines: Outlines;

  constructor(home: string, store: ThreadStore) {
    this.#home = home;
    this.#store = store;
    this.#outlines = new Outlines(store);
  }

  async #reading<T>(stored: StoredFile, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw invalidRequest(`thread ${stored.threadId} cannot be read: ${messageOf(error)}`);
    }
  }

  /** What a record says as a whole; null for one that has to be read whole. */
  skim(stored: StoredFile): Promise<SkimmedThread | null> {
    return this.#reading(stored, () => skimRollout(stored.file, this.#store.blobsOf(stored.threadId)));
  }

  /** All of a record. */
  async replay(stored: StoredFile): Promise<ReadRollout> {
    const replay = await this.#reading(stored, () => replayRollout(stored.file, this.#store.blobsOf(stored.threadId)));
    if (replay.readLines === 0) throw invalidRequest(`thread ${stored.threadId} cannot be read: no line of ${stored.file} is readable`);
    return replay;
  }

  /**
   * The history of a thread before one of its turns, whether that was reverted or not; null where nothing is recorded. A fork of a compacted
   * thread begins with a summary: what that stands for is in the record of the other thread, as `foreign` says.
   */
  async historyBefore(threadId: string, file: string | null, turnId: string): Promise<RecordedHistory | null> {
    return file === null ? null : this.#before(await this.replay({ threadId, file, archived: false }), turnId);
  }

  async #before(replay: ReadRollout, turnId: string): Promise<RecordedHistory> {
    revert(replay, turnId);
    const own = { entries: replay.history, foreign: false };
    const { forkedFromId } = replay.meta ?? {};
    if (!forkedFromId || !isCompacted(own.entries)) return own;
    const source = await this.#store.find(forkedFromId);
    const before = source && (await this.#sourceBefore(source, turnId).catch(() => null));
    return before ? { entries: before, foreign: true } : own;
  }

  /** The same from the record of the thread that another was forked from; null when it has no such turn. */
  async #sourceBefore(source: StoredFile, turnId: string): Promise<readonly HistoryEntry[] | null> {
    const replay = await this.replay(source);
    return replay.turnsById.has(turnId) ? (await this.#before(replay, turnId)).entries : null;
  }

  /** The turns of a thread that is not loaded, as they lie in its record. Another daemon may be writing the last one. */
  async turns(stored: StoredFile): Promise<{ ids: readonly string[]; load(ids: readonly string[]): Promise<TurnRecord[]> }> {
    const running = isHeldElsewhere(this.#home, stored.threadId);
    const place = { ...stored, blobs: this.#store.blobsOf(stored.threadId) };
    const ids = await this.#reading(stored, () => this.#outlines.turnIds(place));
    return { ids, load: (wanted) => this.#reading(stored, () => this.#outlines.load(place, wanted, { running })) };
  }
}
