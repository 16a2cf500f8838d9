import type { ToolEvents } from '../../src/tools/events.ts';
import type { HookPort } from '../../src/tools/gates/hooks.ts';
import type { ModelAbilities } from '../../src/tools/plan.ts';
import { ToolRegistry } from '../../src/tools/registry.ts';
import { textOutput } from '../../src/tools/result.ts';
import type { StepFacts, ToolCall, ToolRuntime } from '../../src/tools/runtime.ts';

/** A tool that answers with its name; everything about it can be set. */
export function fakeTool(
  name: string,
  more: Partial<ToolRuntime> & { namespace?: string; description?: string; parameters?: object } = {},
): ToolRuntime {
  const { namespace, description = `Does ${name}.`, parameters = { type: 'object', properties: {} }, ...rest } = more;
  return {
    name: { ...(namespace ? { namespace } : {}), name },
    spec: { type: 'function', name, description, parameters: parameters as Record<string, unknown>, strict: false },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    ...(namespace ? { namespaceDescription: `Tools of ${namespace}.` } : {}),
    validate: (payload) => ({ ok: true, args: payload }),
    run: async () => textOutput(`${name} ran`),
    ...rest,
  };
}

export const dynamic = { source: { type: 'dynamic' as const }, external: true };

export const ABLE: ModelAbilities = { namespaces: true, freeform: true, toolSearch: true, webSearch: true, images: true, maxTools: 128 };
export const PLAIN: ModelAbilities = { ...ABLE, namespaces: false, freeform: false, toolSearch: false, webSearch: false };

export function registryOf(tools: readonly ToolRuntime[], options: { reserved?: string[]; strict?: boolean } = {}): ToolRegistry {
  const registry = new ToolRegistry({ reserved: new Set(options.reserved ?? []), strict: options.strict });
  for (const tool of tools) registry.add(tool);
  return registry;
}

export const facts = (more: Partial<StepFacts> = {}): StepFacts => ({
  threadId: 'thread',
  turnId: 'turn',
  cwd: '/work',
  approvalPolicy: 'on-request',
  sandbox: { type: 'readOnly' },
  model: 'scripted',
  supportsImages: true,
  historyTokenLimit: 12_000,
  ...more,
});

export const callOf = (name: string, more: Partial<ToolCall> = {}): ToolCall => ({
  callId: `call_${name}`,
  itemId: `call_${name}`,
  name: { name },
  payload: { type: 'function', arguments: '{}' },
  replyAs: 'function',
  ...more,
});

/** Events that keep what a client would see. */
export function recordingEvents(): ToolEvents & { warnings: string[]; log: string[] } {
  const handles = new Map<string, ReturnType<ToolEvents['startItem']>>();
  const warnings: string[] = [];
  const log: string[] = [];
  return {
    warnings,
    log,
    startItem: (given, { abandoned }) => {
      const known = handles.get(given.id);
      if (known) return known;
      let current = given;
      let completed = false;
      log.push(`started ${given.id}`);
      const handle = {
        id: given.id,
        outlives: false,
        abandoned,
        get current() {
          return current;
        },
        get completed() {
          return completed;
        },
        revise: (item: typeof given) => {
          if (!completed) current = item;
        },
        complete: (item: typeof given) => {
          if (completed) return false;
          completed = true;
          current = item;
          log.push(`completed ${given.id} ${'status' in item ? item.status : ''}`.trim());
          return true;
        },
      };
      handles.set(given.id, handle);
      return handle;
    },
    itemOf: (id) => handles.get(id),
    commandOutput: () => {},
    terminalInteraction: () => {},
    patchUpdated: () => {},
    fileOutput: () => {},
    planUpdated: () => log.push('plan'),
    diffUpdated: () => {},
    mcpProgress: (id, message) => log.push(`progress ${id} ${message}`),
    warning: (message) => warnings.push(message),
  };
}

/** Nothing is hooked. */
export const NO_HOOKS: HookPort = {
  preToolUse: async () => ({ type: 'continue', context: [] }),
  permissionRequest: async () => ({ type: 'ask' }),
  postToolUse: async () => ({ type: 'keep', context: [] }),
};
