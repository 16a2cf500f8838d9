// The MCP side of the composition: one pool for the daemon, a view of it for each thread, and what clients ask of servers directly.
import path from 'node:path';
import { invalidParams, invalidRequest, messageOf, unknownThread } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { ConfigWriter } from '../config/edit.ts';
import { formatPath } from '../config/key-path.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ProcessRunner } from '../exec/process.ts';
import { CatalogueFiles } from '../mcp/catalogue-cache.ts';
import { storedLogin } from '../mcp/oauth-provider.ts';
import { OAuthStore } from '../mcp/oauth-store.ts';
import { McpPool } from '../mcp/pool.ts';
import type { PooledServer } from '../mcp/server.ts';
import type { ToolDefinition } from '../mcp/tool-definition.ts';
import { openTransport } from '../mcp/transport-port.ts';
import type { EventSink } from '../session/ports.ts';
import type { ToolHost } from '../session/thread-tools.ts';
import { forwardElicitation } from '../tools/sources/mcp-elicitation.ts';
import { McpLogins } from './mcp-logins.ts';
import { mcpProcesses } from './mcp-process.ts';
import { type McpServerPlan, mcpServerPlans, toolAllowed } from './mcp-specs.ts';
import { McpThread } from './mcp-thread.ts';
import type { Remember } from './mcp-tools.ts';

export interface McpServicesOptions {
  home: string;
  /** The configuration without a folder. */
  load(): Promise<LoadedConfig>;
  env: NodeJS.ProcessEnv;
  runner: ProcessRunner;
  sink: EventSink;
  writer: Pick<ConfigWriter, 'write'>;
}

interface Loaded {
  readonly thread: McpThread;
  readonly host: ToolHost;
  /** The configuration of the thread as it is now. */
  readonly load: () => Promise<LoadedConfig>;
}

const approvalKey = (server: string, serverKey: string, tool: ToolDefinition): string =>
  JSON.stringify([server, serverKey, tool.name, tool.digest]);

export class McpServices {
  readonly #options: McpServicesOptions;
  readonly logins: McpLogins;
  readonly #store: OAuthStore;
  readonly #pool: McpPool;
  readonly #threads = new Map<string, Loaded>();
  /** Approvals for good that were given in this process; those of earlier ones are in the configuration. */
  readonly #approved = new Set<string>();

  constructor(options: McpServicesOptions) {
    this.#options = options;
    this.#store = new OAuthStore(options.home);
    this.#pool = new McpPool(
      openTransport({
        processes: mcpProcesses(options.runner),
        auth: ({ transport }) => {
          const given = transport.type !== 'http' || Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization');
          return given ? undefined : storedLogin(this.#store, transport.url);
        },
      }),
      { cache: new CatalogueFiles(path.join(options.home, 'cache', 'mcp')) },
    );
    this.logins = new McpLogins({
      store: this.#store,
      sink: options.sink,
      tableOf: async (name, threadId) => this.find(name, threadId)?.plan.table ?? (await options.load()).config.mcp_servers?.[name],
      connected: () => this.reload(),
    });
  }

