// The calls of one thread that run a command: planned once, shown as an item, judged, run, and answered with how it stands. The tools
// that models know are thin faces of this.

import { tailOf } from '../../common/text.ts';
import { type ApprovalPolicy, canAskFor, policyName } from '../../exec/policy/approval-policy.ts';
import type { Escalation } from '../../exec/policy/decide.ts';
import type { ProcessOutcome } from '../../exec/process.ts';
import { type AdditionalPermissions, realPath } from '../../exec/sandbox/permissions.ts';
import { exitCodeOf } from '../../exec/sessions.ts';
import type { CommandExecutionSource } from '../../protocol/item.ts';
import type { PatchCalls } from '../patch/patch-calls.ts';
import { takeOverPatch } from '../patch/patch-in-command.ts';
import { failedOutput, ToolError, type ToolOutput, textOutput } from '../result.ts';
import type { ApprovalNeed, Invocation, Rerun, StepFacts, ToolCall } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import { type CommandPlan, type CommandRequest, planCommand } from './command-plan.ts';
import { type CommandItem, commandItem, hintOfDenial, type StartedCommand, startCommand } from './command-run.ts';
import { envelope, outputBudget } from './envelope.ts';
import type { ExecHost } from './host.ts';

/** A command that has not ended by then goes on as a session. */
export const YIELD_MS = { least: 250, most: 30_000, usual: 10_000 } as const;

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

/** How a call of a tool runs, apart from what its model wrote. */
export interface CommandManner {
  source: CommandExecutionSource;
  /** The command is waited for and ended at its limit; without one it goes on as a session. */
  endAfterMs?: number;
  /** It ran before and was stopped by the sandbox: it is never run again without being asked for. */
  again?: true;
}

export const SESSION: CommandManner = { source: 'unifiedExecStartup' };
/** As long as a timer goes. */
const FOR_EVER_MS = 2 ** 31 - 1;

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

const requestOf = (args: ExecArgs, { loginAllowed }: Pick<ExecHost, 'loginAllowed'>): CommandRequest => ({
  cmd: args.cmd,
  workdir: args.workdir,
  shell: args.shell,
  login: loginAllowed && (args.login ?? true),
  tty: args.tty ?? false,
  escalation: escalationOf(args),
  justification: args.justification,
  prefixRule: args.prefix_rule,
});

const clampYield = (asked: number | undefined): number => Math.min(YIELD_MS.most, Math.max(YIELD_MS.least, asked ?? YIELD_MS.usual));

/** Characters of the first output in the question whether to run again. */
const SHOWN_OUTPUT = 1_000;

/** Of one call, from its validation to its end. */
interface Prepared {
  plan: CommandPlan;
  sessionId: number;
  manner: CommandManner;
}

