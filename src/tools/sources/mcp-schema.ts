// A server's input schema in the form that every provider takes: an object at the top, nothing that leads nowhere, no boolean or
// missing parts. What can be said otherwise is said otherwise; what is no schema of an object at all is a problem of that tool alone.

export type NormalisedSchema = { ok: true; schema: Record<string, unknown> } | { ok: false; problem: string };

type Schema = Record<string, unknown>;

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 60;
/** At the top providers refuse these. */
const NOT_AT_TOP = new Set(['$schema', '$id', 'anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref']);
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const SCHEMA_LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SCHEMAS = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedProperties',
]);

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const mapValues = (value: Schema, change: (part: unknown) => unknown): Schema =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]));
const names = (value: unknown): string[] => (Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []);

/** One schema below the top. */
function tidy(value: unknown, depth: number): Schema {
  if (value === false) return { not: {} };
  if (!isObject(value) || depth > MAX_DEPTH) return {};
  const out = Object.fromEntries(Object.entries(value).flatMap(([key, part]) => tidyMember(key, part, depth)));
  const types = [out.type].flat();
  if (types.includes('array') && out.items === undefined && out.prefixItems === undefined) out.items = {};
  return out;
}

function tidyMember(key: string, part: unknown, depth: number): [string, unknown][] {
  if (SCHEMA_MAPS.has(key)) return isObject(part) ? [[key, mapValues(part, (inner) => tidy(inner, depth + 1))]] : [];
  if (SCHEMA_LISTS.has(key)) return Array.isArray(part) && part.length ? [[key, part.map((inner) => tidy(inner, depth + 1))]] : [];
  if (key === 'items' && Array.isArray(part)) return [[key, part.length ? { anyOf: part.map((inner) => tidy(inner, depth + 1)) } : {}]];
  if (key === 'additionalProperties' || key === 'unevaluatedProperties')
    return [[key, typeof part === 'boolean' ? part : tidy(part, depth + 1)]];
  if (SCHEMAS.has(key)) return [[key, tidy(part, depth + 1)]];
  if (key === 'required') return Array.isArray(part) ? [[key, names(part)]] : [];
  return [[key, part]];
}

/** What a reference inside the document points to. */
function target(root: Schema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Schema)[key];
  }
  return at;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Takes out references that lead nowhere; what they stood for may be anything. */
function withoutDangling(value: unknown, root: Schema): unknown {
  if (Array.isArray(value)) return value.map((part) => withoutDangling(part, root));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, part]) => key !== '$ref' || typeof part !== 'string' || target(root, part) !== undefined,
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutDangling(part, root)]));
}

/** An alternative at the top, its reference followed. */
function variantOf(root: Schema, value: unknown): Schema {
  for (let i = 0; i < 8 && isObject(value) && typeof value.$ref === 'string'; i++) value = target(root, value.$ref);
  return isObject(value) ? value : {};
}

interface Shape {
  properties: Schema;
  required: string[];
}

const shapeOf = (schema: Schema): Shape => ({
  properties: isObject(schema.properties) ? schema.properties : {},
  required: names(schema.required),
});

/** Joins alternatives (all optional but what each requires) or parts (all required). A name with two meanings may have either. */
function joined(shapes: readonly Shape[], how: 'alternatives' | 'parts'): Shape {
  const meanings = new Map<string, unknown[]>();
  for (const { properties } of shapes)
    for (const [name, schema] of Object.entries(properties)) {
      const known = meanings.get(name) ?? [];
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(schema))) known.push(schema);
      meanings.set(name, known);
    }
  const properties = Object.fromEntries([...meanings].map(([name, all]) => [name, all.length === 1 ? all[0] : { anyOf: all }]));
  const all = [...new Set(shapes.flatMap(({ required }) => required))];
  const required = how === 'parts' ? all : all.filter((name) => shapes.every((shape) => shape.required.includes(name)));
  return { properties, required };
}

function shapeAtTop(root: Schema): Shape {
  let shape = shapeOf(root);
  const list = (key: string): Shape[] =>
    Array.isArray(root[key]) ? (root[key] as unknown[]).map((one) => shapeOf(variantOf(root, one))) : [];
  if (typeof root.$ref === 'string') shape = joined([shape, shapeOf(variantOf(root, root))], 'parts');
  for (const key of ['anyOf', 'oneOf']) {
    const variants = list(key);
    if (variants.length) shape = joined([shape, joined(variants, 'alternatives')], 'parts');
  }
  const parts = list('allOf');
  return parts.length ? joined([shape, ...parts], 'parts') : shape;
}

export function normaliseInputSchema(value: unknown): NormalisedSchema {
  if (value === undefined || value === null || value === true) return { ok: true, schema: { type: 'object', properties: {} } };
  if (!isObject(value)) return { ok: false, problem: 'its input schema is not an object' };
  const { type, properties } = value;
  if (type !== undefined && ![type].flat().includes('object'))
    return { ok: false, problem: `its input schema has the type ${JSON.stringify(type)?.slice(0, 60)}, not "object"` };
  if (properties !== undefined && !isObject(properties))
    return { ok: false, problem: 'the properties of its input schema are not an object' };
  if (JSON.stringify(value).length > MAX_BYTES) return { ok: false, problem: `its input schema has over ${MAX_BYTES} characters` };
  const shape = shapeAtTop(value);
  const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !NOT_AT_TOP.has(key)));
  // A closed object that was put together from alternatives would refuse what they allow.
  if (['anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in value) && rest.additionalProperties === false)
    delete rest.additionalProperties;
  const schema = tidy({ ...rest, type: 'object', properties: shape.properties, required: shape.required }, 0);
  if (shape.required.length === 0) delete schema.required;
  return { ok: true, schema: withoutDangling(schema, schema) as Schema };
}
