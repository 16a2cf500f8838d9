// A command of the user's own, through the client: no sandbox, no approval, shown as an item and told to the model afterwards.

import { boundOutput } from '../../common/bound-text.ts';
import { monotonicMs } from '../../common/clock.ts';
import { newId } from '../../common/ids.ts';
import { buildEnvironment } from '../../exec/environment.ts';
import { OutputCollector } from '../../exec/output.ts';
import { commandActions } from '../../exec/policy/actions.ts';
import { exitCodeOf } from '../../exec/sessions.ts';
import { displayCommand, shellArgv } from '../../exec/shell.ts';
import type { CommandAction } from '../../protocol/item.ts';
import type { ToolEvents } from '../events.ts';
import { failedItem } from '../terminal-item.ts';
import { commandItem, endedItem } from './command-run.ts';
import type { ExecHost } from './host.ts';

const MODEL_TOKENS = 10_000;

export interface UserShellRequest {
  command: string;
  cwd: string;
  timeoutMs: number | null;
  events: ToolEvents;
  signal: AbortSignal;
}

/** Those of one thread: none outlives it. */
export class UserShells {
  readonly #host: ExecHost;
  /** Aborted when the thread is closed. */
  readonly #lifetime = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(host: ExecHost) {
    this.#host = host;
  }

  /** Runs it to its end, or to the interrupt. Resolves with what the model reads. */
  async run(request: UserShellRequest): Promise<string> {
    const running = runUserShell(this.#host, { ...request, signal: AbortSignal.any([request.signal, this.#lifetime.signal]) });
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#lifetime.abort();
    await Promise.allSettled(this.#running);
  }
}

async function runUserShell(host: ExecHost, request: UserShellRequest): Promise<string> {
  const { command, cwd, events, signal, timeoutMs } = request;
  const argv = shellArgv(await host.shell(), command, host.loginAllowed);
  const id = newId();
  const item = commandItem(
    id,
    { display: displayCommand(argv), cwd, actions: (await commandActions(command, cwd)) as CommandAction[] },
    null,
    'userShell',
  );
  const handle = events.startItem(item, { abandoned: (current) => failedItem(current) });
  handle.outlives = true; // beside a turn, it ends when it ends
  const output = new OutputCollector({
    onDelta: (delta) => {
      events.commandOutput(id, delta);
    },
  });
  const began = monotonicMs();
  const env = buildEnvironment(host.environment, host.baseEnv, { tty: false, values: { HARNESSD_THREAD_ID: host.threadId } });
  const process = host.runner.start({
    argv,
    cwd,
    env,
    merged: true,
    tty: false,
    stdin: 'closed',
    ...(timeoutMs === null ? {} : { timeoutMs }),
  });
  output.attach(process);
  const onAbort = () => void process.terminate();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const outcome = await process.exited;
  signal.removeEventListener('abort', onAbort);
  await output.end();
  const durationMs = monotonicMs() - began;
  const text = outcome.type === 'failedToStart' ? outcome.reason : output.aggregated();
  const exitCode = exitCodeOf(outcome);
  handle.complete(endedItem(item, exitCode, durationMs, text));
  return `<user_shell_command>\n<command>\n${command}\n</command>\n<result>\nExit code: ${exitCode}\nDuration: ${(durationMs / 1000).toFixed(4)} seconds\nOutput:\n${boundOutput(text, MODEL_TOKENS).text}\n</result>\n</user_shell_command>`;
}
