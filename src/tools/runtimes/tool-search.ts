// tool_search: finds deferred tools. What it finds is callable from the next step because it is in history; the registry never changes.
// Towards a provider that knows such a search the answer is in its own form; otherwise it is a plain function with a text as its answer.
import { headOf } from '../../common/text.ts';
import { wireName } from '../../model/flat-tools.ts';
import type { FunctionSpec, ToolSearchSpec } from '../../protocol/tool-spec.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { type ToolOutput, textOutput } from '../result.ts';
import type { ToolRuntime, Validation } from '../runtime.ts';
import { SearchIndex } from '../search-index.ts';
import { groupFound } from '../search-result.ts';

export const SEARCH_TOOL = 'tool_search';
const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 100;
/** Bytes of the list of sources in the description. */
const ADVERTISING_BUDGET = 2048;

const parameters = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words for what the tool should do, or exact tool names.' },
    limit: { type: 'number', description: `How many tools at most (default ${DEFAULT_LIMIT}). Exactly named ones always come.` },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

const advertised = new WeakMap<readonly ToolRuntime[], string>();

/** One line a namespace, sorted, cut to the budget; says how many lines were left out. Kept as long as the list. */
export function advertise(deferred: readonly ToolRuntime[]): string {
  let text = advertised.get(deferred);
  if (text === undefined) advertised.set(deferred, (text = sourcesOf(deferred)));
  return text;
}

function sourcesOf(deferred: readonly ToolRuntime[]): string {
  const lines = new Map<string, string>();
  for (const runtime of deferred) {
    const key = runtime.name.namespace ?? runtime.name.name;
    if (lines.has(key)) continue;
    const text = runtime.name.namespace ? runtime.namespaceDescription || '' : runtime.spec.description;
    lines.set(key, `- ${key}: ${headOf(text.split('\n')[0], 200)}`);
  }
  const sorted = [...lines].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map((entry) => entry[1]);
  const kept: string[] = [];
  let bytes = 0;
  for (const line of sorted) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > ADVERTISING_BUDGET) break;
    kept.push(line);
  }
  if (kept.length < sorted.length) kept.push(`- … and ${sorted.length - kept.length} more; search for what you need.`);
  return kept.join('\n');
}

const searchable = (runtime: ToolRuntime) => {
  const spec = runtime.spec;
  const properties =
    spec.type === 'function' && typeof spec.parameters === 'object'
      ? (spec.parameters.properties as Record<string, unknown> | undefined)
      : undefined;
  return {
    name: runtime.name,
    description: spec.description,
    namespaceDescription: runtime.namespaceDescription,
    parameterNames: Object.keys(properties ?? {}),
    runtime,
  };
};

const indexes = new WeakMap<readonly ToolRuntime[], SearchIndex<ReturnType<typeof searchable>>>();

/** The index of a set of deferred tools, kept as long as the set. */
export function indexOf(deferred: readonly ToolRuntime[]): SearchIndex<ReturnType<typeof searchable>> {
  let index = indexes.get(deferred);
  if (!index) indexes.set(deferred, (index = new SearchIndex(deferred.map(searchable))));
  return index;
}

/** One line of a find, in the form that `foundIn` reads back. */
const foundLine = ({ name, spec }: ToolRuntime): string => `- ${wireName(name)}: ${headOf(spec.description.replace(/\s+/g, ' '), 300)}`;
const FOUND_LINE = /^- ([a-zA-Z0-9_-]+): /gm;

/** The names that an answer of the plain function lists. */
export const foundIn = (answer: string): string[] => [...answer.matchAll(FOUND_LINE)].map((match) => match[1]);

const NOTHING = 'Nothing was found';

function answerOf(hits: readonly ToolRuntime[], form: 'provider' | 'function'): ToolOutput {
  const found = groupFound(hits);
  if (form === 'provider') return textOutput(hits.map((hit) => hit.name.name).join(', '), { found });
  const intro = `Found ${hits.length === 1 ? 'one tool' : `${hits.length} tools`}. From your next step on you can call ${hits.length === 1 ? 'it' : 'them'} like any other:`;
  return textOutput(`${intro}\n${hits.map(foundLine).join('\n')}`, { found });
}

interface Args {
  query?: unknown;
  limit?: unknown;
}

/** Lenient: an odd query is answered with an empty result that teaches, in the form in which the call came. */
function validate(payload: Parameters<ToolRuntime<Args>['validate']>[0]): Validation<Args> {
  if (payload.type !== 'search') return readFunctionPayload(SEARCH_TOOL, payload, parameters);
  const args = typeof payload.arguments === 'object' && payload.arguments !== null ? payload.arguments : { query: payload.arguments };
  return { ok: true, args };
}

export function toolSearch(deferred: readonly ToolRuntime[], form: 'provider' | 'function' = 'provider'): ToolRuntime<Args> {
  const description = `Finds tools that are not listed. Sources:\n${advertise(deferred)}`;
  const spec: ToolSearchSpec | FunctionSpec =
    form === 'provider'
      ? { type: 'toolSearch', description, parameters }
      : { type: 'function', name: SEARCH_TOOL, description, parameters, strict: false };
  return {
    name: { name: SEARCH_TOOL },
    spec,
    exposure: 'directModelOnly',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    validate,
    run: async ({ args, events }) => {
      const query = typeof args.query === 'string' ? args.query.trim() : '';
      const limit = typeof args.limit === 'number' && args.limit >= 1 ? Math.min(Math.floor(args.limit), MAX_LIMIT) : DEFAULT_LIMIT;
      if (!query) {
        events.warning('The model searched for tools without a query.');
        return textOutput(
          `${NOTHING}: the query is empty. Give words for what the tool should do, or exact tool names. Sources:\n${advertise(deferred)}`,
          { found: [] },
        );
      }
      const hits = indexOf(deferred)
        .search(query, limit)
        .map((hit) => hit.runtime);
      events.warning(
        `The model searched for tools with "${headOf(query, 80)}": ${hits.length === 0 ? 'none was found' : `${hits.length} found`}.`,
      );
      if (hits.length > 0) return answerOf(hits, form);
      return textOutput(
        `${NOTHING} for "${headOf(query, 80)}". Try other words for what the tool should do. Sources:\n${advertise(deferred)}`,
        { found: [] },
      );
    },
  };
}
