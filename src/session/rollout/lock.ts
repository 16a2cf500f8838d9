// One daemon writes a thread at a time. The lock is a file beside the rollout that names its owner; a dead owner's lock is taken over.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemCode } from '../../common/errors.ts';

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

export type LockResult = { ok: true; release: () => void } | { ok: false; ownerPid: number };

/** Takes the writer's lock of a rollout, or tells who holds it. */
export function lockRollout(rollout: string): LockResult {
  const file = `${rollout}.lock`;
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Owner);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return { ok: true, release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') return { ok: true, release: () => {} }; // a read-only home: nobody else can write either
      const owner = readOwner(file);
      if (owner && alive(owner) && owner.pid !== process.pid) return { ok: false, ownerPid: owner.pid };
      rmSync(file, { force: true });
    }
  }
  return { ok: false, ownerPid: readOwner(file)?.pid ?? 0 };
}
