// exec_command: runs a command, in the sandbox unless an approval says otherwise, and gives what it printed. A command that goes on
// running keeps a session id.
import { type ApprovalPolicy, canAskFor, policyName } from '../../exec/policy/approval-policy.ts';
import type { Escalation } from '../../exec/policy/decide.ts';
import type { ProcessOutcome } from '../../exec/process.ts';
import type { AdditionalPermissions } from '../../exec/sandbox/permissions.ts';
import { exitCodeOf } from '../../exec/sessions.ts';
import { type CommandPlan, type CommandRequest, planCommand } from '../exec/command-plan.ts';
import { type CommandItem, commandItem, hintOfDenial, type StartedCommand, startCommand } from '../exec/command-run.ts';
import { envelope, outputBudget } from '../exec/envelope.ts';
import type { ExecHost } from '../exec/host.ts';
import { commandOf, SHELL_TOOL } from '../gates/hooks.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import type { PatchCalls } from '../patch/patch-calls.ts';
import { takeOverPatch } from '../patch/patch-in-command.ts';
import { failedOutput, ToolError, type ToolOutput, textOutput } from '../result.ts';
import type { ApprovalNeed, Invocation, StepFacts, ToolCall, ToolRuntime } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';

const MIN_YIELD_MS = 250;
const MAX_YIELD_MS = 30_000;
const DEFAULT_YIELD_MS = 10_000;

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
      description: `How long to wait for the end before the command goes on as a session (${MIN_YIELD_MS} to ${MAX_YIELD_MS}, default ${DEFAULT_YIELD_MS}).`,
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

export interface ExecArgs {
  cmd: string;
  workdir?: string;
  shell?: string;
  login?: boolean;
  tty?: boolean;
  yield_time_ms?: number;
  max_output_tokens?: number;
  sandbox_permissions?: 'use_default' | 'require_escalated' | 'with_additional_permissions';
  justification?: string;
  prefix_rule?: string[];
  additional_permissions?: { network?: { enabled?: boolean }; file_system?: { read?: string[]; write?: string[] } };
}

function additionalOf(args: ExecArgs): AdditionalPermissions {
  const { network, file_system } = args.additional_permissions ?? {};
  return { ...(network ? { network } : {}), ...(file_system ? { fileSystem: file_system } : {}) };
}

function escalationOf(args: ExecArgs): Escalation {
  switch (args.sandbox_permissions) {
    case 'require_escalated':
      return 'requireEscalated';
    case 'with_additional_permissions':
      return { additional: additionalOf(args) };
    default:
      return 'useDefault';
  }
}

const requestOf = (args: ExecArgs): CommandRequest => ({
  cmd: args.cmd,
  workdir: args.workdir,
  shell: args.shell,
  login: args.login ?? true,
  tty: args.tty ?? false,
  escalation: escalationOf(args),
  justification: args.justification,
  prefixRule: args.prefix_rule,
});

export const clampYield = (asked: number | undefined): number => Math.min(MAX_YIELD_MS, Math.max(MIN_YIELD_MS, asked ?? DEFAULT_YIELD_MS));

/** Of one call, from its validation to its end. */
interface Prepared {
  plan: CommandPlan;
  sessionId: number;
}

function needOf({ plan }: Prepared): ApprovalNeed {
  const { verdict, request } = plan;
  if (plan.fault) return { type: 'skip' }; // it cannot run: there is nothing to approve
  switch (verdict.type) {
    case 'skip':
      return { type: 'skip' };
    case 'forbidden':
      return { type: 'forbidden', reason: verdict.reason };
    case 'needsApproval':
      return {
        type: 'needsApproval',
        keys: verdict.keys,
        ask: {
          kind: 'command',
          command: plan.display,
          script: request.cmd,
          cwd: plan.cwd,
          reason: verdict.reason,
          commandActions: plan.actions,
          ...(verdict.proposedAmendment ? { proposedAmendment: verdict.proposedAmendment } : {}),
          ...(typeof request.escalation === 'object' ? { additionalPermissions: request.escalation.additional } : {}),
          scope: verdict.keys.join(' and '),
        },
      };
  }
}

const unsandboxed = (plan: CommandPlan): boolean =>
  (plan.verdict.type === 'needsApproval'
    ? plan.verdict.sandboxAfter
    : plan.verdict.type === 'skip'
      ? plan.verdict.sandbox
      : 'sandboxed') === 'unsandboxed';

const prunedNote = (started: StartedCommand): string =>
  started.pruned && !started.pruned.outcome
    ? `\n[Session ${started.pruned.id} was ended to make room for this one: ${started.pruned.command}]`
    : '';

