// Schemas from outside, as the model's provider is to read them. What providers take stays as it came; what some refuse, and with it the
// whole request, is rewritten here, or that one tool is left out. Calls are still checked against the schema as it came.
import { preview } from '../common/text.ts';
import type { JsonSchema } from '../protocol/tool-spec.ts';
import { isObject, placeOf, References, SCHEMA_LISTS, SCHEMA_MAPS, type Schema, SINGLE_SCHEMAS } from './schema-references.ts';
import { objectRoot } from './schema-root.ts';

export type NormalSchema = { ok: true; schema: Schema; changed: boolean } | { ok: false; problem: string };

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 48;
/** Each pass may bring up what the next one has to settle; more than a few means that it never settles. */
const MAX_PASSES = 8;

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
/** Names that other languages give the same types. */
const ALIASES: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
  tuple: 'array',
  none: 'null',
  nil: 'null',
};
/** Tell a validator about dialects and bases; providers know neither. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', '$id', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']);
/** Where `true` and `false` are usual, and taken. */
const MAY_BE_BOOLEAN: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties']);

function typeName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase();
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  return TYPES.has(known) ? known : undefined;
}

/** A type keyword as it should be; undefined when it says nothing. */
export function typeOf(value: unknown): string | string[] | undefined {
  if (!Array.isArray(value)) return typeName(value);
  const names = [...new Set(value.map(typeName).filter((name) => name !== undefined))];
  return names.length > 1 ? names : names[0];
}

const hasType = (type: unknown, name: string): boolean => (Array.isArray(type) ? type.includes(name) : type === name);

/** One place of a schema, whatever stands there. */
function schemaAt(value: unknown, at: string, references: References): Schema {
  if (isObject(value)) return rewritten(value, at, references);
  if (value === false) return { not: {} };
  const type = typeName(value);
  return type === undefined ? {} : { type };
}

/** A reference that leads nowhere says nothing; one that goes round says no more than the kind of thing that comes again. */
function withoutReference(schema: Schema, at: string, references: References): Schema {
  const { $ref, ...rest } = schema;
  const reference = references.read($ref, at);
  if (reference.type === 'whole') return schema;
  if (reference.type === 'dangling' || !isObject(reference.target)) return rest;
  const { type, description } = reference.target;
  return { ...(type === undefined ? {} : { type }), ...(typeof description === 'string' ? { description } : {}), ...rest };
}

function memberAt(key: string, value: unknown, at: string, references: References): unknown {
  const here = placeOf(at, key);
  if (SCHEMA_MAPS.has(key)) {
    if (!isObject(value)) return key === 'properties' ? {} : undefined;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, schemaAt(one, placeOf(here, name), references)]));
  }
  if (SCHEMA_LISTS.has(key)) {
    if (!Array.isArray(value) || value.length === 0) return undefined;
    return value.map((one, i) => schemaAt(one, placeOf(here, String(i)), references));
  }
  if (SINGLE_SCHEMAS.has(key)) {
    return typeof value === 'boolean' && MAY_BE_BOOLEAN.has(key) ? value : schemaAt(value, here, references);
  }
  if (key === 'type') return typeOf(value);
  if (key === 'enum') return Array.isArray(value) && value.length > 0 ? value : undefined;
  if (key === 'required') return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;
  return value;
}

function rewritten(given: Schema, at: string, references: References): Schema {
  const schema = '$ref' in given ? withoutReference(given, at, references) : given;
  const members = Object.entries(straightened(schema)).flatMap(([key, value]): [string, unknown][] => {
    if (DROPPED.has(key)) return [];
    const member = memberAt(key, value, at, references);
    return member === undefined ? [] : [[key, member]];
  });
  return completed(Object.fromEntries(members));
}

