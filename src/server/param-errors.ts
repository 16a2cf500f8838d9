// From a schema's findings to one sentence that names the field: `params.threadId: expected string, got number`.
import type * as z from 'zod';
import { invalidParams, type RpcError } from '../common/errors.ts';
import { preview } from '../common/text.ts';

type Issue = z.core.$ZodIssue;

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`), 'params');

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'fraction';
  return typeof value;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
}

const oneOf = (values: readonly unknown[]): string => `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** The finding inside a union that came closest: the one that looked deepest. */
function deepest(issue: Issue): { issue: Issue; path: readonly PropertyKey[] } {
  if (issue.code !== 'invalid_union' || !issue.errors?.length) return { issue, path: issue.path };
  let best: { issue: Issue; path: readonly PropertyKey[] } = { issue, path: issue.path };
  for (const branch of issue.errors) {
    for (const inner of branch) {
      const found = deepest(inner);
      const path = [...issue.path, ...found.path];
      if (path.length > best.path.length) best = { issue: found.issue, path };
    }
  }
  return best;
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`;
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`;
    case 'invalid_union':
      return 'discriminator' in issue && issue.discriminator ? `expected a known ${String(issue.discriminator)}` : 'expected another form';
    case 'too_small':
      return `expected at least ${String(issue.minimum)}`;
    case 'too_big':
      return `expected at most ${String(issue.maximum)}`;
    default:
      return issue.message;
  }
}

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? preview(JSON.stringify(value), 80)
    : typeof value === 'number' || typeof value === 'boolean'
      ? `${kindOf(value)} ${value}`
      : kindOf(value);

/** The error for params that do not fit, naming the first field that is wrong. */
export function paramsError(error: z.ZodError, params: unknown): RpcError {
  const { issue, path } = deepest(error.issues[0]);
  const value = valueAt(params, path);
  const got = issue.code === 'invalid_type' ? kindOf(value) : shown(value);
  return invalidParams(`${fieldOf(path)}: ${expectation(issue)}, got ${got}`);
}

/** The same for an answer of the frontend, as a problem in words. */
export function answerProblem(error: z.ZodError, result: unknown): string {
  return paramsError(error, result).message.replace(/^params/, 'result');
}