function needOf({ plan, manner }: Prepared): ApprovalNeed {
  const { verdict, request } = plan;
  if (plan.fault) return { type: 'skip' }; // it cannot run: there is nothing to approve
  switch (verdict.type) {
    case 'skip':
      // A rule may let a command out of the sandbox; that it runs twice is another thing.
      return manner.again ? { type: 'forbidden', reason: 'Nobody was asked whether it may run again.' } : { type: 'skip' };
    case 'forbidden':
      return { type: 'forbidden', reason: verdict.reason };
    case 'needsApproval':
      return {
        type: 'needsApproval',
        keys: manner.again ? [] : verdict.keys,
        ask: {
          kind: 'command',
          command: plan.display,
          script: request.cmd,
          cwd: plan.cwd,
          reason: verdict.reason,
          commandActions: plan.actions,
          ...(verdict.proposedAmendment && !manner.again ? { proposedAmendment: verdict.proposedAmendment } : {}),
          ...(typeof request.escalation === 'object' ? { additionalPermissions: request.escalation.additional } : {}),
          scope: manner.again ? 'this one run' : verdict.keys.join(' and '),
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

/** What was let through for one folder is not run in another. */
const movedFault = ({ cwd, realCwd }: CommandPlan): string | null =>
  realPath(cwd) === realCwd
    ? null
    : `The working folder ${cwd} led to ${realCwd} when the command was let through, and leads elsewhere now. Nothing was run. Look at the folder and call again.`;

/** Calls that run a command, whatever tool they came by. Of one thread. */
export class CommandCalls {
  readonly #host: ExecHost;
  readonly #patches: PatchCalls;
  /** By item id, from begin to the end of the call. */
  readonly #prepared = new Map<string, Prepared>();
  /** What commands printed that the sandbox stopped, by item id, until the call has ended. */
  readonly #denied = new Map<string, string>();

  constructor(host: ExecHost, patches: PatchCalls) {
    this.#host = host;
    this.#patches = patches;
  }

  async begin(
    call: ToolCall,
    args: ExecArgs,
    step: StepFacts,
    events: Invocation<ExecArgs>['events'],
    manner: CommandManner = SESSION,
  ): Promise<void> {
    if (!manner.again && (await takeOverPatch(this.#patches, call, args, step, events))) return;
    const plan = await planCommand(this.#host, requestOf(args, this.#host), step, call.callId);
    const sessionId = this.#host.sessions.reserveId();
    this.#prepared.set(call.itemId, { plan, sessionId, manner });
    events.startItem(commandItem(call.itemId, plan, String(sessionId), manner.source), { abandoned: (item) => failedItem(item) });
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
    this.#denied.delete(call.itemId);
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
    const { plan, sessionId, manner } = prepared;
    const handle = events.itemOf(call.itemId);
    const fault = plan.fault ?? (invocation.approved === 'notNeeded' ? null : movedFault(plan));
    if (fault) {
      this.#host.sessions.releaseId(sessionId);
      handle?.complete({ ...(handle.current as CommandItem), status: 'failed', aggregatedOutput: fault });
      return failedOutput('tool_error', fault);
    }
    const timeoutMs = manner.endAfterMs;
    const started = await startCommand(this.#host, plan, {
      sessionId,
      itemId: call.itemId,
      events,
      unsandboxed: unsandboxed(plan),
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }).catch((error: unknown) => {
      this.#host.sessions.releaseId(sessionId);
      throw error;
    });
    const { session } = started;
    const state = await session.waitForYield(timeoutMs === undefined ? clampYield(args.yield_time_ms) : FOR_EVER_MS, signal);
    if (state === 'yielded') {
      this.#host.startedIn.set(sessionId, step.turnId);
      void session.ended.then(() => this.#host.startedIn.delete(sessionId));
      if (handle) handle.outlives = true;
      return textOutput(this.#report(started, args, { type: 'running', sessionId }) + prunedNote(started));
    }
    if (state === 'aborted') return this.#aborted(started, args);
    return this.#ended(started, plan, { args, step, timeoutMs: manner.endAfterMs }, session.outcome as ProcessOutcome);
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

  #ended(
    started: StartedCommand,
    plan: CommandPlan,
    { args, step, timeoutMs }: { args: ExecArgs; step: StepFacts; timeoutMs: number | undefined },
    outcome: ProcessOutcome,
  ): ToolOutput {
    const { session } = started;
    this.#host.sessions.forget(session.id);
    if (outcome.type === 'failedToStart') return failedOutput('tool_error', `exec_command failed: ${outcome.reason}`);
    const output = session.takeNewOutput();
    if (outcome.type === 'timedOut' && timeoutMs !== undefined)
      return failedOutput('timeout', this.#report(started, args, { type: 'timedOut', afterMs: timeoutMs }, undefined, output), {
        uncertainOutcome: true,
      });
    const policy = step.approvalPolicy as ApprovalPolicy;
    const hint = hintOfDenial(started, outcome, output, plan, canAskFor(policy, 'sandbox'), policyName(policy));
    const text = this.#report(started, args, { type: 'exited', exitCode: exitCodeOf(outcome) }, hint, output) + prunedNote(started);
    if (hint) {
      this.#denied.set(session.itemId, output.text);
      return failedOutput('sandbox_denied', text);
    }
    return exitCodeOf(outcome) === 0 ? textOutput(text) : failedOutput('tool_error', text);
  }

  /** The same command outside the sandbox, after the sandbox stopped it; null where that is switched off or nobody can be asked. */
  wider(call: ToolCall, args: ExecArgs, step: StepFacts): ExecArgs | null {
    const printed = this.#denied.get(call.itemId);
    if (printed === undefined || !this.#host.retryDenied || (args.sandbox_permissions ?? 'use_default') !== 'use_default') return null;
    if (!canAskFor(step.approvalPolicy as ApprovalPolicy, 'sandbox')) return null;
    const justification = `The sandbox stopped this command. Run it again, from its beginning and outside the sandbox? What it did before stays done. Its output so far:\n${tailOf(printed.trim(), SHOWN_OUTPUT)}`;
    return { ...args, sandbox_permissions: 'require_escalated', justification };
  }
}

/** How the tools of `calls` run a command once more. */
export const rerunOf = <A extends ExecArgs>(calls: CommandCalls, mannerOf: (args: A) => CommandManner): Rerun<A> => ({
  wider: (call, args, step) => {
    const wider = calls.wider(call, args, step);
    return wider && { ...args, ...wider };
  },
  begin: (call, args, step, events) => calls.begin(call, args, step, events, { ...mannerOf(args), again: true }),
});
