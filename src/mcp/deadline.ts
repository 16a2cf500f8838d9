// The time limit of one call. Progress begins it anew, up to a hard end; it stands still while a person is asked something.
import { monotonicMs } from '../common/clock.ts';

/** However much progress a call reports, it ends after this many times its limit, and not before ten minutes. */
const HARD_FACTOR = 10;
const HARD_MIN_MS = 600_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export class CallDeadline {
  readonly #limitMs: number;
  readonly #onExpired: () => void;
  readonly #hardEnd: number;
  /** How many questions to a person are open; the clock runs while there is none. */
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;
  #done = false;

  constructor(limitMs: number, onExpired: () => void) {
    this.#limitMs = limitMs;
    this.#onExpired = onExpired;
    this.#hardEnd = monotonicMs() + Math.max(limitMs * HARD_FACTOR, HARD_MIN_MS);
    this.#arm();
  }

  progressed(): void {
    if (this.#pauses === 0) this.#arm();
  }

  pause(): void {
    this.#pauses++;
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#pauses = Math.max(0, this.#pauses - 1);
    if (this.#pauses === 0) this.#arm();
  }

  stop(): void {
    this.#done = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#done) return;
    const left = Math.min(this.#limitMs, this.#hardEnd - monotonicMs(), MAX_TIMER_MS);
    this.#timer = setTimeout(this.#onExpired, Math.max(0, left));
  }
}
