// Long work in slices: what goes through many paths gives the event loop its turn before anyone notices.
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 6;

export class Slice {
  #began = performance.now();

  /** Waits for the next turn of the event loop when this slice is used up. Throws the signal's reason. */
  async pause(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await nextTurn();
    signal.throwIfAborted();
    this.#began = performance.now();
  }
}
