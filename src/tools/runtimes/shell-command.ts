// The older ways to run a command: shell_command, and the provider's own local_shell call. Neither is listed; a model that learnt them
// still gets its command run, on the same path as any other. They wait for the end, and end the command at its limit.
import { quoteWord } from '../../exec/shell.ts';
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import { type CommandCalls, type CommandManner, type ExecArgs, rerunOf } from '../exec/command-calls.ts';
import { commandOf, SHELL_TOOL } from '../gates/hooks.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import type { ToolPayload, ToolRuntime, Validation } from '../runtime.ts';

const DEFAULT_TIMEOUT_MS = 120_000;

const command: JsonSchema = {
  type: ['string', 'array'],
  items: { type: 'string' },
  minItems: 1,
  description: 'A command line, or an argv.',
};
const timeout: JsonSchema = {
  type: ['number', 'null'],
  minimum: 1,
  description: `The command is ended then (default ${DEFAULT_TIMEOUT_MS}).`,
};

const SHELL_COMMAND: JsonSchema = {
  type: 'object',
  properties: {
    command,
    workdir: { type: ['string', 'null'] },
    timeout_ms: timeout,
    login: { type: 'boolean' },
    sandbox_permissions: { type: 'string', enum: ['use_default', 'require_escalated'] },
    justification: { type: 'string' },
    prefix_rule: { type: 'array', items: { type: 'string' } },
  },
  required: ['command'],
};

const LOCAL_SHELL: JsonSchema = {
  type: 'object',
  properties: { type: { const: 'exec' }, command, working_directory: { type: ['string', 'null'] }, timeout_ms: timeout },
  required: ['type', 'command'],
};

interface OlderArgs {
  command: string | string[];
  workdir?: string | null;
  working_directory?: string | null;
  timeout_ms?: number | null;
  login?: boolean;
  sandbox_permissions?: 'use_default' | 'require_escalated';
  justification?: string;
  prefix_rule?: string[];
}

interface Args extends ExecArgs {
  timeoutMs: number;
}

const SHELLS = /^(?:\/(?:usr\/)?bin\/)?(bash|zsh|sh)$/;

/** An argv that hands a script to a shell means that script; any other is quoted word by word. */
function scriptOf(given: string | string[], login: boolean | undefined): Pick<ExecArgs, 'cmd' | 'shell' | 'login'> {
  if (typeof given === 'string') return { cmd: given, ...(login === undefined ? {} : { login }) };
  const [shell, option, script, ...rest] = given;
  const known = SHELLS.exec(shell);
  if (known && (option === '-lc' || option === '-c') && script !== undefined && rest.length === 0) {
    return { cmd: script, shell: shell.includes('/') ? shell : known[1], login: login ?? option === '-lc' };
  }
  return { cmd: given.map(quoteWord).join(' '), ...(login === undefined ? {} : { login }) };
}

function readOlder(name: string, payload: ToolPayload, schema: JsonSchema): Validation<Args> {
  const read = readFunctionPayload<OlderArgs>(name, payload, schema);
  if (!read.ok) return read;
  const older = read.args;
  const workdir = older.workdir ?? older.working_directory ?? undefined;
  const { sandbox_permissions, justification, prefix_rule } = older;
  return {
    ok: true,
    args: {
      ...scriptOf(older.command, older.login),
      ...(workdir === undefined ? {} : { workdir }),
      ...(sandbox_permissions === undefined ? {} : { sandbox_permissions }),
      ...(justification === undefined ? {} : { justification }),
      ...(prefix_rule === undefined ? {} : { prefix_rule }),
      timeoutMs: older.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    },
  };
}

const mannerOf = ({ timeoutMs }: Args): CommandManner => ({ source: 'agent', endAfterMs: timeoutMs });

function olderTool(name: string, description: string, schema: JsonSchema, calls: CommandCalls): ToolRuntime<Args> {
  return {
    name: { name },
    spec: { type: 'function', name, description, parameters: schema, strict: false },
    exposure: 'hidden',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: false,
    audience: 'reviewer',
    hooked: {
      name: SHELL_TOOL,
      input: ({ cmd }) => ({ command: cmd }),
      payload: ({ workdir, timeoutMs }, input) => ({
        type: 'function',
        arguments: JSON.stringify({ type: 'exec', command: commandOf(input), workdir, working_directory: workdir, timeout_ms: timeoutMs }),
      }),
    },
    validate: (payload) => readOlder(name, payload, schema),
    begin: (call, args, step, events) => calls.begin(call, args, step, events, mannerOf(args)),
    approvalNeed: (call) => calls.need(call),
    run: (invocation, signal) => calls.run(invocation, signal),
    rerun: rerunOf(calls, mannerOf),
    settled: (call) => calls.settled(call),
  };
}

export const shellCommand = (calls: CommandCalls): ToolRuntime<Args> =>
  olderTool('shell_command', 'Runs a command and waits for its end.', SHELL_COMMAND, calls);

export const localShell = (calls: CommandCalls): ToolRuntime<Args> =>
  olderTool('local_shell', 'Runs a command of the provider’s own call and waits for its end.', LOCAL_SHELL, calls);
