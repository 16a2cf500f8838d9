// request_permissions: asks the user ahead for folders or the network that later commands of the turn, or of the thread, will need. It
// makes no item; the request itself is what the user sees. What is granted is never more than what was asked for.

import { nowMs } from '../../common/clock.ts';
import { preview } from '../../common/text.ts';
import type { ApprovalPolicy } from '../../exec/policy/approval-policy.ts';
import { policyName } from '../../exec/policy/approval-policy.ts';
import { type Grant, type GrantScope, grantOf, intersection, isEmptyGrant, NO_GRANT } from '../../exec/sandbox/grants.ts';
import type { GrantedPermissionProfile, PermissionsRequestApprovalResponse } from '../../protocol/approval.ts';
import type { FrontendOutcome, FrontendPort } from '../events.ts';
import { outcomeOf } from '../frontend-question.ts';
import { decisionWithoutAnswer } from '../gates/approval-decision.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { failedOutput, type ToolOutput, textOutput } from '../result.ts';
import type { ApprovalNeed, Invocation, StepFacts, ToolRuntime } from '../runtime.ts';

const paths = { type: ['array', 'null'], items: { type: 'string', minLength: 1 } } as const;

const parameters = {
  type: 'object',
  properties: {
    reason: { type: ['string', 'null'], description: 'One sentence, shown to the user, why the permissions are needed.' },
    permissions: {
      type: 'object',
      description: 'What later commands and patches need beyond the sandbox.',
      properties: {
        network: { type: ['object', 'null'], properties: { enabled: { type: ['boolean', 'null'] } } },
        file_system: {
          type: ['object', 'null'],
          description: 'Files or folders, absolute or relative to the folder of the thread.',
          properties: { read: paths, write: paths },
        },
      },
    },
  },
  required: ['permissions'],
} as const;

interface Args {
  reason?: string | null;
  permissions: {
    network?: { enabled?: boolean | null } | null;
    file_system?: { read?: string[] | null; write?: string[] | null } | null;
  };
}

export interface PermissionPorts {
  readonly frontend: FrontendPort;
  /** Keeps what was granted. */
  granted(turnId: string, scope: GrantScope, grant: Grant): void;
}

type Answer = PermissionsRequestApprovalResponse;

const askedFor = ({ permissions: { network, file_system } }: Args, cwd: string): Grant =>
  grantOf({ network, fileSystem: file_system }, cwd);

const listOrNull = (list: readonly string[]): string[] | null => (list.length ? [...list] : null);

const fileSystemOf = ({ read, write }: Grant) =>
  read.length + write.length > 0 ? { read: listOrNull(read), write: listOrNull(write) } : null;
const networkOf = ({ network }: Grant) => (network ? { enabled: true } : null);

/** An answer may name single entries; one that is to stay shut takes every folder with it that it lies in. */
function givenIn({ fileSystem, network }: GrantedPermissionProfile, cwd: string): Grant {
  const entries = fileSystem?.entries ?? [];
  const named = (access: 'read' | 'write' | 'deny') =>
    entries.flatMap((entry) => (entry.access === access && typeof entry.path.path === 'string' ? [entry.path.path] : []));
  const [read, write] = [
    [...(fileSystem?.read ?? []), ...named('read')],
    [...(fileSystem?.write ?? []), ...named('write')],
  ];
  const given = grantOf({ network, fileSystem: { read, write } }, cwd);
  const isPlain = entries.every((entry) => entry.access !== 'deny' || typeof entry.path.path === 'string');
  if (!isPlain) return { ...NO_GRANT, network: given.network }; // what a pattern shuts cannot be kept shut
  const shut = grantOf({ fileSystem: { write: named('deny') } }, cwd).write;
  const isOpen = (file: string) => shut.every((denied) => isEmptyGrant(intersection(writing(file), writing(denied))));
  return { ...given, read: given.read.filter(isOpen), write: given.write.filter(isOpen) };
}