/** Older spellings and slips that are plain to see, before the members are looked at one by one. */
function straightened(given: Schema): Schema {
  let schema = given;
  const { properties, items, exclusiveMinimum, exclusiveMaximum } = schema;
  // A whole schema where only its members should stand.
  if (isObject(properties) && properties.type === 'object' && isObject(properties.properties)) {
    const { properties: members, required } = properties;
    schema = { ...schema, properties: members, ...(Array.isArray(required) && !('required' in schema) ? { required } : {}) };
  }
  if (Array.isArray(items)) {
    const { additionalItems, ...rest } = schema;
    schema = { ...rest, prefixItems: items, items: isObject(additionalItems) ? additionalItems : {} };
  }
  if (typeof exclusiveMinimum === 'boolean') schema = bound(schema, 'exclusiveMinimum', 'minimum');
  if (typeof exclusiveMaximum === 'boolean') schema = bound(schema, 'exclusiveMaximum', 'maximum');
  return withRequiredMembers(schema);
}

function bound(schema: Schema, exclusive: string, inclusive: string): Schema {
  const { [exclusive]: applies, ...rest } = schema;
  if (applies !== true || typeof rest[inclusive] !== 'number') return rest;
  const { [inclusive]: limit, ...others } = rest;
  return { ...others, [exclusive]: limit };
}

/** `required: true` at a member means a name in the list of its owner. */
function withRequiredMembers(schema: Schema): Schema {
  if (!isObject(schema.properties)) return schema;
  const marked = Object.entries(schema.properties).filter(([, one]) => isObject(one) && one.required === true);
  if (marked.length === 0) return schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return { ...schema, required: [...new Set([...required, ...marked.map(([name]) => name)])] };
}

const SAYS_ITS_KIND = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'];

/** Adds what providers miss: a type beside members, items beside an array, null beside an enum that holds it. */
function completed(given: Schema): Schema {
  let schema = given;
  if (!SAYS_ITS_KIND.some((key) => key in schema)) {
    if ('properties' in schema) schema = { type: 'object', ...schema };
    else if ('items' in schema || 'prefixItems' in schema) schema = { type: 'array', ...schema };
  }
  const { type } = schema;
  if (hasType(type, 'array') && !('items' in schema)) schema = { ...schema, items: {} };
  if (type !== undefined && Array.isArray(schema.enum) && schema.enum.includes(null) && !hasType(type, 'null')) {
    schema = { ...schema, type: [type, 'null'].flat() };
  }
  return schema;
}

/** Levels of nesting, looked at without recursion: the value may be as deep as it likes. */
function deeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** The parameters of a function as providers take them. Idempotent; a schema that is fine comes back as the same object. */
export function normaliseSchema(given: unknown): NormalSchema {
  if (given === undefined || given === null || given === true) {
    return { ok: true, schema: { type: 'object', properties: {} }, changed: true };
  }
  if (!isObject(given)) {
    return { ok: false, problem: `its input schema is not a JSON Schema object: ${preview(JSON.stringify(given) ?? String(given), 60)}` };
  }
  // A schema nests by two levels for each of its own: the keyword and the name.
  if (deeperThan(given, MAX_DEPTH * 2)) return { ok: false, problem: `its input schema is nested over ${MAX_DEPTH} levels deep` };
  const before = JSON.stringify(given);
  if (Buffer.byteLength(before) > MAX_BYTES) return { ok: false, problem: `its input schema has over ${MAX_BYTES} bytes` };
  let schema: Schema = given;
  let text = before;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const root = objectRoot(schema);
    if (!root.ok) return root;
    const next = rewritten(root.schema, '', new References(root.schema));
    const nextText = JSON.stringify(next);
    if (nextText === text) return { ok: true, schema: text === before ? given : schema, changed: text !== before };
    schema = next;
    text = nextText;
  }
  return { ok: false, problem: 'its input schema could not be brought into a form that providers take' };
}

const readings = new WeakMap<object, NormalSchema>();

/** The same, read once for each schema object. */
export function readSchema(schema: JsonSchema): NormalSchema {
  if (typeof schema !== 'object') return normaliseSchema(schema);
  let reading = readings.get(schema);
  if (!reading) readings.set(schema, (reading = normaliseSchema(schema)));
  return reading;
}
