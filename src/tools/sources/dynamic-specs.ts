// Dynamic tools as a frontend gives them: checked here, once, with errors that name the tool. The rules on names follow what the
// Responses API takes (letters, digits, underscore, dash).
import { preview } from '../../common/text.ts';
import type { JsonSchema } from '../../protocol/tool-spec.ts';

export interface DynamicTool {
  namespace?: string;
  namespaceDescription?: string;
  name: string;
  description: string;
  inputSchema: JsonSchema;
  deferLoading: boolean;
  /** Deadline of one call in ms; none by default. */
  timeoutMs?: number;
}

export type DynamicToolsReading = { ok: true; tools: DynamicTool[] } | { ok: false; problem: string };

const NAME = /^[a-zA-Z0-9_-]+$/;
const NAME_LIMIT = 128;
const NAMESPACE_LIMIT = 64;
/** Namespaces that the Responses API keeps for itself. */
export const RESERVED_NAMESPACES = new Set([
  'functions',
  'web',
  'container',
  'browser',
  'python',
  'image_gen',
  'api_tool',
  'multi_tool_use',
]);

class SpecProblem extends Error {}
const refuse = (problem: string): never => {
  throw new SpecProblem(problem);
};

type Raw = Record<string, unknown>;
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

function checkName(kind: string, name: unknown, limit: number): string {
  if (typeof name !== 'string') return refuse(`dynamic tool ${kind}: expected a string`);
  if (name === '') refuse(`dynamic tool ${kind} must not be empty`);
  if (name !== name.trim()) refuse(`dynamic tool ${kind} has leading or trailing white space: ${preview(name, 80)}`);
  if (name.length > limit) refuse(`dynamic tool ${kind} must have at most ${limit} characters: ${name.slice(0, 300)}`);
  if (!NAME.test(name)) refuse(`dynamic tool ${kind} must match ${NAME.source}: ${name}`);
  if (name === 'mcp' || name.startsWith('mcp__')) refuse(`dynamic tool ${kind} is reserved: ${name}`);
  return name;
}

function readFunction(
  raw: Raw,
  where: string,
  reservedNames: ReadonlySet<string>,
  namespace?: { name: string; description: string },
): DynamicTool {
  const name = checkName('name', raw.name, NAME_LIMIT);
  if (!namespace && reservedNames.has(name)) refuse(`dynamic tool name belongs to a built-in tool: ${name}`);
  if (typeof raw.description !== 'string') refuse(`${where} (${name}): description: expected a string`);
  if (!('inputSchema' in raw)) refuse(`${where} (${name}): inputSchema is missing`);
  if (!isObject(raw.inputSchema))
    refuse(
      `dynamic tool inputSchema of ${name}: expected a JSON Schema object, got ${raw.inputSchema === null ? 'null' : typeof raw.inputSchema}`,
    );
  const type = (raw.inputSchema as Raw).type;
  if (type !== undefined && type !== 'object')
    refuse(`dynamic tool inputSchema of ${name}: type must be "object", got ${preview(JSON.stringify(type), 80)}`);
  const { deferLoading, timeoutMs } = raw;
  if (deferLoading !== undefined && deferLoading !== null && typeof deferLoading !== 'boolean')
    refuse(`${where} (${name}): deferLoading: expected a boolean`);
  if (timeoutMs !== undefined && timeoutMs !== null && (typeof timeoutMs !== 'number' || !(timeoutMs > 0)))
    refuse(`${where} (${name}): timeoutMs: expected a positive number`);
  if (deferLoading === true && !namespace) refuse(`a deferred dynamic tool must be in a namespace: ${name}`);
  return {
    name,
    description: raw.description as string,
    inputSchema: raw.inputSchema as JsonSchema,
    deferLoading: deferLoading === true,
    ...(namespace ? { namespace: namespace.name, namespaceDescription: namespace.description } : {}),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
  };
}

function readNamespace(raw: Raw, where: string, reservedNames: ReadonlySet<string>): DynamicTool[] {
  const name = checkName('namespace', raw.name, NAMESPACE_LIMIT);
  if (RESERVED_NAMESPACES.has(name)) refuse(`dynamic tool namespace is reserved: ${name}`);
  if (typeof raw.description !== 'string') refuse(`${where} (${name}): description: expected a string`);
  if (!Array.isArray(raw.tools)) refuse(`${where} (${name}): tools: expected an array`);
  const members = raw.tools as unknown[];
  if (members.length === 0) refuse(`dynamic tool namespace must contain at least one tool: ${name}`);
  const description = (raw.description as string) || `Tools in the ${name} namespace.`;
  const seen = new Set<string>();
  return members.map((member, i) => {
    if (!isObject(member)) return refuse(`${where}.tools[${i}] (${name}): expected an object`);
    if (member.type !== undefined && member.type !== 'function')
      refuse(`${where}.tools[${i}] (${name}): type must be "function", got ${preview(String(member.type), 60)}`);
    const tool = readFunction(member, `${where}.tools[${i}]`, reservedNames, { name, description });
    if (seen.has(tool.name)) refuse(`duplicate dynamic tool name in namespace ${name}: ${tool.name}`);
    seen.add(tool.name);
    return tool;
  });
}

/** Reads the `dynamicTools` of a request. `reservedNames`: names of built-in tools, which nobody else may take. */
export function readDynamicTools(value: unknown, reservedNames: ReadonlySet<string>): DynamicToolsReading {
  if (value === undefined || value === null) return { ok: true, tools: [] };
  try {
    if (!Array.isArray(value)) return refuse('params.dynamicTools: expected an array');
    const typed = value.filter((raw) => isObject(raw) && raw.type !== undefined).length;
    if (typed !== 0 && typed !== value.length) refuse('dynamic tools must all have a type, or none of them (the older form)');
    const tools: DynamicTool[] = [];
    const names = new Set<string>();
    for (const [i, raw] of value.entries()) {
      const where = `params.dynamicTools[${i}]`;
      if (!isObject(raw)) return refuse(`${where}: expected an object`);
      const { type } = raw;
      if (type !== undefined && type !== 'function' && type !== 'namespace')
        refuse(`${where}.type: expected "function" or "namespace", got ${preview(JSON.stringify(type) ?? 'nothing', 60)}`);
      const read = type === 'namespace' ? readNamespace(raw, where, reservedNames) : [readFunction(raw, where, reservedNames)];
      const key = type === 'namespace' ? `namespace ${String(raw.name)}` : `name: ${read[0].name}`;
      if (names.has(key)) refuse(`duplicate dynamic tool ${type === 'namespace' ? `namespace: ${String(raw.name)}` : key}`);
      names.add(key);
      tools.push(...read);
    }
    return { ok: true, tools };
  } catch (error) {
    if (error instanceof SpecProblem) return { ok: false, problem: error.message };
    throw error;
  }
}
