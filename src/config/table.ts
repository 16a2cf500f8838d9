// Plain tables as they come from TOML or JSON: telling, reading, merging, freezing. No key is ever looked up on a prototype.

export type Table = { [key: string]: unknown };
export type ReadonlyTable = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The value at a path, undefined when there is none. A number is an index into a list. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof part === 'number') value = Array.isArray(value) ? value[part] : undefined;
    else value = isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

export const copyOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
};

/** An own property in any case: a plain assignment to this one name would change the prototype. */
function put(table: Table, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(table, key, { value, writable: true, enumerable: true, configurable: true });
  else table[key] = value;
}

/** Sets one value; tables on the way are made, anything else on the way is replaced by a table. */
export function setAt(root: Table, path: readonly string[], value: unknown): void {
  let table = root;
  for (const part of path.slice(0, -1)) {
    const next = Object.hasOwn(table, part) ? table[part] : undefined;
    const inner: Table = isTable(next) ? next : {};
    put(table, part, inner);
    table = inner;
  }
  const last = path.at(-1);
  if (last !== undefined) put(table, last, value);
}

export function deleteAt(root: Table, path: readonly string[]): void {
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  if (last !== undefined && isTable(parent)) delete parent[last];
}

/** The higher value over the lower one: tables are merged key by key, everything else is replaced whole. `null` removes the key. */
export function mergeOver(lower: unknown, higher: unknown): unknown {
  if (!isTable(higher)) return copyOf(higher);
  // A spread keeps an own `__proto__` an own one.
  const merged: Table = isTable(lower) ? { ...lower } : {};
  for (const [key, value] of Object.entries(higher)) {
    if (value === null) delete merged[key];
    else put(merged, key, mergeOver(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
  }
  return merged;
}

/** Without the keys whose value is null, at any depth of tables. */
export const withoutNulls = (value: unknown): unknown => (isTable(value) ? mergeOver({}, value) : value);

export function deepFreeze<T>(value: T): T {
  if ((Array.isArray(value) || isTable(value)) && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Equal in every value, whatever the order of keys. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((inner, index) => sameValue(inner, b[index]));
  }
  if (a instanceof Date && b instanceof Date) return a.toISOString() === b.toISOString();
  if (!isTable(a) || !isTable(b)) return Object.is(a, b);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}
