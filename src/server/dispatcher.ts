// From a request to its handler: known method, handshake done, gates of the experimental surface, params that fit, then its place in
// the thread's order.
import { invalidRequest, RpcError } from '../common/errors.ts';
import { preview } from '../common/text.ts';
import { type ClientRequestMethod, clientRequests, isClientRequest, type RequestSpec } from '../protocol/methods.ts';
import type { ClientSession } from './client-session.ts';
import type { RequestContext } from './connection.ts';
import type { Handler, HandlerContext, Handlers } from './handler.ts';
import { paramsError } from './param-errors.ts';
import type { RequestQueue } from './request-queue.ts';

type Params = Record<string, unknown>;

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function gateExperimental(method: string, spec: RequestSpec, params: Params, client: ClientSession): void {
  if (client.identity?.experimental) return;
  if (spec.stability === 'experimental') throw invalidRequest(`${method} requires experimentalApi capability`);
  for (const field of spec.experimentalFields)
    if (isSet(params[field])) throw invalidRequest(`${method}.${field} requires experimentalApi capability`);
  const policy = params.approvalPolicy;
  if (typeof policy === 'object' && policy !== null) throw invalidRequest('askForApproval.granular requires experimentalApi capability');
}

const ON_FAILURE = {
  summary: 'approvalPolicy "on-failure" is read as "on-request"',
  details: 'A command that fails in the sandbox is not run again by itself; the model may ask for a run outside of it.',
};

function readParams(method: string, spec: RequestSpec, given: unknown, client: ClientSession): unknown {
  const params = modern(given ?? {}, client);
  const read = spec.params().safeParse(params);
  if (!read.success) throw paramsError(read.error, params);
  gateExperimental(method, spec, params as Params, client);
  return read.data;
}

/** An older value that is still understood, though the schemas no longer list it. A client is told once. */
function modern(params: unknown, client: ClientSession): unknown {
  if (typeof params !== 'object' || params === null || (params as Params).approvalPolicy !== 'on-failure') return params;
  client.deprecated(ON_FAILURE);
  return { ...params, approvalPolicy: 'on-request' };
}

/** What opens a thread, or puts it away, waits for no more of it than it needs. */
const OPENS: ReadonlySet<string> = new Set<ClientRequestMethod>([
  'thread/resume',
  'thread/unsubscribe',
  'thread/name/set',
  'thread/archive',
  'thread/delete',
]);

/** What changes the record of a thread and is there when the answer comes. Turns do so themselves, where it matters. */
const KEPT: ReadonlySet<string> = new Set<ClientRequestMethod>([
  'thread/name/set',
  'thread/metadata/update',
  'thread/settings/update',
  'thread/revert',
  'thread/rollback',
  'thread/goal/set',
  'thread/goal/clear',
  'thread/queue/update',
  'thread/queue/delete',
  'thread/queue/reorder',
]);

export interface DispatchedThreads {
  /** Resolves when a thread can serve requests. */
  ready(threadId: string): Promise<void> | undefined;
  /** Resolves when what was recorded of a thread is with the operating system: what is answered for outlives this process. */
  kept(threadId: string): Promise<void> | undefined;
}

export class Dispatcher {
  readonly #handlers: Handlers;
  readonly #queue: RequestQueue;
  readonly #threads: DispatchedThreads;

  constructor(handlers: Handlers, queue: RequestQueue, threads: DispatchedThreads) {
    this.#handlers = handlers;
    this.#queue = queue;
    this.#threads = threads;
  }

  /** Serves one request. Rejects with an RpcError, or with whatever a handler threw. */
  async dispatch(client: ClientSession, method: string, given: unknown, context: RequestContext): Promise<unknown> {
    if (!isClientRequest(method)) throw new RpcError('methodNotFound', `method not found: ${preview(method, 120)}`);
    const spec: RequestSpec = clientRequests[method];
    if (spec.scope !== 'connection' && !client.identity) throw invalidRequest('Not initialized: the first request must be initialize');
    const params = readParams(method, spec, given, client);
    const handler = this.#handlers[method] as Handler<ClientRequestMethod>;
    const handlerContext: HandlerContext = { client, signal: context.signal, after: (task) => context.afterResponse(task) };
    // The handshake is served at once, so that requests sent behind it find it done.
    if (spec.scope === 'connection') return handler(params as never, handlerContext);
    const threadId = spec.scope === 'thread' ? (params as Params).threadId : undefined;
    if (typeof threadId !== 'string') return this.#queue.run(undefined, async () => handler(params as never, handlerContext));
    return this.#queue.run(threadId, async () => {
      if (!OPENS.has(method)) await this.#threads.ready(threadId);
      const result = await handler(params as never, handlerContext);
      if (KEPT.has(method)) await this.#threads.kept(threadId);
      return result;
    });
  }
}
