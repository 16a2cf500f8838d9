// One daemon writes a thread at a time. The lock is a file of the thread's name under locks/ that says who owns it; a dead owner's lock
// is taken over. What lies in that folder also tells an index which threads may have changed: held ones, and those let go since.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemCode } from '../../common/errors.ts';
import { namesIn } from './paths.ts';

interface Owner {
  pid: number;
  /** Start time of the process in clock ticks, where the system tells it: a reused pid is no owner. */
  started: string | null;
}

function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function alive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
  }
  return owner.started === null || startOf(owner.pid) === null || startOf(owner.pid) === owner.started;
}

function readOwner(file: string): Owner | null {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Owner;
    return typeof value.pid === 'number' ? value : null;
  } catch {
    return null;
  }
}

const HELD = '.lock';
const LET_GO = '.changed';

const folderOf = (home: string): string => path.join(home, 'locks');
const fileOf = (home: string, threadId: string, ending: string): string => path.join(folderOf(home), `${threadId}${ending}`);

/** Systems of files without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Makes the lock with its content in one step: nobody ever reads one that does not say yet whose it is. Throws EEXIST when there is one. */
function create(file: string, content: string): void {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, content, { mode: 0o600 });
  try {
    linkSync(own, file);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error) ?? '')) throw error;
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes a lock that was found to be a dead one's, and puts back the one that a living process made there meanwhile. */
function clear(file: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    const owner = readOwner(aside);
    if (owner && owner.pid !== process.pid && alive(owner)) linkSync(aside, file);
  } catch {
    // Another one was first: whoever it is, the next try finds out.
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Another living process writes the thread. */
export function isHeldElsewhere(home: string, threadId: string): boolean {
  const owner = readOwner(fileOf(home, threadId, HELD));
  return owner !== null && owner.pid !== process.pid && alive(owner);
}

export type LockResult = { ok: true; release: () => void } | { ok: false; ownerPid: number };

function letGo(home: string, threadId: string): void {
  try {
    renameSync(fileOf(home, threadId, HELD), fileOf(home, threadId, LET_GO));
  } catch {
    // Gone with its home, or taken over: nothing is ours any more.
  }
}

/** Takes the writer's lock of a thread, or tells who holds it. */
export function lockThread(home: string, threadId: string): LockResult {
  const file = fileOf(home, threadId, HELD);
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Owner);
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      create(file, mine);
      return { ok: true, release: () => letGo(home, threadId) };
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') return { ok: true, release: () => {} }; // a read-only home: nobody else can write either
      const owner = readOwner(file);
      if (owner && alive(owner) && owner.pid !== process.pid) return { ok: false, ownerPid: owner.pid };
      clear(file);
    }
  }
  return { ok: false, ownerPid: readOwner(file)?.pid ?? 0 };
}

/** Removes every trace of a thread's lock. */
export function forgetLock(home: string, threadId: string): void {
  for (const ending of [HELD, LET_GO]) rmSync(fileOf(home, threadId, ending), { force: true });
}

/** Threads that are held, or were let go and not looked at since. */
export function changedThreads(home: string): { threadId: string; seen(): void }[] {
  return namesIn(folderOf(home))
    .filter((name) => name.endsWith(HELD) || name.endsWith(LET_GO))
    .map((name) => ({
      threadId: name.slice(0, name.lastIndexOf('.')),
      // A lock stays: its thread goes on changing, or its owner died and whoever loads it takes it over.
      seen: () => {
        if (name.endsWith(LET_GO)) rmSync(path.join(folderOf(home), name), { force: true });
      },
    }));
}
