// From the `mcp_servers` tables to what the pool starts and how a thread offers the tools. The environment of a server is the clean one
// plus what its table names; a secret reaches it only because the user wrote its name.
import type { EffectiveConfig, McpServerTable } from '../config/schema.ts';
import { buildEnvironment } from '../exec/environment.ts';
import type { ServerSpec, ServerTransport } from '../mcp/server-spec.ts';

export interface McpServerPlan {
  readonly name: string;
  readonly table: McpServerTable;
  /** Null when the table is of no use; the problem says why. */
  readonly spec: ServerSpec | null;
  readonly problem: string | null;
  readonly toolTimeoutMs: number;
}

const DEFAULT_STARTUP_SEC = 30;
const DEFAULT_TOOL_SEC = 60;

type Env = Readonly<Record<string, string | undefined>>;

function environmentOf(table: McpServerTable, env: Env): Record<string, string> {
  const named: Record<string, string> = {};
  for (const entry of table.env_vars ?? []) {
    const name = typeof entry === 'string' ? entry : entry.name;
    const value = typeof name === 'string' ? env[name] : undefined;
    if (typeof name === 'string' && value !== undefined) named[name] = value;
  }
  return buildEnvironment({ inherit: 'core', set: { ...named, ...table.env } }, env, { tty: false });
}

function headersOf(table: McpServerTable, env: Env): Record<string, string> {
  const headers: Record<string, string> = { ...table.http_headers };
  for (const [header, variable] of Object.entries(table.env_http_headers ?? {})) {
    const value = env[variable];
    if (value !== undefined && value !== '') headers[header] = value;
  }
  const token = table.bearer_token_env_var === undefined ? undefined : env[table.bearer_token_env_var];
  if (token) headers.Authorization = `Bearer ${token}`;
  return headers;
}

function transportOf(table: McpServerTable, cwd: string, env: Env): ServerTransport | string {
  const { command, url } = table;
  if (command !== undefined && url !== undefined) return 'its table has both command and url; one of them decides how it is reached';
  if (command !== undefined) {
    if (command.trim() === '') return 'its command is empty';
    return { type: 'stdio', argv: [command, ...(table.args ?? [])], cwd: table.cwd ?? cwd, env: environmentOf(table, env) };
  }
  if (url === undefined) return 'its table has neither command nor url';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return `its url is not an http address: ${url.slice(0, 200)}`;
  const variable = table.bearer_token_env_var;
  if (variable !== undefined && !env[variable]) return `the environment variable ${variable} (bearer_token_env_var) is not set`;
  return { type: 'http', url, headers: headersOf(table, env) };
}

/** The enabled servers of a configuration, in the order of its tables. */
export function mcpServerPlans(config: EffectiveConfig, cwd: string, env: Env): McpServerPlan[] {
  return Object.entries(config.mcp_servers ?? {})
    .filter(([, table]) => table.enabled !== false)
    .map(([name, table]) => {
      const transport = transportOf(table, cwd, env);
      const startupMs = table.startup_timeout_sec !== undefined ? table.startup_timeout_sec * 1000 : table.startup_timeout_ms;
      const usable = typeof transport !== 'string';
      return {
        name,
        table,
        spec: usable ? { name, transport, startupTimeoutMs: startupMs ?? DEFAULT_STARTUP_SEC * 1000 } : null,
        problem: usable ? null : transport,
        toolTimeoutMs: (table.tool_timeout_sec ?? DEFAULT_TOOL_SEC) * 1000,
      };
    });
}

/** Whether the table lets this tool be offered at all. */
export function toolAllowed({ enabled_tools: enabled, disabled_tools: disabled }: McpServerTable, tool: string): boolean {
  return (enabled === undefined || enabled.includes(tool)) && !disabled?.includes(tool);
}
