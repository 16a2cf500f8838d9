// The top of a tool's input schema: an object with named members. Alternatives that stand there are merged into one list of members, as
// providers refuse them at the top and nowhere else; what may be combined how is told in the description.
import { isObject, References, type Schema } from './schema-references.ts';

export type ObjectRoot = { ok: true; schema: Schema } | { ok: false; problem: string };

const MAX_BRANCH_DEPTH = 8;
/** Refused at the top, or without meaning once the alternatives are merged. */
const NOT_AT_THE_TOP = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'];

interface Form {
  properties: Record<string, unknown>;
  required: string[];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const namesOf = (value: unknown): string[] => listOf(value).filter((name): name is string => typeof name === 'string');
const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Members of several forms together; one that they describe differently may be as any, or must be as all, of them say. */
function joined(forms: readonly Form[], keyword: 'anyOf' | 'allOf'): Record<string, unknown> {
  const byName = new Map<string, unknown[]>();
  for (const form of forms) {
    for (const [name, schema] of Object.entries(form.properties)) {
      const known = byName.get(name) ?? [];
      if (!known.some((one) => JSON.stringify(one) === JSON.stringify(schema))) known.push(schema);
      byName.set(name, known);
    }
  }
  return Object.fromEntries([...byName].map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { [keyword]: schemas }]));
}

const told = (form: Form): string => {
  const names = Object.keys(form.properties);
  return names.length === 0 ? '(nothing)' : names.map((name) => (form.required.includes(name) ? `${name} (required)` : name)).join(', ');
};

class Forms {
  readonly #references: References;
  /** The alternatives in words, when there is something to choose. */
  choice: string | null = null;

  constructor(root: Schema) {
    this.#references = new References(root);
  }

  /** What a schema says of an object; null when it is not about one. */
  of(schema: unknown, depth = 0): Form | null {
    if (depth > MAX_BRANCH_DEPTH) return null;
    if (schema === true) return { properties: {}, required: [] };
    if (!isObject(schema)) return null;
    const { type } = schema;
    if (typeof type === 'string' ? type !== 'object' : Array.isArray(type) && !type.includes('object')) return null;
    const forms: Form[] = [{ properties: membersOf(schema.properties), required: namesOf(schema.required) }];
    if (typeof schema.$ref === 'string' && depth > 0) {
      const reference = this.#references.read(schema.$ref, '/-');
      const target = reference.type === 'dangling' ? null : this.of(reference.target, depth + 1);
      if (target) forms.push(target);
    }
    for (const branch of listOf(schema.allOf)) {
      const form = this.of(branch, depth + 1);
      if (form) forms.push(form);
    }
    for (const branches of [listOf(schema.anyOf), listOf(schema.oneOf)]) {
      const form = this.#oneOf(branches, depth);
      if (form) forms.push(form);
    }
    return { properties: joined(forms, 'allOf'), required: [...new Set(forms.flatMap((form) => form.required))] };
  }

  /** Alternatives together: any member of any of them, and only what all of them require is required. */
  #oneOf(branches: readonly unknown[], depth: number): Form | null {
    const forms = branches.map((branch) => this.of(branch, depth + 1)).filter((form) => form !== null);
    if (forms.length === 0) return null;
    if (depth === 0 && forms.length > 1) this.choice = `Give the members of one of these forms: ${forms.map(told).join('; or ')}.`;
    const required = forms[0].required.filter((name) => forms.every((form) => form.required.includes(name)));
    return { properties: joined(forms, 'anyOf'), required };
  }
}

/** Follows references at the top; the definitions stay beside what they lead to. */
function dereferenced(given: Schema): ObjectRoot {
  let schema = given;
  for (let hops = 0; '$ref' in schema; hops++) {
    const { $ref, ...rest } = schema;
    const reference = new References(given).read($ref, '/-');
    if (reference.type === 'dangling' || !isObject(reference.target) || hops >= MAX_BRANCH_DEPTH) {
      return { ok: false, problem: `its input schema refers to ${JSON.stringify($ref)}, which leads nowhere` };
    }
    schema = { ...reference.target, ...rest };
  }
  return { ok: true, schema };
}

export function objectRoot(given: Schema): ObjectRoot {
  const start = dereferenced(given);
  if (!start.ok) return start;
  const root = start.schema;
  const type = typeof root.type === 'string' ? root.type.toLowerCase() : root.type;
  const isNotObject =
    typeof type === 'string' ? !['object', 'dict', 'map'].includes(type) : Array.isArray(type) && !type.includes('object');
  if (isNotObject) {
    return { ok: false, problem: `its input schema is of type ${JSON.stringify(root.type)}: the arguments of a call are always an object` };
  }
  const merges = NOT_AT_THE_TOP.some((key) => key in root);
  if (!merges) return { ok: true, schema: asObject(root) };
  const forms = new Forms(root);
  const form = forms.of({ ...root, type: 'object' });
  if (!form) return { ok: false, problem: 'its input schema describes no object' };
  const alternatives = ['anyOf', 'oneOf'].some((key) => Array.isArray(root[key]) && listOf(root[key]).length > 0);
  if (alternatives && Object.keys(form.properties).length === 0 && !hasObjectBranch(root, forms)) {
    return { ok: false, problem: 'none of the alternatives of its input schema is an object, as the arguments of a call are' };
  }
  const kept = Object.fromEntries(Object.entries(root).filter(([key]) => !NOT_AT_THE_TOP.includes(key)));
  const description = [typeof root.description === 'string' ? root.description : '', forms.choice ?? ''].filter(Boolean).join('\n');
  return {
    ok: true,
    schema: asObject({
      ...kept,
      ...(description ? { description } : {}),
      properties: form.properties,
      ...(form.required.length > 0 || 'required' in kept ? { required: form.required } : {}),
    }),
  };
}

const hasObjectBranch = (root: Schema, forms: Forms): boolean =>
  [...listOf(root.anyOf), ...listOf(root.oneOf)].some((branch) => forms.of(branch, 1) !== null);

function asObject(schema: Schema): Schema {
  const typed = schema.type === 'object' ? schema : 'type' in schema ? { ...schema, type: 'object' } : { type: 'object', ...schema };
  return 'properties' in typed ? typed : { ...typed, properties: {} };
}
