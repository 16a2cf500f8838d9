// Resources of MCP servers for the model: list them, list their templates, read one. Built in, present when servers are configured.
import { monotonicMs, timerMs } from '../../common/clock.ts';
import { messageOf } from '../../common/errors.ts';
import type { PooledServer } from '../../mcp/server.ts';
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import type { FrontendPort } from '../events.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { type ContentPart, failedOutput, type ToolOutput, textOutput } from '../result.ts';
import type { Invocation, ToolRuntime } from '../runtime.ts';
import { closeItem, failureOutput, type McpArgs, mcpItem } from '../sources/mcp.ts';
import { forwardElicitation } from '../sources/mcp-elicitation.ts';
import { contentParts } from '../sources/mcp-result.ts';
import { failedItem } from '../terminal-item.ts';

/** The servers of a thread by their configured names. */
export interface ResourceServers {
  names(): readonly string[];
  find(name: string): { server: PooledServer; timeoutMs: number } | undefined;
  readonly frontend: FrontendPort;
}

const OWN_NAME = 'harnessd';

interface ResourceTool {
  name: string;
  description: string;
  parameters: JsonSchema;
  run(servers: ResourceServers, invocation: Invocation<McpArgs>, signal: AbortSignal): Promise<ToolOutput>;
}

const serverArgument = { type: 'string', description: 'Name of the MCP server.' };

function unknownServer(servers: ResourceServers, name: string): ToolOutput {
  const known = servers.names();
  return failedOutput(
    'not_found',
    `There is no MCP server ${JSON.stringify(name)}. ${known.length ? `Configured: ${known.join(', ')}.` : 'None is configured.'}`,
  );
}

/** One list of one server, or of all; a server that cannot answer is named with its reason, the others still count. */
async function listOf(
  servers: ResourceServers,
  only: string | undefined,
  list: { method: string; member: string },
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (only !== undefined && !servers.find(only)) return unknownServer(servers, only);
  const failures: Record<string, string> = {};
  const found = await Promise.all(
    (only === undefined ? servers.names() : [only]).map(async (name) => {
      const entry = servers.find(name);
      if (!entry) return [];
      if (only === undefined && entry.server.state.type === 'ready' && entry.server.capabilities.resources === undefined) return [];
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timerMs(entry.timeoutMs))]);
      try {
        const entries = await entry.server.list(list.method, list.member, limited);
        return entries.map((one) => ({ server: name, ...(one as object) }));
      } catch (error) {
        failures[name] = messageOf(error);
        return [];
      }
    }),
  );
  if (signal.aborted) return failedOutput('cancelled', 'aborted by user');
  const entries = found.flat();
  if (only !== undefined && failures[only] !== undefined)
    return failedOutput('tool_error', `${list.method} of ${only} failed: ${failures[only]}`);
  return textOutput(JSON.stringify({ [list.member]: entries, ...(Object.keys(failures).length ? { failures } : {}) }));
}

async function read(servers: ResourceServers, invocation: Invocation<McpArgs>, signal: AbortSignal): Promise<ToolOutput> {
  const { server: name, uri } = invocation.args as { server: string; uri: string };
  const entry = servers.find(name);
  if (!entry) return unknownServer(servers, name);
  const began = monotonicMs();
  try {
    const result = await entry.server.request(
      'resources/read',
      { uri },
      {
        signal,
        timeoutMs: entry.timeoutMs,
        caller: { elicit: (params, by) => forwardElicitation(servers.frontend, name, invocation.step, params, by) },
      },
    );
    const contents = Array.isArray(result.contents) ? result.contents : [];
    const parts: ContentPart[] = contents.flatMap((resource) =>
      contentParts({ type: 'resource', resource }, invocation.step.supportsImages),
    );
    return { success: true, content: parts.length ? parts : [{ type: 'text', text: `${uri} has no content` }] };
  } catch (error) {
    return failureOutput(`resources/read of ${name}`, error, ((monotonicMs() - began) / 1000).toFixed(1));
  }
}

const optionalServer: JsonSchema = {
  type: 'object',
  properties: { server: { ...serverArgument, description: 'Name of the MCP server; all of them when left out.' } },
};

const TOOLS: readonly ResourceTool[] = [
  {
    name: 'list_mcp_resources',
    description: 'Lists the resources that MCP servers offer: files, records and other context that can be read with read_mcp_resource.',
    parameters: optionalServer,
    run: (servers, { args }, signal) =>
      listOf(servers, args.server as string | undefined, { method: 'resources/list', member: 'resources' }, signal),
  },
  {
    name: 'list_mcp_resource_templates',
    description: 'Lists the resource templates of MCP servers: addresses with parameters, to be filled in for read_mcp_resource.',
    parameters: optionalServer,
    run: (servers, { args }, signal) =>
      listOf(servers, args.server as string | undefined, { method: 'resources/templates/list', member: 'resourceTemplates' }, signal),
  },
  {
    name: 'read_mcp_resource',
    description: 'Reads one resource of an MCP server by its address, as list_mcp_resources gives it.',
    parameters: {
      type: 'object',
      properties: { server: serverArgument, uri: { type: 'string', description: 'Address of the resource.' } },
      required: ['server', 'uri'],
    },
    run: read,
  },
];

function runtimeOf(tool: ResourceTool, servers: ResourceServers): ToolRuntime<McpArgs> {
  return {
    name: { name: tool.name },
    spec: { type: 'function', name: tool.name, description: tool.description, parameters: tool.parameters, strict: false },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: true,
    validate: (payload) => readFunctionPayload(tool.name, payload, tool.parameters),
    begin: (call, args, _step, events) => {
      const server = typeof args.server === 'string' ? args.server : OWN_NAME;
      events.startItem(mcpItem(call, server, tool.name, args, true), { abandoned: (item) => failedItem(item) });
    },
    run: async (invocation, signal) => {
      const began = monotonicMs();
      const output = await tool.run(servers, invocation, signal);
      const content = output.content.map((part) => (part.type === 'text' ? part : { type: 'text', text: '[image]' }));
      const result = output.success ? { content, structuredContent: null, meta: null, isError: false } : null;
      closeItem(invocation, output, result, monotonicMs() - began);
      return output;
    },
  };
}

export const mcpResourceTools = (servers: ResourceServers): readonly ToolRuntime[] =>
  TOOLS.map((tool) => runtimeOf(tool, servers) as unknown as ToolRuntime);
