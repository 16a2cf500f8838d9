// The part of the method table about MCP servers: what a client asks of them directly.
import {
  ListMcpServerStatusParams,
  ListMcpServerStatusResponse,
  McpResourceReadParams,
  McpResourceReadResponse,
  McpServerOauthLoginParams,
  McpServerOauthLoginResponse,
  McpServerRefreshResponse,
  McpServerToolCallParams,
  McpServerToolCallResponse,
} from './mcp.ts';
import { None, request } from './method-spec.ts';

/** None of them waits for a thread's other requests: a call may take as long as its tool does. */
export const mcpRequests = {
  'config/mcpServer/reload': request(None, McpServerRefreshResponse, { scope: 'process' }),
  'mcpServerStatus/list': request(ListMcpServerStatusParams, ListMcpServerStatusResponse, { scope: 'process' }),
  'mcpServer/oauth/login': request(McpServerOauthLoginParams, McpServerOauthLoginResponse, { scope: 'process' }),
  'mcpServer/resource/read': request(McpResourceReadParams, McpResourceReadResponse, { scope: 'process' }),
  'mcpServer/tool/call': request(McpServerToolCallParams, McpServerToolCallResponse, { scope: 'process' }),
} as const;
