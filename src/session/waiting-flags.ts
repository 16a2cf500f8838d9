// What a thread waits for the frontend for, counted: its status shows a flag from the first request to the last answer.
import type { ThreadActiveFlag } from '../protocol/thread.ts';
import type { WaitingFlags } from './thread-frontend.ts';

export class WaitingCounts implements WaitingFlags {
  readonly #counts = new Map<ThreadActiveFlag, number>();
  readonly #changed: () => void;

  /** `changed` is called when a flag appears or goes, not for every request. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get flags(): ThreadActiveFlag[] {
    return [...this.#counts].filter(([, count]) => count > 0).map(([flag]) => flag);
  }

  raise(flag: ThreadActiveFlag): void {
    this.#count(flag, 1);
  }

  lower(flag: ThreadActiveFlag): void {
    this.#count(flag, -1);
  }

  #count(flag: ThreadActiveFlag, by: 1 | -1): void {
    const before = this.#counts.get(flag) ?? 0;
    const after = Math.max(0, before + by);
    this.#counts.set(flag, after);
    if (before > 0 !== after > 0) this.#changed();
  }
}
