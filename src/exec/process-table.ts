// Reads the system's table of processes: who belongs to whom, and what it uses. Linux reads /proc; elsewhere `ps` answers the usage.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export const hasProcessTable = process.platform === 'linux';

export interface ProcessEntry {
  readonly pid: number;
  /** R, S, D, T, Z, … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** User and system time in clock ticks. */
  readonly ticks: number;
  /** Clock ticks since boot at its start; with the pid it names a process for good. */
  readonly startedAt: number;
}

export interface ProcessUsage {
  readonly cpuPercent: number | null;
  readonly rssKb: number | null;
}

/** The kernel reports times to user space in this unit on every architecture. */
const TICKS_PER_SECOND = 100;

/** Undefined when there is no such process (any more). */
export function readEntry(pid: number): ProcessEntry | undefined {
  if (!hasProcessTable) return undefined;
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The name in parentheses may hold anything, spaces and parentheses too, so fields are counted from the last one. */
export function parseStat(pid: number, text: string): ProcessEntry {
  const f = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: f[0],
    parent: Number(f[1]),
    group: Number(f[2]),
    session: Number(f[3]),
    ticks: Number(f[11]) + Number(f[12]),
    startedAt: Number(f[19]),
  };
}

/** Everything that runs; the dead that nobody reaped are left out. */
export function listEntries(): ProcessEntry[] {
  if (!hasProcessTable) return [];
  return readdirSync('/proc')
    .filter((name) => name.charCodeAt(0) >= 0x30 && name.charCodeAt(0) <= 0x39)
    .map((name) => readEntry(Number(name)))
    .filter((entry): entry is ProcessEntry => entry !== undefined && entry.state !== 'Z' && entry.state !== 'X');
}

/** True when the process was started with this text in its environment, `\0NAME=value` for instance. Others' processes: false. */
export function environmentHas(pid: number, text: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(text);
  } catch {
    return false;
  }
}

/** A process, its group and session, and everything they started: a sandbox puts the command into a session of its own. */
function familyOf(leader: number): ProcessEntry[] {
  const all = listEntries();
  const family = new Map(
    all.filter(({ pid, group, session }) => [pid, group, session].includes(leader)).map((entry) => [entry.pid, entry]),
  );
  // Pids wrap around, so a child may come before its parent in the list: once more, as long as that finds any.
  for (let found = -1; found !== family.size; ) {
    found = family.size;
    for (const entry of all) if (family.has(entry.parent)) family.set(entry.pid, entry);
  }
  return [...family.values()];
}

/** Of a process and everything that belongs to it: the average load since its start, as ps shows it, and the resident memory. */
export async function usageOf(leader: number): Promise<ProcessUsage> {
  if (!hasProcessTable) return usageFromPs(leader);
  const members = familyOf(leader);
  const first = members.find((entry) => entry.pid === leader) ?? members[0];
  if (!first) return { cpuPercent: null, rssKb: null };
  try {
    const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    const seconds = Math.max(0.01, uptime - first.startedAt / TICKS_PER_SECOND);
    const ticks = members.reduce((sum, entry) => sum + entry.ticks, 0);
    return {
      cpuPercent: Math.round((ticks / TICKS_PER_SECOND / seconds) * 1000) / 10,
      rssKb: members.reduce((sum, entry) => sum + residentKb(entry.pid), 0),
    };
  } catch {
    return { cpuPercent: null, rssKb: null };
  }
}

function residentKb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function usageFromPs(leader: number): Promise<ProcessUsage> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', '%cpu=,rss=', '-p', String(leader)]);
    const [cpu, rss] = stdout.trim().split(/\s+/).map(Number);
    return { cpuPercent: Number.isFinite(cpu) ? cpu : null, rssKb: Number.isFinite(rss) ? rss : null };
  } catch {
    return { cpuPercent: null, rssKb: null };
  }
}
