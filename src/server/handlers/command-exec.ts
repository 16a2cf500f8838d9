// command/exec: one command in the sandbox, outside any turn. The request is answered when the command has ended.
import path from 'node:path';
import { invalidParams, invalidRequest } from '../../common/errors.ts';
import type { EffectiveConfig } from '../../config/schema.ts';
import { permissionsFor, type SandboxPolicy } from '../../exec/sandbox/permissions.ts';
import type { CommandExecParams, CommandExecResponse } from '../../protocol/exec.ts';
import { type ClientCommandPorts, checkCommand, commandEnvironment, exitCodeOf, startCommand } from '../client-command.ts';
import type { ClientSession } from '../client-session.ts';
import { DEFAULT_CAP_BYTES, type DeltaSink, OutputCapture } from '../exec-capture.ts';
import { ExecControls, type ExecEnds } from '../exec-controls.ts';
import { ExecRegistry } from '../exec-registry.ts';
import type { HandlerContext, HandlersFor } from '../handler.ts';
import { modeOfProfile, profileIds } from '../permission-profiles.ts';
import { settingsOf } from '../thread-setup.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

function check(params: CommandExecParams): void {
  checkCommand('command/exec', params);
  const both = (a: unknown, b: unknown, names: string) => {
    if (typeof a === 'number' && b === true) throw invalidParams(`command/exec cannot set both ${names}`);
  };
  both(params.timeoutMs, params.disableTimeout, 'timeoutMs and disableTimeout');
  both(params.outputBytesCap, params.disableOutputCap, 'outputBytesCap and disableOutputCap');
  const needsId = params.tty || params.streamStdin || params.streamStdoutStderr;
  if (needsId && typeof params.processId !== 'string')
    throw invalidRequest('command/exec tty or streaming requires a client-supplied processId');
  if (params.sandboxPolicy && typeof params.permissionProfile === 'string')
    throw invalidRequest('`permissionProfile` cannot be combined with `sandboxPolicy`');
}

/** What the client gives, else what is configured. */
function policyOf(params: CommandExecParams, config: EffectiveConfig, cwd: string): SandboxPolicy {
  const { sandboxPolicy, permissionProfile } = params;
  if (sandboxPolicy) {
    const roots = sandboxPolicy.type === 'workspaceWrite' ? (sandboxPolicy.writableRoots ?? []) : [];
    const bad = roots.findIndex((root) => !path.isAbsolute(root));
    if (bad >= 0)
      throw invalidParams(`params.sandboxPolicy.writableRoots[${bad}]: expected an absolute path, got ${JSON.stringify(roots[bad])}`);
    return sandboxPolicy;
  }
  if (typeof permissionProfile !== 'string') return settingsOf(config, cwd).sandbox;
  const mode = modeOfProfile(permissionProfile);
  if (!mode)
    throw invalidParams(
      `params.permissionProfile: there is no profile ${JSON.stringify(permissionProfile)}; known: ${profileIds().join(', ')}`,
    );
  return settingsOf({ ...config, sandbox_mode: mode }, cwd).sandbox;
}

function captureFor(params: CommandExecParams, client: ClientSession): OutputCapture {
  const cap = params.disableOutputCap ? null : (params.outputBytesCap ?? DEFAULT_CAP_BYTES);
  const { processId } = params;
  const streams = typeof processId === 'string' && (params.tty || params.streamStdoutStderr);
  const sink: DeltaSink = (stream, bytes, capReached) =>
    client.notify('command/exec/outputDelta', {
      processId: processId ?? '',
      stream,
      deltaBase64: Buffer.from(bytes).toString('base64'),
      capReached,
    });
  return new OutputCapture(cap, streams ? sink : null);
}

function resultOf(exitCode: number, capture: OutputCapture, isCutMarked: boolean): CommandExecResponse {
  const [stdout, stderr] = [capture.read('stdout'), capture.read('stderr')];
  const result: CommandExecResponse = { exitCode, stdout: stdout.text, stderr: stderr.text };
  if (isCutMarked && stdout.capReached) result.stdoutCapReached = true;
  if (isCutMarked && stderr.capReached) result.stderrCapReached = true;
  return result;
}

class CommandExec {
  readonly registry = new ExecRegistry({
    duplicate: (id) => `duplicate active command/exec process id: ${JSON.stringify(id)}`,
    unknown: (id) => `no active command/exec for process id ${JSON.stringify(id)}`,
  });
  readonly #ports: ClientCommandPorts;

  constructor(ports: ClientCommandPorts) {
    this.#ports = ports;
  }

  async run(params: CommandExecParams, { client, signal }: HandlerContext): Promise<CommandExecResponse> {
    check(params);
    const tty = params.tty ?? false;
    const stdin = tty || (params.streamStdin ?? false);
    const slot = this.registry.open(client, { id: params.processId ?? null, tty, stdin });
    const kill = (): void => void slot.kill();
    try {
      signal.addEventListener('abort', kill, { once: true });
      if (signal.aborted) kill();
      const capture = captureFor(params, client);
      const process = await this.#start(params, tty, stdin, capture, client);
      slot.attach(process);
      const outcome = await process.exited;
      if (outcome.type === 'failedToStart') throw invalidRequest(outcome.reason);
      // Whoever asks for no output at all knows that it is missing; streamed output was marked where it was cut.
      return resultOf(exitCodeOf(outcome), capture, params.outputBytesCap !== 0 && !capture.isStreamed);
    } finally {
      signal.removeEventListener('abort', kill);
      this.registry.close(slot);
    }
  }

  async #start(params: CommandExecParams, tty: boolean, stdin: boolean, capture: OutputCapture, client: ClientSession) {
    const cwd = path.resolve(params.cwd ?? '.');
    const { config } = await this.#ports.load(cwd);
    const env = commandEnvironment(config, this.#ports.env, tty, params.env);
    const timeoutMs = params.disableTimeout ? undefined : (params.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    return startCommand(
      this.#ports,
      {
        argv: params.command,
        cwd,
        env,
        tty,
        stdin: stdin ? 'open' : 'closed',
        ...(params.size ? { size: params.size } : {}),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      },
      permissionsFor(policyOf(params, config, cwd), cwd, env),
      { capture, client, paused: false },
    );
  }
}

type Methods = 'command/exec' | 'command/exec/write' | 'command/exec/resize' | 'command/exec/terminate';

export interface CommandExecHandlers extends ExecEnds {
  handlers: HandlersFor<Methods>;
}

const WORDS = { writeMethod: 'command/exec/write', noun: 'command/exec' };

export function commandExecHandlers(ports: ClientCommandPorts): CommandExecHandlers {
  const commands = new CommandExec(ports);
  const { registry } = commands;
  const controls = new ExecControls(registry, WORDS);
  return {
    handlers: {
      'command/exec': (params, context) => commands.run(params, context),
      'command/exec/write': (params, { client }) => controls.write(client, params.processId, params),
      'command/exec/resize': ({ processId, size }, { client }) => controls.resize(client, processId, size),
      'command/exec/terminate': ({ processId }, { client }) => controls.kill(client, processId),
    },
    endClient: (client) => registry.endClient(client),
    endAll: () => registry.endAll(),
  };
}