  forThread(host: ToolHost, loaded: LoadedConfig, load: () => Promise<LoadedConfig>): McpThread {
    const { sink } = this.#options;
    const { threadId } = host;
    const thread = new McpThread(this.#plans(loaded, host.settings().cwd), {
      pool: this.#pool,
      host,
      tell: (status) => sink.thread(threadId, 'mcpServer/startupStatus/updated', status),
      warn: (message) => sink.thread(threadId, 'warning', { threadId, message }),
      remember: this.#remember(loaded),
      closed: () => this.#threads.delete(threadId),
    });
    this.#threads.set(threadId, { thread, host, load });
    return thread;
  }

  /** Reads the configuration of every thread again and starts its servers anew; calls under way end at the old ones. */
  async reload(): Promise<void> {
    const fresh = await Promise.all(
      [...this.#threads].map(async ([threadId, { thread, host, load }]) => {
        try {
          return { thread, plans: this.#plans(await load(), host.settings().cwd) };
        } catch (error) {
          const message = `The MCP servers were not reloaded: ${messageOf(error)}`;
          this.#options.sink.thread(threadId, 'warning', { threadId, message });
          return null;
        }
      }),
    );
    this.#pool.retire();
    for (const one of fresh) one?.thread.reload(one.plans);
  }

  /** The servers that a thread has started. */
  namesOf(threadId: string): readonly string[] {
    return this.#threads.get(threadId)?.thread.names ?? [];
  }

  /** The server as a thread has it, or as any thread does. */
  find(name: string, threadId: string | null): { server: PooledServer; plan: McpServerPlan } | undefined {
    if (threadId !== null) return this.#threads.get(threadId)?.thread.find(name);
    const all = [...this.#threads.values()].flatMap(({ thread }) => thread.find(name) ?? []);
    return all.find(({ server }) => server.state.type === 'ready') ?? all[0];
  }

  /** A request of a client to a server; it needs no approval, since the client itself makes it. */
  async request(
    to: { name: string; threadId: string | null },
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const { name, threadId } = to;
    if (threadId !== null && !this.#threads.has(threadId)) throw unknownThread(threadId);
    const found = this.find(name, threadId);
    if (!found)
      throw invalidParams(
        `params.server: there is no MCP server ${JSON.stringify(name)}${threadId ? ' in this thread' : ' that a thread has started'}`,
      );
    if (method === 'tools/call' && !toolAllowed(found.plan.table, String(params.name)))
      throw invalidParams(`params.tool: ${String(params.name)} is switched off in the configuration of ${name}`);
    const host = threadId === null ? undefined : this.#threads.get(threadId)?.host;
    try {
      return await found.server.request(method, params, {
        signal,
        timeoutMs: found.plan.toolTimeoutMs,
        caller: {
          elicit: async (question, by) => {
            if (!host) return { action: 'decline', _meta: { reason: 'the request belongs to no thread' } };
            const { approvalPolicy } = host.settings();
            return forwardElicitation(host.frontend, name, { threadId: host.threadId, turnId: null, approvalPolicy }, question, by);
          },
        },
      });
    } catch (error) {
      throw invalidRequest(`${method} of the MCP server ${name} failed: ${messageOf(error)}`);
    }
  }

  loggedIn(url: string): boolean {
    return this.#store.get(url)?.tokens !== undefined;
  }

  closeAll(): Promise<void> {
    this.logins.cancelAll();
    return this.#pool.closeAll();
  }

  #plans({ config }: LoadedConfig, cwd: string): McpServerPlan[] {
    return mcpServerPlans(config, cwd, this.#options.env);
  }

  #remember({ origins }: LoadedConfig): Remember {
    // An approval goes to the user's file, so the server must be one that stands there: elsewhere its name may come to mean another.
    const isUsers = (server: string) =>
      ['command', 'url'].some((key) => origins.get(formatPath(['mcp_servers', server, key]))?.layer.kind === 'user');
    return {
      holds: (server, serverKey, tool) => this.#approved.has(approvalKey(server, serverKey, tool)),
      forServer: (server) => (isUsers(server) ? (serverKey, tool) => this.#keepApproval(server, serverKey, tool) : null),
    };
  }

  async #keepApproval(server: string, serverKey: string, tool: ToolDefinition): Promise<string | null> {
    this.#approved.add(approvalKey(server, serverKey, tool));
    const at = ['mcp_servers', server, 'tools', tool.name];
    try {
      await this.#options.writer.write({
        edits: [
          { keyPath: formatPath([...at, 'approval_mode']), value: 'approve', mergeStrategy: 'replace' },
          { keyPath: formatPath([...at, 'approved_digest']), value: tool.digest, mergeStrategy: 'replace' },
        ],
      });
      return null;
    } catch (error) {
      logger().warn({ server, tool: tool.name, error: messageOf(error) }, 'an approval could not be stored');
      return messageOf(error);
    }
  }
}
