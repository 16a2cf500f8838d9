// What the session layer needs from above and beside it, as ports. The composition root wires them.

import type { ModelCard } from '../model/card.ts';
import type { ModelClient } from '../model/client.ts';
import type { RetryLimits } from '../model/retry.ts';
import type {
  NotificationParams,
  ServerNotificationMethod,
  ServerRequestMethod,
  ServerRequestParams,
  ServerRequestResult,
} from '../protocol/methods.ts';
import type { FrontendRequest } from '../tools/events.ts';

/** Contract: never throws, never blocks; order of calls is order on the wire. */
export interface EventSink {
  /** About one thread: reaches the connections that listen to it. */
  thread<M extends ServerNotificationMethod>(threadId: string, method: M, params: NotificationParams<M>): void;
  /** About the process, or about threads as such (their lists): reaches every connection. */
  all<M extends ServerNotificationMethod>(method: M, params: NotificationParams<M>): void;
}

/** Requests to the frontends that listen to a thread. Settled exactly once, see tools/events.ts. */
export interface FrontendRequests {
  open<M extends ServerRequestMethod>(
    thread: { threadId: string; turnId: string },
    method: M,
    params: ServerRequestParams<M>,
    onResolved: () => void,
  ): FrontendRequest<ServerRequestResult<M>>;
}

export interface ModelBinding {
  client: ModelClient;
  card: ModelCard;
  retries: RetryLimits;
  /** Set by the user: how a summary is asked for, and how many tokens of one result enter history. */
  compactPrompt?: string;
  resultTokenLimit?: number;
  /** Set by the user: what a client sees of reasoning; all of it when absent. */
  reasoningShown?: 'nothing' | 'summary';
}

/** Contract: throws an RpcError that names the provider when it is not configured. */
export interface ModelSource {
  bind(provider: string, model: string): ModelBinding;
  /** Reads changes in place of the thread's own model, where the user says so. */
  readonly reviewModel?: string;
}
