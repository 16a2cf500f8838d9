// Threads on disk: which exist, what a list shows of them, and where they lie. Pages come from the index, brought up to date first by what
// can have changed: folders with other names in them, threads that are or were held, and the rows of the page itself.
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { inParallel } from './in-parallel.ts';
import { type FileState, ThreadIndex } from './index-store.ts';
import { BlobFolder } from './rollout/blobs.ts';
import { changedThreads, forgetLock } from './rollout/lock.ts';
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
import { readSummary, type StoredThread } from './rollout/summary.ts';
import { type Listed, matchesQuery, pageOfThreads, type ThreadQuery } from './thread-query.ts';

export type { StoredThread } from './rollout/summary.ts';

/** A folder's time of change counts only when it lies this far back: within one tick of the clock more names may come. */
const SETTLED_MS = 100;
/** Files that are opened at once. */
const READERS = 16;
/** A page whose rows keep changing is given as it is after this many looks. */
const LOOKS = 3;

async function stateOf(file: string): Promise<FileState | null> {
  try {
    const found = await stat(file);
    return found.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : null;
  } catch {
    return null; // gone since its name was read, or not readable: no list fails for it
  }
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

export class ThreadStore {
  readonly #home: string;
  /** Opened at the first list; null where there can be none. */
  #index: Promise<ThreadIndex | null> | undefined;
  /** The running look at what has changed; those who come meanwhile wait for it and for one more. */
  #refresh: Promise<void> = Promise.resolve();

  constructor(home: string) {
    this.#home = home;
  }

  /** The index, as far as what lies on disk is in it. */
  async freshIndex(): Promise<ThreadIndex | null> {
    this.#index ??= ThreadIndex.open(this.#home);
    const index = await this.#index;
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
    const index = await this.freshIndex();
    return index ? this.#indexedPage(index, query) : this.#scannedPage(query);
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
    return (await findRollouts(this.#home)).length;
  }

  /** Without an index every file is looked at. */
  async #scannedPage(query: ThreadQuery): Promise<{ page: StoredThread[]; more: boolean }> {
    const files = (await findRollouts(this.#home)).filter(({ archived }) => archived === query.archived);
    const found = (await inParallel(READERS, files, (file) => this.summaryOf(file))).filter((thread) => thread !== null);
    const threads = found.filter((thread) => thread.turns > 0).map((thread) => ({ ...listedOf(thread), thread }));
    const { page, more } = pageOfThreads(
      threads.filter((thread) => matchesQuery(thread, query)),
      query,
    );
    return { page: page.map(({ thread }) => thread), more };
  }

  async #update(index: ThreadIndex): Promise<void> {
    const [folders, changed] = await Promise.all([rolloutFolders(this.#home), changedThreads(this.#home)]);
    const known = index.folders();
    const present = new Set(folders.map(({ dir }) => dir));
    for (const dir of known.keys()) if (!present.has(dir)) index.folderGone(dir);
    const times = await Promise.all(folders.map(({ dir }) => folderTime(dir)));
    for (const [i, folder] of folders.entries()) {
      const time = times[i];
      if (time !== null && time !== known.get(folder.dir)) await this.#readFolder(index, folder, time);
    }
    await Promise.all(changed.map(({ seen }) => seen()));
    await this.#reread(index, index.states(changed.map(({ threadId }) => threadId)));
  }

  async #readFolder(index: ThreadIndex, folder: RolloutFolder, time: number): Promise<void> {
    const files = await rolloutsIn(folder);
    const known = index.filesIn(folder.dir);
    const fresh = files.filter(({ file }) => !known.delete(file));
    const read = await inParallel(READERS, fresh, async (stored) => ({ stored, state: await this.#read(stored) }));
    index.change(() => {
      // Removed first: a file that was moved here is known under its old place.
      for (const threadId of known.values()) index.remove(threadId);
      for (const { stored, state } of read) if (state) index.put(stored, state);
      index.folderRead(folder.dir, Date.now() - time > SETTLED_MS ? time : 0);
    });
  }

  async #read(stored: StoredFile): Promise<(FileState & { thread: StoredThread | null }) | null> {
    const state = await stateOf(stored.file);
    if (!state) return null;
    const thread = await readSummary(stored, state).catch(() => null);
    return { ...state, thread };
  }

  /** Looks whether files are as their rows say, and puts right what is not. True when something was wrong. */
  async #reread(index: ThreadIndex, rows: readonly (StoredFile & FileState)[]): Promise<boolean> {
    const found = await inParallel(READERS, rows, async (row) => ({ row, state: await stateOf(row.file) }));
    const wrong = found.filter(({ row, state }) => state?.size !== row.size || state.mtimeMs !== row.mtimeMs);
    const read = await inParallel(READERS, wrong, async ({ row }) => ({ row, read: await this.#read(row) }));
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
    return guessRollout(this.#home, threadId) ?? (await findRollouts(this.#home)).find((file) => file.threadId === threadId) ?? null;
  }

  /** What a list shows of one thread, from its file. */
  async summaryOf({ threadId, file, archived }: StoredFile): Promise<StoredThread | null> {
    return (await this.#read({ threadId, file, archived }))?.thread ?? null;
  }

  async archive(stored: StoredFile): Promise<string> {
    return this.#move(stored.file, archivedPath(this.#home, stored.file));
  }

  async unarchive(stored: StoredFile): Promise<string> {
    return this.#move(stored.file, unarchivedPath(this.#home, stored.file));
  }

  async #move(from: string, to: string): Promise<string> {
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    return to;
  }

  async remove(stored: StoredFile): Promise<void> {
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

async function folderTime(dir: string): Promise<number | null> {
  try {
    return (await stat(dir)).mtimeMs;
  } catch {
    return null;
  }
}
