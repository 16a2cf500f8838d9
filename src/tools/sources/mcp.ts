// Tools of MCP servers: one runtime for each tool, bound to the server of the pool and to the definition that the model was shown.
import { monotonicMs } from '../../common/clock.ts';
import { messageOf } from '../../common/errors.ts';
import { preview } from '../../common/text.ts';
import { McpFailure } from '../../mcp/errors.ts';
import type { PooledServer } from '../../mcp/server.ts';
import type { ToolDefinition } from '../../mcp/tool-definition.ts';
import type { ThreadItem } from '../../protocol/item.ts';
import type { FrontendPort } from '../events.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { failedOutput, ToolError, type ToolOutput, textOf } from '../result.ts';
import type { Exposure, Invocation, ToolCall, ToolRuntime } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import { type McpApprovalRules, mcpApprovalNeed } from './mcp-approval.ts';
import { forwardElicitation } from './mcp-elicitation.ts';
import { type McpResult, modelContent, readResult } from './mcp-result.ts';

export type McpArgs = Record<string, unknown>;
export type McpItem = Extract<ThreadItem, { type: 'mcpToolCall' }>;

export interface McpToolOptions {
  /** As the configuration names it. */
  server: string;
  namespace: string;
  namespaceDescription: string;
  /** The name that the model reads. */
  name: string;
  definition: ToolDefinition;
  /** Added to its description. */
  about: string;
  /** The normalised form of the definition's schema. */
  parameters: Record<string, unknown>;
  exposure: Exposure;
  parallel: boolean;
  timeoutMs: number;
  approval: McpApprovalRules;
}

export interface McpToolPorts {
  server: PooledServer;
  frontend: FrontendPort;
}

/** How long a change of the list that was announced may hold up a call before it is decided upon. */
const LIST_WAIT_MS = 3_000;

export function mcpItem(call: ToolCall, server: string, tool: string, args: McpArgs, readOnly: boolean | undefined): McpItem {
  return {
    type: 'mcpToolCall',
    id: call.itemId,
    server,
    environmentId: null,
    tool,
    status: 'inProgress',
    arguments: args,
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: readOnly ?? null,
    result: null,
    error: null,
    durationMs: null,
  };
}

/** The output of a request that did not come back with a result. */
export function failureOutput(what: string, error: unknown, seconds: string): ToolOutput {
  if (!(error instanceof McpFailure)) return failedOutput('tool_error', `${what} failed: ${messageOf(error)}`);
  switch (error.kind) {
    case 'cancelled':
      return failedOutput(
        'cancelled',
        `aborted by user after ${seconds} s: ${what} was cancelled at the server. It may have had effects.`,
        {
          uncertainOutcome: true,
        },
      );
    case 'timeout':
      return failedOutput('timeout', `${what} ${error.message}. It was cancelled at the server; it may have had effects.`, {
        uncertainOutcome: true,
        retryable: true,
      });
    case 'lost':
      return failedOutput(
        'transport',
        `${what} did not finish: ${error.message}. It may have had effects: check before you call it again. The server is started again at the next call.`,
        { uncertainOutcome: true, retryable: true },
      );
    case 'startup':
      return failedOutput('transport', `${what} was not called: the server is not available, ${error.message}. Choose another way.`);
    case 'answered':
      return failedOutput('tool_error', `${what} failed: the server answered with an error: ${error.message}`);
  }
}

export function closeItem(invocation: Invocation<McpArgs>, output: ToolOutput, result: McpResult | null, durationMs: number): void {
  const handle = invocation.events.itemOf(invocation.call.itemId);
  if (!handle) return;
  handle.complete({
    ...(handle.current as McpItem),
    status: output.success ? 'completed' : 'failed',
    result: result ? { content: result.content, structuredContent: result.structuredContent, _meta: result.meta } : null,
    error: output.success ? null : { message: preview(textOf(output), 2000) },
    durationMs: Math.round(durationMs),
  });
}

/** The definition that the server has now must be the one that was shown and approved. */
function checkUnchanged(server: PooledServer, options: McpToolOptions): void {
  const { definition } = options;
  const now = server.catalogue?.tools.find((tool) => tool.name === definition.name);
  if (now?.digest === definition.digest) return;
  const what = now ? 'has changed what this tool is' : 'no longer has this tool';
  throw new ToolError(
    'tool_error',
    `${options.server}/${definition.name} was not called: the server ${what} since it was offered. The next step offers what it has now.`,
    { retryable: true },
  );
}

async function runTool(
  options: McpToolOptions,
  ports: McpToolPorts,
  invocation: Invocation<McpArgs>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { call, args, step, events } = invocation;
  const { server, frontend } = ports;
  const began = monotonicMs();
  const what = `${options.server}/${options.definition.name}`;
  let result: McpResult | null = null;
  let output: ToolOutput;
  try {
    await server.up(signal);
    checkUnchanged(server, options);
    result = readResult(
      await server.request(
        'tools/call',
        { name: options.definition.name, arguments: args },
        {
          signal,
          timeoutMs: options.timeoutMs,
          caller: { elicit: (params, by) => forwardElicitation(frontend, options.server, step, params, by) },
          onProgress: (message) => events.mcpProgress(call.itemId, message),
        },
      ),
    );
    const content = modelContent(result, step.supportsImages);
    output = result.isError ? { success: false, category: 'tool_error', content } : { success: true, content };
  } catch (error) {
    output =
      error instanceof ToolError
        ? failedOutput(error.category, error.message, { retryable: error.retryable })
        : failureOutput(what, error, ((monotonicMs() - began) / 1000).toFixed(1));
  }
  closeItem(invocation, output, result, monotonicMs() - began);
  return output;
}

const descriptionOf = ({ description, title, name }: ToolDefinition, server: string): string =>
  description || title || `The tool ${name} of the server ${server}.`;

export function mcpRuntime(options: McpToolOptions, ports: McpToolPorts): ToolRuntime<McpArgs> {
  const { definition, parameters } = options;
  const { readOnlyHint } = definition.annotations ?? {};
  return {
    name: { namespace: options.namespace, name: options.name },
    spec: {
      type: 'function',
      name: options.name,
      description: `${descriptionOf(definition, options.server)}${options.about}`,
      parameters,
      strict: false,
    },
    exposure: options.exposure,
    source: { type: 'mcp', server: options.server },
    supportsParallel: options.parallel,
    waitsForCleanup: true,
    external: true,
    namespaceDescription: options.namespaceDescription,
    resources: () => [`mcp:${options.server}`],
    validate: (payload) => readFunctionPayload(options.name, payload, parameters),
    begin: (call, args, _step, events) => {
      events.startItem(mcpItem(call, options.server, definition.name, args, readOnlyHint), { abandoned: (item) => failedItem(item) });
    },
    approvalNeed: async (_call, args, step) => {
      await ports.server.settled(AbortSignal.timeout(LIST_WAIT_MS));
      if (ports.server.state.type === 'ready') checkUnchanged(ports.server, options);
      return mcpApprovalNeed(definition, args, options.approval, step);
    },
    waitUntilReady: (signal) => ports.server.settled(signal),
    run: (invocation, signal) => runTool(options, ports, invocation, signal),
  };
}
