// The protocol as JSON Schema: one file a type, one bundle of all, and the method tables. The committed schema/ folder, its drift
// check and `generate-json-schema` all come from here.
import * as z from 'zod';
import { allSchemas } from '../protocol/all.ts';
import type { NotificationSpec, RequestSpec } from '../protocol/methods.ts';
import { clientNotifications, clientRequests, serverNotifications, serverRequests } from '../protocol/methods.ts';
import type { Schema } from '../protocol/schema.ts';

/** One node of a JSON Schema; `true` and `false` schemas do not occur in what zod writes for this protocol. */
export type SchemaNode = { [key: string]: unknown };

export interface MethodRow {
  readonly method: string;
  /** Name of the params type; null when the method takes none. */
  readonly params: string | null;
  readonly scope: string;
}
export interface RequestRow extends MethodRow {
  readonly result: string;
  readonly stability: string;
  readonly experimentalFields: readonly string[];
}
export interface MethodTables {
  readonly clientRequests: RequestRow[];
  readonly serverRequests: RequestRow[];
  readonly serverNotifications: MethodRow[];
  readonly clientNotifications: MethodRow[];
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const WIDTH = 120;

const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every type by name, references as `<Type>.json`. */
export function jsonSchemas(): Map<string, SchemaNode> {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of allSchemas()) registry.add(schema(), { id: name });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `${id}.json` });
  const found = new Map<string, SchemaNode>();
  for (const [name, { $schema, $id, ...node }] of Object.entries(schemas))
    found.set(name, { $schema, $id, title: name, ...simplify(node) });
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Takes out what only says "fits a double", and writes `anyOf [x, null]` in the short form where x is a bare type. */
function simplify(node: SchemaNode): SchemaNode {
  const out: SchemaNode = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) continue;
    if (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) continue;
    out[key] = simplifyValue(value);
  }
  if (!Array.isArray(out.anyOf) || out.anyOf.length !== 2) return out;
  const [first, second]: unknown[] = out.anyOf;
  if (!isNode(first) || !isNode(second) || second.type !== 'null' || typeof first.type !== 'string' || Object.keys(first).length !== 1)
    return out;
  const { anyOf: _, ...rest } = out;
  return { type: [first.type, 'null'], ...rest };
}

function simplifyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplifyValue);
  return isNode(value) ? simplify(value) : value;
}

export function methodTables(): MethodTables {
  const names = new Map<Schema, string>([...allSchemas()].map(([name, schema]) => [schema, name]));
  const nameOf = (schema: Schema, method: string): string => {
    const name = names.get(schema);
    if (name === undefined) throw new Error(`a type of ${method} is exported by no protocol module under a name`);
    return name;
  };
  /** Only "no params", an object without fields, may go unnamed. */
  const paramsOf = (schema: Schema, method: string): string | null => {
    const type = schema();
    const isEmpty = type instanceof z.ZodObject && Object.keys(type.shape).length === 0;
    return isEmpty ? (names.get(schema) ?? null) : nameOf(schema, method);
  };
  const requests = (table: Record<string, RequestSpec>): RequestRow[] =>
    rows(table, (method, spec) => ({
      method,
      params: paramsOf(spec.params, method),
      result: nameOf(spec.result, method),
      scope: spec.scope,
      stability: spec.stability,
      experimentalFields: [...spec.experimentalFields].sort(),
    }));
  const notifications = (table: Record<string, NotificationSpec>): MethodRow[] =>
    rows(table, (method, spec) => ({ method, params: paramsOf(spec.params, method), scope: spec.scope }));
  return {
    clientRequests: requests(clientRequests),
    serverRequests: requests(serverRequests),
    serverNotifications: notifications(serverNotifications),
    clientNotifications: notifications(clientNotifications),
  };
}

function rows<S, R>(table: Record<string, S>, row: (method: string, spec: S) => R): R[] {
  const sorted = Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([method, spec]) => row(method, spec));
}

/** The same schema with references into one document. */
function withLocalReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLocalReferences);
  if (!isNode(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    if (key === '$ref' && typeof inner === 'string') return [key, `#/$defs/${inner.replace(/\.json$/, '')}`];
    return [key, withLocalReferences(inner)];
  });
  return Object.fromEntries(entries);
}

/** JSON with two blanks a level, where what fits on a line stays on it. */
function prettyJson(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= WIDTH) return flat;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((element) => inner + prettyJson(element, inner))
    : Object.entries(value).map(([key, element]) => `${inner}${JSON.stringify(key)}: ${prettyJson(element, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** File name → text of everything in schema/. The same input gives the same bytes. */
export function schemaFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const definitions: SchemaNode = {};
  for (const [name, node] of jsonSchemas()) {
    files.set(`${name}.json`, `${prettyJson(node)}\n`);
    const { $schema: _schema, $id: _id, ...definition } = node;
    definitions[name] = withLocalReferences(definition);
  }
  files.set('bundle.json', `${prettyJson({ $schema: DIALECT, $defs: definitions })}\n`);
  files.set('methods.json', `${prettyJson(methodTables())}\n`);
  return files;
}
