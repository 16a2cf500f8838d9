// The plan of a step: from all runtimes, the model's card and policy to what is listed, what is found by search and what is left out.
// Pure. The same inputs give the same plan, so an unchanged step shares it by reference.
import { wireName } from '../model/flat-tools.ts';
import { flatName, type HostedSpec, type NamespaceSpec, type ToolSpec } from '../protocol/tool-spec.ts';
import { isDeferred, isInCode, isListed } from './exposure.ts';
import type { ToolRegistry } from './registry.ts';
import type { ToolRuntime } from './runtime.ts';
import { shownSpec } from './shown-spec.ts';

/** What the capability card of the model says, as far as tools care. Namespaces and freeform tools are translated by the adapter. */
export interface ModelAbilities {
  namespaces: boolean;
  freeform: boolean;
  toolSearch: boolean;
  webSearch: boolean;
  images: boolean;
  /** The provider takes about this many tools. */
  maxTools: number;
}

/** How a model finds what is not listed: by its provider's own search call, by a plain function that does the same, or not at all. */
export type SearchForm = 'provider' | 'function' | 'none';

export interface PlanOptions {
  abilities: ModelAbilities;
  hosted: readonly HostedSpec[];
  /** Makes the search tool for what is deferred; absent: nothing can be searched. */
  searchTool?: (deferred: readonly ToolRuntime[], form: 'provider' | 'function') => ToolRuntime;
}

export interface StepPlan {
  /** In the order in which the model reads them. */
  readonly specs: readonly ToolSpec[];
  /** The runtimes behind the specs, without the search tool. */
  readonly listed: readonly ToolRuntime[];
  /** Found by search. */
  readonly deferred: readonly ToolRuntime[];
  readonly search: SearchForm;
  /** For the registry. */
  readonly searchTool: ToolRuntime | null;
  readonly hosted: readonly HostedSpec[];
  /** Tools that a search found and that may still be listed; 0 where the provider keeps track of that itself. */
  readonly placesForFound: number;
  /** Callable from code that the model writes. */
  readonly inCode: readonly ToolRuntime[];
  readonly warnings: readonly string[];
}

/** Kept free for what searches find, where finding a tool is what lists it. */
const placesFor = (limit: number): number => Math.max(8, Math.min(32, Math.floor(limit / 4)));

interface Selection {
  listed: readonly ToolRuntime[];
  deferred: readonly ToolRuntime[];
  search: SearchForm;
  placesForFound: number;
}

export function buildPlan(registry: ToolRegistry, options: PlanOptions): StepPlan {
  const { hosted } = options;
  const warnings: string[] = [];
  const selection = select(registry, options, warnings);
  const { listed, deferred, search } = selection;
  const searchTool = search !== 'none' && deferred.length > 0 ? (options.searchTool?.(deferred, search) ?? null) : null;
  const inCode = [...registry.runtimes].filter((runtime) => isInCode(runtime.exposure));
  const specs = specsOf(listed, searchTool, hosted);
  return { ...selection, specs, search: searchTool ? search : 'none', searchTool, hosted, inCode, warnings };
}

/**
 * The same plan with found tools listed. They are listed for as long as the answer that found them stands in the history; the newest
 * finds win when places run out. `found`: flat names, oldest first.
 */
export function withFound(plan: StepPlan, found: readonly string[]): StepPlan {
  if (plan.placesForFound === 0 || found.length === 0) return plan;
  const byName = new Map(plan.deferred.map((runtime) => [wireName(runtime.name), runtime]));
  const shown = found.flatMap((name) => byName.get(name) ?? []).slice(-plan.placesForFound);
  const listed = [...plan.listed, ...shown];
  return { ...plan, listed, specs: specsOf(listed, plan.searchTool, plan.hosted) };
}

function select(registry: ToolRegistry, options: PlanOptions, warnings: string[]): Selection {
  const { abilities, hosted, searchTool } = options;
  const direct: ToolRuntime[] = [];
  const deferred: ToolRuntime[] = [];
  for (const runtime of registry.runtimes) {
    if (isListed(runtime.exposure)) direct.push(runtime);
    else if (isDeferred(runtime.exposure)) deferred.push(runtime);
  }
  const limit = abilities.maxTools - hosted.length;
  if (searchTool && abilities.toolSearch && abilities.namespaces) {
    const { kept, excess } = within(direct, limit - 1);
    if (excess.length > 0) warnings.push(deferredWarning(abilities.maxTools, excess.length));
    return { listed: kept, deferred: [...deferred, ...excess], search: 'provider', placesForFound: 0 };
  }
  // Without a search of the provider's, what is deferred is listed as long as there are places for it.
  const all = [...direct, ...deferred];
  if (all.length <= limit) return { listed: all, deferred: [], search: 'none', placesForFound: 0 };
  if (searchTool) {
    const { kept, excess } = within(all, Math.max(0, limit - 1 - placesFor(limit)));
    warnings.push(deferredWarning(abilities.maxTools, excess.length));
    return { listed: kept, deferred: excess, search: 'function', placesForFound: Math.max(0, limit - 1 - kept.length) };
  }
  const { kept, excess } = within(all, limit);
  const names = excess.slice(0, 5).map((runtime) => flatName(runtime.name));
  warnings.push(
    `The model takes about ${abilities.maxTools} tools and nothing can be searched: ${excess.length} tools are left out (${names.join(', ')}${excess.length > 5 ? ', …' : ''}).`,
  );
  return { listed: kept, deferred: [], search: 'none', placesForFound: 0 };
}

const deferredWarning = (maxTools: number, count: number): string =>
  `The model takes about ${maxTools} tools: ${count} tools are found by search instead of being listed.`;

/** Keeps a list within a limit: tools from outside go, the last ones first. Both parts keep their order. */
function within(tools: readonly ToolRuntime[], limit: number): { kept: ToolRuntime[]; excess: ToolRuntime[] } {
  const over = new Set<ToolRuntime>();
  for (let i = tools.length - 1; i >= 0 && tools.length - over.size > limit; i--)
    if (tools[i].source.type !== 'builtin') over.add(tools[i]);
  return { kept: tools.filter((tool) => !over.has(tool)), excess: tools.filter((tool) => over.has(tool)) };
}

function specsOf(listed: readonly ToolRuntime[], searchTool: ToolRuntime | null, hosted: readonly HostedSpec[]): ToolSpec[] {
  const specs: ToolSpec[] = [];
  const namespaces = new Map<string, NamespaceSpec>();
  for (const { name, spec, namespaceDescription } of searchTool ? [...listed, searchTool] : listed) {
    if (spec.type !== 'function') {
      specs.push(spec);
      continue;
    }
    const { namespace } = name;
    if (!namespace) {
      specs.push(shownSpec(spec));
      continue;
    }
    let group = namespaces.get(namespace);
    if (!group) {
      const description = namespaceDescription || `Tools in the ${namespace} namespace.`;
      group = { type: 'namespace', name: namespace, description, tools: [] };
      namespaces.set(namespace, group);
      specs.push(group);
    }
    group.tools.push(shownSpec(spec));
  }
  return [...specs, ...hosted];
}
