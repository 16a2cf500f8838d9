// Hooks in the composition: which are in force for a configuration, how their commands run, and the seats of one thread.
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import type { ConfigLayer } from '../config/layer.ts';
import type { LoadedConfig } from '../config/load.ts';
import { buildEnvironment, type EnvironmentPolicy } from '../exec/environment.ts';
import { HeadTail } from '../exec/head-tail.ts';
import type { ProcessOutcome, ProcessRunner } from '../exec/process.ts';
import { type Shell, shellArgv } from '../exec/shell.ts';
import type { CommandPort, CommandRequest, CommandResult } from '../hooks/command.ts';
import { type FunctionHook, type HookSet, type HookTable, readHooks, warningsOf } from '../hooks/definitions.ts';
import { type HookOrigin, metadataOf } from '../hooks/hook.ts';
import { HOOKS_FILE, readHooksFile } from '../hooks/hooks-file.ts';
import type { HooksListEntry } from '../protocol/hook.ts';
import type { EventSink } from '../session/ports.ts';
import type { ToolHost } from '../session/thread-tools.ts';
import { HookSeats } from './hook-seats.ts';

export interface HookServicePorts {
  home: string;
  /** The daemon's own environment, before any policy. */
  env: Readonly<Record<string, string | undefined>>;
  runner: ProcessRunner;
  shell(): Promise<Shell>;
  sink: EventSink;
}

/** An answer must be whole, so its beginning is what counts; of stderr a person reads the ends. */
const MAX_STDOUT = 2 * 1024 * 1024;
const MAX_STDERR = 64 * 1024;
const GRACE_MS = 300;

/** Runs the command of a hook in the user's shell, outside the sandbox: whoever wrote it down is trusted, or it does not run. */
class HookCommands implements CommandPort {
  readonly #ports: HookServicePorts;
  readonly #policy: EnvironmentPolicy;

  constructor(ports: HookServicePorts, policy: EnvironmentPolicy) {
    this.#ports = ports;
    this.#policy = policy;
  }

  async run({ command, cwd, input, timeoutMs, values }: CommandRequest, signal: AbortSignal): Promise<CommandResult> {
    const argv = shellArgv(await this.#ports.shell(), command, false);
    if (signal.aborted) return { type: 'cancelled' };
    const env = buildEnvironment(this.#policy, this.#ports.env, { tty: false, values });
    const child = this.#ports.runner.start({ argv, cwd, env, tty: false, stdin: 'open', timeoutMs });
    const stdout = new HeadTail(MAX_STDOUT);
    const stderr = new HeadTail(MAX_STDERR);
    child.onOutput(({ stream, bytes }) => (stream === 'stderr' ? stderr : stdout).push(bytes));
    child.write(input);
    child.closeStdin();
    const onAbort = () => void child.terminate(GRACE_MS);
    signal.addEventListener('abort', onAbort, { once: true });
    const outcome = await child.exited;
    signal.removeEventListener('abort', onAbort);
    void child.terminate(GRACE_MS); // what it left in the background ends with it
    return resultOf(outcome, stdout, stderr);
  }
}

function resultOf(outcome: ProcessOutcome, stdout: HeadTail, stderr: HeadTail): CommandResult {
  switch (outcome.type) {
    case 'exited': {
      const truncated = stdout.totalBytes > stdout.capacity;
      return { type: 'exited', code: outcome.exitCode, stdout: stdout.read().text, stderr: stderr.read().text, truncated };
    }
    case 'signalled':
      return { type: 'signalled', signal: outcome.signal };
    case 'timedOut':
      return { type: 'timedOut' };
    case 'cancelled':
      return { type: 'cancelled' };
    case 'failedToStart':
      return { type: 'failedToStart', reason: outcome.reason };
    default:
      return assertNever(outcome, 'outcome of a process');
  }
}

/** Whose hooks a layer holds. Null: a layer that cannot hold any. */
function originOf({ kind, file }: ConfigLayer): HookOrigin | null {
  switch (kind) {
    case 'defaults':
    case 'profile':
      return null;
    case 'system':
      return { source: 'system', path: file ?? '', trust: 'own' };
    case 'user':
      return { source: 'user', path: file ?? '', trust: 'own' };
    case 'project':
      return { source: 'project', path: file ?? '', trust: 'byHash' };
    case 'flags':
      return { source: 'sessionFlags', path: '/<command line>/config.toml', trust: 'own' };
    case 'thread':
      return { source: 'sessionFlags', path: '/<thread>/config.toml', trust: 'byHash' };
    default:
      return assertNever(kind, 'layer');
  }
}

export class HookServices {
  readonly #ports: HookServicePorts;
  /** Warnings that were shown; each is shown once. */
  readonly #warned = new Set<string>();

  constructor(ports: HookServicePorts) {
    this.#ports = ports;
  }

  /** All hooks of a configuration, those that may not run included. */
  async load(loaded: LoadedConfig, functions: readonly FunctionHook[] = []): Promise<HookSet> {
    const tables: HookTable[] = [];
    const errors: { path: string; message: string }[] = [];
    for (const layer of loaded.layers) {
      const origin = originOf(layer);
      if (!origin || layer.disabledReason !== null) continue;
      if (layer.table.hooks) tables.push({ origin, table: layer.table.hooks });
      const folder = layer.kind === 'user' ? this.#ports.home : layer.kind === 'project' ? path.dirname(origin.path) : null;
      if (folder !== null) await addFile(path.join(folder, HOOKS_FILE), origin, tables, errors);
    }
    // A project without a config.toml of its own has no layer, and may have hooks all the same.
    const read = new Set(loaded.layers.map(({ file }) => file && path.dirname(file)));
    for (const folder of loaded.project?.folders ?? [])
      if (!read.has(folder)) await addFile(path.join(folder, HOOKS_FILE), { source: 'project', path: '', trust: 'byHash' }, tables, errors);
    const states = loaded.layers.find(({ kind }) => kind === 'user')?.table.hooks?.state ?? {};
    const set = readHooks(tables, states, functions);
    return { hooks: set.hooks, errors: [...errors, ...set.errors] };
  }

  /** For hooks/list. */
  async list(loaded: LoadedConfig, functions: readonly FunctionHook[] = []): Promise<Omit<HooksListEntry, 'cwd'>> {
    const set = await this.load(loaded, functions);
    const { errors } = set;
    return { hooks: set.hooks.map(metadataOf), warnings: warningsOf({ ...set, errors: [] }), errors: [...errors] };
  }

  forThread(host: ToolHost, set: HookSet, policy: EnvironmentPolicy): HookSeats {
    return new HookSeats({
      host,
      set,
      commands: new HookCommands(this.#ports, policy),
      sink: this.#ports.sink,
      takeWarnings: () => warningsOf(set).filter((warning) => !this.#warned.has(warning) && this.#warned.add(warning)),
    });
  }
}

async function addFile(file: string, origin: HookOrigin, tables: HookTable[], errors: { path: string; message: string }[]): Promise<void> {
  const found = await readHooksFile(file);
  if (found.type === 'read') tables.push({ origin: { ...origin, path: file }, table: found.table });
  if (found.type === 'broken') errors.push({ path: file, message: found.message });
}