const writing = (file: string): Grant => ({ read: [], write: [file], network: false });

function forbidden({ approvalPolicy }: StepFacts): ApprovalNeed {
  const policy = approvalPolicy as ApprovalPolicy;
  const isAllowed = typeof policy === 'object' ? policy.granular.request_permissions === true : policy !== 'never';
  if (isAllowed) return { type: 'skip' };
  const why = typeof policy === 'object' ? 'has request_permissions switched off' : 'lets nobody be asked';
  return {
    type: 'forbidden',
    reason: `request_permissions rejected: ${policyName(policy)} ${why}. Nothing was granted. Work within the sandbox, or say what you could not do.`,
  };
}

async function ask(ports: PermissionPorts, { args, call, step }: Invocation<Args>, signal: AbortSignal): Promise<ToolOutput> {
  const asked = askedFor(args, step.cwd);
  const params = {
    threadId: step.threadId,
    turnId: step.turnId,
    itemId: call.itemId,
    startedAtMs: nowMs(),
    environmentId: 'local',
    cwd: step.cwd,
    reason: args.reason ?? null,
    permissions: { network: networkOf(asked), fileSystem: fileSystemOf(asked) },
  };
  const outcome = await outcomeOf(ports.frontend, 'item/permissions/requestApproval', params, signal);
  // A grant that comes after the interrupt grants nothing.
  if (!outcome) return failedOutput('cancelled', 'aborted by user before the request was answered. Nothing was granted.');
  return concluded(ports, asked, outcome, step);
}

function concluded(ports: PermissionPorts, asked: Grant, outcome: FrontendOutcome<Answer>, step: StepFacts): ToolOutput {
  if (outcome.type !== 'answered') {
    const decision = decisionWithoutAnswer(outcome);
    if (decision.type === 'approved') return failedOutput('tool_error', 'The request was not answered. Nothing was granted.');
    return failedOutput(decision.category, decision.text.replace('Nothing was run.', 'Nothing was granted.'));
  }
  const { permissions, scope = 'turn' } = outcome.value;
  const given = givenIn(permissions, step.cwd);
  const grant = intersection(asked, given);
  if (isEmptyGrant(grant)) {
    const beside = isEmptyGrant(given) ? '' : ' What the answer granted was not what you asked for.';
    return failedOutput(
      'denied_by_user',
      `The user declined the request: nothing was granted.${beside} Do not ask for the same again; work within the sandbox, or say what you could not do.`,
    );
  }
  ports.granted(step.turnId, scope, grant);
  return textOutput(JSON.stringify({ permissions: { network: networkOf(grant), file_system: fileSystemOf(grant) }, scope }));
}

export function requestPermissions(ports: PermissionPorts): ToolRuntime<Args> {
  return {
    name: { name: 'request_permissions' },
    spec: {
      type: 'function',
      name: 'request_permissions',
      description:
        'Asks the user to let later commands and patches write given folders or use the network. Answers with what was granted, which may be less, and whether it holds for this turn or the whole session.',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: false,
    validate: (payload) => {
      const read = readFunctionPayload<Args>('request_permissions', payload, parameters);
      if (!read.ok) return read;
      const { args } = read;
      if (isEmptyGrant(askedFor(args, '/'))) return { ok: false, problem: EMPTY };
      const bad = [args.permissions.file_system?.read, args.permissions.file_system?.write]
        .flatMap((l) => l ?? [])
        .find((p) => p.includes('\0'));
      return bad === undefined
        ? { ok: true, args }
        : { ok: false, problem: `a path holds a NUL byte: ${preview(bad.replaceAll('\0', '\\0'))}` };
    },
    approvalNeed: (_call, _args, step) => forbidden(step),
    run: (invocation, signal) => ask(ports, invocation, signal),
  };
}

const EMPTY =
  'request_permissions requires at least one permission: permissions.network.enabled true, or a path in permissions.file_system.read or .write';
