// Dynamic tools: registered by the frontend, run by the frontend. One runtime per tool; the request goes out as item/tool/call.
import { monotonicMs, timerMs } from '../../common/clock.ts';
import { preview } from '../../common/text.ts';
import type { DynamicToolCallOutputContentItem, ThreadItem } from '../../protocol/item.ts';
import type { FrontendOutcome, FrontendPort, ItemHandle } from '../events.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { type ContentPart, failedOutput, type ToolOutput } from '../result.ts';
import type { Invocation, ToolCall, ToolRuntime } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import type { DynamicTool } from './dynamic-specs.ts';

type Args = Record<string, unknown>;
type Answer = { contentItems: DynamicToolCallOutputContentItem[]; success: boolean };
type DynamicItem = Extract<ThreadItem, { type: 'dynamicToolCall' }>;

function itemFor(call: ToolCall, tool: DynamicTool, args: Args): DynamicItem {
  return {
    type: 'dynamicToolCall',
    id: call.itemId,
    namespace: tool.namespace ?? null,
    tool: tool.name,
    arguments: args,
    status: 'inProgress',
    contentItems: null,
    success: null,
    durationMs: null,
  };
}

/** A reason why this content may not enter history, or null. */
function contentProblem(items: readonly DynamicToolCallOutputContentItem[], supportsImages: boolean): string | null {
  for (const item of items) {
    if (item.type === 'inputImage' && !item.imageUrl.startsWith('data:'))
      return 'remote image URLs are not supported; use an inline data URL instead';
    if (item.type === 'inputImage' && !supportsImages) return 'this model does not take images';
  }
  return null;
}

const partOf = (item: DynamicToolCallOutputContentItem): ContentPart => {
  switch (item.type) {
    case 'inputText':
      return { type: 'text', text: item.text };
    case 'inputImage':
      return { type: 'image', imageUrl: item.imageUrl, detail: 'original' };
    case 'inputAudio':
      return { type: 'text', text: `[audio that this model does not take: ${preview(item.audioUrl, 60)}]` };
  }
};

/** The settled outcome of a call as what the model reads, and how the item ends. */
function outputOf(tool: DynamicTool, outcome: FrontendOutcome<Answer>, supportsImages: boolean, seconds: string): ToolOutput {
  switch (outcome.type) {
    case 'answered': {
      const problem = contentProblem(outcome.value.contentItems, supportsImages);
      if (problem) return failedOutput('tool_error', `The result of ${tool.name} was refused: ${problem}.`);
      const content = outcome.value.contentItems.map(partOf);
      if (outcome.value.success) return { success: true, content };
      return {
        success: false,
        category: 'tool_error',
        content: content.length ? content : [{ type: 'text', text: `${tool.name} failed and gave no reason.` }],
      };
    }
    case 'malformed':
      return failedOutput(
        'tool_error',
        `The frontend's answer to ${tool.name} was malformed: ${preview(outcome.problem, 300)}. The call may have had effects.`,
        { uncertainOutcome: true },
      );
    case 'unsupported':
      return failedOutput(
        'transport',
        `The connected frontend cannot run ${tool.name}: it does not support dynamic tool calls (${preview(outcome.message)}). Do not call it again; choose another way.`,
      );
    case 'clientError':
      return failedOutput('tool_error', `${tool.name} failed: ${preview(outcome.message, 2000)} (error ${outcome.code} of the frontend)`);
    case 'cancelled':
      return failedOutput(
        'cancelled',
        `aborted by user after ${seconds} s: ${tool.name} was cancelled before the frontend answered. It may have had effects.`,
        { uncertainOutcome: true },
      );
  }
}

function endItem(handle: ItemHandle | undefined, outcome: FrontendOutcome<Answer> | null, output: ToolOutput, durationMs: number): void {
  if (!handle) return;
  const current = handle.current as DynamicItem;
  const contentItems =
    outcome?.type === 'answered'
      ? outcome.value.contentItems
      : output.category === 'cancelled'
        ? []
        : output.content.map((part) => ({ type: 'inputText' as const, text: part.type === 'text' ? part.text : '' }));
  handle.complete({
    ...current,
    status: output.success ? 'completed' : 'failed',
    success: output.success,
    contentItems,
    durationMs: Math.round(durationMs),
  });
}

async function callFrontend(
  frontend: FrontendPort,
  tool: DynamicTool,
  invocation: Invocation<Args>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { call, step, args, events } = invocation;
  const began = monotonicMs();
  const request = frontend.open('item/tool/call', {
    threadId: step.threadId,
    turnId: step.turnId,
    callId: call.callId,
    namespace: tool.namespace ?? null,
    tool: tool.name,
    arguments: args,
  });
  let timedOut = false;
  const timer = tool.timeoutMs
    ? setTimeout(() => {
        timedOut = true;
        request.cancel(`no answer within ${tool.timeoutMs} ms`);
      }, timerMs(tool.timeoutMs))
    : undefined;
  const onAbort = () => request.cancel('the turn was interrupted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const outcome = await request.outcome;
    const elapsed = monotonicMs() - began;
    const output =
      timedOut && outcome.type === 'cancelled'
        ? failedOutput(
            'timeout',
            `${tool.name} timed out: the frontend gave no answer within its deadline of ${tool.timeoutMs} ms. The call may still have effects.`,
            { uncertainOutcome: true, retryable: true },
          )
        : outputOf(tool, outcome, step.supportsImages, (elapsed / 1000).toFixed(1));
    endItem(events.itemOf(call.itemId), outcome, output, elapsed);
    return output;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

export function dynamicRuntime(tool: DynamicTool, frontend: FrontendPort): ToolRuntime<Args> {
  return {
    name: { namespace: tool.namespace, name: tool.name },
    spec: { type: 'function', name: tool.name, description: tool.description, parameters: tool.inputSchema, strict: false },
    exposure: tool.deferLoading ? 'deferred' : 'direct',
    source: { type: 'dynamic' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: true,
    namespaceDescription: tool.namespaceDescription,
    validate: (payload) => readFunctionPayload(tool.name, payload, tool.inputSchema),
    begin: (call, args, _step, events) => {
      events.startItem(itemFor(call, tool, args), { abandoned: (item) => failedItem(item) });
    },
    run: (invocation, signal) => callFrontend(frontend, tool, invocation, signal),
  };
}
