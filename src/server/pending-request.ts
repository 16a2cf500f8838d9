// One request of the client from its arrival to its answer, and what its handler may do with it.
import { logger } from '../common/log.ts';
import type { RequestId } from '../protocol/jsonrpc.ts';

export interface RequestContext {
  /**
   * Runs `fn` right after the answer was queued, in order of registration; at once when it was queued already.
   * Dropped when the request fails. Runs also when the client has gone meanwhile, so that what was begun goes on.
   */
  readonly afterResponse: (fn: () => void) => void;
  /** Aborts when the client cancels the request or is gone. */
  readonly signal: AbortSignal;
}

export class PendingRequest implements RequestContext {
  /** As the client sent it. */
  readonly id: RequestId;
  readonly params: unknown;
  /** Invariant: empty once the answer is queued. */
  #after: (() => void)[] = [];
  #state: 'open' | 'succeeded' | 'failed' = 'open';
  /** Made when someone asks for it: most requests never do. */
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(id: RequestId, params: unknown) {
    this.id = id;
    this.params = params;
  }

  readonly afterResponse = (fn: () => void): void => {
    if (this.#state === 'open') this.#after.push(fn);
    else if (this.#state === 'succeeded') runGuarded(fn);
  };

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }

  /** Called once, by the connection, when the answer is in the queue. */
  answered(succeeded: boolean): void {
    this.#state = succeeded ? 'succeeded' : 'failed';
    const after = this.#after;
    this.#after = [];
    if (succeeded) for (const fn of after) runGuarded(fn);
  }
}

function runGuarded(fn: () => void): void {
  try {
    fn();
  } catch (error) {
    logger().error({ err: error }, 'a callback after a response failed');
  }
}
