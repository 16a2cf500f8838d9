// Threads on disk: which exist, what a list shows of them, and where they lie. The newest ones are found by their names alone. All other
// pages come from the index, brought up to date first by what can have changed: folders with other names in them, threads that are or were
// held, and the rows of the page itself.
import { statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { invalidRequest, messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { ThreadIndex } from './index-store.ts';
import { BlobFolder } from './rollout/blobs.ts';
import { byName, NotByName } from './rollout/by-name.ts';
import { changedThreads, forgetLock, lockThread } from './rollout/lock.ts';
import type { OutlineKeeper } from './rollout/outlines.ts';
import {
  archivedPath,
  findRollouts,
  guessRollout,
  type RolloutFolder,
  rolloutFolders,
  rolloutsIn,
  type StoredFile,
  unarchivedPath,
} from './rollout/paths.ts';
import { inSlices } from './rollout/slices.ts';
import { type FileState, readSummary, type StoredThread } from './rollout/summary.ts';
import { type Listed, matchesQuery, pageOfThreads, type ThreadQuery } from './thread-query.ts';

export type { StoredThread } from './rollout/summary.ts';

/** A folder's time of change counts only when it lies this far back: within one tick of the clock more names may come. */
const SETTLED_MS = 100;
/** Files that are looked at before it is asked whether they are enough. */
const AT_ONCE = 16;
/** Threads that are looked at for each one that a page shows, before the index is asked. */
const MAX_LOOKS = 4;
/** A page whose rows keep changing is given as it is after this many looks. */
const LOOKS = 3;

/** Null for what is gone since its name was read, or not readable: no list fails for it. */
function stateOf(file: string): FileState | null {
  try {
    const found = statSync(file);
    return found.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : null;
  } catch {
    return null;
  }
}

/** The next ones, fewer at the end. */
function taken<T>(from: Iterator<T>, count: number): T[] {
  const some: T[] = [];
  for (let next = from.next(); !next.done; next = from.next()) {
    some.push(next.value);
    if (some.length === count) break;
  }
  return some;
}

export const listedOf = (stored: StoredThread): Listed => ({
  id: stored.threadId,
  createdAt: stored.meta.createdAt,
  updatedAt: stored.updatedAt,
  cwd: stored.cwd,
  modelProvider: stored.modelProvider,
  source: stored.meta.source,
  originator: stored.meta.originator,
  parentThreadId: stored.meta.parentThreadId,
  preview: stored.preview,
  name: stored.name,
});

export class ThreadStore implements OutlineKeeper {
  readonly #home: string;
  /** Opened at the first list; null where there can be none. */
  #index: Promise<ThreadIndex | null> | undefined;
  /** The running look at what has changed; those who come meanwhile wait for it and for one more. */
  #refresh: Promise<void> = Promise.resolve();

  constructor(home: string) {
    this.#home = home;
  }

  #openIndex(): Promise<ThreadIndex | null> {
    this.#index ??= ThreadIndex.open(this.#home);
    return this.#index;
  }

  /** Null where none is kept, or the index cannot be asked. */
  async keptOutline(threadId: string): Promise<string | null> {
    const index = await this.#openIndex();
    return attempt(() => index?.outline(threadId) ?? null);
  }

  async keepOutline(threadId: string, text: string): Promise<void> {
    const index = await this.#openIndex();
    attempt(() => index?.putOutline(threadId, text) ?? null);
  }

  /** The index, as far as what lies on disk is in it. */
  async freshIndex(): Promise<ThreadIndex | null> {
    const index = await this.#openIndex();
    if (!index) return null;
    const refresh = this.#refresh.then(() => this.#update(index));
    this.#refresh = refresh.catch(() => {});
    try {
      await refresh;
      return index;
    } catch (error) {
      logger().warn({ error: messageOf(error) }, 'the index of threads cannot be read; the files are');
      return null;
    }
  }

  /** Threads with a turn, in the order asked for. */
  async page(query: ThreadQuery): Promise<{ page: StoredThread[]; more: boolean }> {
    const named = await this.#namedPage(query);
    if (named) return named;
    const index = await this.freshIndex();
    return index ? this.#indexedPage(index, query) : this.#scannedPage(query);
  }

  /** A page by the time of making, from the files that it shows; null when names do not tell it, or few of the threads are asked for. */
  async #namedPage(query: ThreadQuery): Promise<{ page: StoredThread[]; more: boolean } | null> {
    if (query.sortKey !== 'createdAt' || query.term !== null || query.parentThreadId !== null || query.included) return null;
    const wanted = query.limit + 1;
    const found: StoredThread[] = [];
    let looked = 0;
    try {
      const files = byName(this.#home, query);
      for (;;) {
        const next = taken(files, Math.max(wanted - found.length, AT_ONCE));
        const read = await inSlices(next, readSummary);
        for (const { thread } of read.filter((one) => one !== null))
          if (thread && thread.turns > 0 && matchesQuery(listedOf(thread), query)) found.push(thread);
        looked += next.length;
        if (found.length >= wanted || next.length === 0) break;
        if (looked > MAX_LOOKS * wanted) return null;
      }
    } catch (error) {
      if (error instanceof NotByName) return null;
      throw error;
    }
    return { page: found.slice(0, query.limit), more: found.length > query.limit };
  }

  async #indexedPage(index: ThreadIndex, query: ThreadQuery): Promise<{ page: StoredThread[]; more: boolean }> {
    for (let look = 1; ; look++) {
      const rows = index.page(query);
      const page = rows.slice(0, query.limit);
      const changed = await this.#reread(
        index,
        page.map(({ thread, size, mtimeMs }) => ({ ...thread, size, mtimeMs })),
      );
      if (!changed || look === LOOKS) return { page: page.map(({ thread }) => thread), more: rows.length > query.limit };
    }
  }

  /** How many files of threads there are, archived ones among them. */
  async count(): Promise<number> {
    return findRollouts(this.#home).length;
  }

  /** Without an index every file is looked at. */
  async #scannedPage(query: ThreadQuery): Promise<{ page: StoredThread[]; more: boolean }> {
    const files = findRollouts(this.#home).filter(({ archived }) => archived === query.archived);
    const found = (await inSlices(files, readSummary)).map((read) => read?.thread).filter((thread) => !!thread);
    const threads = found.filter((thread) => thread.turns > 0).map((thread) => ({ ...listedOf(thread), thread }));
    const { page, more } = pageOfThreads(
      threads.filter((thread) => matchesQuery(thread, query)),
      query,
    );
    return { page: page.map(({ thread }) => thread), more };
  }

  async #update(index: ThreadIndex): Promise<void> {
    const folders = rolloutFolders(this.#home);
    const changed = changedThreads(this.#home);
    const known = index.folders();
    const present = new Set(folders.map(({ dir }) => dir));
    for (const dir of known.keys()) if (!present.has(dir)) index.folderGone(dir);
    for (const folder of folders) {
      const time = folderTime(folder.dir);
      if (time !== null && time !== known.get(folder.dir)) await this.#readFolder(index, folder, time);
    }
    for (const { seen } of changed) seen();
    await this.#reread(index, index.states(changed.map(({ threadId }) => threadId)));
  }

  async #readFolder(index: ThreadIndex, folder: RolloutFolder, time: number): Promise<void> {
    const files = rolloutsIn(folder);
    const known = index.filesIn(folder.dir);
    const fresh = files.filter(({ file }) => !known.delete(file));
    const read = await inSlices(fresh, (stored) => ({ stored, state: readSummary(stored) }));
    index.change(() => {
      // Removed first: a file that was moved here is known under its old place.
      for (const threadId of known.values()) index.remove(threadId);
      for (const { stored, state } of read) if (state) index.put(stored, state);
      index.folderRead(folder.dir, Date.now() - time > SETTLED_MS ? time : 0);
    });
  }

  /** Looks whether files are as their rows say, and puts right what is not. True when something was wrong. */
  async #reread(index: ThreadIndex, rows: readonly (StoredFile & FileState)[]): Promise<boolean> {
    const found = await inSlices(rows, (row) => ({ row, state: stateOf(row.file) }));
    const wrong = found.filter(({ row, state }) => state?.size !== row.size || state.mtimeMs !== row.mtimeMs);
    const read = await inSlices(wrong, ({ row }) => ({ row, read: readSummary(row) }));
    if (read.length === 0) return false;
    index.change(() => {
      for (const { row, read: now } of read) {
        const { threadId, file, archived } = row;
        if (now) index.put({ threadId, file, archived }, now);
        else index.remove(threadId);
      }
    });
    return true;
  }

  /** The file of a thread, wherever it lies. */
  async find(threadId: string): Promise<StoredFile | null> {
    return guessRollout(this.#home, threadId) ?? findRollouts(this.#home).find((file) => file.threadId === threadId) ?? null;
  }

  /** What a list shows of one thread, from its file. */
  summaryOf({ threadId, file, archived }: StoredFile): StoredThread | null {
    return readSummary({ threadId, file, archived })?.thread ?? null;
  }

  /** Makes this process the writer of a thread; the returned function lets go of it. Throws an RpcError when another one is. */
  hold(threadId: string): () => void {
    const lock = lockThread(this.#home, threadId);
    if (lock.ok) return lock.release;
    throw invalidRequest(`thread ${threadId} is in use: another process (pid ${lock.ownerPid}) is its writer. Close it there, or fork it.`);
  }

  /** Moves or removes the file of a thread, which nobody may be writing meanwhile. */
  async #asWriter<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    const release = this.hold(threadId);
    try {
      return await work();
    } finally {
      release();
    }
  }

  archive(stored: StoredFile): Promise<string> {
    return this.#asWriter(stored.threadId, () => this.#move(stored.file, archivedPath(this.#home, stored.file)));
  }

  unarchive(stored: StoredFile): Promise<string> {
    return this.#asWriter(stored.threadId, () => this.#move(stored.file, unarchivedPath(this.#home, stored.file)));
  }

  async #move(from: string, to: string): Promise<string> {
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    return to;
  }

  remove(stored: StoredFile): Promise<void> {
    return this.#asWriter(stored.threadId, () => this.#remove(stored));
  }

  async #remove(stored: StoredFile): Promise<void> {
    await rm(stored.file, { force: true });
    forgetLock(this.#home, stored.threadId);
    for (const folder of [this.artifactsOf(stored.threadId), this.#imagesOf(stored.threadId)])
      await rm(folder, { recursive: true, force: true });
  }

  /** Where the artifacts of a thread lie. */
  artifactsOf(threadId: string): string {
    return path.join(this.#home, 'artifacts', threadId);
  }

  #imagesOf(threadId: string): string {
    return path.join(this.#home, 'images', threadId);
  }

  /** The images of a thread and other data of its record. */
  blobsOf(threadId: string): BlobFolder {
    return new BlobFolder(this.#imagesOf(threadId));
  }

  async close(): Promise<void> {
    const index = await this.#index;
    await this.#refresh;
    index?.close();
  }
}

/** What the index refuses costs time only. */
function attempt<T>(work: () => T | null): T | null {
  try {
    return work();
  } catch (error) {
    logger().warn({ error: messageOf(error) }, 'the index of threads cannot be used');
    return null;
  }
}

function folderTime(dir: string): number | null {
  try {
    return statSync(dir).mtimeMs;
  } catch {
    return null;
  }
}
