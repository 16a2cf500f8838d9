// One server of the pool: started in the background, listed, kept current, started again after a crash. The only writer of its state.
import { timerMs } from '../common/clock.ts';
import { Deferred } from '../common/deferred.ts';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { type Catalogue, listAll, readCatalogue } from './catalogue.ts';
import type { CatalogueCache } from './catalogue-cache.ts';
import { connectClient, type Json, type McpClient } from './client.ts';
import { CallDeadline } from './deadline.ts';
import { McpFailure } from './errors.ts';
import { type Caller, InFlightCalls } from './in-flight.ts';
import { ListRefresh } from './list-refresh.ts';
import type { ServerSpec } from './server-spec.ts';
import type { OpenTransport } from './transport-port.ts';

export type ServerState =
  | { readonly type: 'starting' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: string; readonly needsLogin: boolean }
  /** It was up and is gone; the next call starts it again. */
  | { readonly type: 'down'; readonly error: string }
  | { readonly type: 'closed' };

export interface ServerObserver {
  onState(state: ServerState): void;
}

export interface CallOptions {
  caller: Caller;
  timeoutMs: number;
  signal: AbortSignal;
  onProgress?(message: string): void;
}

export interface ServerPorts {
  open: OpenTransport;
  cache: CatalogueCache;
  roots(): { uri: string; name: string }[];
}

/** Crashes within this time that are followed by another start; a server that dies faster than that stays down. */
const RESTART_WINDOW_MS = 60_000;
const MAX_RESTARTS = 10;

const aborted = () => new McpFailure('cancelled', 'the call was cancelled');

export class PooledServer {
  readonly key: string;
  readonly #spec: ServerSpec;
  readonly #open: OpenTransport;
  readonly #cache: CatalogueCache;
  readonly #roots: () => { uri: string; name: string }[];
  readonly #observers = new Set<ServerObserver>();
  readonly #calls = new InFlightCalls();
  readonly #refresh: ListRefresh;
  /** Aborted by `close` only. */
  readonly #closing = new AbortController();
  #state: ServerState = { type: 'starting' };
  /** Set exactly while the state is `ready`. */
  #client: McpClient | null = null;
  /** The last one known; kept while the server is down, and taken from the cache until the server has told its own. */
  #catalogue: Catalogue | null;
  #heard = false;
  /** Settled when the start under way has ended, in whatever way. */
  #start = new Deferred<void>();
  #restarts: number[] = [];

  constructor(key: string, spec: ServerSpec, ports: ServerPorts) {
    this.key = key;
    this.#spec = spec;
    this.#open = ports.open;
    this.#cache = ports.cache;
    this.#catalogue = ports.cache.load(key);
    this.#roots = ports.roots;
    this.#refresh = new ListRefresh(() => this.#readAgain());
    void this.#run();
  }

  get state(): ServerState {
    return this.#state;
  }

  get catalogue(): Catalogue | null {
    return this.#catalogue;
  }

  get busy(): boolean {
    return this.#calls.size > 0;
  }

