// Bounded ingress: how many requests may run at once, and which of them wait for each other.
// The dispatcher puts every request through here, with the thread it concerns as the order key.
import PQueue from 'p-queue';
import { RpcError } from '../common/errors.ts';

const DEFAULT_MAX_IN_FLIGHT = 512;

export class RequestQueue {
  readonly #maxInFlight: number;
  /** Invariant: a line exists only while a request with its key runs or waits. */
  readonly #lines = new Map<string, PQueue>();
  /** Running and waiting requests together: waiting costs memory too. */
  #inFlight = 0;

  constructor(options: { maxInFlight?: number } = {}) {
    const { maxInFlight = DEFAULT_MAX_IN_FLIGHT } = options;
    if (!Number.isSafeInteger(maxInFlight) || maxInFlight < 1)
      throw new Error(`maxInFlight must be a positive integer, got ${maxInFlight}`);
    this.#maxInFlight = maxInFlight;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Requests with the same key run one after the other, in the order of their arrival; without a key, or with different keys, at the
   * same time. Rejects with "overloaded" beyond the bound, before the task begins; otherwise settles as the task does.
   */
  async run<T>(orderKey: string | undefined, task: () => Promise<T> | T): Promise<T> {
    if (this.#inFlight >= this.#maxInFlight) throw new RpcError('overloaded', 'Server overloaded; retry later.');
    this.#inFlight++;
    try {
      return await (orderKey === undefined ? task() : this.#inLine(orderKey, task));
    } finally {
      this.#inFlight--;
    }
  }

  async #inLine<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    // Added to before anything is awaited: an empty line is forgotten in the moment it becomes idle.
    return this.#lineOf(key).add(async () => task());
  }

  #lineOf(key: string): PQueue {
    const known = this.#lines.get(key);
    if (known) return known;
    const line = new PQueue({ concurrency: 1 });
    line.on('idle', () => this.#lines.delete(key));
    this.#lines.set(key, line);
    return line;
  }

  /** How many order keys have a line right now. */
  get lines(): number {
    return this.#lines.size;
  }
}
