import { expect, it } from 'vitest';
import type { ApprovalPolicy } from '../../src/exec/policy/approval-policy.ts';
import type { SandboxPermissions } from '../../src/exec/sandbox/permissions.ts';
import { judgePatch } from '../../src/tools/patch/patch-policy.ts';
import { claimsOf } from '../../src/tools/runtimes/apply-patch.ts';
import { add, patch } from './workbench.ts';

const restricted = (writableRoots: string[], scratchRoots: string[] = []): SandboxPermissions => ({
  type: 'restricted',
  writableRoots,
  scratchRoots,
  readAll: true,
  network: false,
});
const WORK = restricted(['/w'], ['/tmp']);
const READ_ONLY = restricted([]);
const FULL: SandboxPermissions = { type: 'fullAccess' };
const granular = (sandbox_approval: boolean): ApprovalPolicy => ({ granular: { sandbox_approval, rules: true, mcp_elicitations: true } });

/** `skip`, `ask: reason [grant root]` or `forbidden: reason`. */
function verdict(approvalPolicy: ApprovalPolicy, permissions: SandboxPermissions, ...affected: string[]): string {
  const need = judgePatch({ approvalPolicy, permissions, affected });
  if (need.type === 'skip') return 'skip';
  if (need.type === 'forbidden') return `forbidden: ${need.reason}`;
  if (need.ask.kind !== 'fileChange') throw new Error('a patch asks for a file change');
  expect(need.keys).toEqual([...new Set(affected)].map((file) => `write ${file}`));
  return `ask: ${need.ask.reason}${need.ask.grantRoot ? ` [${need.ask.grantRoot}]` : ''}`;
}

const OUTSIDE = 'the patch writes outside the writable folders of the sandbox';
const GUARDED = 'the patch writes into a guarded folder of the workspace';
const READS = 'the sandbox is read-only, and the patch writes';
const nobody = (rule: string): string =>
  `, and ${rule}, so nobody can be asked for approval. Nothing was written. Change only what the sandbox lets you write, or say what you could not do.`;

it.each<[ApprovalPolicy, SandboxPermissions, string[], string]>([
  ['on-request', WORK, ['/w/a', '/w/b/c'], 'skip'],
  ['on-request', WORK, ['/tmp/a'], 'skip'],
  ['on-request', WORK, [], 'skip'],
  ['never', WORK, ['/w/a'], 'skip'],
  [granular(false), WORK, ['/w/a'], 'skip'],
  ['untrusted', WORK, ['/w/a'], 'ask: null'],
  ['untrusted', FULL, ['/etc/x'], 'ask: null'],
  ['untrusted', WORK, ['/x/a'], `ask: ${OUTSIDE}: /x/a [/x]`],
  ['on-request', FULL, ['/etc/x', '/w/.git/config'], 'skip'],
  ['never', FULL, ['/etc/x'], 'skip'],
  ['on-request', WORK, ['/w/a', '/x/y/b', '/x/z/c'], `ask: ${OUTSIDE}: /x/y/b, /x/z/c [/x]`],
  ['on-request', WORK, ['/x/a', '/y/b'], `ask: ${OUTSIDE}: /x/a, /y/b`],
  ['on-request', WORK, ['/wider/a'], `ask: ${OUTSIDE}: /wider/a [/wider]`],
  ['on-request', WORK, ['/w/.git/hooks/x'], `ask: ${GUARDED}: /w/.git/hooks/x`],
  ['on-request', restricted(['/tmp/w'], ['/tmp']), ['/tmp/w/.git/x'], `ask: ${GUARDED}: /tmp/w/.git/x`],
  ['on-request', WORK, ['/w/sub/.harnessd/config.toml', '/x/a'], `ask: ${GUARDED}: /w/sub/.harnessd/config.toml; ${OUTSIDE}: /x/a`],
  ['on-request', READ_ONLY, ['/w/a'], `ask: ${READS} /w/a`],
  ['on-request', READ_ONLY, ['/1', '/2', '/3', '/4', '/5'], `ask: ${READS} /1, /2, /3 and 2 more`],
  [granular(true), READ_ONLY, ['/w/a'], `ask: ${READS} /w/a`],
  ['never', READ_ONLY, ['/w/a'], `forbidden: patch rejected: ${READS} /w/a${nobody('the approval policy is never')}`],
  ['never', WORK, ['/x/a'], `forbidden: patch rejected: ${OUTSIDE}: /x/a${nobody('the approval policy is never')}`],
  [
    granular(false),
    WORK,
    ['/w/.git/x'],
    `forbidden: patch rejected: ${GUARDED}: /w/.git/x${nobody('the granular approval policy has sandbox_approval switched off')}`,
  ],
])('[patch-tool.policy] %j with %j and %j', (policy, permissions, affected, expected) => {
  expect(verdict(policy, permissions, ...affected)).toBe(expected);
});

it('[patch-tool.claims] patches of one file conflict however its path is written, patches of different files do not', () => {
  const meet = (a: string, b: string): boolean => claimsOf(add(a, 'x')).some((claim) => claimsOf(add(b, 'x')).includes(claim));
  expect([meet('a.txt', './a.txt'), meet('sub/a.txt', '/w/sub/a.txt'), meet('a.txt', '../w/a.txt'), meet('a/../b', 'b')]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([meet('a.txt', 'b.txt'), meet('sub/a.txt', 'a.txt'), meet('/w/a.txt', '/w/b.txt')]).toEqual([false, false, false]);
  expect(claimsOf(patch('*** Update File: a', '*** Move to: b'))).toEqual(['a', 'b']);
  expect(claimsOf('no patch')).toEqual([]);
});
