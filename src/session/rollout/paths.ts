// Where rollouts lie: sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl under the home, archived ones flat in archived_sessions.
import { readdir } from 'node:fs/promises';
import path from 'node:path';

export const SESSIONS = 'sessions';
export const ARCHIVED = 'archived_sessions';

const FILE = /^rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/** The thread id in a rollout's file name, or null for a file of another kind. */
export const threadIdOf = (fileName: string): string | null => FILE.exec(fileName)?.[1] ?? null;

export function newRolloutPath(home: string, threadId: string, now: Date): string {
  const [day, time] = now.toISOString().split('T');
  const [year, month, date] = day.split('-');
  return path.join(home, SESSIONS, year, month, date, `rollout-${day}T${time.slice(0, 8).replaceAll(':', '-')}-${threadId}.jsonl`);
}

export const archivedPath = (home: string, file: string): string => path.join(home, ARCHIVED, path.basename(file));

/** Back from the archive: the folder follows from the time in the name. */
export function unarchivedPath(home: string, file: string): string {
  const name = path.basename(file);
  const [year, month, date] = name.slice('rollout-'.length, 'rollout-'.length + 10).split('-');
  return path.join(home, SESSIONS, year, month, date, name);
}

export interface StoredFile {
  threadId: string;
  file: string;
  archived: boolean;
}

async function walk(dir: string, depth: number, archived: boolean, into: StoredFile[]): Promise<void> {
  let entries: import('node:fs').Dirent[];
  try {
    entries = await readdir(dir, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    if (entry.isDirectory()) {
      if (depth > 0) await walk(path.join(dir, entry.name), depth - 1, archived, into);
      continue;
    }
    const threadId = threadIdOf(entry.name);
    if (threadId) into.push({ threadId, file: path.join(dir, entry.name), archived });
  }
}

/** Every rollout under a home, by file name only: no file is opened. */
export async function findRollouts(home: string): Promise<StoredFile[]> {
  const found: StoredFile[] = [];
  await walk(path.join(home, SESSIONS), 3, false, found);
  await walk(path.join(home, ARCHIVED), 0, true, found);
  return found;
}
