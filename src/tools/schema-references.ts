// The places of a JSON Schema where schemas stand, and the references between them: which lead nowhere, which go round in a circle.
// Pure. Only places that the keywords make count as targets; a pointer into anything else leads nowhere.

export type Schema = Record<string, unknown>;

export const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords whose members are schemas by name, in a list, or single. */
export const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
export const SCHEMA_LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
export const SINGLE_SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'additionalItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** `#/…` in one spelling; null for anything that does not point into the same schema. */
function pointerOf(ref: string): string | null {
  if (!ref.startsWith('#')) return null;
  try {
    const pointer = decodeURIComponent(ref.slice(1));
    return pointer === '' || pointer.startsWith('/') ? pointer : null;
  } catch {
    return null;
  }
}

/** The schemas directly inside one, each with its pointer. */
function* inside(schema: Schema, at: string): Generator<[pointer: string, schema: unknown]> {
  for (const [key, value] of Object.entries(schema)) {
    const base = `${at}/${escaped(key)}`;
    if (SCHEMA_MAPS.has(key) && isObject(value)) for (const [name, one] of Object.entries(value)) yield [`${base}/${escaped(name)}`, one];
    else if (SCHEMA_LISTS.has(key) && Array.isArray(value)) for (const [i, one] of value.entries()) yield [`${base}/${i}`, one];
    else if (SINGLE_SCHEMAS.has(key)) yield [base, value];
  }
}

export type Reference = { type: 'whole'; target: unknown } | { type: 'dangling' } | { type: 'circular'; target: unknown };

export class References {
  readonly #places = new Map<string, unknown>();
  /** Pointer → targets of the references at or below it. */
  readonly #within = new Map<string, Set<string>>();
  /** Target → everything that it leads to, itself included. */
  readonly #reach = new Map<string, ReadonlySet<string>>();

  constructor(root: Schema) {
    this.#visit(root, '', []);
  }

  #visit(schema: unknown, at: string, above: readonly string[]): void {
    this.#places.set(at, schema);
    if (!isObject(schema)) return;
    const here = [...above, at];
    const target = typeof schema.$ref === 'string' ? pointerOf(schema.$ref) : null;
    if (target !== null) {
      for (const place of here) {
        const known = this.#within.get(place);
        if (known) known.add(target);
        else this.#within.set(place, new Set([target]));
      }
    }
    for (const [pointer, one] of inside(schema, at)) this.#visit(one, pointer, here);
  }

  #reachOf(target: string): ReadonlySet<string> {
    const known = this.#reach.get(target);
    if (known) return known;
    const reached = new Set<string>([target]);
    for (const place of reached) for (const next of this.#within.get(place) ?? []) reached.add(next);
    this.#reach.set(target, reached);
    return reached;
  }

  /** What the reference at a pointer means. */
  read(ref: unknown, at: string): Reference {
    const target = typeof ref === 'string' ? pointerOf(ref) : null;
    if (target === null || !this.#places.has(target)) return { type: 'dangling' };
    const schema = this.#places.get(target);
    for (const place of this.#reachOf(target)) if (at === place || at.startsWith(`${place}/`)) return { type: 'circular', target: schema };
    return { type: 'whole', target: schema };
  }
}

export const placeOf = (at: string, ...names: string[]): string => [at, ...names.map(escaped)].join('/');
