// A command before it runs: which shell reads it, where, with what permissions, and whether it may. Frozen here; nothing later changes it.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../../common/errors.ts';
import { buildEnvironment } from '../../exec/environment.ts';
import { actionsOf } from '../../exec/policy/actions.ts';
import { type Escalation, judgeCommand, type SandboxMode, type Verdict } from '../../exec/policy/decide.ts';
import { parseScript } from '../../exec/policy/parse.ts';
import type { ParsedScript } from '../../exec/policy/syntax.ts';
import {
  type AdditionalPermissions,
  permissionsLabel,
  realPath,
  type SandboxPermissions,
  withAdditional,
} from '../../exec/sandbox/permissions.ts';
import { displayCommand, requestedShell, type Shell, shellArgv } from '../../exec/shell.ts';
import type { CommandAction } from '../../protocol/item.ts';
import type { SandboxPolicy } from '../../protocol/primitives.ts';
import { ToolError } from '../result.ts';
import type { StepFacts } from '../runtime.ts';
import type { ExecHost } from './host.ts';

export interface CommandRequest {
  readonly cmd: string;
  readonly workdir?: string;
  readonly shell?: string;
  readonly login: boolean;
  readonly tty: boolean;
  readonly escalation: Escalation;
  readonly justification?: string;
  readonly prefixRule?: readonly string[];
}

export interface CommandPlan {
  readonly request: CommandRequest;
  readonly shell: Shell;
  /** The argv that is judged and shown. */
  readonly argv: readonly string[];
  readonly display: string;
  readonly cwd: string;
  /** Where it leads, as it was judged. */
  readonly realCwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly actions: readonly CommandAction[];
  readonly parsed: ParsedScript;
  readonly permissions: SandboxPermissions;
  readonly verdict: Verdict;
  /** Why it cannot start at all (a missing folder or shell), in words for the model. */
  readonly fault: string | null;
}

export function sandboxModeOf(policy: SandboxPolicy): SandboxMode {
  switch (policy.type) {
    case 'readOnly':
      return 'read-only';
    case 'workspaceWrite':
      return 'workspace-write';
    case 'dangerFullAccess':
      return 'danger-full-access';
    case 'externalSandbox':
      return 'external';
  }
}

async function folderFault(cwd: string): Promise<string | null> {
  try {
    if ((await stat(cwd)).isDirectory()) return null;
    return `The working folder ${cwd} is not a folder. Nothing was run.`;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return `The working folder ${cwd} does not exist. Nothing was run. Give an existing workdir.`;
    return `The working folder ${cwd} cannot be used (${systemCode(error) ?? 'unknown error'}). Nothing was run.`;
  }
}

async function shellFor(host: ExecHost, wanted: string | undefined): Promise<{ shell: Shell; fault: string | null }> {
  const usual = await host.shell();
  if (!wanted) return { shell: usual, fault: null };
  const choice = await requestedShell(wanted, host.baseEnv);
  return choice.type === 'found' ? { shell: choice.shell, fault: null } : { shell: usual, fault: choice.reason };
}

const additionalOf = (escalation: Escalation): AdditionalPermissions | null =>
  typeof escalation === 'object' ? escalation.additional : null;

export async function planCommand(host: ExecHost, request: CommandRequest, step: StepFacts, callId: string): Promise<CommandPlan> {
  if (request.cmd.includes('\0')) throw new ToolError('invalid_arguments', 'cmd holds a NUL byte, which no command can. Nothing was run.');
  if (request.cmd.trim() === '') throw new ToolError('invalid_arguments', 'cmd is empty. Nothing was run.');
  if (typeof request.escalation === 'object' && !host.additionalPermissions) {
    throw new ToolError(
      'denied_by_policy',
      'Additional permissions per command are switched off (features.exec_permission_approvals). Use sandbox_permissions "require_escalated" with a justification, or stay within the sandbox.',
    );
  }
  const cwd = path.resolve(step.cwd, request.workdir ?? '.');
  const [{ shell, fault }, folder, parsed, rules, sandboxAvailable] = await Promise.all([
    shellFor(host, request.shell),
    folderFault(cwd),
    parseScript(request.cmd),
    host.rules(),
    host.launcher.available(),
  ]);
  const realCwd = realPath(cwd);
  const argv = shellArgv(shell, request.cmd, request.login);
  const base = host.grants.permissions(step.sandbox, step.cwd, step.turnId);
  const extra = additionalOf(request.escalation);
  const verdict = judgeCommand({
    parsed,
    scriptText: request.cmd,
    shellArgv: argv,
    cwd: realCwd, // an approval is for the folder itself, whatever leads to it later
    approvalPolicy: step.approvalPolicy as never,
    sandboxMode: sandboxModeOf(step.sandbox),
    sandboxAvailable,
    escalation: request.escalation,
    permissions: permissionsLabel(base),
    justification: request.justification,
    prefixRule: request.prefixRule,
    rules,
  });
  const env = buildEnvironment(host.environment, host.baseEnv, {
    tty: request.tty,
    values: { HARNESSD_THREAD_ID: host.threadId, HARNESSD_TOOL_CALL_ID: callId },
  });
  return {
    request,
    shell,
    argv,
    display: displayCommand(argv),
    cwd,
    realCwd,
    env,
    actions: actionsOf(parsed, cwd) as CommandAction[],
    parsed,
    permissions: extra ? withAdditional(base, extra, cwd) : base,
    verdict,
    fault: fault ?? folder,
  };
}
