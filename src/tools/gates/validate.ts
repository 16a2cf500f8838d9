// Gate 2: arguments against the spec's schema, before any I/O. A schema is compiled once and kept with its object.
import { type Schema, Validator } from '@cfworker/json-schema';
import { preview } from '../../common/text.ts';
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import type { ToolPayload, Validation } from '../runtime.ts';

const compiled = new WeakMap<object, Validator | null>();

/** Null when the schema itself is beyond the validator (a pattern it cannot compile, for one): such arguments are accepted. */
function validatorOf(schema: object): Validator | null {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  let validator: Validator | null = null;
  try {
    validator = new Validator(schema as Schema, '2020-12', false);
  } catch {}
  compiled.set(schema, validator);
  return validator;
}

/** True when a call without any argument text can only mean "no arguments". */
function takesNothing(schema: JsonSchema): boolean {
  if (typeof schema !== 'object') return schema;
  const { properties, required } = schema as { properties?: unknown; required?: unknown };
  const named = typeof properties === 'object' && properties !== null ? Object.keys(properties).length : 0;
  return named === 0 && (!Array.isArray(required) || required.length === 0);
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`);

/** What the schema asks for, in one line: `cmd: string (required), workdir: string`. */
export function expectedShape(schema: JsonSchema): string {
  if (typeof schema !== 'object') return 'any object';
  const { properties, required } = schema as { properties?: Record<string, { type?: unknown; enum?: unknown[] }>; required?: string[] };
  const parts = Object.entries(properties ?? {}).map(([name, p]) => {
    const type = Array.isArray(p?.enum) ? p.enum.map((v) => JSON.stringify(v)).join(' | ') : [p?.type ?? 'any'].flat().join(' | ');
    return `${name}: ${type}${required?.includes(name) ? ' (required)' : ''}`;
  });
  return parts.length ? preview(parts.join(', '), 600) : 'no arguments: {}';
}

const where = (location: string): string => location.replace(/^#\/?/, '').replaceAll('/', '.') || 'arguments';

/** Checks a value against a schema; the problem names the member and what is expected. */
export function checkAgainst(schema: JsonSchema, value: unknown): string | null {
  if (typeof schema !== 'object') return null;
  const validator = validatorOf(schema);
  if (!validator) return null;
  let result: ReturnType<Validator['validate']>;
  try {
    result = validator.validate(value);
  } catch {
    return null; // beyond the validator, see validatorOf
  }
  if (result.valid) return null;
  // The innermost errors say what is wrong; those that only say "a property failed" come around them.
  const telling = result.errors.filter(
    (e) => e.keyword !== 'properties' && e.keyword !== 'items' && e.keyword !== '$ref' && e.keyword !== 'allOf',
  );
  const lines = (telling.length ? telling : result.errors).slice(0, 4).map((e) => `${where(e.instanceLocation)}: ${preview(e.error, 200)}`);
  return lines.join('; ');
}

/** Reads the argument text of a function call as an object that fits the schema. */
export function readArguments<Args = Record<string, unknown>>(text: string, schema: JsonSchema): Validation<Args> {
  const echo = preview(text, 160);
  if (text.trim() === '') {
    if (takesNothing(schema)) return { ok: true, args: {} as Args };
    return {
      ok: false,
      problem: `failed to parse function arguments: the text is empty. Expected a JSON object with ${expectedShape(schema)}.`,
    };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'not JSON';
    return { ok: false, problem: `failed to parse function arguments: ${preview(why, 160)}. They must be one JSON object; got: ${echo}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, problem: `invalid arguments: expected a JSON object with ${expectedShape(schema)}, got ${kindOf(value)}: ${echo}` };
  }
  const problem = checkAgainst(schema, value);
  if (problem) return { ok: false, problem: `invalid arguments: ${problem}. Expected: ${expectedShape(schema)}. Got: ${echo}` };
  return { ok: true, args: value as Args };
}

/**
 * Brings a payload into function form. A custom call whose text is itself a fitting JSON object is meant as one; any other text
 * is refused by a sentence that shows the right form: raw text is never run as something else.
 * `Args` is what the schema describes; that they agree is the caller's word.
 */
export function readFunctionPayload<Args = Record<string, unknown>>(
  name: string,
  payload: ToolPayload,
  schema: JsonSchema,
): Validation<Args> {
  switch (payload.type) {
    case 'function':
      return readArguments<Args>(payload.arguments, schema);
    case 'freeform': {
      const read = payload.input.trim().startsWith('{') ? readArguments<Args>(payload.input, schema) : null;
      if (read?.ok) return read;
      return {
        ok: false,
        problem: `${name} is a function tool: call it as a function with JSON arguments (${expectedShape(schema)}), not as a custom tool with raw text. Nothing was run.`,
      };
    }
    case 'search': {
      const problem = checkAgainst(schema, payload.arguments);
      if (problem) return { ok: false, problem: `invalid arguments: ${problem}. Expected: ${expectedShape(schema)}.` };
      return { ok: true, args: payload.arguments as Args };
    }
  }
}

/** Brings a payload into freeform text. A function call with exactly one string argument is meant as that text. */
export function readFreeformPayload(name: string, payload: ToolPayload): Validation<string> {
  if (payload.type === 'freeform') return { ok: true, args: payload.input };
  if (payload.type === 'function') {
    try {
      const value: unknown = JSON.parse(payload.arguments);
      if (typeof value === 'string') return { ok: true, args: value };
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        const members = Object.values(value);
        if (members.length === 1 && typeof members[0] === 'string') return { ok: true, args: members[0] };
      }
    } catch {}
  }
  return {
    ok: false,
    problem: `${name} is a custom (freeform) tool: its input is one raw text. Call it as a custom tool, or as a function with the single string argument "input". Nothing was run.`,
  };
}
