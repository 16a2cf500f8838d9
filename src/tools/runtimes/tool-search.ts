// tool_search: finds deferred tools. What it finds is callable from the next step because it is in history; the registry never changes.
import { headOf } from '../../common/text.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { textOutput } from '../result.ts';
import type { ToolRuntime } from '../runtime.ts';
import { SearchIndex } from '../search-index.ts';
import { groupFound } from '../search-result.ts';

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

/** One line a namespace, sorted, cut to the budget; says how many lines were left out. */
export function advertise(deferred: readonly ToolRuntime[], budget = ADVERTISING_BUDGET): string {
  const lines = new Map<string, string>();
  for (const runtime of deferred) {
    const key = runtime.name.namespace ?? runtime.name.name;
    const text = runtime.name.namespace ? runtime.namespaceDescription || '' : runtime.spec.description;
    if (!lines.has(key)) lines.set(key, `- ${key}: ${headOf(text.split('\n')[0], 200)}`);
  }
  const sorted = [...lines].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map((entry) => entry[1]);
  const kept: string[] = [];
  let bytes = 0;
  for (const line of sorted) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > budget) break;
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

/** The index of a set of deferred tools; the caller keeps it as long as the set. */
export const indexOf = (deferred: readonly ToolRuntime[]): SearchIndex<ReturnType<typeof searchable>> =>
  new SearchIndex(deferred.map(searchable));

export function toolSearch(deferred: readonly ToolRuntime[]): ToolRuntime<{ query?: unknown; limit?: unknown }> {
  let index: ReturnType<typeof indexOf> | undefined;
  return {
    name: { name: 'tool_search' },
    spec: { type: 'toolSearch', description: `Finds tools that are not listed. Sources:\n${advertise(deferred)}`, parameters },
    exposure: 'directModelOnly',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    // Lenient: an odd query is answered with an empty result that teaches, in the provider's own form.
    validate: (payload) => {
      if (payload.type !== 'search') return readFunctionPayload('tool_search', payload, parameters);
      const args = typeof payload.arguments === 'object' && payload.arguments !== null ? payload.arguments : { query: payload.arguments };
      return { ok: true, args };
    },
    run: async ({ args, events }) => {
      const query = typeof args.query === 'string' ? args.query.trim() : '';
      const limit = typeof args.limit === 'number' && args.limit >= 1 ? Math.min(Math.floor(args.limit), MAX_LIMIT) : DEFAULT_LIMIT;
      if (!query) {
        events.warning('The model searched for tools without a query.');
        return textOutput('The query is empty: give words for what the tool should do, or exact tool names.', { found: [] });
      }
      index ??= indexOf(deferred);
      const hits = index.search(query, limit).map((hit) => hit.runtime);
      if (hits.length === 0) return textOutput(`No tool fits "${headOf(query, 80)}". Sources:\n${advertise(deferred)}`, { found: [] });
      return textOutput(hits.map((hit) => hit.name.name).join(', '), { found: groupFound(hits) });
    },
  };
}
