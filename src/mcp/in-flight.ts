// The calls that a server works on now. What a server asks of a person belongs to one of them: the call that began last.
import type { Json } from './client.ts';
import type { CallDeadline } from './deadline.ts';

/** Whoever called; it forwards questions to its own frontend. Contract: resolves always, after an abort with the action cancel. */
export interface Caller {
  elicit(params: Json, signal: AbortSignal): Promise<Json>;
}

export interface FlyingCall {
  readonly caller: Caller;
  readonly deadline: CallDeadline;
  /** Aborts when the call has ended in any way. */
  readonly signal: AbortSignal;
}

export class InFlightCalls {
  readonly #calls = new Set<FlyingCall>();

  get size(): number {
    return this.#calls.size;
  }

  add(call: FlyingCall): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  async elicit(params: Json, signal: AbortSignal): Promise<Json> {
    const call = [...this.#calls].at(-1);
    if (!call) return { action: 'decline', _meta: { reason: 'nothing of this client is under way at the server, so nobody can be asked' } };
    call.deadline.pause();
    try {
      return await call.caller.elicit(params, AbortSignal.any([signal, call.signal]));
    } finally {
      call.deadline.resume();
    }
  }
}
