// A command that runs: started once, shown as one item, and followed to its end, which may come long after its call and its turn.
import { type NewOutput, OutputCollector } from '../../exec/output.ts';
import type { ProcessOutcome } from '../../exec/process.ts';
import { denialHint, recogniseDenial } from '../../exec/sandbox/denial.ts';
import type { SandboxPermissions } from '../../exec/sandbox/permissions.ts';
import { SandboxUnavailable } from '../../exec/sandbox/sandbox.ts';
import { type ExecSession, exitCodeOf } from '../../exec/sessions.ts';
import type { CommandExecutionSource, ThreadItem } from '../../protocol/item.ts';
import type { ItemHandle, ToolEvents } from '../events.ts';
import { ToolError } from '../result.ts';
import type { CommandPlan } from './command-plan.ts';
import type { ExecHost } from './host.ts';

export type CommandItem = Extract<ThreadItem, { type: 'commandExecution' }>;

export function commandItem(
  id: string,
  plan: Pick<CommandPlan, 'display' | 'cwd' | 'actions'>,
  processId: string | null,
  source: CommandExecutionSource,
): CommandItem {
  return {
    type: 'commandExecution',
    id,
    command: plan.display,
    cwd: plan.cwd,
    processId,
    source,
    status: 'inProgress',
    commandActions: [...plan.actions],
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
  };
}

/** The terminal form of a command's item. No output at all is null, as clients expect. */
export function endedItem(item: CommandItem, exitCode: number, durationMs: number, output: string): CommandItem {
  return {
    ...item,
    status: exitCode === 0 ? 'completed' : 'failed',
    exitCode,
    durationMs: Math.round(durationMs),
    aggregatedOutput: output === '' ? null : output,
  };
}

export interface StartedCommand {
  readonly session: ExecSession;
  readonly sandboxed: boolean;
  readonly permissions: SandboxPermissions;
  /** A session that had to give way to this one. */
  readonly pruned: ExecSession | undefined;
}

const FULL_ACCESS: SandboxPermissions = { type: 'fullAccess' };

/** Starts a planned command in its sandbox. The item, if there is one, is completed when the process has ended, whenever that is. */
export async function startCommand(
  host: ExecHost,
  plan: CommandPlan,
  options: { sessionId: number; itemId: string; events: ToolEvents; unsandboxed: boolean; timeoutMs?: number; signal: AbortSignal },
): Promise<StartedCommand> {
  const { events, itemId, sessionId, signal } = options;
  const permissions = options.unsandboxed ? FULL_ACCESS : plan.permissions;
  const { shell, request, cwd, env } = plan;
  const launch = request.login ? await host.loginLaunch(shell, request.cmd, { cwd, env, permissions }) : { argv: plan.argv, env };
  let wrapped: Awaited<ReturnType<typeof host.launcher.wrap>>;
  try {
    wrapped = await host.launcher.wrap({ argv: launch.argv, cwd: plan.cwd, permissions, tty: plan.request.tty });
  } catch (error) {
    if (error instanceof SandboxUnavailable)
      throw new ToolError(
        'denied_by_policy',
        `${error.message}. The command was not run: nothing runs outside the sandbox without an approval.`,
      );
    throw error;
  }
  if (signal.aborted) {
    wrapped.release();
    throw new ToolError('cancelled', 'aborted by user before the command was started. Nothing was run.');
  }
  const spill = host.spillPath(itemId);
  const output = new OutputCollector({
    onDelta: (delta) => {
      events.commandOutput(itemId, delta);
    },
    ...(spill ? { spill: { path: spill } } : {}),
  });
  const process = host.runner.start({
    argv: wrapped.argv,
    cwd: plan.cwd,
    env: launch.env,
    merged: true,
    tty: plan.request.tty,
    stdin: plan.request.tty ? 'open' : 'closed',
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  output.attach(process);
  const { session, pruned } = host.sessions.add(sessionId, {
    process,
    output,
    itemId,
    command: plan.display,
    cwd: plan.cwd,
    tty: plan.request.tty,
  });
  void session.ended.then((outcome) => {
    wrapped.release();
    completeItem(events.itemOf(itemId), session, outcome);
  });
  return { session, sandboxed: wrapped.sandboxed, permissions, pruned };
}

function completeItem(handle: ItemHandle | undefined, session: ExecSession, outcome: ProcessOutcome): void {
  if (!handle) return;
  const text = outcome.type === 'failedToStart' ? outcome.reason : session.output.aggregated();
  handle.complete(endedItem(handle.current as CommandItem, exitCodeOf(outcome), session.durationMs, text));
}

/** What the sandbox stopped, in words for the model, or undefined for an ordinary end. */
export function hintOfDenial(
  started: StartedCommand,
  outcome: ProcessOutcome,
  newOutput: NewOutput,
  plan: CommandPlan,
  canAsk: boolean,
  policyName: string,
): string | undefined {
  const exitCode = exitCodeOf(outcome);
  const denial = recogniseDenial({
    exitCode,
    output: newOutput.text,
    cwd: plan.cwd,
    permissions: started.permissions,
    sandboxed: started.sandboxed,
  });
  return denial.denied ? denialHint(denial, canAsk, policyName) : undefined;
}
