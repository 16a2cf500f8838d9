// Who hears what: events of a thread go to the clients that listen to it, events about threads as such to every client that has
// shaken hands. Requests to the frontend go to the listeners of their thread, and are sent again to one that joins.
import type {
  NotificationParams,
  ServerNotificationMethod,
  ServerRequestMethod,
  ServerRequestParams,
  ServerRequestResult,
} from '../protocol/methods.ts';
import { serverRequests } from '../protocol/methods.ts';
import type { EventSink, FrontendRequests } from '../session/ports.ts';
import type { FrontendRequest } from '../tools/events.ts';
import type { ClientSession } from './client-session.ts';
import { answerProblem } from './param-errors.ts';
import type { ReverseRequests } from './reverse-requests.ts';

export class Subscriptions implements EventSink, FrontendRequests {
  readonly #clients = new Set<ClientSession>();
  readonly #reverse: ReverseRequests;

  constructor(reverse: ReverseRequests) {
    this.#reverse = reverse;
  }

  add(client: ClientSession): void {
    this.#clients.add(client);
  }

  remove(client: ClientSession): void {
    this.#clients.delete(client);
  }

  isHeard(threadId: string): boolean {
    for (const client of this.#clients) if (client.subscriptions.has(threadId)) return true;
    return false;
  }

  /** Whoever listens to one thread listens to another one, too. */
  join(threadId: string, another: string): void {
    for (const client of this.#clients) if (client.subscriptions.has(threadId)) client.subscriptions.add(another);
  }

  /** Nobody listens to a thread that was put away. */
  drop(threadId: string): void {
    for (const client of this.#clients) client.subscriptions.delete(threadId);
  }

  thread<M extends ServerNotificationMethod>(threadId: string, method: M, params: NotificationParams<M>): void {
    for (const client of this.#clients) if (client.subscriptions.has(threadId)) client.notify(method, params);
  }

  all<M extends ServerNotificationMethod>(method: M, params: NotificationParams<M>): void {
    for (const client of this.#clients) if (client.identity) client.notify(method, params);
  }

  open<M extends ServerRequestMethod>(
    thread: { threadId: string; turnId: string },
    method: M,
    params: ServerRequestParams<M>,
    onResolved: () => void,
  ): FrontendRequest<ServerRequestResult<M>> {
    return this.#reverse.open<ServerRequestResult<M>>({
      ...thread,
      method,
      params,
      parse: (result) => {
        const read = serverRequests[method].result().safeParse(result);
        return read.success
          ? { ok: true, value: read.data as ServerRequestResult<M> }
          : { ok: false, problem: answerProblem(read.error, result) };
      },
      send: (id) => {
        for (const client of this.#clients)
          if (client.subscriptions.has(thread.threadId)) client.connection.sendRequest(id, method, params);
      },
      onResolved: (requestId) => {
        this.thread(thread.threadId, 'serverRequest/resolved', { threadId: thread.threadId, requestId });
        onResolved();
      },
    });
  }

  /** Sends what waits in a thread again, with the same ids, to a client that joined it. */
  replay(client: ClientSession, threadId: string): void {
    for (const pending of this.#reverse.pendingOf(threadId)) client.connection.sendRequest(pending.id, pending.method, pending.params);
  }
}
