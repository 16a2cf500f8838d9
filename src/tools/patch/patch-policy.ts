// Whether a patch may be written: skip, ask, or refuse. Pure: judged from the policy, the sandbox's permissions and every real path that
// would be written or removed, both ends of a move and of a link included.
import path from 'node:path';
import { assertNever } from '../../common/assert-never.ts';
import { type ApprovalPolicy, canAskFor } from '../../exec/policy/approval-policy.ts';
import { isGuarded } from '../../exec/sandbox/guarded-paths.ts';
import { isWithin, type SandboxPermissions } from '../../exec/sandbox/permissions.ts';
import type { ApprovalNeed } from '../runtime.ts';

export interface PatchPolicyInput {
  readonly approvalPolicy: ApprovalPolicy;
  readonly permissions: SandboxPermissions;
  /** Absolute and real. */
  readonly affected: readonly string[];
}

type Barrier = 'readOnly' | 'guarded' | 'outside';

const MAX_NAMED = 3;

export function judgePatch({ approvalPolicy, permissions, affected }: PatchPolicyInput): ApprovalNeed {
  if (affected.length === 0) return { type: 'skip' };
  const barred = barredPaths(permissions, affected);
  const reason = reasonOf(barred);
  if (reason === null && approvalPolicy !== 'untrusted') return { type: 'skip' };
  if (reason !== null && !canAskFor(approvalPolicy, 'sandbox')) return { type: 'forbidden', reason: refusalOf(approvalPolicy, reason) };
  const paths = [...new Set(affected)];
  const ask = { kind: 'fileChange', reason, grantRoot: rootOf(barred), scope: `writing ${paths.join(', ')}` } as const;
  return { type: 'needsApproval', keys: paths.map((file) => `write ${file}`), ask };
}

function barredPaths(permissions: SandboxPermissions, affected: readonly string[]): Map<Barrier, string[]> {
  const barred = new Map<Barrier, string[]>();
  if (permissions.type === 'fullAccess') return barred;
  for (const file of new Set(affected)) {
    const barrier = barrierOf(permissions, file);
    if (barrier) barred.set(barrier, [...(barred.get(barrier) ?? []), file]);
  }
  return barred;
}

/** A guarded folder stays guarded where a scratch folder lies around the workspace. */
function barrierOf(permissions: Exclude<SandboxPermissions, { type: 'fullAccess' }>, file: string): Barrier | null {
  const { writableRoots, scratchRoots } = permissions;
  const roots = [...writableRoots, ...scratchRoots];
  if (roots.length === 0) return 'readOnly';
  if (isGuarded(writableRoots, file)) return 'guarded';
  return roots.some((root) => isWithin(root, file)) ? null : 'outside';
}

function reasonOf(barred: ReadonlyMap<Barrier, readonly string[]>): string | null {
  const parts = [...barred].map(([barrier, files]) => wordsOf(barrier, named(files)));
  return parts.length ? parts.join('; ') : null;
}

function wordsOf(barrier: Barrier, names: string): string {
  switch (barrier) {
    case 'readOnly':
      return `the sandbox is read-only, and the patch writes ${names}`;
    case 'guarded':
      return `the patch writes into a guarded folder of the workspace: ${names}`;
    case 'outside':
      return `the patch writes outside the writable folders of the sandbox: ${names}`;
    default:
      return assertNever(barrier);
  }
}

const named = (files: readonly string[]): string =>
  files.slice(0, MAX_NAMED).join(', ') + (files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '');

/** Names the policy, never the user: nobody was asked. */
function refusalOf(policy: ApprovalPolicy, reason: string): string {
  const rule =
    typeof policy === 'object' ? 'the granular approval policy has sandbox_approval switched off' : `the approval policy is ${policy}`;
  return `patch rejected: ${reason}, and ${rule}, so nobody can be asked for approval. Nothing was written. Change only what the sandbox lets you write, or say what you could not do.`;
}

/** The folder that a client may show for files outside the workspace. A session's approval still covers just the files. */
function rootOf(barred: ReadonlyMap<Barrier, readonly string[]>): string | null {
  const outside = barred.get('outside');
  if (!outside || barred.size > 1) return null;
  let root = path.dirname(outside[0]);
  while (!outside.every((file) => isWithin(root, file))) root = path.dirname(root);
  return root === path.dirname(root) ? null : root;
}
