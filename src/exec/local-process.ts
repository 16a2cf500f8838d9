// One run of a request: from the checks over the child to exactly one outcome. Decides who ended it: itself, its limit, or terminate().
import { constants } from 'node:os';
import { Deferred } from '../common/deferred.ts';
import { messageOf } from '../common/errors.ts';
import type { Child, ChildListener, InheritableDescriptors, LeaderExit } from './child.ts';
import { StartError } from './child.ts';
import type { FifoPool } from './fifo.ts';
import { PROCESS_MARK, ProcessGroup } from './group.ts';
import { prepareLaunch } from './launch.ts';
import { discardPipes, preparePipes, spawnPipes } from './pipes.ts';
import type { ProcessOutcome, ProcessOutput, ProcessRequest, RunningProcess } from './process.ts';
import { loadTerminals } from './pty.ts';

/** Exit code of a command that ran into its limit, and of one that was cancelled before it was up. */
const TIMED_OUT = 124;
const CANCELLED_EARLY = 143;
export const DEFAULT_GRACE_MS = 2000;
const UNKILLABLE_MS = 1000;
const DEFAULT_SIZE = { rows: 24, cols: 80 };
/** The longest delay a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface LocalProcessParts {
  readonly fifos: FifoPool;
  readonly descriptors: InheritableDescriptors;
  /** Unique to this process among everything this machine runs. */
  readonly mark: string;
  /** Called once, when the leader is gone and others of its group are not. */
  readonly leftBehind: (group: ProcessGroup) => void;
}

type State =
  | { type: 'starting'; pending: ((child: Child) => void)[] }
  | { type: 'running'; child: Child; group: ProcessGroup; leaderAlive: boolean }
  | { type: 'ended'; group: ProcessGroup | undefined };

export class LocalProcess implements RunningProcess {
  readonly #request: ProcessRequest;
  readonly #parts: LocalProcessParts;
  readonly #exited = new Deferred<ProcessOutcome>();
  #listener: (output: ProcessOutput) => void = () => {};
  #state: State = { type: 'starting', pending: [] };
  /** Set once, by whoever ends the process before it ended by itself. */
  #verdict: 'timedOut' | 'cancelled' | undefined;
  /** Settled when the system did not give the leader back although it was killed: even then the outcome comes. */
  readonly #unkillable = new Deferred<LeaderExit>();
  /** Set with the verdict: the group is empty when it resolves. */
  #ended: Promise<void> | undefined;

  constructor(request: ProcessRequest, parts: LocalProcessParts) {
    this.#request = request;
    this.#parts = parts;
    void this.#run();
  }

  get pid(): number | undefined {
    return this.#state.type === 'running' ? this.#state.child.pid : undefined;
  }

  get exited(): Promise<ProcessOutcome> {
    return this.#exited.promise;
  }

  onOutput(listener: (output: ProcessOutput) => void, bytes: 'owned' | 'borrowed' = 'owned'): void {
    this.#listener = bytes === 'borrowed' ? listener : (output) => listener({ ...output, bytes: Buffer.from(output.bytes) });
  }

