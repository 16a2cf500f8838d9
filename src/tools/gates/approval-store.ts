// What a user approved for the rest of a thread's session, by key, and who waits for the same key. Lives and dies with the thread.

export class ApprovalStore {
  /** Written by `approve` only. */
  readonly #approved = new Set<string>();
  /** Calls that wait for an answer; each is told once when its keys are all approved. */
  readonly #waiting = new Set<{ keys: readonly string[]; release: () => void }>();

  /** True when every key was approved; an empty list is never covered. */
  covers(keys: readonly string[]): boolean {
    return keys.length > 0 && keys.every((key) => this.#approved.has(key));
  }

  /** Approves keys for the session and releases the calls that waited for just these. */
  approve(keys: readonly string[]): void {
    for (const key of keys) this.#approved.add(key);
    for (const waiter of [...this.#waiting]) {
      if (!this.covers(waiter.keys)) continue;
      this.#waiting.delete(waiter);
      waiter.release();
    }
  }

  /** Calls `release` when the keys become covered; the returned function stops the wait. */
  whenCovered(keys: readonly string[], release: () => void): () => void {
    const waiter = { keys, release };
    this.#waiting.add(waiter);
    return () => this.#waiting.delete(waiter);
  }
}
