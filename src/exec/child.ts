// What a child over pipes and a child in a terminal have in common. The runner sees only this; policy (limits, groups, outcomes)
// is its business, bytes and descriptors are the business of pipes.ts and pty.ts.
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { messageOf, systemCode } from '../common/errors.ts';
import type { ProcessOutput } from './process.ts';

export interface ChildSpec {
  /** Absolute path of the program. */
  readonly file: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface LeaderExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ChildListener {
  /** The bytes are overwritten when the call is over. */
  output(output: ProcessOutput): void;
  /** The leader is gone and its pid may be reused from now on; output may still follow. */
  leaderExited(): void;
}

/** Contract: no method throws. `ended` settles once the leader is gone and its output is delivered; it rejects with a StartError only. */
export interface Child {
  readonly pid: number | undefined;
  readonly ended: Promise<LeaderExit>;
  write(data: string | Uint8Array): boolean;
  closeStdin(): void;
  resize(rows: number, cols: number): void;
  pause(): void;
  resume(): void;
}

/** The child never came to life; the message is a text for the model. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/**
 * Descriptors of this process that a child would inherit because the operating system opened them without close-on-exec: the
 * masters of live terminals. Every spawn covers them with /dev/null, else one command could read and type in another's terminal.
 */
export class InheritableDescriptors {
  /** Invariant: exactly the masters that are open now; written by pty.ts. */
  readonly #open = new Set<number>();

  add(descriptor: number): void {
    this.#open.add(descriptor);
  }

  delete(descriptor: number): void {
    this.#open.delete(descriptor);
  }

  /** Spawns in a session of its own (no controlling terminal), stdio 0–2 as given, nothing else inherited. */
  spawn(spec: ChildSpec, stdio: ('ignore' | 'pipe' | number)[]): ChildProcess {
    const options: SpawnOptions = { argv0: spec.argv[0], cwd: spec.cwd, env: spec.env, detached: true, windowsHide: true };
    const cover = this.#open.size > 0 ? openSync('/dev/null', constants.O_RDWR) : undefined;
    try {
      const all = [...stdio];
      for (const descriptor of cover === undefined ? [] : this.#open) {
        while (all.length < descriptor) all.push('ignore');
        all[descriptor] = cover ?? 'ignore';
      }
      return spawn(spec.file, spec.argv.slice(1), { ...options, stdio: all });
    } catch (error) {
      throw startError(spec, error);
    } finally {
      if (cover !== undefined) closeSync(cover);
    }
  }
}

/** Names what could not be started and what to do about it. */
export function startError(spec: ChildSpec, error: unknown): StartError {
  const program = spec.argv[0];
  switch (systemCode(error)) {
    case 'E2BIG':
      return new StartError(
        `could not start ${program}: the command line is too long for the system; put the data into a file and pass its path`,
      );
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return new StartError(
        `could not start ${program}: the system is out of resources (${systemCode(error)}); end running commands and try again`,
      );
    case 'EACCES':
      return new StartError(`could not start ${program}: permission denied (${spec.file})`);
    case 'ENOEXEC':
      return new StartError(`could not start ${program}: ${spec.file} is not a program this system can run`);
    default:
      return new StartError(`could not start ${program}: ${messageOf(error)}`);
  }
}