  write(data: string | Uint8Array): boolean {
    if (this.#verdict || !(this.#request.tty || this.#request.stdin === 'open')) return false;
    switch (this.#state.type) {
      case 'starting':
        this.#state.pending.push((child) => child.write(data));
        return true;
      case 'running':
        return this.#state.child.write(data);
      case 'ended':
        return false;
    }
  }

  closeStdin(): void {
    this.#act((child) => child.closeStdin());
  }

  resize(rows: number, cols: number): void {
    this.#act((child) => child.resize(rows, cols));
  }

  pause(): void {
    if (!this.#verdict) this.#act((child) => child.pause());
  }

  resume(): void {
    this.#act((child) => child.resume());
  }

  async terminate(graceMs: number = DEFAULT_GRACE_MS): Promise<void> {
    this.#endBy('cancelled', graceMs);
    switch (this.#state.type) {
      case 'starting':
        await this.#exited.promise;
        break;
      case 'running':
        await this.#state.group.end(graceMs);
        await this.#exited.promise;
        break;
      case 'ended':
        await this.#state.group?.end(graceMs);
        break;
    }
  }

  /** At once, without waiting for anything: what is left of it when the daemon's own time is up. */
  kill(): void {
    this.#verdict ??= 'cancelled';
    if (this.#state.type === 'running') this.#state.group.kill();
  }

  /** Now, or as soon as there is a child; never after its end. */
  #act(act: (child: Child) => void): void {
    if (this.#state.type === 'starting') this.#state.pending.push(act);
    else if (this.#state.type === 'running') act(this.#state.child);
  }

  #endBy(verdict: 'timedOut' | 'cancelled', graceMs: number): void {
    const state = this.#state;
    if (this.#verdict || state.type === 'ended' || (state.type === 'running' && !state.leaderAlive)) return;
    this.#verdict = verdict;
    if (state.type !== 'running') return;
    // Whoever paused it must not keep a dead process from being reported.
    state.child.resume();
    this.#ended = state.group.end(graceMs).then(() => {
      setTimeout(() => this.#unkillable.resolve({ code: null, signal: 'SIGKILL' }), UNKILLABLE_MS).unref();
    });
  }

  async #run(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const child = await this.#start();
      if (!child) {
        this.#settle({ type: 'cancelled', exitCode: CANCELLED_EARLY });
        return;
      }
      const limit = this.#request.timeoutMs;
      if (limit !== undefined) timer = setTimeout(() => this.#endBy('timedOut', DEFAULT_GRACE_MS), Math.min(limit, MAX_TIMER_MS));
      const exit = await Promise.race([child.ended, this.#unkillable.promise]);
      await this.#ended;
      this.#settle(outcomeOf(exit, this.#verdict));
    } catch (error) {
      const reason = error instanceof StartError ? error.message : `the command could not be started: ${messageOf(error)}`;
      this.#settle({ type: 'failedToStart', reason });
    } finally {
      clearTimeout(timer);
    }
  }

  #settle(outcome: ProcessOutcome): void {
    this.#state = { type: 'ended', group: this.#state.type === 'running' ? this.#state.group : undefined };
    this.#exited.resolve(outcome);
  }

  /** Undefined when the process was cancelled before the spawn. */
  async #start(): Promise<Child | undefined> {
    const { tty, stdin, merged = false } = this.#request;
    const { fifos, descriptors, mark } = this.#parts;
    const spec = await prepareLaunch(this.#request, { [PROCESS_MARK]: mark });
    if (tty) {
      const terminals = await loadTerminals();
      if (this.#verdict) return undefined;
      return this.#up(terminals.spawn(spec, this.#request.size ?? DEFAULT_SIZE, descriptors, this.#childListener()));
    }
    const pipes = await preparePipes(fifos, merged);
    if (this.#verdict) {
      discardPipes(pipes);
      return undefined;
    }
    return this.#up(spawnPipes(spec, stdin, pipes, descriptors, this.#childListener()));
  }

  #childListener(): ChildListener {
    return {
      output: (output) => this.#listener(output),
      leaderExited: () => {
        const state = this.#state;
        if (state.type !== 'running') return;
        state.leaderAlive = false;
        if (state.group.leaderExited()) this.#parts.leftBehind(state.group);
      },
    };
  }

  #up(child: Child): Child {
    // No pid: the spawn failed, and `ended` is about to reject with the reason.
    if (child.pid === undefined || this.#state.type !== 'starting') return child;
    const { pending } = this.#state;
    this.#state = { type: 'running', child, group: new ProcessGroup(child.pid, this.#parts.mark), leaderAlive: true };
    for (const act of pending) act(child);
    return child;
  }
}

function outcomeOf(exit: LeaderExit, verdict: 'timedOut' | 'cancelled' | undefined): ProcessOutcome {
  if (verdict === 'timedOut') return { type: 'timedOut', exitCode: TIMED_OUT };
  const exitCode = exit.signal === null ? (exit.code ?? 1) : 128 + (numberOf(exit.signal) ?? 0);
  if (verdict === 'cancelled') return { type: 'cancelled', exitCode };
  return exit.signal === null ? { type: 'exited', exitCode } : { type: 'signalled', signal: exit.signal, exitCode };
}

const numberOf = (signal: string): number | undefined => Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
