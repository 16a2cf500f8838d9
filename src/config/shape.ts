// What a key may hold: a small language of shapes, the TypeScript type that goes with each, and the check that finds what is wrong.
// Written for texts that a person can act on and for a start-up that builds no validators.
import { assertNever } from '../common/assert-never.ts';
import { formatPath } from './key-path.ts';
import { isTable } from './table.ts';

export type Rule =
  /** `path` strings are resolved against the folder of their file. */
  | { kind: 'string' | 'path' | 'boolean' | 'anyTable' | 'any' }
  | { kind: 'number'; integer: boolean; min: number }
  | { kind: 'oneOf'; values: readonly string[] }
  | { kind: 'list'; of: Rule }
  /** `rest` is the rule of keys without a name of their own; without it such a key is unknown. */
  | { kind: 'table'; keys: Readonly<Record<string, Rule>>; required: readonly string[]; rest: Rule | null }
  | { kind: 'either'; of: readonly Rule[] };

export interface Shape<T> {
  readonly rule: Rule;
  /** Never present: carries the type. */
  readonly holds?: T;
}
export type Holds<S> = S extends Shape<infer T> ? T : never;
type Shapes = Readonly<Record<string, Shape<unknown>>>;
type Fields<S extends Shapes> = { readonly [K in keyof S]?: Holds<S[K]> };

const rulesOf = (shapes: Shapes): Record<string, Rule> =>
  Object.fromEntries(Object.entries(shapes).map(([key, shape]) => [key, shape.rule]));

export const text: Shape<string> = { rule: { kind: 'string' } };
export const filePath: Shape<string> = { rule: { kind: 'path' } };
export const flag: Shape<boolean> = { rule: { kind: 'boolean' } };
export const anyValue: Shape<unknown> = { rule: { kind: 'any' } };
export const anyTable: Shape<Readonly<Record<string, unknown>>> = { rule: { kind: 'anyTable' } };
export const integer: Shape<number> = { rule: { kind: 'number', integer: true, min: 0 } };
export const seconds: Shape<number> = { rule: { kind: 'number', integer: false, min: 0 } };
export const oneOf = <const V extends readonly string[]>(...values: V): Shape<V[number]> => ({ rule: { kind: 'oneOf', values } });
export const list = <T>(of: Shape<T>): Shape<readonly T[]> => ({ rule: { kind: 'list', of: of.rule } });
export const map = <T>(of: Shape<T>): Shape<Readonly<Record<string, T>>> => ({
  rule: { kind: 'table', keys: {}, required: [], rest: of.rule },
});
export const table = <S extends Shapes>(keys: S): Shape<Fields<S>> => ({
  rule: { kind: 'table', keys: rulesOf(keys), required: [], rest: null },
});
/** A table in which every key is known that `rest` can hold. */
export const openTable = <S extends Shapes, R>(
  keys: S,
  rest: Shape<R>,
): Shape<Fields<S> & Readonly<Record<string, R | Holds<S[keyof S]> | undefined>>> => ({
  rule: { kind: 'table', keys: rulesOf(keys), required: [], rest: rest.rule },
});
export const tableWith = <S extends Shapes, const R extends readonly (keyof S & string)[]>(
  keys: S,
  required: R,
): Shape<Fields<S> & { readonly [K in R[number]]-?: Holds<S[K]> }> => ({
  rule: { kind: 'table', keys: rulesOf(keys), required, rest: null },
});
export const either = <A, B>(a: Shape<A>, b: Shape<B>): Shape<A | B> => ({ rule: { kind: 'either', of: [a.rule, b.rule] } });

