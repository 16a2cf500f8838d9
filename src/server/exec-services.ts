// The process side of the composition: one runner, one sandbox, one set of rules for the whole daemon, and hosts for threads and clients.
import path from 'node:path';
import { logger } from '../common/log.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { featureEnabled } from '../config/switches.ts';
import { type Launch, LoginShells } from '../exec/login-shell.ts';
import { appendAllowRule, loadRules } from '../exec/policy/rule-file.ts';
import type { PrefixRule } from '../exec/policy/rules.ts';
import { LocalProcessRunner } from '../exec/runner.ts';
import { PermissionGrants } from '../exec/sandbox/grants.ts';
import { permissionsLabel, type SandboxPermissions } from '../exec/sandbox/permissions.ts';
import { SandboxLauncher } from '../exec/sandbox/sandbox.ts';
import { ExecSessions } from '../exec/sessions.ts';
import { findShell, type Shell } from '../exec/shell.ts';
import type { ExecHost } from '../tools/exec/host.ts';

export interface ClientExecPorts {
  runner: LocalProcessRunner;
  launcher: SandboxLauncher;
  env: NodeJS.ProcessEnv;
  load(cwd: string | null): Promise<LoadedConfig>;
}

/** Rules are read again after this long, so that an edit counts soon and a burst of calls reads once. */
const RULES_FRESH_MS = 1_000;

export class ExecServices {
  readonly runner = new LocalProcessRunner();
  readonly launcher: SandboxLauncher;
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logins: LoginShells;
  /** Permissions by their label: a probe runs in the sandbox that it speaks for. */
  readonly #scopes = new Map<string, SandboxPermissions>();
  #shell: Promise<Shell> | undefined;
  #rules: { at: number; rules: Promise<readonly PrefixRule[]> } | undefined;

  constructor(options: { home: string; env: NodeJS.ProcessEnv }) {
    this.#home = options.home;
    this.#env = options.env;
    this.launcher = new SandboxLauncher({ alwaysGuarded: [options.home] });
    this.#logins = new LoginShells((launch, context, timeoutMs) => this.#probe(launch, context, timeoutMs));
  }

  /** For the environment section of a prompt; the shell itself is looked up on first use. */
  get shellName(): string {
    return path.basename(this.#env.SHELL ?? '') || 'bash';
  }

  shell(): Promise<Shell> {
    this.#shell ??= findShell(this.#env);
    return this.#shell;
  }

  rules(): Promise<readonly PrefixRule[]> {
    const now = performance.now();
    if (!this.#rules || now - this.#rules.at > RULES_FRESH_MS) this.#rules = { at: now, rules: this.#loadRules() };
    return this.#rules.rules;
  }

  async #loadRules(): Promise<readonly PrefixRule[]> {
    const { rules, warnings } = await loadRules(this.#home);
    for (const warning of warnings) logger().warn(warning, 'a command rule was skipped');
    return rules;
  }

  async addRule(prefix: readonly string[]): Promise<void> {
    await appendAllowRule(this.#home, prefix);
    this.#rules = undefined;
  }

  /** One sentence when commands cannot be sandboxed here, else null. */
  async sandboxWarning(): Promise<string | null> {
    const kind = await this.launcher.kind();
    if (kind.type !== 'none') return null;
    return `Commands cannot be sandboxed on this machine (${kind.reason}): unless full access is chosen, a command that is not known to only read needs an approval. Install bubblewrap to change that.`;
  }

  loginLaunch(
    shell: Shell,
    command: string,
    context: { cwd: string; env: Readonly<Record<string, string>>; permissions: SandboxPermissions },
  ): Promise<Launch> {
    const scope = permissionsLabel(context.permissions);
    this.#scopes.set(scope, context.permissions);
    return this.#logins.launch(shell, command, { cwd: context.cwd, env: context.env, scope });
  }

  /** Runs a probe as a command of that scope would run. Undefined when it cannot be run. */
  async #probe(launch: Launch, context: { cwd: string; scope: string }, timeoutMs: number): Promise<Uint8Array | undefined> {
    const permissions = this.#scopes.get(context.scope);
    if (!permissions) return undefined;
    try {
      const wrapped = await this.launcher.wrap({ argv: launch.argv, cwd: context.cwd, permissions, tty: false, reserves: false });
      const process = this.runner.start({
        argv: wrapped.argv,
        cwd: context.cwd,
        env: launch.env,
        merged: true,
        tty: false,
        stdin: 'closed',
        timeoutMs,
      });
      const chunks: Uint8Array[] = [];
      process.onOutput(({ bytes }) => chunks.push(bytes));
      const outcome = await process.exited;
      wrapped.release();
      return outcome.type === 'exited' || outcome.type === 'signalled' ? Buffer.concat(chunks) : undefined;
    } catch {
      return undefined; // no sandbox, no probe: commands go on reading the profile
    }
  }

  hostFor(threadId: string, config: EffectiveConfig, spillPath: (callId: string) => string | null): ExecHost {
    return {
      runner: this.runner,
      launcher: this.launcher,
      sessions: new ExecSessions(),
      environment: config.shell_environment_policy ?? {},
      baseEnv: this.#env,
      threadId,
      loginAllowed: config.allow_login_shell ?? true,
      shell: () => this.shell(),
      loginLaunch: (shell, command, context) => this.loginLaunch(shell, command, context),
      rules: () => this.rules(),
      addRule: (prefix) => this.addRule(prefix),
      ...(config.background_terminal_max_timeout === undefined ? {} : { longestWaitMs: config.background_terminal_max_timeout }),
      spillPath,
      grants: new PermissionGrants(),
      additionalPermissions: featureEnabled(config, 'exec_permission_approvals'),
      retryDenied: featureEnabled(config, 'retry_after_denial'),
      startedIn: new Map(),
    };
  }

  forClients(load: (cwd: string | null) => Promise<LoadedConfig>): ClientExecPorts {
    return { runner: this.runner, launcher: this.launcher, env: this.#env, load };
  }

  endAll(graceMs: number): Promise<void> {
    return this.runner.endAll(graceMs);
  }

  /** See ProcessRunner.killAll. */
  killAll(): void {
    this.runner.killAll();
  }
}
