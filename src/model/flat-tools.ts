// Tools for models that know only functions: namespaces become name prefixes, a freeform tool a function with one string, a tool search
// an ordinary function. One object holds both directions, so that a call finds its way back to the tool that was offered.
import type { ToolCallItem } from '../protocol/response-item.ts';
import {
  type FunctionSpec,
  flatName,
  type HostedSpec,
  type JsonSchema,
  nameKey,
  type ToolName,
  type ToolSpec,
} from '../protocol/tool-spec.ts';

export const TOOL_SEARCH_NAME = 'tool_search';
const NAME_LIMIT = 64;

type Target = { kind: 'function'; tool: ToolName } | { kind: 'freeform'; tool: ToolName } | { kind: 'toolSearch' };

/** FNV-1a, 32 bits: short and the same in every process, which prompt caches and stored histories need. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

const hashed = (safe: string, key: string): string => `${safe.slice(0, NAME_LIMIT - 9)}_${shortHash(key)}`;

/** A name that every provider takes. Clean and short names stay as they are; all others carry a hash of the whole name. */
export function wireName(tool: ToolName): string {
  const flat = flatName(tool);
  const safe = flat.replace(/[^a-zA-Z0-9_-]/g, '_');
  return safe === flat && safe !== '' && safe.length <= NAME_LIMIT ? safe : hashed(safe, nameKey(tool));
}

const oneInput = (what: string): JsonSchema => ({
  type: 'object',
  properties: { input: { type: 'string', description: what } },
  required: ['input'],
  additionalProperties: false,
});

export class FlatTools {
  readonly functions: FunctionSpec[] = [];
  readonly hosted: HostedSpec[] = [];
  readonly #targets = new Map<string, Target>();
  /** nameKey → name on the wire, for offered tools. */
  readonly #wire = new Map<string, string>();

  constructor(tools: readonly ToolSpec[]) {
    for (const spec of tools) this.#add(spec);
  }

  #add(spec: ToolSpec): void {
    switch (spec.type) {
      case 'function':
        this.#offer({ kind: 'function', tool: { name: spec.name } }, { name: spec.name }, spec);
        return;
      case 'namespace':
        for (const one of spec.tools) {
          const tool = { namespace: spec.name, name: one.name };
          this.#offer({ kind: 'function', tool }, tool, one);
        }
        return;
      case 'freeform':
        this.#offer({ kind: 'freeform', tool: { name: spec.name } }, { name: spec.name }, freeformAsFunction(spec));
        return;
      case 'toolSearch':
        this.#offer(
          { kind: 'toolSearch' },
          { name: TOOL_SEARCH_NAME },
          { type: 'function', name: TOOL_SEARCH_NAME, description: spec.description, parameters: spec.parameters },
        );
        return;
      default:
        this.hosted.push(spec);
    }
  }

  #offer(target: Target, tool: ToolName, spec: FunctionSpec): void {
    let name = wireName(tool);
    if (this.#targets.has(name)) name = hashed(name, nameKey(tool));
    if (this.#targets.has(name)) return;
    this.#targets.set(name, target);
    this.#wire.set(nameKey(tool), name);
    this.functions.push({ ...spec, name });
  }

  /** The name of a tool on the wire, also of one that is no longer offered but stands in the history. */
  nameOf(tool: ToolName): string {
    return this.#wire.get(nameKey(tool)) ?? wireName(tool);
  }

  offers(name: string): boolean {
    return this.#targets.has(name);
  }

  /** True when calls of this name carry their text inside `{"input": …}`. */
  isFreeform(name: string): boolean {
    return this.#targets.get(name)?.kind === 'freeform';
  }

  /** The call as the item that the tool's own form has. An unknown name is kept, to be answered by the router. */
  itemOf(call: FlatCall): ToolCallItem {
    const target = this.#targets.get(call.name);
    const ids = { ...(call.id === undefined ? {} : { id: call.id }), call_id: call.callId };
    if (target?.kind === 'freeform') {
      const input = call.begun ? '' : freeformInput(call.arguments);
      if (input !== undefined) return { type: 'custom_tool_call', ...ids, name: target.tool.name, input };
    }
    if (target?.kind === 'toolSearch') {
      return { type: 'tool_search_call', ...ids, execution: 'client', arguments: parsed(call.arguments) };
    }
    const tool: ToolName = target?.kind === 'function' || target?.kind === 'freeform' ? target.tool : { name: call.name };
    const where = tool.namespace === undefined ? {} : { namespace: tool.namespace };
    return { type: 'function_call', ...ids, name: tool.name, ...where, arguments: call.arguments };
  }
}

/** A call as it stands on a wire that knows only functions. */
export interface FlatCall {
  id?: string;
  callId: string;
  name: string;
  arguments: string;
  /** The arguments are still to come. */
  begun?: boolean;
}

function freeformAsFunction(spec: Extract<ToolSpec, { type: 'freeform' }>): FunctionSpec {
  const { syntax, definition } = spec.grammar;
  const description = `${spec.description}\n\nThe text in \`input\` follows this ${syntax} grammar:\n${definition}`;
  return { type: 'function', name: spec.name, description, parameters: oneInput(`The whole text for ${spec.name}`) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
}

/** The one text of a freeform call, when the arguments leave no doubt about it. */
function freeformInput(text: string): string | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { input } = value as { input?: unknown };
  return typeof input === 'string' ? input : undefined;
}

/** The arguments under which a freeform call of the history is shown to such a model. */
export const freeformArguments = (input: string): string => JSON.stringify({ input });

/** A schema that providers take as the parameters of a function: an object at its root, with a list of members. */
export function objectSchema(schema: JsonSchema): Record<string, unknown> {
  if (typeof schema === 'boolean') return { type: 'object', properties: {} };
  const whole = 'properties' in schema || '$ref' in schema ? schema : { ...schema, properties: {} };
  return whole.type === 'object' ? whole : { ...whole, type: 'object' };
}
