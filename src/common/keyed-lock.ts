// One mutex per key, forgotten when nobody holds or awaits it. Holders of different keys never wait for each other.
import { Mutex } from 'async-mutex';

export class KeyedLock {
  /** Invariant: an entry exists only while someone holds or awaits its mutex. */
  readonly #locks = new Map<string, { mutex: Mutex; users: number }>();

  async run<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    let entry = this.#locks.get(key);
    if (!entry) {
      entry = { mutex: new Mutex(), users: 0 };
      this.#locks.set(key, entry);
    }
    entry.users++;
    try {
      return await entry.mutex.runExclusive(task);
    } finally {
      if (--entry.users === 0) this.#locks.delete(key);
    }
  }
}
