import fc from 'fast-check';
import { expect, it } from 'vitest';
import { normaliseSchema } from '../../src/tools/schema-normalise.ts';
import { isObject, References, SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS } from '../../src/tools/schema-references.ts';

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: 'object', properties, ...more });
const string = { type: 'string' };

it('[tools.schema-intact] keeps a schema that providers take as the same object, with all it says', () => {
  const schema = object(
    {
      code: { type: 'string', pattern: '^[A-Z]{3}$', title: 'Code' },
      n: { type: 'integer', minimum: 1, default: 5 },
      kind: { const: 'fixed' },
      either: { anyOf: [string, { type: 'null' }] },
      ref: { $ref: '#/$defs/B' },
      type: { type: 'string' },
      properties: { type: 'string' },
      list: { type: 'array', items: { $ref: '#/$defs/B' } },
      open: { type: 'object', additionalProperties: true },
    },
    { required: ['code'], additionalProperties: false, $defs: { B: { type: 'string', maxLength: 9 } } },
  );
  const read = normaliseSchema(schema);
  expect(read).toEqual({ ok: true, schema, changed: false });
  expect(read.ok && read.schema).toBe(schema);
});

const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
const rewrites: [what: string, given: unknown, wanted: unknown][] = [
  ['no schema', undefined, object({})],
  ['true', true, object({})],
  ['an empty schema', {}, object({})],
  ['no type', { properties: { a: string } }, object({ a: string })],
  ['no properties', { type: 'object' }, object({})],
  ['a nullable object', { type: ['object', 'null'], properties: {} }, object({})],
  ['properties that are none', { type: 'object', properties: 'none' }, object({})],
  [
    'a schema in place of its members',
    object({ type: 'object', properties: { a: string }, required: ['a'] }),
    object({ a: string }, { required: ['a'] }),
  ],
  ['a type in place of a schema', object({ a: 'string', b: 'whatever', c: null }), object({ a: string, b: {}, c: {} })],
  ['boolean schemas', object({ any: true, none: false }), object({ any: {}, none: { not: {} } })],
  ['an array without items', object({ list: { type: 'array' } }), object({ list: { type: 'array', items: {} } })],
  [
    'items as a list',
    object({ pair: { type: 'array', items: [string, true] } }),
    object({ pair: { type: 'array', prefixItems: [string, {}], items: {} } }),
  ],
  [
    'members without a type',
    object({ a: { properties: {} }, b: { items: string } }),
    object({ a: object({}), b: { type: 'array', items: string } }),
  ],
  [
    'types of other languages',
    object({ a: { type: 'str' }, b: { type: 'INTEGER' }, c: { type: 'any' } }),
    object({ a: string, b: { type: 'integer' }, c: {} }),
  ],
  [
    'null in an enum of strings',
    object({ e: { type: 'string', enum: ['a', null] } }),
    object({ e: { type: ['string', 'null'], enum: ['a', null] } }),
  ],
  ['an empty enum', object({ e: { type: 'string', enum: [] } }), object({ e: string })],
  ['required at a member', object({ a: { type: 'string', required: true } }), object({ a: string }, { required: ['a'] })],
  [
    'boolean bounds',
    object({ n: { type: 'number', minimum: 2, exclusiveMinimum: true } }),
    object({ n: { type: 'number', exclusiveMinimum: 2 } }),
  ],
  ['a dialect', { $schema: 'http://json-schema.org/draft-07/schema#', ...object({ a: string }) }, object({ a: string })],
  ['a reference that leads nowhere', object({ a: { $ref: '#/$defs/gone', description: 'A' } }), object({ a: { description: 'A' } })],
  ['a reference to another file', object({ a: { $ref: 'other.json' } }), object({ a: {} })],
  ['a reference to the whole', object({ a: { $ref: '#' } }), object({ a: { type: 'object' } })],
  [
    'a circle of one',
    object({ first: { $ref: '#/$defs/node' } }, { $defs: { node } }),
    object({ first: { $ref: '#/$defs/node' } }, { $defs: { node: object({ next: { type: 'object' } }) } }),
  ],
  [
    'a circle of two',
    object(
      { a: { $ref: '#/$defs/a' } },
      { $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: { type: 'array', items: { $ref: '#/$defs/a' } } } },
    ),
    object(
      { a: { $ref: '#/$defs/a' } },
      { $defs: { a: object({ b: { type: 'array', items: {} } }), b: { type: 'array', items: { type: 'object' } } } },
    ),
  ],
  [
    'a reference at the top',
    { $ref: '#/$defs/in', $defs: { in: object({ a: string }) } },
    { ...object({ a: string }), $defs: { in: object({ a: string }) } },
  ],
  [
    'alternatives at the top',
    { anyOf: [object({ a: string }, { required: ['a'] }), object({ b: string, a: { type: 'number' } }, { required: ['a', 'b'] })] },
    {
      ...object({ a: { anyOf: [string, { type: 'number' }] }, b: string }),
      description: 'Give the members of one of these forms: a (required); or b (required), a (required).',
      required: ['a'],
    },
  ],
  [
    'parts at the top',
    { allOf: [object({ a: string }, { required: ['a'] }), { properties: { b: string } }] },
    object({ a: string, b: string }, { required: ['a'] }),
  ],
  ['conditions at the top', { ...object({ a: string }), if: {}, else: {}, not: {}, enum: [{}], const: {} }, object({ a: string })],
];

