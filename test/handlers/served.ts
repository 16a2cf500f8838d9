// A client in front of a real dispatcher and connection, with only the handlers under test behind them.
import { onTestFinished } from 'vitest';
import { type ClientRequestMethod, clientRequests } from '../../src/protocol/methods.ts';
import { ClientSession } from '../../src/server/client-session.ts';
import { Connection } from '../../src/server/connection.ts';
import { Dispatcher } from '../../src/server/dispatcher.ts';
import type { Handlers } from '../../src/server/handler.ts';
import { RequestQueue } from '../../src/server/request-queue.ts';
import { LinkedClient, type Wire } from '../wire/linked.ts';

export interface Answer {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export class Served {
  readonly link = new LinkedClient().read();
  readonly session: ClientSession;
  #id = 0;

  constructor(handlers: Partial<Handlers>) {
    const dispatcher = new Dispatcher(handlers as Handlers, new RequestQueue(), { ready: () => undefined, kept: () => undefined });
    const connection = new Connection(this.link.transport, {
      onRequest: (method, params, context) => dispatcher.dispatch(this.session, method, params, context),
      onNotification: () => {},
      onResponse: () => false,
      onEnd: () => {},
    });
    this.session = new ClientSession(connection);
    this.session.identity = { name: 'test', version: '1', experimental: true };
    onTestFinished(() => connection.close());
  }

  /** The answer as it crossed the wire; a result has been checked against the method's schema. */
  async ask(method: ClientRequestMethod, params?: unknown): Promise<Answer> {
    const id = ++this.#id;
    this.link.send({ id, method, params });
    const found = (): Wire | undefined => this.link.received.find((message) => message.id === id);
    await this.link.until(() => found() !== undefined, `the answer to ${method}`);
    const { id: _, ...answer } = found() as Wire;
    if ('result' in answer) clientRequests[method].result().parse(answer.result);
    return answer;
  }

  async result<T = Record<string, unknown>>(method: ClientRequestMethod, params?: unknown): Promise<T> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  /** `code message` of the error that a request must end in. */
  async refusal(method: ClientRequestMethod, params?: unknown): Promise<string> {
    const { result, error } = await this.ask(method, params);
    return error ? `${error.code} ${error.message}` : `it succeeded: ${JSON.stringify(result)}`;
  }

  notifications(method: string): Record<string, unknown>[] {
    return this.link.received.filter((message) => message.method === method).map((message) => message.params as Record<string, unknown>);
  }
}
