// The port to processes. A handler never spawns by itself: it freezes a ProcessRequest and gets a RunningProcess back.

export interface ProcessRequest {
  /** argv[0] is looked up in env.PATH. Already wrapped by the sandbox when there is one. */
  readonly argv: readonly string[];
  /** Absolute. A missing folder is a failedToStart that names it. */
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited. The runner adds PWD and its own mark HARNESSD_PROCESS only. */
  readonly env: Readonly<Record<string, string>>;
  /** A terminal (stdout and stderr merged by nature), or pipes. */
  readonly tty: boolean;
  readonly size?: { readonly rows: number; readonly cols: number };
  /** With pipes: 'closed' gives end of file at once, 'open' allows write(). A terminal is always open. */
  readonly stdin: 'closed' | 'open';
  /**
   * With pipes: stdout and stderr share one pipe, so that their order is exactly the order of the writes; everything then
   * carries the label 'stdout' (without FIFOs, on Windows, it is as with false). Default false: two pipes, each labelled, in the order in which the bytes arrive.
   */
  readonly merged?: boolean;
  /** Wall-clock limit in ms from the spawn on; none by default. */
  readonly timeoutMs?: number;
}

export type ProcessOutcome =
  | { type: 'exited'; exitCode: number }
  /** Death by a signal; shells show it as 128 + number. */
  | { type: 'signalled'; signal: string; exitCode: number }
  /** exitCode is 124. */
  | { type: 'timedOut'; exitCode: number }
  /** Ended by terminate(). */
  | { type: 'cancelled'; exitCode: number }
  | { type: 'failedToStart'; reason: string };

export interface ProcessOutput {
  stream: 'stdout' | 'stderr' | 'tty';
  bytes: Uint8Array;
}

/**
 * Contract: output is delivered in order and completely before `exited` settles (a background child that holds the pipe open
 * delays it by a short drain only; while paused the rest waits for resume()). `exited` never rejects. terminate() ends the
 * whole process group: TERM, a grace, KILL, and resolves when the group is empty; after the end it ends what the command left
 * running in the background, and the outcome stays what it was. write() to a closed stdin or an ended process is a no-op that
 * reports false.
 */
export interface RunningProcess {
  /** Undefined until the process is up: starting is asynchronous. */
  readonly pid: number | undefined;
  readonly exited: Promise<ProcessOutcome>;
  /**
   * Set once by the owner in the same tick as start(), before any output can arrive. The bytes are the listener's to keep; 'borrowed'
   * spares the copy: they are overwritten when the call is over.
   */
  onOutput(listener: (output: ProcessOutput) => void, bytes?: 'owned' | 'borrowed'): void;
  write(data: string | Uint8Array): boolean;
  closeStdin(): void;
  resize(rows: number, cols: number): void;
  /** Stops reading, so that the child blocks on a full pipe; resume() goes on. Without effect once terminate() was called. */
  pause(): void;
  resume(): void;
  terminate(graceMs?: number): Promise<void>;
}

export interface ProcessRunner {
  start(request: ProcessRequest): RunningProcess;
  /** Ends everything that still runs, background children included; resolves when nothing is left. */
  endAll(graceMs: number): Promise<void>;
  /** Kills all of that before it returns, for a daemon that has no time to wait. */
  killAll(): void;
}
