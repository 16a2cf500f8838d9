// The form of a handler: thin, one per method, derived from the method table. What must come after the answer goes through `after`.
import type { ClientRequestMethod, ParamsOf, ResultOf } from '../protocol/methods.ts';
import type { ClientSession } from './client-session.ts';

export interface HandlerContext {
  readonly client: ClientSession;
  readonly signal: AbortSignal;
  /** Runs when the answer is on its way, in order; not at all when the request failed. */
  after(task: () => void): void;
}

export type Handler<M extends ClientRequestMethod> = (params: ParamsOf<M>, context: HandlerContext) => Promise<ResultOf<M>> | ResultOf<M>;
export type Handlers = { [M in ClientRequestMethod]: Handler<M> };
/** The handlers of one resource. */
export type HandlersFor<M extends ClientRequestMethod> = Pick<Handlers, M>;
