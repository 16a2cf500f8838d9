// The commands of one thread that outlived their call: found again by a number, listed, ended, and remembered for a while after their
// end, so that a late write is told what became of its session.
import { randomInt } from 'node:crypto';
import { monotonicMs, nowMs, sleep } from '../common/clock.ts';
import type { NewOutput, OutputCollector } from './output.ts';
import type { ProcessOutcome, RunningProcess } from './process.ts';
import { usageOf } from './process-table.ts';

export interface ExecSessionInit {
  /** Already attached to `output`. */
  readonly process: RunningProcess;
  readonly output: OutputCollector;
  readonly itemId: string;
  /** As shown to the client. */
  readonly command: string;
  readonly cwd: string;
  readonly tty: boolean;
}

export interface SessionInfo {
  readonly id: number;
  readonly itemId: string;
  readonly command: string;
  readonly cwd: string;
  readonly tty: boolean;
  readonly startedAtMs: number;
  /** Null before the process is up. */
  readonly pid: number | null;
  readonly cpuPercent: number | null;
  readonly rssKb: number | null;
}

export type SessionLookup =
  /** It runs, or it ended and its last output was not told yet. */
  | { type: 'found'; session: ExecSession }
  | { type: 'ended'; exitCode: number; liveIds: readonly number[] }
  | { type: 'unknown'; liveIds: readonly number[] };

const DEFAULT_LIMIT = 64;
const REMEMBERED = 256;
const FIRST_ID = 10_000;
const END_OF_IDS = 100_000;
/** Of a command that never started, as shells that were killed show it to clients. */
const NEVER_RAN = -1;

export const exitCodeOf = (outcome: ProcessOutcome): number => (outcome.type === 'failedToStart' ? NEVER_RAN : outcome.exitCode);

export class ExecSession {
  readonly id: number;
  readonly itemId: string;
  readonly command: string;
  readonly cwd: string;
  readonly tty: boolean;
  readonly process: RunningProcess;
  readonly output: OutputCollector;
  readonly startedAtMs = nowMs();
  /** Settles after the last byte was collected and the last delta sent. Never rejects. */
  readonly ended: Promise<ProcessOutcome>;
  readonly #began = monotonicMs();
  /** Set once, before `ended` settles. */
  #end: { readonly outcome: ProcessOutcome; readonly durationMs: number } | undefined;

  constructor(id: number, init: ExecSessionInit) {
    this.id = id;
    this.itemId = init.itemId;
    this.command = init.command;
    this.cwd = init.cwd;
    this.tty = init.tty;
    this.process = init.process;
    this.output = init.output;
    this.ended = init.process.exited.then(async (outcome) => {
      const durationMs = monotonicMs() - this.#began;
      await init.output.end();
      this.#end = { outcome, durationMs };
      return outcome;
    });
  }

  get outcome(): ProcessOutcome | undefined {
    return this.#end?.outcome;
  }

  /** From the start to the end, or to now. */
  get durationMs(): number {
    return this.#end?.durationMs ?? monotonicMs() - this.#began;
  }

  /** Resolves at the end, after `ms`, or on abort, whichever is first. Ends nothing. */
  async waitForYield(ms: number, signal?: AbortSignal): Promise<'ended' | 'yielded' | 'aborted'> {
    const stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    const timer = sleep(ms, either);
    await Promise.race([this.ended, timer]);
    stop.abort();
    if (this.#end) return 'ended';
    return signal?.aborted ? 'aborted' : 'yielded';
  }

  takeNewOutput(): NewOutput {
    return this.output.takeNew();
  }
}

export class ExecSessions {
  readonly #limit: number;
  /** In the order of their start. Invariant: never more than the limit. */
  readonly #sessions = new Map<number, ExecSession>();
  /** Exit codes of forgotten sessions, the latest last. */
  readonly #remembered = new Map<number, number>();
  /** Ids given out and not yet used. */
  readonly #reserved = new Set<number>();

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit;
  }

  /** An id for a session that is about to start: the client is told it before there is a process. */
  reserveId(): number {
    for (;;) {
      const id = randomInt(FIRST_ID, END_OF_IDS);
      if (this.#sessions.has(id) || this.#remembered.has(id) || this.#reserved.has(id)) continue;
      this.#reserved.add(id);
      return id;
    }
  }

  /** For a reserved id that no session will use. */
  releaseId(id: number): void {
    this.#reserved.delete(id);
  }

  /**
   * Takes a session in. When there are too many, one gives way: one that ended before any that runs, the oldest first. A running one
   * is ended; the caller tells the model about it.
   */
  add(id: number, init: ExecSessionInit): { session: ExecSession; pruned: ExecSession | undefined } {
    const pruned = this.#sessions.size >= this.#limit ? this.#makeRoom() : undefined;
    this.#reserved.delete(id);
    const session = new ExecSession(id, init);
    this.#sessions.set(id, session);
    return { session, pruned };
  }

  find(id: number): SessionLookup {
    const session = this.#sessions.get(id);
    if (session) return { type: 'found', session };
    const exitCode = this.#remembered.get(id);
    return exitCode === undefined ? { type: 'unknown', liveIds: this.liveIds() } : { type: 'ended', exitCode, liveIds: this.liveIds() };
  }

  liveIds(): number[] {
    return this.#running().map((session) => session.id);
  }

  /** The end and the last output of a session were told: from now on only its exit code is known. */
  forget(id: number): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    const remember = (outcome: ProcessOutcome) => {
      this.#remembered.set(id, exitCodeOf(outcome));
      for (const [oldest] of this.#remembered) {
        if (this.#remembered.size <= REMEMBERED) break;
        this.#remembered.delete(oldest);
      }
    };
    if (session.outcome) remember(session.outcome);
    else void session.ended.then(remember);
  }

  /** What runs now, with what it uses. */
  list(): Promise<SessionInfo[]> {
    return Promise.all(
      this.#running().map(async (session) => {
        const { id, itemId, command, cwd, tty, startedAtMs } = session;
        const pid = session.process.pid ?? null;
        const usage = pid === null ? { cpuPercent: null, rssKb: null } : await usageOf(pid);
        return { id, itemId, command, cwd, tty, startedAtMs, pid, ...usage };
      }),
    );
  }

  /** False when nothing of that number runs. Resolves when the process group is gone and its end is known. */
  async terminate(id: number, graceMs?: number): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (!session || session.outcome) return false;
    await session.process.terminate(graceMs);
    await session.ended;
    return true;
  }

  /** Ends what runs, and what ended commands left in the background. Resolves with the number of commands that ran. */
  async terminateAll(graceMs?: number): Promise<number> {
    const running = this.#running();
    await Promise.all([...this.#sessions.values()].map((session) => session.process.terminate(graceMs)));
    await Promise.all(running.map((session) => session.ended));
    return running.length;
  }

  #running(): ExecSession[] {
    return [...this.#sessions.values()].filter((session) => session.outcome === undefined);
  }

  #makeRoom(): ExecSession | undefined {
    const all = [...this.#sessions.values()];
    const victim = all.find((session) => session.outcome) ?? all[0];
    if (!victim) return undefined;
    if (!victim.outcome) void victim.process.terminate();
    this.forget(victim.id);
    return victim;
  }
}
