// process/*: a process of the client's own, outside the sandbox as the protocol has it. The request is answered when the process is
// started; its output and its end come as notifications.
import path from 'node:path';
import { Deferred } from '../../common/deferred.ts';
import { invalidParams } from '../../common/errors.ts';
import type { RunningProcess } from '../../exec/process.ts';
import type { ProcessSpawnParams } from '../../protocol/exec.ts';
import { type ClientCommandPorts, checkCommand, commandEnvironment, exitCodeOf, startCommand } from '../client-command.ts';
import type { ClientSession } from '../client-session.ts';
import { DEFAULT_CAP_BYTES, OutputCapture } from '../exec-capture.ts';
import { ExecControls, type ExecEnds } from '../exec-controls.ts';
import { ExecRegistry, type ExecSlot } from '../exec-registry.ts';
import type { HandlerContext, HandlersFor } from '../handler.ts';

function captureFor(params: ProcessSpawnParams, client: ClientSession): OutputCapture {
  const { processHandle } = params;
  // Null is a wish of its own here: no cap.
  const cap = params.outputBytesCap === undefined ? DEFAULT_CAP_BYTES : params.outputBytesCap;
  if (!params.tty && !params.streamStdoutStderr) return new OutputCapture(cap, null);
  return new OutputCapture(cap, (stream, bytes, capReached) =>
    client.notify('process/outputDelta', { processHandle, stream, deltaBase64: Buffer.from(bytes).toString('base64'), capReached }),
  );
}

class ProcessExec {
  readonly registry = new ExecRegistry({
    duplicate: (id) => `duplicate active process handle: ${JSON.stringify(id)}`,
    unknown: (id) => `no active process for process handle ${JSON.stringify(id)}`,
  });
  readonly #ports: ClientCommandPorts;

  constructor(ports: ClientCommandPorts) {
    this.#ports = ports;
  }

  async spawn(params: ProcessSpawnParams, { client, after }: HandlerContext): Promise<void> {
    checkCommand('process/spawn', params);
    if (!path.isAbsolute(params.cwd)) throw invalidParams(`params.cwd: expected an absolute path, got ${JSON.stringify(params.cwd)}`);
    const tty = params.tty ?? false;
    const slot = this.registry.open(client, { id: params.processHandle, tty, stdin: tty || (params.streamStdin ?? false) });
    const capture = captureFor(params, client);
    let process: RunningProcess;
    try {
      process = await this.#start(params, slot, capture);
    } catch (error) {
      this.registry.close(slot);
      throw error;
    }
    slot.attach(process);
    // Nothing is said about a process before the answer that it was started.
    const answered = new Deferred<void>();
    after(() => {
      answered.resolve();
      process.resume();
    });
    void this.#report(slot, process, capture, answered.promise);
  }

  async #start(params: ProcessSpawnParams, { client, options }: ExecSlot, capture: OutputCapture): Promise<RunningProcess> {
    const { command: argv, cwd } = params;
    const { config } = await this.#ports.load(cwd);
    return startCommand(
      this.#ports,
      {
        argv,
        cwd,
        env: commandEnvironment(config, this.#ports.env, options.tty, params.env),
        tty: options.tty,
        stdin: options.stdin ? 'open' : 'closed',
        ...(params.size ? { size: params.size } : {}),
        ...(typeof params.timeoutMs === 'number' ? { timeoutMs: params.timeoutMs } : {}),
      },
      { type: 'fullAccess' },
      { capture, client, paused: true },
    );
  }

  async #report(slot: ExecSlot, process: RunningProcess, capture: OutputCapture, answered: Promise<void>): Promise<void> {
    const outcome = await process.exited;
    this.registry.close(slot);
    await answered;
    const [stdout, stderr] = [capture.read('stdout'), capture.read('stderr')];
    slot.client.notify('process/exited', {
      processHandle: slot.options.id ?? '',
      exitCode: exitCodeOf(outcome),
      stdout: stdout.text,
      stdoutCapReached: stdout.capReached,
      // The program was there a moment ago: the reason stands where its own complaints would.
      stderr: outcome.type === 'failedToStart' ? `${outcome.reason}\n` : stderr.text,
      stderrCapReached: stderr.capReached,
      outputDrainTimedOut: false,
    });
  }
}

type Methods = 'process/spawn' | 'process/writeStdin' | 'process/resizePty' | 'process/kill';

export interface ProcessExecHandlers extends ExecEnds {
  handlers: HandlersFor<Methods>;
}

const WORDS = { writeMethod: 'process/writeStdin', noun: 'process' };

export function processExecHandlers(ports: ClientCommandPorts): ProcessExecHandlers {
  const processes = new ProcessExec(ports);
  const { registry } = processes;
  const controls = new ExecControls(registry, WORDS);
  return {
    handlers: {
      'process/spawn': async (params, context) => {
        await processes.spawn(params, context);
        return {};
      },
      'process/writeStdin': (params, { client }) => controls.write(client, params.processHandle, params),
      'process/resizePty': ({ processHandle, size }, { client }) => controls.resize(client, processHandle, size),
      'process/kill': ({ processHandle }, { client }) => controls.kill(client, processHandle),
    },
    endClient: (client) => registry.endClient(client),
    endAll: () => registry.endAll(),
  };
}
