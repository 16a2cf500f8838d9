// From a pushing source (a socket) to the pulling side of the port: collects events until they are asked for and hands them over as
// one batch. Written by hand because a generator costs several promises for each event.
import type { ModelError, ModelEvent } from './client.ts';

type Batch = readonly ModelEvent[];
type State = { type: 'open' } | { type: 'ended' } | { type: 'failed'; error: ModelError };

/** How many undelivered events make the source stop reading. */
const HIGH_WATER = 8192;

export interface PipeSource {
  /** Stop and go on reading; called in turns, never twice in a row. */
  pause(): void;
  resume(): void;
  /** The consumer left before the end. */
  abandon(): void;
}

export class EventPipe implements AsyncIterator<Batch> {
  /** Undelivered events. Empty whenever a consumer waits. */
  #pending: ModelEvent[] = [];
  /** Written once, by end() or fail(). */
  #state: State = { type: 'open' };
  /** Set while next() waits; at most one, as `for await` never pulls twice. */
  #waiter: { resolve: (result: IteratorResult<Batch>) => void; reject: (error: ModelError) => void } | undefined;
  #paused = false;
  readonly #source: PipeSource;

  constructor(source: PipeSource) {
    this.#source = source;
  }

  get open(): boolean {
    return this.#state.type === 'open';
  }

  push(events: ModelEvent[]): void {
    if (events.length === 0 || this.#state.type !== 'open') return;
    if (this.#waiter) {
      const { resolve } = this.#waiter;
      this.#waiter = undefined;
      resolve({ done: false, value: events });
      return;
    }
    if (this.#pending.length === 0) this.#pending = events;
    else for (const event of events) this.#pending.push(event);
    if (this.#pending.length > HIGH_WATER && !this.#paused) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  end(): void {
    this.#settle({ type: 'ended' });
  }

  /** `drop` throws away what was not delivered: after an abort nothing more may happen. */
  fail(error: ModelError, drop = false): void {
    if (drop) this.#pending = [];
    this.#settle({ type: 'failed', error });
  }

  #settle(state: State): void {
    if (this.#state.type !== 'open') return;
    this.#state = state;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (!waiter) return;
    if (state.type === 'failed') waiter.reject(state.error);
    else waiter.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Batch>> {
    if (this.#pending.length > 0) {
      const value = this.#pending;
      this.#pending = [];
      if (this.#paused) {
        this.#paused = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#state.type === 'ended') return Promise.resolve({ done: true, value: undefined });
    if (this.#state.type === 'failed') {
      const { error } = this.#state;
      this.#state = { type: 'ended' };
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Batch>> {
    this.#pending = [];
    const wasOpen = this.#state.type === 'open';
    this.#state = { type: 'ended' };
    if (wasOpen) this.#source.abandon();
    return Promise.resolve({ done: true, value: undefined });
  }
}
