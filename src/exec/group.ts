// Ends everything that belongs to a command: its group, its session, what left both, and what was started by those. A number is
// trusted only while its owner is known to live, so a reused pid is never signalled.
import { execFile } from 'node:child_process';
import { monotonicMs, sleep } from '../common/clock.ts';
import type { ProcessEntry } from './process-table.ts';
import { environmentHas, hasProcessTable, listEntries, readEntry } from './process-table.ts';

/** Set in every child, so that a daemon that left group, session and parents behind is still found. */
export const PROCESS_MARK = 'HARNESSD_PROCESS';

/** After KILL: what does not vanish within this time hangs in the kernel, and waiting longer does not help. */
const KILL_WAIT_MS = 3000;
const MAX_STEP_MS = 50;
const KILL_ROUNDS = 5;

export class ProcessGroup {
  readonly leader: number;
  readonly #mark: string;
  readonly #startedAt: number;
  #leaderAlive = true;
  /** Where no table tells members apart: the group was seen empty, so its number belongs to nobody we know. */
  #gone = false;
  /** pid → start time of every member seen so far: who is in here may be trusted without its leader. */
  readonly #known = new Map<number, number>();
  #ending: { readonly done: Promise<void>; killAt: number } | undefined;

  constructor(leader: number, mark: string) {
    this.leader = leader;
    this.#mark = `\0${PROCESS_MARK}=${mark}\0`;
    this.#startedAt = readEntry(leader)?.startedAt ?? 0;
  }

  /** Called at the leader's exit, at once: after this its number alone means nothing. True when the group lives on without it. */
  leaderExited(): boolean {
    const left = signal(-this.leader, 0) && (!hasProcessTable || this.#scan().length > 0);
    this.#leaderAlive = false;
    this.#gone = !left;
    return left;
  }

  /** Pids of the members that live now. */
  members(): number[] {
    if (hasProcessTable) return this.#scan().map((entry) => entry.pid);
    this.#gone ||= !signal(-this.leader, 0);
    return this.#gone ? [] : [this.leader];
  }

  /** KILL to all of it, now. */
  kill(): void {
    send(this.members(), this.leader, 'SIGKILL');
  }

  /** Resolves when nothing is left. A second call shortens the grace, it never lengthens it. */
  end(graceMs: number): Promise<void> {
    const killAt = monotonicMs() + graceMs;
    if (this.#ending) {
      this.#ending.killAt = Math.min(this.#ending.killAt, killAt);
      return this.#ending.done;
    }
    const ending = { killAt, done: Promise.resolve() };
    this.#ending = ending;
    ending.done = endProcesses(
      () => this.members(),
      () => ending.killAt,
      this.leader,
    ).finally(() => {
      this.#ending = undefined;
    });
    return ending.done;
  }

  #scan(): ProcessEntry[] {
    const entries = listEntries();
    const own = new Map<number, ProcessEntry>();
    const add = (entry: ProcessEntry) => own.set(entry.pid, entry);
    for (const entry of entries) {
      if (entry.pid === process.pid) continue;
      if (this.#known.get(entry.pid) === entry.startedAt) add(entry);
      else if (this.#leaderAlive && this.#inGroup(entry)) add(entry);
      else if (entry.startedAt >= this.#startedAt && environmentHas(entry.pid, this.#mark)) add(entry);
    }
    // Without its leader a group is ours as long as one member is.
    if ([...own.values()].some((entry) => this.#inGroup(entry))) for (const entry of entries) if (this.#inGroup(entry)) add(entry);
    addDescendants(own, entries);
    this.#known.clear();
    for (const entry of own.values()) this.#known.set(entry.pid, entry.startedAt);
    return [...own.values()];
  }

  #inGroup(entry: ProcessEntry): boolean {
    return entry.group === this.leader || entry.session === this.leader;
  }
}

function addDescendants(own: Map<number, ProcessEntry>, entries: readonly ProcessEntry[]): void {
  for (let size = -1; size !== own.size; ) {
    size = own.size;
    for (const entry of entries) if (own.has(entry.parent) && entry.pid !== process.pid) own.set(entry.pid, entry);
  }
}

/** Ends every process whose mark begins with `prefix`, wherever it went. */
export function endMarked(prefix: string, graceMs: number): Promise<void> {
  const killAt = monotonicMs() + graceMs;
  return endProcesses(markedBy(prefix), () => killAt);
}

/** The same at once and without a chance to clean up, for a daemon that has no time left. A few rounds: a dying tree may still fork. */
export function killMarked(prefix: string): void {
  const find = markedBy(prefix);
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const members = find();
    if (members.length === 0) return;
    send(members, undefined, 'SIGKILL');
  }
}

function markedBy(prefix: string): () => number[] {
  const text = `\0${PROCESS_MARK}=${prefix}`;
  const since = readEntry(process.pid)?.startedAt ?? 0;
  return () =>
    listEntries()
      .filter((entry) => entry.startedAt >= since && entry.pid !== process.pid && environmentHas(entry.pid, text))
      .map((entry) => entry.pid);
}

/** TERM, wait, KILL, wait. The set is looked up each time, since a dying tree may still fork. */
async function endProcesses(find: () => number[], killAt: () => number, leader?: number): Promise<void> {
  if (process.platform === 'win32') return endTree(leader);
  let members = find();
  send(members, leader, 'SIGTERM');
  // A stopped process acts on TERM only once it goes on.
  send(members, leader, 'SIGCONT');
  let step = 2;
  const wait = async (limit: number) => {
    await sleep(Math.max(1, Math.min(step, limit - monotonicMs())));
    step = Math.min(MAX_STEP_MS, step * 2);
    members = find();
  };
  while (members.length > 0 && monotonicMs() < killAt()) await wait(killAt());
  const giveUpAt = monotonicMs() + KILL_WAIT_MS;
  step = 2;
  while (members.length > 0 && monotonicMs() < giveUpAt) {
    send(members, leader, 'SIGKILL');
    await wait(giveUpAt);
  }
}

/** The group at once where it is ours (that catches a fork under way), then each member that is outside it. */
function send(members: readonly number[], leader: number | undefined, name: NodeJS.Signals): void {
  if (members.length === 0) return;
  const grouped = leader !== undefined && (!hasProcessTable || members.some((pid) => readEntry(pid)?.group === leader));
  if (grouped) signal(-leader, name);
  if (!hasProcessTable) return;
  for (const pid of members) if (!grouped || readEntry(pid)?.group !== leader) signal(pid, name);
}

/** False when there is nobody (we may reach) under this number. */
function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, name);
    return true;
  } catch {
    return false;
  }
}

function endTree(leader: number | undefined): Promise<void> {
  if (leader === undefined) return Promise.resolve();
  return new Promise((resolve) => execFile('taskkill', ['/pid', String(leader), '/T', '/F'], () => resolve()));
}
