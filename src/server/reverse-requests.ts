// Requests from the server to its frontend: one oneshot per request id, settled by the first answer or by a cancellation.
// The only owner of these ids. What an answer means is decided by whoever asked; what happened to the question, here.
import { Deferred } from '../common/deferred.ts';
import { ErrorCode, messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { FrontendOutcome } from '../tools/events.ts';

/** How a question ended. Only `answered` carries a consent; every other kind means that there is none. */
export type ReverseOutcome<T> = FrontendOutcome<T>;

export type ParsedAnswer<T> = { ok: true; value: T } | { ok: false; problem: string };

/** A question that waits for its answer, with all that is needed to ask it again. */
export interface PendingReverseRequest {
  readonly id: number;
  readonly threadId: string;
  readonly turnId: string | null;
  readonly method: string;
  readonly params: unknown;
}

export interface ReverseRequestSpec<T> {
  threadId: string;
  /** Null for a question that belongs to no turn. */
  turnId: string | null;
  method: string;
  params: unknown;
  /** May throw: then the answer is malformed. */
  parse(result: unknown): ParsedAnswer<T>;
  /** Puts the question on the wire, during `open`. A throw cancels the question. */
  send(id: number, method: string, params: unknown): void;
  /** Tells the frontends that the question is settled. Runs inside the settlement: before whoever awaits the outcome goes on. */
  onResolved(id: number): void;
}

export interface ReverseRequest<T> {
  readonly id: number;
  /** Never rejects. */
  readonly outcome: Promise<ReverseOutcome<T>>;
  /** False when it was settled already. */
  cancel(reason: string): boolean;
}

interface Entry extends PendingReverseRequest {
  answer(message: ReverseAnswer): void;
  cancel(reason: string): void;
}

/** The members of an answer as they came in; an absent one is missing. */
export interface ReverseAnswer {
  result?: unknown;
  error?: unknown;
}

export class ReverseRequests {
  /** Whole numbers from 0, one count for the process, never used twice. */
  #nextId = 0;
  /** Invariant: an entry exists exactly while its question is not settled; in the order of asking. */
  readonly #pending = new Map<number, Entry>();

  open<T>(spec: ReverseRequestSpec<T>): ReverseRequest<T> {
    const { threadId, turnId, method, params } = spec;
    const id = this.#nextId++;
    const outcome = new Deferred<ReverseOutcome<T>>();
    const settle = (result: ReverseOutcome<T>): boolean => {
      // Removed first: nothing that runs inside the settlement can settle it again.
      if (!this.#pending.delete(id)) return false;
      try {
        spec.onResolved(id);
      } catch (error) {
        logger().error({ err: error, id, method }, 'telling the frontend about a settled request failed');
      }
      return outcome.resolve(result);
    };
    const cancel = (reason: string): boolean => settle({ type: 'cancelled', reason });
    // Registered before it is sent: an in-process frontend may answer at once.
    this.#pending.set(id, { id, threadId, turnId, method, params, answer: (message) => void settle(readAnswer(spec, message)), cancel });
    try {
      spec.send(id, method, params);
    } catch (error) {
      logger().error({ err: error, id, method }, 'asking the frontend failed');
      cancel(`the request could not be sent: ${messageOf(error)}`);
    }
    return { id, outcome: outcome.promise, cancel };
  }

  /** Takes an answer from any client. False when nobody waits for this id: late, repeated or never asked. Ids are compared exactly. */
  settle(id: string | number, message: ReverseAnswer): boolean {
    const entry = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!entry) {
      logger().info({ id }, 'an answer to a request that does not wait was ignored');
      return false;
    }
    entry.answer(message);
    return true;
  }

  /** Settles all that match, in the order of asking, and says how many. */
  cancelAll(filter: (request: PendingReverseRequest) => boolean, reason: string): number {
    const matching = [...this.#pending.values()].filter(filter);
    for (const entry of matching) entry.cancel(reason);
    return matching.length;
  }

  /** What waits in a thread, in the order of asking: the same ids are asked again when a client comes back. */
  pendingOf(threadId: string): PendingReverseRequest[] {
    const found: PendingReverseRequest[] = [];
    for (const entry of this.#pending.values()) {
      if (entry.threadId !== threadId) continue;
      found.push({ id: entry.id, threadId, turnId: entry.turnId, method: entry.method, params: entry.params });
    }
    return found;
  }

  get size(): number {
    return this.#pending.size;
  }
}

function readAnswer<T>(spec: ReverseRequestSpec<T>, message: ReverseAnswer): ReverseOutcome<T> {
  const hasResult = 'result' in message && message.result !== undefined;
  const hasError = 'error' in message && message.error !== undefined;
  if (hasResult && hasError) return { type: 'malformed', problem: 'the answer has both a result and an error' };
  if (hasError) return readError(message.error);
  if (!hasResult) return { type: 'malformed', problem: 'the answer has neither a result nor an error' };
  try {
    const parsed = spec.parse(message.result);
    return parsed.ok ? { type: 'answered', value: parsed.value } : { type: 'malformed', problem: parsed.problem };
  } catch (error) {
    return { type: 'malformed', problem: messageOf(error) };
  }
}

function readError(error: unknown): ReverseOutcome<never> {
  if (typeof error !== 'object' || error === null || !('code' in error) || typeof error.code !== 'number') {
    return { type: 'malformed', problem: 'error: expected {code, message}' };
  }
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  if (error.code === ErrorCode.methodNotFound) return { type: 'unsupported', message };
  return { type: 'clientError', code: error.code, message };
}
