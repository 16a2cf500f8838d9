// The request of the Responses API. Member order is fixed and nothing undefined goes out: prompt caches compare bytes.
import type { ResponseItem } from '../protocol/response-item.ts';
import { toProviderItem } from '../protocol/response-item.ts';
import type { FunctionSpec, ToolSpec } from '../protocol/tool-spec.ts';
import type { ModelSupport } from './card.ts';
import type { ModelRequest } from './client.ts';
import { type FlatTools, freeformArguments, objectSchema, TOOL_SEARCH_NAME } from './flat-tools.ts';
import { issuerOf, withoutMark } from './reasoning-origin.ts';

type Wire = Record<string, unknown>;

function functionTool(spec: FunctionSpec): Wire {
  return {
    type: 'function',
    name: spec.name,
    description: spec.description,
    // Absent means strict there, and strict refuses most schemas.
    strict: spec.strict ?? false,
    ...(spec.deferLoading ? { defer_loading: true } : {}),
    parameters: objectSchema(spec.parameters),
  };
}

/** The provider's form of a tool, in the list of a request and in the result of a tool search. */
export function toProviderTool(spec: ToolSpec): Wire {
  switch (spec.type) {
    case 'function':
      return functionTool(spec);
    case 'freeform':
      return {
        type: 'custom',
        name: spec.name,
        description: spec.description,
        format: { type: 'grammar', syntax: spec.grammar.syntax, definition: spec.grammar.definition },
      };
    case 'namespace':
      return { type: 'namespace', name: spec.name, description: spec.description, tools: spec.tools.map(functionTool) };
    case 'toolSearch':
      return { type: 'tool_search', execution: 'client', description: spec.description, parameters: spec.parameters };
    case 'hosted':
      return { type: spec.name, ...spec.options };
  }
}

/** How a request is fitted to its model: what it lacks is flattened, and only reasoning that `origin` issued goes back. */
export interface Fitting {
  supports: ModelSupport;
  flat: FlatTools;
  origin: string;
}

/** The tools that this model would not understand as they are. */
export const toFlatten = (tools: readonly ToolSpec[], supports: ModelSupport): ToolSpec[] =>
  tools.filter(
    (spec) =>
      (spec.type === 'namespace' && !supports.namespaces) ||
      // Together with the namespaces, so that no two of them come out under one name.
      (spec.type === 'function' && !supports.namespaces) ||
      (spec.type === 'freeform' && !supports.freeform) ||
      (spec.type === 'toolSearch' && !supports.toolSearch),
  );

function toolList(tools: readonly ToolSpec[], fitting: Fitting): Wire[] {
  const flattened = new Set(toFlatten(tools, fitting.supports));
  return [...fitting.flat.functions, ...tools.filter((spec) => !flattened.has(spec))].map(toProviderTool);
}

/** One item of the history; nothing for reasoning that another provider issued. */
function inputItem(item: ResponseItem, { supports, flat, origin }: Fitting): Wire[] {
  switch (item.type) {
    case 'reasoning': {
      const issuer = issuerOf(item);
      return issuer === undefined || issuer === origin ? [toProviderItem(withoutMark(item))] : [];
    }
    case 'function_call': {
      if (supports.namespaces) return [toProviderItem(item)];
      const { namespace, name, ...rest } = item;
      return [{ ...rest, name: flat.nameOf({ namespace, name }) }];
    }
    case 'custom_tool_call': {
      if (supports.freeform) return [toProviderItem(item)];
      return [{ type: 'function_call', call_id: item.call_id, name: item.name, arguments: freeformArguments(item.input) }];
    }
    case 'custom_tool_call_output':
      return [supports.freeform ? toProviderItem(item) : { type: 'function_call_output', call_id: item.call_id, output: item.output }];
    case 'tool_search_call':
      if (supports.toolSearch) return [toProviderItem(item)];
      return [
        { type: 'function_call', call_id: item.call_id ?? '', name: TOOL_SEARCH_NAME, arguments: JSON.stringify(item.arguments ?? {}) },
      ];
    case 'tool_search_output':
      if (supports.toolSearch) return [toProviderItem(item)];
      return [{ type: 'function_call_output', call_id: item.call_id ?? '', output: JSON.stringify(item.tools) }];
    default:
      return [toProviderItem(item)];
  }
}

function textOptions(request: ModelRequest): Wire | undefined {
  const verbosity = request.verbosity === undefined ? {} : { verbosity: request.verbosity };
  if (request.outputSchema === undefined) return request.verbosity === undefined ? undefined : verbosity;
  return { ...verbosity, format: { type: 'json_schema', strict: true, name: 'codex_output_schema', schema: request.outputSchema } };
}

/** The body as JSON text; undefined members vanish in it. */
export function responsesBody(request: ModelRequest, fitting: Fitting): string {
  const { reasoning } = request;
  return JSON.stringify({
    model: request.model,
    instructions: request.instructions || undefined,
    input: request.input.flatMap((item) => inputItem(item, fitting)),
    tools: toolList(request.tools, fitting),
    tool_choice: 'auto',
    parallel_tool_calls: request.parallelToolCalls,
    reasoning:
      reasoning?.effort === undefined && reasoning?.summary === undefined
        ? undefined
        : { effort: reasoning.effort, summary: reasoning.summary },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    service_tier: request.serviceTier,
    prompt_cache_key: request.promptCacheKey,
    text: textOptions(request),
    client_metadata: request.metadata,
  });
}
