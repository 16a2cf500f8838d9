// exec_command: runs a command, in the sandbox unless an approval says otherwise, and gives what it printed. A command that goes on
// running keeps a session id.
import { type CommandCalls, type ExecArgs, rerunOf, SESSION, YIELD_MS } from '../exec/command-calls.ts';
import { commandOf, SHELL_TOOL } from '../gates/hooks.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import type { ToolRuntime } from '../runtime.ts';

const parameters = {
  type: 'object',
  properties: {
    cmd: { type: 'string', description: 'The command line, read by the shell.' },
    workdir: { type: 'string', description: 'Folder to run in; relative to the folder of the thread. Default: that folder.' },
    shell: { type: 'string', description: "Shell to use instead of the user's own, by name or path." },
    login: { type: 'boolean', description: 'Read the login profile first (default true).' },
    tty: {
      type: 'boolean',
      description: 'Give the command a terminal: it can then be written to with write_stdin (default false: stdin is at its end).',
    },
    yield_time_ms: {
      type: 'number',
      minimum: 0,
      description: `How long to wait for the end before the command goes on as a session (${YIELD_MS.least} to ${YIELD_MS.most}, default ${YIELD_MS.usual}).`,
    },
    max_output_tokens: {
      type: 'number',
      minimum: 0,
      description: 'Budget for the output (default and most: 10000). Head and tail are kept.',
    },
    sandbox_permissions: {
      type: 'string',
      enum: ['use_default', 'require_escalated', 'with_additional_permissions'],
      description: '"require_escalated" asks the user to let this command run outside the sandbox.',
    },
    justification: { type: 'string', description: 'One sentence, shown to the user, why the command needs more rights.' },
    prefix_rule: {
      type: 'array',
      items: { type: 'string' },
      description: 'A prefix of the command that the user may allow for the future.',
    },
    additional_permissions: {
      type: 'object',
      description: 'With "with_additional_permissions": what this command needs beyond the sandbox.',
      properties: {
        network: { type: 'object', properties: { enabled: { type: 'boolean' } } },
        file_system: {
          type: 'object',
          properties: { read: { type: 'array', items: { type: 'string' } }, write: { type: 'array', items: { type: 'string' } } },
        },
      },
    },
  },
  required: ['cmd'],
} as const;

/** A patch in a command is handed on by `calls`. */
export function execCommand(calls: CommandCalls): ToolRuntime<ExecArgs> {
  return {
    name: { name: 'exec_command' },
    spec: {
      type: 'function',
      name: 'exec_command',
      description:
        'Runs a command in a shell and returns its exit code and output (stdout and stderr as they came). A command that has not ended after yield_time_ms goes on as a session for write_stdin.',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: false,
    audience: 'reviewer',
    hooked: {
      name: SHELL_TOOL,
      input: ({ cmd }) => ({ command: cmd }),
      payload: (args, input) => ({ type: 'function', arguments: JSON.stringify({ ...args, cmd: commandOf(input) }) }),
    },
    validate: (payload) => readFunctionPayload<ExecArgs>('exec_command', payload, parameters),
    begin: (call, args, step, events) => calls.begin(call, args, step, events),
    approvalNeed: (call) => calls.need(call),
    run: (invocation, signal) => calls.run(invocation, signal),
    rerun: rerunOf(calls, () => SESSION),
    settled: (call) => calls.settled(call),
  };
}
