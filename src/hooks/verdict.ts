// The answers of all hooks of one event as one verdict. Order of effects: the order of the hooks. A refusal wins over everything, a
// hook that fails closed refuses when it fails or is cut off, and of several rewrites the last one holds.
import type { Hook } from './hook.ts';
import type { HookResult } from './runner.ts';

export interface Refusal {
  readonly reason: string;
  /** `stop`: nothing is to follow from it. */
  readonly type: 'block' | 'stop';
  readonly runId: string;
}

export interface Verdict {
  /** Every refusal, in order. */
  readonly refusals: readonly Refusal[];
  /** A hook answered in place of the user. Only without refusals. */
  readonly allowed: boolean;
  readonly context: readonly string[];
  readonly rewrite: { readonly input: unknown } | null;
  readonly replacement: string | null;
}

export const NO_VERDICT: Verdict = { refusals: [], allowed: false, context: [], rewrite: null, replacement: null };

const CUT_OFF = 'the turn was interrupted before it had decided';

const failedClosed = (hook: Hook, problem: string): string =>
  `the hook ${hook.key} failed (${problem}), and it is set to block when it fails (fail_closed = true)`;

export function combine(results: readonly HookResult[]): Verdict {
  const refusals: Refusal[] = [];
  const context: string[] = [];
  let allowed = false;
  let rewrite: Verdict['rewrite'] = null;
  let replacement: string | null = null;
  for (const { hook, runId, outcome } of results) {
    if (outcome.type !== 'answered') {
      const problem = outcome.type === 'failed' ? outcome.problem : CUT_OFF;
      if (hook.failClosed) refusals.push({ type: 'block', reason: failedClosed(hook, problem), runId });
      continue;
    }
    const { answer } = outcome;
    const { verdict } = answer;
    if (verdict.type === 'block' || verdict.type === 'stop') refusals.push({ type: verdict.type, reason: verdict.reason, runId });
    if (verdict.type === 'allow') allowed = true;
    if (answer.context !== null) context.push(answer.context);
    if (answer.rewrite) rewrite = answer.rewrite;
    if (answer.replacement !== undefined) replacement = answer.replacement;
  }
  return { refusals, allowed: allowed && refusals.length === 0, context, rewrite, replacement };
}

/** All reasons as one text. */
export const reasonsOf = (refusals: readonly Refusal[]): string => refusals.map(({ reason }) => reason).join('\n');
