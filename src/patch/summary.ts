// What the model reads about a patch: done, refused before the first write, or stopped in the middle.
import type { ParseError } from './parse-error.ts';
import type { Plan, PlanError } from './plan.ts';
import type { WriteError } from './writer.ts';

export const VERIFICATION_FAILED = 'apply_patch verification failed: ';

/** Patch order; a move shows its new name. A section that repeats a line adds none. */
export function successText(plan: Plan): string {
  const lines = plan.summary.map(({ letter, path, overwrote }) => `${letter} ${path}${overwrote ? ' (overwrote)' : ''}\n`);
  return `Success. Updated the following files:\n${[...new Set(lines)].join('')}`;
}

export const parseFailureText = (error: ParseError): string => (error.empty ? error.message : `${VERIFICATION_FAILED}${error.message}`);

export const planFailureText = (error: PlanError): string => `${VERIFICATION_FAILED}${error.message}`;

export const writeFailureText = (error: WriteError): string => `apply_patch failed: ${error.message}`;
