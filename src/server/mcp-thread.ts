// The MCP servers of one thread: its leases in the pool, what the client is told of them, and the tools that the next step offers.
import { timerMs } from '../common/clock.ts';
import { RpcError } from '../common/errors.ts';
import { namespaceOf } from '../mcp/names.ts';
import type { Lease, McpPool } from '../mcp/pool.ts';
import type { PooledServer, ServerState } from '../mcp/server.ts';
import type { NotificationParams } from '../protocol/methods.ts';
import type { ToolHost } from '../session/thread-tools.ts';
import type { ModelAbilities } from '../tools/plan.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { mcpResourceTools } from '../tools/runtimes/mcp-resources.ts';
import type { McpServerPlan } from './mcp-specs.ts';
import { type OfferAbilities, type OfferedTools, offerTools, type Remember } from './mcp-tools.ts';

export type StartupStatus = NotificationParams<'mcpServer/startupStatus/updated'>;

export interface McpThreadPorts {
  pool: McpPool;
  host: ToolHost;
  tell(status: StartupStatus): void;
  warn(message: string): void;
  remember: Remember;
  closed(): void;
}

/** A configured server as this thread has it. */
interface Held {
  readonly plan: McpServerPlan;
  /** Null for a table that is of no use. */
  readonly lease: Lease | null;
  readonly unobserve: () => void;
  offered: OfferedTools | null;
}

/** The first step waits this long for servers that are still coming up; a step that names one waits longer. */
const FIRST_WAIT_MS = 1_000;
const NAMED_WAIT_MS = 15_000;
const CHANGE_WAIT_MS = 500;

const NO_TOOLS: readonly ToolRuntime[] = [];

export class McpThread {
  readonly #ports: McpThreadPorts;
  #plans: readonly McpServerPlan[];
  /** By name, in the order of the tables; empty until the servers are started. */
  #held = new Map<string, Held>();
  #begun = false;
  #closed = false;
  /** What the thread requires was up once; what happens to it later fails calls, not the thread. */
  #requiredUp = false;
  /** Statuses that came before the client knew the thread; null from then on. */
  #untold: StartupStatus[] | null = [];
  #firstStep = true;
  /** The last list; its identity stays while its parts do. */
  #list: { parts: readonly unknown[]; tools: readonly ToolRuntime[] } = { parts: [], tools: NO_TOOLS };
  #resourceTools: readonly ToolRuntime[] | null = null;
  readonly #warned = new Set<string>();

  constructor(plans: readonly McpServerPlan[], ports: McpThreadPorts) {
    this.#plans = plans;
    this.#ports = ports;
  }

