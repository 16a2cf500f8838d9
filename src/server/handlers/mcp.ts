// What clients ask of MCP servers directly: read a resource, call a tool, and how a server is.
import { invalidParams } from '../../common/errors.ts';
import type { McpServerTable } from '../../config/schema.ts';
import type { ServerState } from '../../mcp/server.ts';
import type { McpServerStatus } from '../../protocol/mcp.ts';
import { readResult } from '../../tools/sources/mcp-result.ts';
import type { HandlersFor } from '../handler.ts';
import type { McpServices } from '../mcp-services.ts';
import { toolAllowed } from '../mcp-specs.ts';

type Methods = 'mcpServer/oauth/login' | 'mcpServer/resource/read' | 'mcpServer/tool/call';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export function mcpHandlers(services: McpServices): HandlersFor<Methods> {
  return {
    'mcpServer/oauth/login': (params) => services.logins.login(params),
    'mcpServer/resource/read': async ({ server, threadId, uri, originCallId }, { signal }) => {
      const result = await services.request({ name: server, threadId: threadId ?? null }, 'resources/read', { uri }, signal);
      return { contents: Array.isArray(result.contents) ? result.contents.filter(isObject) : [], originCallId: originCallId ?? null };
    },
    'mcpServer/tool/call': async ({ server, threadId, tool, arguments: args = {}, _meta: meta }, { signal }) => {
      if (args !== null && !isObject(args)) throw invalidParams('params.arguments: expected an object');
      const params = { name: tool, arguments: args ?? {}, ...(isObject(meta) ? { _meta: meta } : {}) };
      const result = readResult(await services.request({ name: server, threadId }, 'tools/call', params, signal));
      return { content: result.content, structuredContent: result.structuredContent, isError: result.isError, _meta: result.meta };
    },
  };
}

/** How long a status waits for the lists of resources; a server that is slower is shown without them. */
const LISTS_WAIT_MS = 3_000;

const runtimeStatusOf = (state: ServerState): McpServerStatus['runtimeStatus'] => {
  switch (state.type) {
    case 'starting':
      return 'starting';
    case 'ready':
      return 'connected';
    case 'failed':
      return state.needsLogin ? 'authenticationRequired' : 'failed';
    case 'down':
      return 'failed';
    case 'closed':
      return 'cancelled';
  }
};

const authStatusOf = (
  { url, bearer_token_env_var: token }: McpServerTable,
  needsLogin: boolean,
  loggedIn: boolean,
): McpServerStatus['authStatus'] => {
  if (url === undefined) return 'unsupported';
  if (token !== undefined) return 'bearerToken';
  if (loggedIn) return 'oAuth';
  return needsLogin ? 'notLoggedIn' : 'unknown';
};

/** The status of a server that a thread has started; undefined when none has. */
export async function mcpServerStatus(services: McpServices, name: string, threadId: string | null): Promise<McpServerStatus | undefined> {
  const found = services.find(name, threadId);
  if (!found) return undefined;
  const { server, plan } = found;
  const { catalogue, state } = server;
  const lists = async (method: string, member: string): Promise<Record<string, unknown>[]> => {
    if (state.type !== 'ready' || server.capabilities.resources === undefined) return [];
    const entries: unknown[] = await server.list(method, member, AbortSignal.timeout(LISTS_WAIT_MS)).catch(() => []);
    return entries.filter(isObject);
  };
  const [resources, resourceTemplates] = await Promise.all([
    lists('resources/list', 'resources'),
    lists('resources/templates/list', 'resourceTemplates'),
  ]);
  const tools = (catalogue?.tools ?? []).filter((tool) => toolAllowed(plan.table, tool.name));
  const { url } = plan.table;
  const info = catalogue?.server;
  return {
    name,
    authStatus: authStatusOf(plan.table, state.type === 'failed' && state.needsLogin, url !== undefined && services.loggedIn(url)),
    runtimeStatus: runtimeStatusOf(state),
    httpOrigin: url !== undefined && URL.canParse(url) ? new URL(url).origin : null,
    serverInfo: info ? { name: info.name, title: info.title, version: info.version, websiteUrl: info.websiteUrl } : null,
    serverCapabilities: info?.capabilities,
    tools: Object.fromEntries(tools.map((tool) => [tool.name, { ...tool.raw }])),
    toolsError: state.type === 'failed' || state.type === 'down' ? state.error : null,
    resources,
    resourceTemplates,
  };
}
