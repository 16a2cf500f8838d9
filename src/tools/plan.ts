// The plan of a step: from all runtimes, the model's card and policy to what is listed, what is found by search and what is left out.
// Pure. The same inputs give the same plan, so an unchanged step shares it by reference.
import { type FunctionSpec, flatName, type HostedSpec, type NamespaceSpec, type ToolSpec } from '../protocol/tool-spec.ts';
import type { ToolRegistry } from './registry.ts';
import type { Exposure, ToolRuntime } from './runtime.ts';

/** What the capability card of the model says, as far as tools care. */
export interface ModelAbilities {
  namespaces: boolean;
  freeform: boolean;
  toolSearch: boolean;
  webSearch: boolean;
  /** The provider takes about this many tools. */
  maxTools: number;
}

export interface PlanOptions {
  abilities: ModelAbilities;
  hosted: readonly HostedSpec[];
  /** The search tool itself, registered by the caller when the model can search. */
  searchable: boolean;
}

export interface StepPlan {
  /** In the order in which the model reads them. */
  readonly specs: readonly ToolSpec[];
  /** Found by search, not listed. */
  readonly deferred: readonly ToolRuntime[];
  /** Flat name → canonical name, for models without namespaces. */
  readonly flatNames: ReadonlyMap<string, { namespace?: string; name: string }>;
  readonly warnings: readonly string[];
}

/** Exposure as this step has it: without a search to find them, deferred tools are listed. */
export function effectiveExposure(runtime: ToolRuntime, options: PlanOptions): Exposure {
  const { exposure } = runtime;
  const canDefer = options.searchable && options.abilities.toolSearch && options.abilities.namespaces;
  if (exposure === 'deferred' && !canDefer) return 'direct';
  if (exposure === 'deferredModelOnly' && !canDefer) return 'directModelOnly';
  return exposure;
}

const listedBy = (exposure: Exposure): boolean => exposure === 'direct' || exposure === 'directModelOnly';
const deferredBy = (exposure: Exposure): boolean => exposure === 'deferred' || exposure === 'deferredModelOnly';

/** A freeform tool for a model that only takes functions: one string named input. */
function asFunction(runtime: ToolRuntime): FunctionSpec | ToolRuntime['spec'] {
  const { spec } = runtime;
  if (spec.type !== 'freeform') return spec;
  return {
    type: 'function',
    name: spec.name,
    description: `${spec.description}\n\nGive the whole text in the argument "input". Its grammar (${spec.grammar.syntax}):\n${spec.grammar.definition}`,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole text.' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: false,
  };
}

export function buildPlan(registry: ToolRegistry, options: PlanOptions): StepPlan {
  const warnings: string[] = [];
  const flatNames = new Map<string, { namespace?: string; name: string }>();
  const listed: ToolRuntime[] = [];
  const deferred: ToolRuntime[] = [];
  for (const runtime of registry.runtimes) {
    const exposure = effectiveExposure(runtime, options);
    if (listedBy(exposure)) listed.push(runtime);
    else if (deferredBy(exposure)) deferred.push(runtime);
  }
  keepWithinLimit(listed, deferred, options, warnings);
  const specs: ToolSpec[] = [];
  const namespaces = new Map<string, NamespaceSpec>();
  for (const runtime of listed) {
    const spec = options.abilities.freeform ? runtime.spec : asFunction(runtime);
    const { namespace } = runtime.name;
    if (!namespace || spec.type !== 'function') {
      specs.push(spec);
      continue;
    }
    if (!options.abilities.namespaces) {
      const flat = flatName(runtime.name);
      flatNames.set(flat, runtime.name);
      specs.push({ ...spec, name: flat });
      continue;
    }
    let group = namespaces.get(namespace);
    if (!group) {
      group = {
        type: 'namespace',
        name: namespace,
        description: runtime.namespaceDescription || `Tools in the ${namespace} namespace.`,
        tools: [],
      };
      namespaces.set(namespace, group);
      specs.push(group);
    }
    group.tools.push(spec);
  }
  specs.push(...options.hosted);
  return { specs, deferred, flatNames, warnings };
}

/** Over the provider's limit, tools from outside are deferred; where nothing can be deferred they are left out, with one warning. */
function keepWithinLimit(listed: ToolRuntime[], deferred: ToolRuntime[], options: PlanOptions, warnings: string[]): void {
  const limit = options.abilities.maxTools - options.hosted.length;
  if (listed.length <= limit) return;
  const canDefer = options.searchable && options.abilities.toolSearch && options.abilities.namespaces;
  const excess: ToolRuntime[] = [];
  for (let i = listed.length - 1; i >= 0 && listed.length > limit; i--) {
    if (listed[i].source.type === 'builtin') continue;
    excess.unshift(...listed.splice(i, 1));
  }
  if (canDefer) {
    deferred.push(...excess);
    warnings.push(
      `The model takes about ${options.abilities.maxTools} tools: ${excess.length} tools are found by search instead of being listed.`,
    );
  } else {
    const names = excess.slice(0, 5).map((runtime) => flatName(runtime.name));
    warnings.push(
      `The model takes about ${options.abilities.maxTools} tools and cannot search: ${excess.length} tools are left out (${names.join(', ')}${excess.length > 5 ? ', …' : ''}).`,
    );
  }
}
