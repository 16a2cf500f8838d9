// Tools and hooks of an extension: one runtime for each tool, with the same gates as every other tool, run in the extension's thread.
import { monotonicMs } from '../../common/clock.ts';
import type { FunctionHook } from '../../hooks/definitions.ts';
import type { ThreadItem } from '../../protocol/item.ts';
import type { ItemHandle } from '../events.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import type { ToolOutput } from '../result.ts';
import type { ApprovalNeed, Invocation, StepFacts, ToolCall, ToolRuntime } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import type { ExtensionManifest, ExtensionToolFacts } from './extension-manifest.ts';
import { extensionOutput } from './extension-result.ts';
import type { ExtensionThread } from './extension-thread.ts';
import { elicitationsForbidden } from './mcp-approval.ts';

type Args = Record<string, unknown>;
type DynamicItem = Extract<ThreadItem, { type: 'dynamicToolCall' }>;

/** A started extension. */
export interface Extension {
  readonly path: string;
  readonly manifest: ExtensionManifest;
  readonly thread: ExtensionThread;
}

const itemFor = (call: ToolCall, namespace: string | null, tool: string, args: Args): DynamicItem => ({
  type: 'dynamicToolCall',
  id: call.itemId,
  namespace,
  tool,
  arguments: args,
  status: 'inProgress',
  contentItems: null,
  success: null,
  durationMs: null,
});

function endItem(handle: ItemHandle | undefined, output: ToolOutput, durationMs: number): void {
  if (!handle) return;
  const contentItems = output.content.map((part) =>
    part.type === 'text' ? { type: 'inputText' as const, text: part.text } : { type: 'inputImage' as const, imageUrl: part.imageUrl },
  );
  handle.complete({
    ...(handle.current as DynamicItem),
    status: output.success ? 'completed' : 'failed',
    success: output.success,
    contentItems,
    durationMs: Math.round(durationMs),
  });
}

/** What an extension says of its own tool holds: its user put it into the configuration. Without a word, effects are assumed. */
function needOf(extension: Extension, tool: ExtensionToolFacts, args: Args, step: StepFacts): ApprovalNeed {
  const { name } = extension.manifest;
  if (tool.approval === 'never' || (tool.approval === 'auto' && tool.readOnly)) return { type: 'skip' };
  const forbidden = elicitationsForbidden(step);
  if (forbidden)
    return {
      type: 'forbidden',
      reason: `The tool ${tool.name} of the extension ${name} needs an approval, but ${forbidden}. Nothing was run. Choose a way that needs no approval, or say what is missing.`,
    };
  return {
    type: 'needsApproval',
    keys: tool.approval === 'always' ? [] : [JSON.stringify(['extension', extension.path, name, tool.name, tool.parameters])],
    ask: {
      kind: 'elicitation',
      server: name,
      message: `Allow the extension ${name} to run tool "${tool.name}"?`,
      meta: {
        tool_name: tool.name,
        tool_description: tool.description,
        tool_params: args,
        tool_params_display: Object.entries(args).map(([key, value]) => ({ name: key, value, display_name: key })),
      },
      remember: null,
      scope: `the tool ${tool.name} of the extension ${name}, with any arguments`,
    },
  };
}

async function run(extension: Extension, tool: ExtensionToolFacts, invocation: Invocation<Args>, signal: AbortSignal): Promise<ToolOutput> {
  const { call, step, args, events } = invocation;
  const began = monotonicMs();
  const facts = { callId: call.callId, threadId: step.threadId, turnId: step.turnId, cwd: step.cwd, model: step.model };
  const outcome = await extension.thread.callTool(tool.index, args, facts, tool.timeoutMs, signal);
  const elapsed = monotonicMs() - began;
  const output = extensionOutput(
    {
      tool: tool.name,
      extension: extension.manifest.name,
      timeoutMs: tool.timeoutMs,
      seconds: (elapsed / 1000).toFixed(1),
      takesImages: step.supportsImages,
    },
    outcome,
  );
  endItem(events.itemOf(call.itemId), output, elapsed);
  return output;
}

function runtimeOf(extension: Extension, tool: ExtensionToolFacts): ToolRuntime<Args> {
  const { name, namespace, description } = extension.manifest;
  return {
    name: { ...(namespace === null ? {} : { namespace }), name: tool.name },
    spec: { type: 'function', name: tool.name, description: tool.description, parameters: tool.parameters, strict: false },
    exposure: tool.deferred ? 'deferred' : 'direct',
    source: { type: 'extension', extension: name },
    supportsParallel: tool.parallel,
    waitsForCleanup: true,
    external: true,
    ...(namespace === null ? {} : { namespaceDescription: description }),
    resources: () => [`extension:${extension.path}`],
    validate: (payload) => readFunctionPayload(tool.name, payload, tool.parameters),
    begin: (call, args, _step, events) => {
      events.startItem(itemFor(call, namespace, tool.name, args), { abandoned: (item) => failedItem(item) });
    },
    approvalNeed: (_call, args, step) => needOf(extension, tool, args, step),
    run: (invocation, signal) => run(extension, tool, invocation, signal),
  };
}

export const extensionTools = (extension: Extension): ToolRuntime[] =>
  extension.manifest.tools.map((tool) => runtimeOf(extension, tool) as unknown as ToolRuntime);

/** A hook that cannot be asked fails, and then does as its own failClosed says. */
export const extensionHooks = (extension: Extension): FunctionHook[] =>
  extension.manifest.hooks.map(({ index, ...hook }) => ({
    ...hook,
    origin: { source: 'plugin', path: extension.path, trust: 'own' },
    handler: {
      type: 'function',
      label: `extension ${extension.manifest.name}`,
      run: async (input, signal) => {
        const outcome = await extension.thread.callHook(index, input, null, signal);
        if (outcome.type !== 'replied')
          throw new Error(outcome.type === 'gone' ? `the extension ended: ${outcome.problem}` : 'it was ended');
        if (!outcome.reply.ok) throw new Error(outcome.reply.problem);
        return outcome.reply.value;
      },
    },
  }));
