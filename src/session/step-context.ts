// What one step is made of, frozen: facts for the tools, the router with what is offered, and the pieces of the request. Plans are shared
// between steps while nothing that they depend on has changed.
import type { ResponseItem } from '../protocol/response-item.ts';
import { flatName, type HostedSpec, nameKey } from '../protocol/tool-spec.ts';
import { type Identity, isOfferedTo, ROOT } from '../tools/exposure.ts';
import { foundTools } from '../tools/found-tools.ts';
import { buildPlan, type ModelAbilities, type StepPlan, withFound } from '../tools/plan.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { ToolRouter } from '../tools/router.ts';
import type { StepFacts, ToolRuntime, ToolSource } from '../tools/runtime.ts';
import { toolSearch } from '../tools/runtimes/tool-search.ts';
import { suggestTools } from '../tools/suggest.ts';
import type { ModelBinding } from './ports.ts';
import type { ThreadSettings } from './settings.ts';

/** Names that only built-in tools may have, registered in a step or not. */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set([
  'exec_command',
  'write_stdin',
  'shell_command',
  'shell',
  'local_shell',
  'apply_patch',
  'view_image',
  'update_plan',
  'tool_search',
  'read_artifact',
  'current_time',
  'get_context_remaining',
  'new_context',
  'update_goal',
  'request_user_input',
  'request_permissions',
  'web_search',
  'exec',
  'wait',
  'list_mcp_resources',
  'list_mcp_resource_templates',
  'read_mcp_resource',
  'spawn_agent',
  'send_input',
  'wait_agent',
  'close_agent',
  'resume_agent',
]);

export interface StepContext {
  readonly facts: StepFacts;
  readonly router: ToolRouter;
  readonly binding: ModelBinding;
  readonly settings: ThreadSettings;
  /** Tools that are not listed and may fit a message, in words for the model; null when there are none, or none are to be named. */
  suggestion(message: string): string | null;
}

/** Where the runtimes of a thread come from. Each list keeps its identity while it is unchanged. */
export interface ToolSources {
  builtins(abilities: ModelAbilities): readonly ToolRuntime[];
  external(abilities: ModelAbilities): readonly ToolRuntime[];
  hosted(abilities: ModelAbilities): readonly HostedSpec[];
  strict: boolean;
  /** Names tools that are not listed and fit what the user says. */
  suggest?: boolean;
  /** What the thread is; the root by default. */
  identity?: Identity;
  /** Levels of sub-agents below the root. */
  maxDepth?: number;
}

const HISTORY_TOKEN_LIMIT = 12_000;

/** One level of sub-agents, unless the configuration says otherwise. */
const MAX_DEPTH = 1;

function abilitiesOf(binding: ModelBinding): ModelAbilities {
  const { supports, maxTools } = binding.card;
  const { namespaces, freeform, toolSearch, webSearch, images } = supports;
  return { namespaces, freeform, toolSearch, webSearch, images, maxTools };
}

interface Offer {
  builtins: readonly ToolRuntime[];
  external: readonly ToolRuntime[];
  hosted: readonly HostedSpec[];
}

interface Built {
  registry: ToolRegistry;
  plan: StepPlan;
  warnings: string[];
}

function buildTools(sources: ToolSources, { builtins, external, hosted }: Offer, abilities: ModelAbilities): Built {
  const { strict, identity = ROOT, maxDepth = MAX_DEPTH } = sources;
  const trimming = { identity, maxDepth, images: abilities.images };
  const registry = new ToolRegistry({ reserved: RESERVED_TOOL_NAMES, strict });
  for (const runtime of [...builtins, ...external]) if (isOfferedTo(runtime, trimming)) registry.add(runtime);
  const plan = buildPlan(registry, { abilities, hosted, searchTool: (deferred, form) => toolSearch(deferred, form) as ToolRuntime });
  if (plan.searchTool) registry.add(plan.searchTool);
  return { registry, plan, warnings: [...registry.warnings, ...plan.warnings] };
}

interface CachedTools {
  key: readonly unknown[];
  built: Built;
  /** The names of found tools that the router's plan lists, as one text. */
  found: string;
  router: ToolRouter;
}

/** Builds the steps of one thread. */
export class StepBuilder {
  readonly #sources: ToolSources;
  readonly #warn: (message: string) => void;
  readonly #history: () => Iterable<ResponseItem>;
  /** The last tools; an unchanged step shares them by reference. */
  #cached: CachedTools | null = null;
  readonly #told = new Set<string>();
  /** Tools that were there and are there no more, by every form of their name. Replaced, never changed: routers hold it. */
  #gone: ReadonlyMap<string, ToolSource> = new Map();

  constructor(sources: ToolSources, warn: (message: string) => void, history: () => Iterable<ResponseItem> = () => []) {
    this.#sources = sources;
    this.#warn = warn;
    this.#history = history;
  }

  build(threadId: string, turnId: string, settings: ThreadSettings, binding: ModelBinding): StepContext {
    const facts: StepFacts = Object.freeze({
      threadId,
      turnId,
      cwd: settings.cwd,
      approvalPolicy: settings.approvalPolicy,
      sandbox: settings.sandbox,
      model: settings.model,
      supportsImages: binding.card.supports.images,
      historyTokenLimit: binding.resultTokenLimit ?? HISTORY_TOKEN_LIMIT,
    });
    const router = this.#router(binding);
    const suggestion = (message: string) => (this.#sources.suggest ? suggestTools(router.plan.deferred, message) : null);
    return Object.freeze({ facts, router, binding, settings, suggestion });
  }

  #router(binding: ModelBinding): ToolRouter {
    const abilities = abilitiesOf(binding);
    const offer = {
      builtins: this.#sources.builtins(abilities),
      external: this.#sources.external(abilities),
      hosted: this.#sources.hosted(abilities),
    };
    const key = [offer.builtins, offer.external, offer.hosted, binding.card];
    const known = this.#cached && key.every((part, i) => part === this.#cached?.key[i]) ? this.#cached : null;
    const built = known?.built ?? this.#rebuild(offer, abilities);
    const names = built.plan.placesForFound > 0 ? foundTools(this.#history()) : [];
    const found = names.join(' ');
    if (known && known.found === found) return known.router;
    const router = new ToolRouter(built.registry, withFound(built.plan, names), this.#gone);
    this.#cached = { key, built, found, router };
    return router;
  }

  #rebuild(offer: Offer, abilities: ModelAbilities): Built {
    const built = buildTools(this.#sources, offer, abilities);
    for (const warning of built.warnings) {
      if (this.#told.has(warning)) continue;
      this.#told.add(warning);
      this.#warn(warning);
    }
    if (this.#cached) this.#noteGone(this.#cached.built.registry, built.registry);
    return built;
  }

  #noteGone(before: ToolRegistry, now: ToolRegistry): void {
    const gone = new Map(this.#gone);
    for (const { name, source } of before.runtimes) {
      if (source.type === 'builtin' || now.find(name)) continue;
      gone.set(nameKey(name), source);
      gone.set(nameKey({ name: flatName(name) }), source);
    }
    this.#gone = gone;
  }
}