  observe(observer: ServerObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Resolves when it is no longer starting and its list is current. The signal ends the wait. */
  async settled(signal: AbortSignal): Promise<void> {
    if (this.#state.type === 'starting') await untilAborted(this.#start.promise, signal);
    if (this.#state.type === 'ready' && this.#refresh.pending) await untilAborted(this.#refresh.settled(), signal);
  }

  /** Resolves when it is connected; one that is down is started again. Rejects with McpFailure. */
  async up(signal: AbortSignal): Promise<void> {
    await this.#usable(signal);
  }

  /** Calls a method. A server that is down is started again, once for each time that it went down. Rejects with McpFailure. */
  async request(method: string, params: Json, options: CallOptions): Promise<Json> {
    const client = await this.#usable(options.signal);
    const ending = new AbortController();
    let timedOut = false;
    const deadline = new CallDeadline(options.timeoutMs, () => {
      timedOut = true;
      ending.abort(`no answer within ${options.timeoutMs} ms`);
    });
    const onAbort = () => ending.abort('the user interrupted the call');
    options.signal.addEventListener('abort', onAbort, { once: true });
    const over = new AbortController();
    const landed = this.#calls.add({ caller: options.caller, deadline, signal: AbortSignal.any([ending.signal, over.signal]) });
    try {
      if (options.signal.aborted) throw aborted();
      return await client.request(method, params, {
        signal: ending.signal,
        onProgress: ({ progress, total, message }) => {
          deadline.progressed();
          options.onProgress?.(message ?? (total === undefined ? `${progress ?? ''}` : `${progress ?? 0}/${total}`));
        },
      });
    } catch (error) {
      if (timedOut) throw new McpFailure('timeout', `timed out: no answer within ${options.timeoutMs / 1000} s (tool_timeout_sec)`);
      if (options.signal.aborted) throw aborted();
      throw this.#failureOf(error, client);
    } finally {
      landed();
      over.abort();
      deadline.stop();
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Lists in pages; used for resources. */
  async list(method: string, member: string, signal: AbortSignal): Promise<unknown[]> {
    const client = await this.#usable(signal);
    try {
      return await listAll(client, method, member, signal);
    } catch (error) {
      throw this.#failureOf(error, client);
    }
  }

  get capabilities(): Json {
    return this.#catalogue?.server.capabilities ?? {};
  }

  rootsChanged(): void {
    void this.#client?.notify('notifications/roots/list_changed').catch(() => {});
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#enter({ type: 'closed' });
    this.#start.resolve();
    const client = this.#client;
    this.#client = null;
    this.#refresh.stop();
    await client?.close().catch(() => {});
  }

  async #usable(signal: AbortSignal): Promise<McpClient> {
    for (;;) {
      if (signal.aborted) throw aborted();
      switch (this.#state.type) {
        case 'starting':
          await untilAborted(this.#start.promise, signal);
          continue;
        case 'ready':
          if (this.#client) return this.#client;
          throw new McpFailure('startup', 'it is not connected');
        case 'failed':
          throw new McpFailure('startup', `it could not be started: ${this.#state.error}`);
        case 'closed':
          throw new McpFailure('startup', 'it was stopped');
        case 'down':
          this.#restart(this.#state.error);
      }
    }
  }

  #restart(why: string): void {
    const now = Date.now();
    this.#restarts = [...this.#restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.#restarts.length > MAX_RESTARTS) {
      this.#enter({ type: 'failed', error: `it ended ${MAX_RESTARTS} times within a minute (${why})`, needsLogin: false });
      return;
    }
    this.#start = new Deferred();
    this.#enter({ type: 'starting' });
    void this.#run();
  }

  async #run(): Promise<void> {
    const { startupTimeoutMs } = this.#spec;
    const limit = AbortSignal.timeout(Math.min(startupTimeoutMs, 2 ** 31 - 1));
    const signal = AbortSignal.any([limit, this.#closing.signal]);
    let up: McpClient | null = null;
    try {
      up = await this.#connect(signal);
      const catalogue = await readCatalogue(up, this.#catalogue, signal);
      if (this.#closing.signal.aborted) throw aborted();
      this.#client = up;
      this.#keep(catalogue);
      this.#enter({ type: 'ready' });
    } catch (error) {
      await up?.close().catch(() => {});
      if (this.#closing.signal.aborted) return;
      if (!this.#heard) this.#catalogue = null;
      const why = limit.aborted
        ? `timed out: it was not ready within ${startupTimeoutMs / 1000} s; a larger startup_timeout_sec for it gives it more time`
        : messageOf(error);
      this.#enter({ type: 'failed', error: why, needsLogin: needsLogin(error) });
    } finally {
      this.#start.resolve();
    }
  }

  #keep(catalogue: Catalogue): void {
    if (!this.#heard || catalogue !== this.#catalogue) void this.#cache.save(this.key, catalogue);
    this.#heard = true;
    this.#catalogue = catalogue;
  }

  async #connect(signal: AbortSignal): Promise<McpClient> {
    const transport = await this.#open(this.#spec);
    let client: McpClient | null = null;
    const onAbort = () => void transport.close().catch(() => {});
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      client = await connectClient(transport, {
        signal,
        requests: { elicit: (params, by) => this.#calls.elicit(params, by), roots: this.#roots },
        onNotification: (method) => {
          if (method === 'notifications/tools/list_changed') this.#refresh.request();
        },
        onClosed: () => {
          if (client && client === this.#client) this.#lost(transport.endReason ?? 'the connection was closed');
        },
        onFault: (error) => logger().debug({ server: this.#spec.name, error: error.message }, 'a message of an MCP server was odd'),
      });
      return client;
    } catch (error) {
      // What the process says of its end tells more than "connection closed".
      throw transport.endReason && !signal.aborted ? new Error(transport.endReason, { cause: error }) : error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #lost(reason: string): void {
    this.#client = null;
    if (this.#state.type === 'ready') this.#enter({ type: 'down', error: reason });
  }

  #failureOf(error: unknown, client: McpClient): McpFailure {
    if (this.#client !== client) {
      const why = this.#state.type === 'down' ? `: ${this.#state.error}` : '';
      return new McpFailure('lost', `the connection to the server was lost${why}`);
    }
    if (sessionGone(error)) {
      this.#lost('the server no longer knows the session');
      return new McpFailure('lost', 'the connection to the server was lost: it no longer knows the session');
    }
    return new McpFailure('answered', messageOf(error));
  }

  async #readAgain(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const signal = AbortSignal.any([AbortSignal.timeout(timerMs(this.#spec.startupTimeoutMs)), this.#closing.signal]);
    try {
      const next = await readCatalogue(client, this.#catalogue, signal);
      if (client === this.#client) this.#keep(next);
    } catch (error) {
      logger().warn({ server: this.#spec.name, error: messageOf(error) }, 'the changed tool list of an MCP server could not be read');
    }
  }

  #enter(state: ServerState): void {
    this.#state = state;
    for (const observer of [...this.#observers]) observer.onState(state);
  }
}

const statusOf = (error: unknown): unknown => (typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined);
const sessionGone = (error: unknown): boolean => statusOf(error) === 404;
const needsLogin = (error: unknown): boolean => statusOf(error) === 401 || (error instanceof Error && error.name === 'UnauthorizedError');

function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
    work.then(done, done);
  });
}