class ExecCommand {
  readonly #host: ExecHost;
  readonly #patches: PatchCalls;
  /** By item id, from begin to the end of the call. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(host: ExecHost, patches: PatchCalls) {
    this.#host = host;
    this.#patches = patches;
  }

  async begin(call: ToolCall, args: ExecArgs, step: StepFacts, events: Invocation<ExecArgs>['events']): Promise<void> {
    if (await takeOverPatch(this.#patches, call, args, step, events)) return;
    const plan = await planCommand(this.#host, requestOf(args), step, call.callId);
    const sessionId = this.#host.sessions.reserveId();
    this.#prepared.set(call.itemId, { plan, sessionId });
    events.startItem(commandItem(call.itemId, plan, String(sessionId), 'unifiedExecStartup'), { abandoned: (item) => failedItem(item) });
  }

  need(call: ToolCall): ApprovalNeed {
    if (this.#patches.has(call)) return this.#patches.need(call);
    const prepared = this.#prepared.get(call.itemId);
    if (!prepared) return { type: 'forbidden', reason: 'The command was not prepared. Nothing was run.' };
    return needOf(prepared);
  }

  /** A call that was not let through gives its number back. */
  settled(call: ToolCall): void {
    this.#patches.settled(call);
    const prepared = this.#prepared.get(call.itemId);
    this.#prepared.delete(call.itemId);
    if (prepared) this.#host.sessions.releaseId(prepared.sessionId);
  }

  async run(invocation: Invocation<ExecArgs>, signal: AbortSignal): Promise<ToolOutput> {
    const { call, args, step, events } = invocation;
    if (this.#patches.has(call)) return this.#patches.run(invocation, signal);
    const prepared = this.#prepared.get(call.itemId);
    this.#prepared.delete(call.itemId);
    if (!prepared) throw new ToolError('tool_error', 'The command was not prepared. Nothing was run.');
    const { plan, sessionId } = prepared;
    const handle = events.itemOf(call.itemId);
    if (plan.fault) {
      this.#host.sessions.releaseId(sessionId);
      handle?.complete({ ...(handle.current as CommandItem), status: 'failed', aggregatedOutput: plan.fault });
      return failedOutput('tool_error', plan.fault);
    }
    const started = await startCommand(this.#host, plan, { sessionId, itemId: call.itemId, events, unsandboxed: unsandboxed(plan) });
    const { session } = started;
    const state = await session.waitForYield(clampYield(args.yield_time_ms), signal);
    if (state === 'yielded') {
      this.#host.startedIn.set(sessionId, step.turnId);
      void session.ended.then(() => this.#host.startedIn.delete(sessionId));
      if (handle) handle.outlives = true;
      return textOutput(this.#report(started, args, { type: 'running', sessionId }) + prunedNote(started));
    }
    if (state === 'aborted') return this.#aborted(started, args);
    return this.#ended(started, plan, args, step, session.outcome as ProcessOutcome);
  }

  #report(
    started: StartedCommand,
    args: ExecArgs,
    standing: Parameters<typeof envelope>[0]['standing'],
    hint?: string,
    output = started.session.takeNewOutput(),
  ): string {
    const { session } = started;
    return envelope({
      wallMs: session.durationMs,
      standing,
      output,
      maxTokens: outputBudget(args.max_output_tokens),
      artifact: session.output.spilled ? this.#host.spillPath(session.itemId) : null,
      hint,
    });
  }

  /** An interrupt ends the whole process group, and is waited for: nothing of the command runs on unseen. */
  async #aborted(started: StartedCommand, args: ExecArgs): Promise<ToolOutput> {
    const { session } = started;
    await session.process.terminate();
    await session.ended;
    this.#host.sessions.forget(session.id);
    const output = session.takeNewOutput();
    const seconds = (session.durationMs / 1000).toFixed(1);
    const partial =
      output.text === ''
        ? 'It had printed nothing.'
        : `Output so far:\n${this.#report(started, args, { type: 'exited', exitCode: exitCodeOf(session.outcome as ProcessOutcome) }, undefined, output)}`;
    return failedOutput(
      'cancelled',
      `aborted by user after ${seconds} s. The command was ended with all its processes; it may have had effects. ${partial}`,
      { uncertainOutcome: true },
    );
  }

  #ended(started: StartedCommand, plan: CommandPlan, args: ExecArgs, step: StepFacts, outcome: ProcessOutcome): ToolOutput {
    const { session } = started;
    this.#host.sessions.forget(session.id);
    if (outcome.type === 'failedToStart') return failedOutput('tool_error', `exec_command failed: ${outcome.reason}`);
    const output = session.takeNewOutput();
    const policy = step.approvalPolicy as ApprovalPolicy;
    const hint = hintOfDenial(started, outcome, output, plan, canAskFor(policy, 'sandbox'), policyName(policy));
    const text = this.#report(started, args, { type: 'exited', exitCode: exitCodeOf(outcome) }, hint, output) + prunedNote(started);
    if (hint) return failedOutput('sandbox_denied', text);
    return exitCodeOf(outcome) === 0 ? textOutput(text) : failedOutput('tool_error', text);
  }
}

/** A patch in a command is handed to `patches`. */
export function execCommand(host: ExecHost, patches: PatchCalls): ToolRuntime<ExecArgs> {
  const tool = new ExecCommand(host, patches);
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
    validate: (payload) => {
      const read = readFunctionPayload('exec_command', payload, parameters);
      return read.ok ? { ok: true, args: read.args as unknown as ExecArgs } : read;
    },
    begin: (call, args, step, events) => tool.begin(call, args, step, events),
    approvalNeed: (call) => tool.need(call),
    run: (invocation, signal) => tool.run(invocation, signal),
    settled: (call) => tool.settled(call),
  };
}