  /** Starts what the thread requires, and waits for it. */
  async started(): Promise<void> {
    const required = this.#plans.filter(({ table }) => table.required);
    if (required.length === 0 || this.#requiredUp) return;
    this.#begin();
    const problems = await Promise.all(required.map((plan) => this.#problemOf(plan)));
    const failed = required.flatMap(({ name }, i) => (problems[i] === null ? [] : [`${name}: ${problems[i]}`]));
    if (failed.length) throw new RpcError('internal', `required MCP servers failed to start: ${failed.join('; ')}`);
    this.#requiredUp = true;
  }

  announced(): void {
    // Starting processes and loading the client takes a while: the answer that announces the thread is on its way first.
    setImmediate(() => this.#begin());
    const untold = this.#untold ?? [];
    this.#untold = null;
    for (const status of untold) this.#ports.tell(status);
  }

  async ready(text: string, signal: AbortSignal): Promise<void> {
    this.#begin();
    const first = this.#firstStep;
    this.#firstStep = false;
    const waits: Promise<void>[] = [];
    for (const { plan, lease } of this.#held.values()) {
      if (!lease) continue;
      const { server } = lease;
      if (server.state.type === 'ready') waits.push(server.settled(within(CHANGE_WAIT_MS, signal)));
      else if (server.state.type !== 'starting') continue;
      else if (mentions(text, plan.name)) waits.push(server.settled(within(NAMED_WAIT_MS, signal)));
      else if (first && server.catalogue === null) waits.push(server.settled(within(FIRST_WAIT_MS, signal)));
    }
    await Promise.all(waits);
  }

  tools(abilities: ModelAbilities): readonly ToolRuntime[] {
    if (this.#held.size === 0) return NO_TOOLS;
    const forModel: OfferAbilities = { canDefer: abilities.toolSearch && abilities.namespaces, namespaces: abilities.namespaces };
    const parts = [...this.#held.values()].map((held) => this.#offer(held, forModel));
    if (parts.length === this.#list.parts.length && parts.every((part, i) => part === this.#list.parts[i])) return this.#list.tools;
    this.#resourceTools ??= mcpResourceTools({
      names: () => [...this.#held].filter(([, { lease }]) => lease).map(([name]) => name),
      find: (name) => this.find(name),
      frontend: this.#ports.host.frontend,
    });
    const tools = [...this.#resourceTools, ...parts.flatMap((part) => part?.runtimes ?? [])];
    this.#list = { parts, tools };
    return tools;
  }

  get names(): readonly string[] {
    this.#begin();
    return [...this.#held.keys()];
  }

  find(name: string): { server: PooledServer; plan: McpServerPlan; timeoutMs: number } | undefined {
    this.#begin();
    const held = this.#held.get(name);
    return held?.lease ? { server: held.lease.server, plan: held.plan, timeoutMs: held.plan.toolTimeoutMs } : undefined;
  }

  /** Takes another configuration over: new leases first, so that what both have keeps running. */
  reload(plans: readonly McpServerPlan[]): void {
    this.#plans = plans;
    if (!this.#begun || this.#closed) return;
    const before = [...this.#held.values()];
    for (const held of before) held.unobserve();
    this.#hold();
    for (const { lease } of before) lease?.release();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { plan, lease, unobserve } of this.#held.values()) {
      unobserve();
      if (lease?.server.state.type === 'starting') this.#tell(plan.name, 'cancelled', 'the thread was closed');
      lease?.release();
    }
    this.#held.clear();
    this.#ports.closed();
  }

  #begin(): void {
    if (this.#begun || this.#closed) return;
    this.#begun = true;
    this.#hold();
  }

  #hold(): void {
    const { pool, host } = this.#ports;
    this.#held = new Map();
    for (const plan of this.#plans) {
      this.#tell(plan.name, 'starting', null);
      if (!plan.spec) {
        this.#held.set(plan.name, { plan, lease: null, unobserve: () => {}, offered: null });
        this.#tell(plan.name, 'failed', plan.problem);
        continue;
      }
      const lease = pool.acquire(plan.spec, host.settings().cwd);
      const unobserve = lease.server.observe({ onState: (state) => this.#tellState(plan.name, state) });
      this.#held.set(plan.name, { plan, lease, unobserve, offered: null });
      if (lease.server.state.type !== 'starting') this.#tellState(plan.name, lease.server.state);
    }
  }

  #offer(held: Held, abilities: OfferAbilities): OfferedTools | null {
    const catalogue = held.lease?.server.catalogue;
    if (!held.lease || !catalogue) return null;
    if (held.offered?.catalogue === catalogue && sameAbilities(held.offered.abilities, abilities)) return held.offered;
    const { server } = held.lease;
    const { host, remember } = this.#ports;
    held.offered = offerTools(held.plan, catalogue, { server, frontend: host.frontend, abilities, remember });
    for (const warning of held.offered.warnings) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      this.#ports.warn(warning);
    }
    return held.offered;
  }

  async #problemOf({ name, spec, problem }: McpServerPlan): Promise<string | null> {
    const server = this.#held.get(name)?.lease?.server;
    if (!spec || !server) return problem ?? 'it was not started';
    await server.settled(AbortSignal.timeout(timerMs(spec.startupTimeoutMs + 2_000)));
    const { state } = server;
    if (state.type === 'ready') return null;
    return state.type === 'failed' || state.type === 'down' ? state.error : 'it did not become ready in time';
  }

  #tellState(name: string, state: ServerState): void {
    switch (state.type) {
      case 'starting':
      case 'ready':
        this.#tell(name, state.type, null);
        return;
      case 'failed':
        this.#tell(name, 'failed', state.error, state.needsLogin);
        return;
      case 'down':
        this.#tell(name, 'failed', `${state.error}; it is started again at the next call`);
        return;
      case 'closed':
        this.#tell(name, 'cancelled', 'it was stopped');
    }
  }

  #tell(name: string, status: StartupStatus['status'], error: string | null, needsLogin = false): void {
    const { threadId } = this.#ports.host;
    const failureReason = needsLogin ? ('reauthenticationRequired' as const) : null;
    const params: StartupStatus = { threadId, name, environmentId: null, status, error, failureReason };
    if (this.#untold) this.#untold.push(params);
    else this.#ports.tell(params);
  }
}

const sameAbilities = (a: OfferAbilities, b: OfferAbilities): boolean => a.canDefer === b.canDefer && a.namespaces === b.namespaces;

const within = (ms: number, signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(timerMs(ms))]);

/** `$name`, or the namespace that the model knows it by. */
const mentions = (text: string, name: string): boolean => text.includes(`$${name}`) || text.includes(namespaceOf(name));