it.each(rewrites)('[tools.schema-rewritten] rewrites what a provider would refuse: %s', (_, given, wanted) => {
  expect(normaliseSchema(given)).toEqual({ ok: true, schema: wanted, changed: true });
});

const nested = (levels: number): unknown => (levels === 0 ? string : object({ a: nested(levels - 1) }));
const refusals: [what: string, given: unknown, problem: RegExp][] = [
  ['false', false, /not a JSON Schema object: false/],
  ['a text', 'x', /not a JSON Schema object: "x"/],
  ['a list', [], /not a JSON Schema object/],
  ['a string at the top', { type: 'string' }, /of type "string": the arguments of a call are always an object/],
  ['alternatives of which none is an object', { anyOf: [string, { type: 'number' }] }, /none of the alternatives/],
  ['a reference at the top that leads nowhere', { $ref: '#/nothing' }, /refers to "#\/nothing", which leads nowhere/],
  ['a reference at the top to itself', { $ref: '#' }, /leads nowhere/],
  ['too deep', nested(100), /nested over 48 levels deep/],
  ['too large', object({ a: { description: 'x'.repeat(300_000) } }), /over 262144 bytes/],
];

it.each(refusals)('[tools.schema-refused] refuses what cannot be saved, with a reason: %s', (_, given, problem) => {
  const read = normaliseSchema(given);
  expect(read.ok ? read : { ok: false, problem: expect.stringMatching(problem) }).toEqual({
    ok: false,
    problem: expect.stringMatching(problem),
  });
  expect(!read.ok && read.problem).toMatch(problem);
});

const KEYWORDS = [...SCHEMA_MAPS, ...SCHEMA_LISTS, ...SINGLE_SCHEMAS, 'type', 'enum', 'required', '$ref', 'description', 'default'];
const POINTERS = ['#', '#/properties/a', '#/$defs/a', '#/$defs/b', '#/anyOf/0', '#/items', '#/%', 'x#', '#/properties'];
const anySchema: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('string', 'object', 'array', 'any', true, false, null, 3, POINTERS[0], POINTERS[1]),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('schema'),
  ),
  schema: fc.oneof(
    fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'type', 'properties'), tie('value'), { maxKeys: 3 }),
    fc.constantFrom(...POINTERS).map(($ref) => ({ $ref })),
    fc.record(
      { type: fc.constantFrom<unknown>('object', 'array', ['array', 'null']), properties: tie('value'), items: tie('value') },
      { requiredKeys: [] },
    ),
  ),
})).schema;

/** Every place where a schema stands. */
function* places(schema: unknown, at = ''): Generator<[string, unknown]> {
  yield [at, schema];
  if (!isObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (SCHEMA_MAPS.has(key)) for (const [name, one] of Object.entries(value as object)) yield* places(one, `${at}/${key}/${name}`);
    else if (SCHEMA_LISTS.has(key)) for (const [i, one] of (value as unknown[]).entries()) yield* places(one, `${at}/${key}/${i}`);
    else if (SINGLE_SCHEMAS.has(key) && typeof value !== 'boolean') yield* places(value, `${at}/${key}`);
  }
}

it('[tools.schema-idempotent] gives for any input one form that it leaves as it is, and that no provider refuses', () => {
  fc.assert(
    fc.property(anySchema, (given) => {
      const read = normaliseSchema(given);
      if (!read.ok) return;
      expect(normaliseSchema(read.schema)).toEqual({ ok: true, schema: read.schema, changed: false });
      expect(read.schema.type).toBe('object');
      expect(Object.keys(read.schema).filter((key) => ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'].includes(key))).toEqual(
        [],
      );
      const references = new References(read.schema);
      for (const [at, place] of places(read.schema)) {
        expect(isObject(place)).toBe(true);
        const { type, items, $ref } = place as Record<string, unknown>;
        if ([type].flat().includes('array')) expect(isObject(items)).toBe(true);
        if ($ref !== undefined) expect(references.read($ref, at).type).toBe('whole');
      }
    }),
    { numRuns: 600 },
  );
});
