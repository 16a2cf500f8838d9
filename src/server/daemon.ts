// The composition root: every port is wired here, once. It owns the end of the process, too: whoever asks first, everything pending is
// settled, turns are interrupted, children ended, and what was said is flushed.
import { Deferred } from '../common/deferred.ts';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { ConfigWriter } from '../config/edit.ts';
import { ensureHome } from '../config/home.ts';
import { warningNotification } from '../config/read.ts';
import { SkillCatalog } from '../session/skill-catalog.ts';
import { SkillReader } from '../session/skills.ts';
import { ThreadManager } from '../session/thread-manager.ts';
import { ClientSession } from './client-session.ts';
import { Connection, type EndReason } from './connection.ts';
import { Dispatcher } from './dispatcher.ts';
import { ExecServices } from './exec-services.ts';
import { ExtensionServices } from './extension-services.ts';
import { FeatureSwitches } from './features.ts';
import type { Handlers } from './handler.ts';
import { accountHandlers, storedApiKey } from './handlers/account.ts';
import { catalogHandlers } from './handlers/catalog.ts';
import { configHandlers } from './handlers/config.ts';
import { diagnosticsHandlers } from './handlers/diagnostics.ts';
import { goalHandlers } from './handlers/goal.ts';
import { type HostHandlers, hostHandlers } from './handlers/host.ts';
import { initializeHandlers } from './handlers/initialize.ts';
import { mcpHandlers, mcpServerStatus } from './handlers/mcp.ts';
import { queueHandlers } from './handlers/queue.ts';
import { reviewHandlers } from './handlers/review.ts';
import { switchHandlers } from './handlers/switches.ts';
import { terminalHandlers } from './handlers/terminals.ts';
import { threadHistoryHandlers } from './handlers/thread-history.ts';
import { threadSearchHandlers } from './handlers/thread-search.ts';
import { threadHandlers } from './handlers/threads.ts';
import { turnHandlers } from './handlers/turns.ts';
import { HookServices } from './hook-services.ts';
import type { ListenAddress, Listener } from './listen.ts';
import { McpServices } from './mcp-services.ts';
import { ModelClients } from './model-source.ts';
import { RequestQueue } from './request-queue.ts';
import { ReverseRequests } from './reverse-requests.ts';
import { Subscriptions } from './subscriptions.ts';
import { type ConfigSource, configFor, type SetupPorts, setupThread } from './thread-setup.ts';
import { ThreadToolbox } from './thread-toolbox.ts';
import type { Transport } from './transport.ts';

export interface DaemonOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  overrides: readonly string[];
  profile: string | null;
}

/** How long the requests that came before the end of input may still take. */
const DRAIN_MS = 600;
const CHILD_GRACE_MS = 400;
const FLUSH_MS = 500;
/** After the handshake. */
const WARNINGS_AFTER_MS = 250;
/** Nothing may hold the exit longer than this. */
const SHUTDOWN_MS = 1_800;

const atMost = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    work.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
  });

export class Daemon {
  readonly #features = new FeatureSwitches();
  readonly #source: ConfigSource;
  readonly #reverse = new ReverseRequests();
  readonly #subscriptions = new Subscriptions(this.#reverse);
  readonly #queue = new RequestQueue();
  readonly #clients: ModelClients;
  readonly #exec: ExecServices;
  readonly #hooks: HookServices;
  readonly #extensions: ExtensionServices;
  readonly #mcp: McpServices;
  readonly #skills: SkillCatalog;
  readonly #threads: ThreadManager;
  readonly #host: HostHandlers;
  readonly #dispatcher: Dispatcher;
  readonly #sessions = new Set<ClientSession>();
  /** Warnings that were shown; each is shown once. */
  readonly #warned = new Set<string>();
  #ending: Promise<void> | null = null;
  #listener: Listener | null = null;
  #exit: (code: number) => void = () => {};
  readonly #over = new Deferred<void>();

