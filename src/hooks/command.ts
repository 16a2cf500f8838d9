// The port to the processes of command hooks. The server implements it on the process runtime: this folder starts nothing by itself.

export interface CommandRequest {
  /** Read by the user's shell. */
  readonly command: string;
  readonly cwd: string;
  /** Written to stdin, which is then closed. */
  readonly input: string;
  readonly timeoutMs: number;
  /** Names that the command finds in its environment, beside the filtered ones of the daemon. */
  readonly values: Readonly<Record<string, string>>;
}

export type CommandResult =
  /** A background child that holds the pipes delays this by a short drain only, and ends with the hook. */
  | { type: 'exited'; code: number; stdout: string; stderr: string; truncated: boolean }
  | { type: 'signalled'; signal: string }
  | { type: 'timedOut' }
  | { type: 'cancelled' }
  | { type: 'failedToStart'; reason: string };

/** Contract: never rejects. When the signal aborts, the whole process group is ended and the result is `cancelled`. */
export interface CommandPort {
  run(request: CommandRequest, signal: AbortSignal): Promise<CommandResult>;
}
