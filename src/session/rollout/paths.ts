// Where rollouts lie: sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl under the home, archived ones flat in archived_sessions.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

export const SESSIONS = 'sessions';
export const ARCHIVED = 'archived_sessions';

export const PREFIX = 'rollout-';
export const ENDING = '.jsonl';

const FILE = /^rollout-(.*)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})$/;

/** The thread id in a rollout's file name, or null for a file of another kind. */
export const threadIdOf = (fileName: string): string | null => FILE.exec(fileName)?.[2] ?? null;

/** The time in a rollout's file name, in seconds; 0 when it holds none. */
export function createdAtOf(file: string): number {
  const time = TIME.exec(FILE.exec(path.basename(file))?.[1] ?? '');
  const ms = time ? Date.parse(`${time[1]}T${time[2]}:${time[3]}:${time[4]}Z`) : Number.NaN;
  return Number.isNaN(ms) ? 0 : ms / 1000;
}

const fileName = (threadId: string, now: Date): string =>
  `${PREFIX}${now.toISOString().slice(0, 19).replaceAll(':', '-')}-${threadId}${ENDING}`;

export function newRolloutPath(home: string, threadId: string, now: Date): string {
  return path.join(home, SESSIONS, ...now.toISOString().slice(0, 10).split('-'), fileName(threadId, now));
}

export const archivedPath = (home: string, file: string): string => path.join(home, ARCHIVED, path.basename(file));

/** Back from the archive: the folder follows from the time in the name. */
export function unarchivedPath(home: string, file: string): string {
  const name = path.basename(file);
  return path.join(home, SESSIONS, ...name.slice(PREFIX.length, PREFIX.length + 10).split('-'), name);
}

export interface StoredFile {
  threadId: string;
  file: string;
  archived: boolean;
}

/** A folder that may hold rollouts. */
export interface RolloutFolder {
  dir: string;
  archived: boolean;
}

function subfolders(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => path.join(dir, entry.name));
  } catch {
    return [];
  }
}

/** Every folder of a home that may hold rollouts: those of the days and those above them, and the archive. */
export function rolloutFolders(home: string): RolloutFolder[] {
  let level = [path.join(home, SESSIONS)];
  const dirs = [...level];
  for (let depth = 0; depth < 3; depth++) {
    level = level.flatMap(subfolders);
    dirs.push(...level);
  }
  return [...dirs.map((dir) => ({ dir, archived: false })), { dir: path.join(home, ARCHIVED), archived: true }];
}

/** Empty for a folder that cannot be read. */
export function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** The rollouts among the names in a folder. */
export function* rolloutsOf({ dir, archived }: RolloutFolder, names: Iterable<string>): Generator<StoredFile> {
  for (const name of names) {
    const threadId = threadIdOf(name);
    if (threadId) yield { threadId, file: path.join(dir, name), archived };
  }
}

/** The rollouts that lie in a folder, by name: no file is opened. */
export const rolloutsIn = (folder: RolloutFolder): StoredFile[] => [...rolloutsOf(folder, namesIn(folder.dir))];

/** Every rollout under a home. */
export const findRollouts = (home: string): StoredFile[] => rolloutFolders(home).flatMap(rolloutsIn);

/** Ids hold the time of their making, and so does the name of the file: found without reading a folder, or null. */
export function guessRollout(home: string, threadId: string): StoredFile | null {
  const ms = Number.parseInt(threadId.slice(0, 8) + threadId.slice(9, 13), 16);
  if (!Number.isFinite(ms) || ms > 8.64e15) return null;
  for (const offset of [0, 1, -1]) {
    const file = newRolloutPath(home, threadId, new Date(ms + offset * 1000));
    if (existsSync(file)) return { threadId, file, archived: false };
    const kept = archivedPath(home, file);
    if (existsSync(kept)) return { threadId, file: kept, archived: true };
  }
  return null;
}