  constructor(options: DaemonOptions) {
    ensureHome(options.home);
    this.#source = { ...options, features: this.#features };
    this.#clients = new ModelClients(() => storedApiKey(options.home), options.env);
    this.#exec = new ExecServices({ home: options.home, env: options.env });
    this.#hooks = new HookServices({
      home: options.home,
      env: options.env,
      runner: this.#exec.runner,
      shell: () => this.#exec.shell(),
      sink: this.#subscriptions,
    });
    this.#mcp = new McpServices({
      home: options.home,
      load: () => configFor(this.#source, null, null),
      env: options.env,
      runner: this.#exec.runner,
      sink: this.#subscriptions,
      writer: new ConfigWriter(options),
    });
    this.#extensions = new ExtensionServices(this.#subscriptions);
    const toolbox = new ThreadToolbox(this.#exec, this.#hooks, options.home, { traces: options.env.HARNESSD_TRACE === '1' });
    this.#skills = new SkillCatalog(options.home, new SkillReader(options.home), () => this.#subscriptions.all('skills/changed', {}));
    const setup: SetupPorts = {
      source: this.#source,
      clients: this.#clients,
      toolbox,
      hooks: this.#hooks,
      mcp: this.#mcp,
      extensions: this.#extensions,
      skills: this.#skills,
      warn: (warnings) => this.#tellWarnings(warnings.map(warningNotification)),
    };
    this.#threads = new ThreadManager({
      home: options.home,
      sink: this.#subscriptions,
      frontends: this.#subscriptions,
      isHeard: (threadId) => this.#subscriptions.isHeard(threadId),
      left: (threadId) => this.#subscriptions.drop(threadId),
      joined: (parentId, thread, isNew) => {
        this.#subscriptions.join(parentId, thread.id);
        if (!isNew) return;
        this.#subscriptions.all('thread/started', { thread: thread.view() });
        thread.tools.announced();
      },
      shellName: this.#exec.shellName,
      setup: (cwd, thread) => setupThread(setup, cwd, thread),
    });
    this.#host = hostHandlers(this.#exec.forClients((cwd) => configFor(this.#source, cwd, null)));
    this.#dispatcher = new Dispatcher(this.#handlers(options), this.#queue, {
      ready: (threadId) => this.#threads.find(threadId)?.whole(),
      kept: (threadId) => this.#threads.find(threadId)?.log.flush(),
    });
  }

  #handlers(options: DaemonOptions): Handlers {
    const threads = this.#threads;
    const load = (cwd: string | null) => configFor(this.#source, cwd, null);
    return {
      ...initializeHandlers({ home: options.home, onReady: (client) => this.#ready(client) }),
      ...threadHandlers({ threads, subscriptions: this.#subscriptions }),
      ...threadHistoryHandlers(threads),
      ...threadSearchHandlers(threads),
      ...turnHandlers(threads),
      ...reviewHandlers(threads),
      ...queueHandlers(threads),
      ...goalHandlers(threads),
      ...terminalHandlers(threads),
      ...this.#host.handlers,
      ...configHandlers({ source: this.#source, reloadMcpServers: () => this.#mcp.reload() }),
      ...mcpHandlers(this.#mcp),
      ...catalogHandlers({
        home: options.home,
        load,
        skills: (loaded) => this.#skills.scan(loaded),
        hooks: async (cwd) => {
          const loaded = await load(cwd);
          return this.#hooks.list(loaded, await this.#extensions.runningHooks(loaded));
        },
        mcpServerNames: (threadId) => this.#mcp.namesOf(threadId),
        mcpServer: (name, threadId) => mcpServerStatus(this.#mcp, name, threadId),
      }),
      ...switchHandlers({
        features: this.#features,
        writer: new ConfigWriter(options),
        load,
        skills: (loaded) => this.#skills.scan(loaded),
        skillsChanged: () => this.#subscriptions.all('skills/changed', {}),
      }),
      ...accountHandlers({
        home: options.home,
        load: () => load(null),
        changed: (authMode) => this.#subscriptions.all('account/updated', { authMode, planType: null }),
      }),
      ...diagnosticsHandlers({
        requestsInFlight: () => this.#queue.inFlight,
        loadedThreads: () => threads.loaded.length,
        activeTurns: () => threads.loaded.filter((thread) => thread.activeTurnId !== null).length,
        pendingServerRequests: () => this.#reverse.size,
      }),
    };
  }

  /** What a client is told once it has shaken hands: what is wrong with the configuration or the machine. */
  #ready(client: ClientSession): void {
    // Looking costs more than the handshake: the answer goes out first.
    const tell = () => {
      if (this.#ending) return;
      void this.#startupWarnings().then((warnings) => {
        for (const warning of warnings) client.notify('configWarning', warning);
      });
    };
    setTimeout(tell, WARNINGS_AFTER_MS).unref();
  }

  async #startupWarnings(): Promise<ReturnType<typeof warningNotification>[]> {
    const found: ReturnType<typeof warningNotification>[] = [];
    try {
      const { warnings } = await configFor(this.#source, process.cwd(), null);
      found.push(...warnings.map(warningNotification));
    } catch (error) {
      found.push({ summary: messageOf(error), details: null });
    }
    const sandbox = await this.#exec.sandboxWarning();
    if (sandbox) found.push({ summary: sandbox, details: null });
    return this.#fresh(found);
  }

  #fresh(found: ReturnType<typeof warningNotification>[]): ReturnType<typeof warningNotification>[] {
    const fresh = found.filter(({ summary }) => !this.#warned.has(summary));
    for (const { summary } of fresh) this.#warned.add(summary);
    return fresh;
  }

  /** What is wrong with the configuration of a folder shows when a thread begins there. */
  #tellWarnings(found: ReturnType<typeof warningNotification>[]): void {
    for (const warning of this.#fresh(found)) this.#subscriptions.all('configWarning', warning);
  }

  /** Serves one client until it leaves. The owner of the daemon's life takes it along when it goes; a guest does not. */
  serve(transport: Transport, role: 'owner' | 'guest' = 'owner'): void {
    let session: ClientSession | null = null;
    const connection = new Connection(transport, {
      onRequest: (method, params, context) => this.#dispatcher.dispatch(session as ClientSession, method, params, context),
      onNotification: () => {},
      onResponse: (message) => this.#reverse.settle(message.id, message),
      onEnd: (reason) => void this.#clientGone(session as ClientSession, reason, role),
      onOmitted: (threadId) => {
        const id = typeof threadId === 'string' ? threadId : undefined;
        (session as ClientSession).notify('warning', {
          message: 'The client reads too slowly: parts of running output were left out of the deltas.',
          threadId: id ?? null,
        });
      },
    });
    session = new ClientSession(connection);
    this.#sessions.add(session);
    this.#subscriptions.add(session);
  }

  async #clientGone(session: ClientSession, reason: EndReason, role: 'owner' | 'guest'): Promise<void> {
    logger().info({ reason, role }, 'the client is gone');
    if (reason.type === 'inputEnded') await session.connection.drain(DRAIN_MS);
    if (role === 'owner') return this.shutdown();
    // Turns go on, and what waits for an answer waits for whoever comes next.
    this.#sessions.delete(session);
    this.#subscriptions.remove(session);
    session.connection.close();
    this.#threads.listenersChanged(session.subscriptions);
    // What it ran for itself, watched and searched was its own.
    await this.#host.endClient(session);
  }

  /** Listens on a socket or port besides, or instead of, stdio. Gives the address. */
  async listen(address: Exclude<ListenAddress, { type: 'stdio' }>, env: NodeJS.ProcessEnv): Promise<string> {
    const accept = (transport: Transport) => this.serve(transport, 'guest');
    if (address.type === 'unix') {
      const { listenUnix } = await import('./listen.ts');
      this.#listener = await listenUnix(address.path, accept);
      return this.#listener.url;
    }
    const { bearerToken, listenWs } = await import('./listen-ws.ts');
    const { token, source } = bearerToken(this.#source.home, env);
    this.#listener = await listenWs(address, token, accept);
    return `${this.#listener.url} (bearer token: ${source})`;
  }

  onExit(exit: (code: number) => void): void {
    this.#exit = exit;
  }

  /** Ends everything and then the process, with status 0, within two seconds. The first call decides. */
  shutdown(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.#listener?.close();
    await atMost(SHUTDOWN_MS, this.#settleAll());
    await Promise.all([...this.#sessions].map(({ connection }) => atMost(FLUSH_MS, connection.flush(FLUSH_MS))));
    for (const { connection } of this.#sessions) connection.close();
    // On a machine too busy for the time above, what still runs is killed: nothing outlives the daemon.
    this.#exec.killAll();
    this.#exit(0);
    this.#over.resolve();
  }

  /** Settles when everything has ended, whoever asked for it. */
  get ended(): Promise<void> {
    return this.#over.promise;
  }

  async #settleAll(): Promise<void> {
    this.#reverse.cancelAll(() => true, 'the frontend is gone');
    // Hooks at the end of a thread are processes and functions too: what runs them ends after the threads.
    const threads = this.#threads.closeAll().then(() => Promise.all([this.#exec.endAll(CHILD_GRACE_MS), this.#extensions.close()]));
    await Promise.all([threads, this.#host.endAll(), this.#mcp.closeAll()]);
    this.#clients.close();
    this.#skills.close();
  }
}
