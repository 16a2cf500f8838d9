// Logins that clients started: at most one for a server, told when it ends, and the server connected anew when it succeeded.
import { invalidParams, invalidRequest, messageOf } from '../common/errors.ts';
import { newRandomId } from '../common/ids.ts';
import type { McpServerTable } from '../config/schema.ts';
import type { RunningLogin } from '../mcp/oauth-login.ts';
import type { OAuthStore } from '../mcp/oauth-store.ts';
import type { McpServerOauthLoginParams, McpServerOauthLoginResponse } from '../protocol/mcp.ts';
import type { EventSink } from '../session/ports.ts';

export interface McpLoginPorts {
  store: OAuthStore;
  sink: EventSink;
  /** The table of a server: of a thread, or of the configuration as it is. */
  tableOf(name: string, threadId: string | null): Promise<McpServerTable | undefined>;
  /** Connects servers with the new tokens. */
  connected(): Promise<void>;
}

const DEFAULT_TIMEOUT_SEC = 300;

export class McpLogins {
  readonly #ports: McpLoginPorts;
  /** By server name; an entry is there exactly while its login is under way. */
  readonly #running = new Map<string, RunningLogin>();

  constructor(ports: McpLoginPorts) {
    this.#ports = ports;
  }

  async login(params: McpServerOauthLoginParams): Promise<McpServerOauthLoginResponse> {
    const { name } = params;
    const threadId = params.threadId ?? null;
    const table = await this.#ports.tableOf(name, threadId);
    if (!table) throw invalidParams(`params.name: there is no MCP server ${JSON.stringify(name)}`);
    const { url } = table;
    if (url === undefined) throw invalidRequest(`the MCP server ${name} is a local process; only a server with a url has a login`);
    if (!URL.canParse(url)) throw invalidRequest(`the url of the MCP server ${name} is not an address`);
    this.#running.get(name)?.cancel('another login was started');
    const clientId = table.oauth?.client_id;
    let running: RunningLogin;
    try {
      const { startLogin } = await import('../mcp/oauth-login.ts');
      running = await startLogin(this.#ports.store, {
        url,
        scopes: params.scopes ?? table.scopes,
        clientId: typeof clientId === 'string' ? clientId : undefined,
        timeoutMs: Math.max(1, params.timeoutSecs ?? DEFAULT_TIMEOUT_SEC) * 1000,
      });
    } catch (error) {
      throw invalidRequest(`the MCP server ${name} offers no login that works here: ${messageOf(error)}`);
    }
    const loginId = newRandomId();
    this.#running.set(name, running);
    void this.#follow(name, threadId, loginId, running);
    return { authorizationUrl: running.authorizationUrl ?? '', loginId };
  }

  cancelAll(): void {
    for (const running of this.#running.values()) running.cancel('the daemon is ending');
  }

  async #follow(name: string, threadId: string | null, loginId: string, running: RunningLogin): Promise<void> {
    const error = await running.done;
    if (this.#running.get(name) === running) this.#running.delete(name);
    this.#ports.sink.all('mcpServer/oauthLogin/completed', { name, loginId, threadId, success: error === null, error });
    if (error === null) await this.#ports.connected();
  }
}
