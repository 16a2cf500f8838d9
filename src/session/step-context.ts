// What one step is made of, frozen: facts for the tools, the router with what is offered, and the pieces of the request. Plans are shared
// between steps while nothing that they depend on has changed.
import type { HostedSpec } from '../protocol/tool-spec.ts';
import { buildPlan, type ModelAbilities, type PlanOptions } from '../tools/plan.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { ToolRouter } from '../tools/router.ts';
import type { StepFacts, ToolRuntime } from '../tools/runtime.ts';
import { toolSearch } from '../tools/runtimes/tool-search.ts';
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
}

/** Where the runtimes of a thread come from. Each list keeps its identity while it is unchanged. */
export interface ToolSources {
  builtins(abilities: ModelAbilities): readonly ToolRuntime[];
  external(abilities: ModelAbilities): readonly ToolRuntime[];
  hosted(abilities: ModelAbilities): readonly HostedSpec[];
  strict: boolean;
}

const HISTORY_TOKEN_LIMIT = 12_000;

function abilitiesOf(binding: ModelBinding): ModelAbilities & { images: boolean; webSearch: boolean } {
  const { supports, maxTools } = binding.card;
  return {
    namespaces: supports.namespaces,
    freeform: supports.freeform,
    toolSearch: supports.toolSearch,
    maxTools,
    images: supports.images,
    webSearch: supports.webSearch,
  };
}

function routerFor(
  sources: ToolSources,
  builtins: readonly ToolRuntime[],
  external: readonly ToolRuntime[],
  options: PlanOptions,
): { router: ToolRouter; warnings: string[] } {
  const registry = new ToolRegistry({ reserved: RESERVED_TOOL_NAMES, strict: sources.strict });
  for (const runtime of builtins) registry.add(runtime);
  for (const runtime of external) registry.add(runtime);
  let plan = buildPlan(registry, options);
  if (plan.deferred.length > 0) {
    registry.add(toolSearch(plan.deferred) as ToolRuntime);
    plan = buildPlan(registry, options);
  }
  return { router: new ToolRouter(registry, plan), warnings: [...registry.warnings, ...plan.warnings] };
}

interface CachedPlan {
  key: readonly unknown[];
  router: ToolRouter;
}

/** Builds the steps of one thread. */
export class StepBuilder {
  readonly #sources: ToolSources;
  readonly #warn: (message: string) => void;
  /** The last plan; an unchanged step shares it by reference. */
  #cached: CachedPlan | null = null;
  readonly #told = new Set<string>();

  constructor(sources: ToolSources, warn: (message: string) => void) {
    this.#sources = sources;
    this.#warn = warn;
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
      historyTokenLimit: HISTORY_TOKEN_LIMIT,
    });
    return Object.freeze({ facts, router: this.#router(binding), binding, settings });
  }

  #router(binding: ModelBinding): ToolRouter {
    const abilities = abilitiesOf(binding);
    const builtins = this.#sources.builtins(abilities);
    const external = this.#sources.external(abilities);
    const hosted = this.#sources.hosted(abilities);
    const key = [builtins, external, hosted, binding.card];
    if (this.#cached && key.every((part, i) => part === this.#cached?.key[i])) return this.#cached.router;
    const { router, warnings } = routerFor(this.#sources, builtins, external, { abilities, hosted, searchable: true });
    for (const warning of warnings) {
      if (this.#told.has(warning)) continue;
      this.#told.add(warning);
      this.#warn(warning);
    }
    this.#cached = { key, router };
    return router;
  }
}
