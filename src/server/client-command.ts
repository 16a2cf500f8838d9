// What the two families of client commands share: checks of their params, the environment, the start, and the pace of a slow reader.
import { invalidParams, invalidRequest } from '../common/errors.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { StartError } from '../exec/child.ts';
import { buildEnvironment } from '../exec/environment.ts';
import { prepareLaunch } from '../exec/launch.ts';
import type { ProcessOutcome, ProcessRequest, ProcessRunner, RunningProcess } from '../exec/process.ts';
import type { SandboxPermissions } from '../exec/sandbox/permissions.ts';
import { type SandboxLauncher, SandboxUnavailable } from '../exec/sandbox/sandbox.ts';
import type { ClientSession } from './client-session.ts';
import type { Connection } from './connection.ts';
import type { OutputCapture } from './exec-capture.ts';
import type { Input } from './exec-registry.ts';

export interface ClientCommandPorts {
  runner: ProcessRunner;
  launcher: Pick<SandboxLauncher, 'wrap'>;
  /** The daemon's own environment, before any policy. */
  env: Readonly<Record<string, string | undefined>>;
  /** The configuration for a folder. Throws an RpcError that names key, file and line. */
  load(cwd: string | null): Promise<LoadedConfig>;
}

/** The status of a process that was ended by a KILL signal, as shells show it: what a client's own ending looks like. */
const KILLED = 137;
const NOT_STARTED = 127;
const MAX_SIZE = 0xffff;

export interface TerminalSize {
  rows: number;
  cols: number;
}

export function checkSize(size: TerminalSize, field: string): void {
  for (const [name, value] of [['rows', size.rows] as const, ['cols', size.cols] as const])
    if (value < 1 || value > MAX_SIZE) throw invalidParams(`params.${field}.${name}: expected 1 to ${MAX_SIZE}, got ${value}`);
}

interface CommonParams {
  command: readonly string[];
  timeoutMs?: number | null;
  tty?: boolean | null;
  size?: TerminalSize | null;
}

export function checkCommand(method: string, params: CommonParams): void {
  if (params.command.length === 0) throw invalidRequest('command must not be empty');
  if (typeof params.timeoutMs === 'number' && params.timeoutMs < 0)
    throw invalidParams(`${method} timeoutMs must be non-negative, got ${params.timeoutMs}`);
  if (!params.size) return;
  if (!params.tty) throw invalidParams(`${method} size needs tty: true`);
  checkSize(params.size, 'size');
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function inputOf(method: string, params: { deltaBase64?: string | null; closeStdin?: boolean | null }): Input {
  const { deltaBase64, closeStdin } = params;
  const close = closeStdin === true;
  if (typeof deltaBase64 !== 'string') {
    if (!close) throw invalidParams(`${method} requires deltaBase64 or closeStdin`);
    return { bytes: null, close };
  }
  if (!BASE64.test(deltaBase64)) throw invalidParams('invalid deltaBase64: expected standard base64 with padding');
  return { bytes: Buffer.from(deltaBase64, 'base64'), close };
}

/** The policy's environment with the client's changes: a text sets a variable, null takes it away. */
export function commandEnvironment(
  config: EffectiveConfig,
  base: ClientCommandPorts['env'],
  tty: boolean,
  changes: Readonly<Record<string, string | null>> | null | undefined,
): Record<string, string> {
  const env = buildEnvironment(config.shell_environment_policy ?? {}, base, { tty });
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (value === null) delete env[name];
    else env[name] = value;
  }
  return env;
}

/** More than this waiting for the client: its command is held, as by any full pipe; less than half of it lets go again. */
const MAX_WAITING_BYTES = 256 * 1024;
const LOOK_AGAIN_MS = 10;

/** Holds a process while its client reads too slowly, so that no output has to be left out. */
function paceKeeper(process: RunningProcess, connection: Pick<Connection, 'waitingBytes' | 'closed'>): () => void {
  let held = false;
  const look = (): void => {
    if (connection.closed || connection.waitingBytes < MAX_WAITING_BYTES / 2) {
      held = false;
      process.resume();
    } else setTimeout(look, LOOK_AGAIN_MS);
  };
  return () => {
    if (held || connection.closed || connection.waitingBytes < MAX_WAITING_BYTES) return;
    held = true;
    process.pause();
    setTimeout(look, LOOK_AGAIN_MS);
  };
}

/** The program is looked for before the sandbox is put around it: inside, its absence would be a riddle. */
async function wrapped(ports: ClientCommandPorts, request: ProcessRequest, permissions: SandboxPermissions) {
  const { argv, cwd, tty } = request;
  try {
    await prepareLaunch(request, {});
    return await ports.launcher.wrap({ argv, cwd, permissions, tty });
  } catch (error) {
    if (error instanceof StartError) throw invalidRequest(error.message);
    if (error instanceof SandboxUnavailable)
      throw invalidRequest(`${error.message}; give sandboxPolicy {"type":"dangerFullAccess"} to run the command without one`);
    throw error;
  }
}

/** Starts it, or throws an RpcError that says why it cannot be. With `paused`, nothing is read before the caller's resume(). */
export async function startCommand(
  ports: ClientCommandPorts,
  request: ProcessRequest,
  permissions: SandboxPermissions,
  output: { capture: OutputCapture; client: ClientSession; paused: boolean },
): Promise<RunningProcess> {
  const command = await wrapped(ports, request, permissions);
  const process = ports.runner.start({ ...request, argv: command.argv });
  const { capture, client, paused } = output;
  const pace = capture.isStreamed ? paceKeeper(process, client.connection) : () => {};
  process.onOutput((bytes) => {
    capture.push(bytes);
    pace();
  });
  if (paused) process.pause();
  void process.exited.then(() => command.release());
  return process;
}

export const exitCodeOf = (outcome: ProcessOutcome): number => {
  if (outcome.type === 'failedToStart') return NOT_STARTED;
  return outcome.type === 'cancelled' ? KILLED : outcome.exitCode;
};