export type Path = readonly (string | number)[];
export interface Finding {
  kind: 'wrong' | 'unknown';
  path: Path;
  reason: string;
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

function expectation(rule: Rule): string {
  switch (rule.kind) {
    case 'string':
      return 'a string';
    case 'path':
      return 'a path (string)';
    case 'boolean':
      return 'true or false';
    case 'any':
      return 'any value';
    case 'anyTable':
    case 'table':
      return 'a table';
    case 'number':
      return rule.integer ? `an integer of at least ${rule.min}` : `a number of at least ${rule.min}`;
    case 'oneOf':
      return `one of ${rule.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'list':
      return `a list, each entry ${expectation(rule.of)}`;
    case 'either':
      return rule.of.map(expectation).join(', or ');
    default:
      return assertNever(rule, 'rule');
  }
}

/** What was found. Strings are repeated only where the choice is a closed one: any other string may be a secret. */
function found(value: unknown, rule: Rule): string {
  if (typeof value === 'string') {
    const closed = rule.kind === 'oneOf' || (rule.kind === 'either' && rule.of.some((inner) => inner.kind === 'oneOf'));
    return closed && value.length <= 60 ? JSON.stringify(value) : 'a string';
  }
  if (typeof value === 'number') return `the ${Number.isInteger(value) ? 'integer' : 'number'} ${value}`;
  if (typeof value === 'boolean') return `${value}`;
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return value instanceof Date ? 'a date' : article('table');
}

function fits(value: unknown, rule: Rule): boolean {
  switch (rule.kind) {
    case 'any':
      return true;
    case 'string':
    case 'path':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && value >= rule.min && (!rule.integer || Number.isSafeInteger(value));
    case 'oneOf':
      return typeof value === 'string' && rule.values.includes(value);
    case 'list':
      return Array.isArray(value);
    case 'anyTable':
    case 'table':
      return isTable(value);
    case 'either':
      return rule.of.some((inner) => fits(value, inner));
    default:
      return assertNever(rule, 'rule');
  }
}

function checkTable(value: { [key: string]: unknown }, rule: Rule & { kind: 'table' }, path: Path, into: Finding[]): void {
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    if (key === '__proto__') into.push({ kind: 'wrong', path: at, reason: `${formatPath(at)} is not a name that a key can have` });
    else if (Object.hasOwn(rule.keys, key)) checkInto(inner, rule.keys[key], at, into);
    else if (rule.rest) checkInto(inner, rule.rest, at, into);
    else into.push({ kind: 'unknown', path: at, reason: unknownText(at, nearest(key, Object.keys(rule.keys))) });
  }
  for (const key of rule.required) {
    if (!Object.hasOwn(value, key)) into.push({ kind: 'wrong', path, reason: `${formatPath(path)} needs the key ${key}` });
  }
}

function checkInto(value: unknown, rule: Rule, path: Path, into: Finding[]): void {
  // JSON clients write null for "not set"; TOML has no null.
  if (value === null && path.length > 0) return;
  if (!fits(value, rule)) {
    into.push({ kind: 'wrong', path, reason: `${formatPath(path)} must be ${expectation(rule)}, not ${found(value, rule)}` });
    return;
  }
  if (rule.kind === 'table' && isTable(value)) checkTable(value, rule, path, into);
  else if (rule.kind === 'list' && Array.isArray(value)) {
    for (const [index, inner] of value.entries()) checkInto(inner, rule.of, [...path, index], into);
  } else if (rule.kind === 'either') {
    const chosen = rule.of.find((inner) => fits(value, inner));
    if (chosen) checkInto(value, chosen, path, into);
  }
}

/** Everything wrong or unknown in a value, in the order of its keys. */
export function check(value: unknown, shape: Shape<unknown>): Finding[] {
  const findings: Finding[] = [];
  checkInto(value, shape.rule, [], findings);
  return findings;
}

const unknownText = (path: Path, near: string | undefined): string =>
  `unknown key ${formatPath(path)} is ignored${near === undefined ? '' : `; did you mean ${formatPath([...path.slice(0, -1), near])}?`}`;

/** The known name with the fewest edits, when they are few for its length. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name, candidate, bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    previous = row;
  }
  return previous[b.length];
}

/** A copy in which every string that is a path is absolute. */
export function resolvePaths(value: unknown, rule: Rule, resolve: (path: string) => string): unknown {
  if (rule.kind === 'path') return typeof value === 'string' ? resolve(value) : value;
  if (rule.kind === 'list' && Array.isArray(value)) return value.map((inner) => resolvePaths(inner, rule.of, resolve));
  if (rule.kind === 'table' && isTable(value)) {
    const ruleOf = (key: string): Rule | null => (Object.hasOwn(rule.keys, key) ? rule.keys[key] : rule.rest);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const innerRule = ruleOf(key);
        return [key, innerRule ? resolvePaths(inner, innerRule, resolve) : inner];
      }),
    );
  }
  if (rule.kind === 'either') {
    const chosen = rule.of.find((inner) => fits(value, inner));
    return chosen ? resolvePaths(value, chosen, resolve) : value;
  }
  return value;
}
