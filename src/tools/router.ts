// The frozen pair of registry and plan that one step offers. A call keeps the router of the step that offered it, so what the model saw
// is what runs. Unknown names are answered, never a crash.

import type { ToolCallItem } from '../protocol/response-item.ts';
import { flatName, nameKey, type ToolName } from '../protocol/tool-spec.ts';
import { nearestNames } from './nearest.ts';
import type { StepPlan } from './plan.ts';
import type { ToolRegistry } from './registry.ts';
import type { ToolPayload, ToolRuntime, ToolSource } from './runtime.ts';

export type Route =
  | { type: 'found'; runtime: ToolRuntime; name: ToolName }
  /** `answer` is what the model reads. */
  | { type: 'unknown'; name: ToolName; answer: string };

/** The call inside a provider's item: name, payload and the form of the reply. */
export function readCallItem(item: ToolCallItem): { name: ToolName; payload: ToolPayload; replyAs: 'function' | 'custom' | 'search' } {
  switch (item.type) {
    case 'function_call':
      return {
        name: { namespace: item.namespace || undefined, name: item.name },
        payload: { type: 'function', arguments: item.arguments },
        replyAs: 'function',
      };
    case 'custom_tool_call':
      return {
        name: { namespace: item.namespace || undefined, name: item.name },
        payload: { type: 'freeform', input: item.input },
        replyAs: 'custom',
      };
    case 'tool_search_call':
      return { name: { name: 'tool_search' }, payload: { type: 'search', arguments: item.arguments }, replyAs: 'search' };
    case 'local_shell_call':
      return { name: { name: 'local_shell' }, payload: { type: 'function', arguments: JSON.stringify(item.action) }, replyAs: 'function' };
  }
}

export class ToolRouter {
  readonly registry: ToolRegistry;
  readonly plan: StepPlan;
  /** Tools that earlier steps of the thread had: key of the name → whose they were. */
  readonly #gone: ReadonlyMap<string, ToolSource>;

  constructor(registry: ToolRegistry, plan: StepPlan, gone: ReadonlyMap<string, ToolSource> = new Map()) {
    this.registry = registry;
    this.plan = plan;
    this.#gone = gone;
  }

  route(name: ToolName, kind: 'function' | 'custom' | 'search'): Route {
    const runtime = this.registry.find(name) ?? this.#byOtherSpelling(name);
    if (runtime) return { type: 'found', runtime, name: runtime.name };
    return { type: 'unknown', name, answer: this.#answer(name, kind) };
  }

  #answer(name: ToolName, kind: 'function' | 'custom' | 'search'): string {
    const shown = flatName(name) || '(empty name)';
    const what = kind === 'custom' ? 'unsupported custom tool call' : 'unsupported call';
    const near = nearestNames(
      name,
      [...this.registry.runtimes].filter((r) => r.exposure !== 'hidden').map((r) => r.name),
    );
    const owner = this.#gone.get(nameKey(name));
    if (owner) {
      const other = near.length ? `, ${near.join(' or ')} for one` : '';
      return `${what}: ${shown}. ${removal(owner)}: it cannot be called any more, and nothing was run. Use what is offered now${other}.`;
    }
    const hint = near.length ? ` Did you mean ${near.join(' or ')}?` : ' Use one of the tools that are listed.';
    return `${what}: ${shown}. There is no tool of that name; nothing was run.${hint}`;
  }

  /** Spellings that mean exactly one tool: the flat form of a namespaced name, and the prefix some models put before plain functions. */
  #byOtherSpelling(name: ToolName): ToolRuntime | undefined {
    const namespace = name.namespace;
    if (namespace === 'functions') return this.registry.find({ name: name.name });
    if (namespace) return undefined;
    if (name.name.startsWith('functions.')) return this.registry.find({ name: name.name.slice('functions.'.length) });
    const cut = name.name.indexOf('__');
    if (cut > 0) {
      for (const runtime of this.registry.runtimes) if (runtime.name.namespace && flatName(runtime.name) === name.name) return runtime;
    }
    return undefined;
  }
}

/** Why a tool that was there is there no more. */
function removal(owner: ToolSource): string {
  switch (owner.type) {
    case 'dynamic':
      return 'The frontend removed this tool';
    case 'mcp':
      return `The MCP server ${owner.server} offers this tool no more`;
    case 'extension':
      return `The extension ${owner.extension} offers this tool no more`;
    case 'builtin':
      return 'This tool is not available in this step';
  }
}
