// What command tools of one thread work with: the process runtime, the sandbox, the rules and the sessions. Built in the composition root.
import type { EnvironmentPolicy } from '../../exec/environment.ts';
import type { Launch } from '../../exec/login-shell.ts';
import type { PrefixRule } from '../../exec/policy/rules.ts';
import type { ProcessRunner } from '../../exec/process.ts';
import type { PermissionGrants } from '../../exec/sandbox/grants.ts';
import type { SandboxPermissions } from '../../exec/sandbox/permissions.ts';
import type { SandboxLauncher } from '../../exec/sandbox/sandbox.ts';
import type { ExecSessions } from '../../exec/sessions.ts';
import type { Shell } from '../../exec/shell.ts';

export interface ExecHost {
  readonly runner: ProcessRunner;
  readonly launcher: SandboxLauncher;
  readonly sessions: ExecSessions;
  readonly environment: EnvironmentPolicy;
  /** The daemon's own environment; children get it through the policy only. */
  readonly baseEnv: NodeJS.ProcessEnv;
  readonly threadId: string;
  /** Commands may read the user's login profile. */
  readonly loginAllowed: boolean;
  /** The user's shell. */
  shell(): Promise<Shell>;
  /** What really runs for a command in a login shell with these permissions: the same to the command, without the profile's cost where that is proven. */
  loginLaunch(
    shell: Shell,
    command: string,
    context: { cwd: string; env: Readonly<Record<string, string>>; permissions: SandboxPermissions },
  ): Promise<Launch>;
  /** Command rules as they are now. */
  rules(): Promise<readonly PrefixRule[]>;
  addRule(prefix: readonly string[]): Promise<void>;
  /** How long a call may wait for a running command, where the user says so. */
  readonly longestWaitMs?: number;
  /** Where the whole output of a call goes when it is long; null when nothing may be kept. */
  spillPath(callId: string): string | null;
  /** What the user granted for a turn or the thread; commands and patches run with it. */
  readonly grants: PermissionGrants;
  /** Extra permissions per command may be asked for. */
  readonly additionalPermissions: boolean;
  /** A command that the sandbox stopped may be offered to the user for a second run outside of it. */
  readonly retryDenied: boolean;
  /** Session id → the turn that started it, while it may run: an interrupt ends what its turn started. */
  readonly startedIn: Map<number, string>;
}
