// Reads a changed list again: soon, one read at a time, and at a bounded pace however often a server says that it changed.
import { Deferred } from '../common/deferred.ts';

const SOON_MS = 20;
const PACE_MS = 250;

export class ListRefresh {
  readonly #read: () => Promise<void>;
  /** A change was announced that no finished read has seen. Invariant: set exactly while `#settled` is not null. */
  #settled: Deferred<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  /** Announced while a read was under way. */
  #again = false;
  #lastReadAt = 0;
  #stopped = false;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  get pending(): boolean {
    return this.#settled !== null;
  }

  settled(): Promise<void> {
    return this.#settled?.promise ?? Promise.resolve();
  }

  request(): void {
    if (this.#stopped) return;
    this.#settled ??= new Deferred();
    if (this.#reading) this.#again = true;
    else if (this.#timer === undefined) this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#settled?.resolve();
    this.#settled = null;
  }

  #schedule(): void {
    const wait = Math.max(SOON_MS, this.#lastReadAt + PACE_MS - Date.now());
    this.#timer = setTimeout(() => void this.#run(), wait);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#reading = true;
    this.#again = false;
    await this.#read();
    this.#reading = false;
    this.#lastReadAt = Date.now();
    if (this.#stopped) return;
    if (this.#again) this.#schedule();
    else {
      this.#settled?.resolve();
      this.#settled = null;
    }
  }
}
