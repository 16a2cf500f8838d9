// When a loaded thread is let go: after a while in which nobody listens to it and nothing runs in it.
import { timerMs } from '../common/clock.ts';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';

/** gone: unloaded. wait: in use, whoever ends that says so. later: something runs beside its turns, looked at again. */
export type IdleVerdict = 'gone' | 'wait' | 'later';

/** A client that has just asked for a thread listens to it only once it is answered. */
const MIN_DELAY_MS = 250;

export class IdleThreads {
  readonly #unload: (threadId: string) => Promise<IdleVerdict>;
  /** How long each loaded thread may be idle, and the running wait, if any. */
  readonly #threads = new Map<string, { delayMs: number; timer: NodeJS.Timeout | null }>();

  constructor(unload: (threadId: string) => Promise<IdleVerdict>) {
    this.#unload = unload;
  }

  watch(threadId: string, delayMs: number): void {
    this.#threads.set(threadId, { delayMs: Math.max(MIN_DELAY_MS, delayMs), timer: null });
  }

  forget(threadId: string): void {
    clearTimeout(this.#threads.get(threadId)?.timer ?? undefined);
    this.#threads.delete(threadId);
  }

  /** Ends the wait, until the thread is touched. */
  hold(threadId: string): void {
    clearTimeout(this.#threads.get(threadId)?.timer ?? undefined);
  }

  /** Begins the wait anew. A timer that finds the thread in use costs nothing more until it is touched again. */
  touch(threadId: string): void {
    const watched = this.#threads.get(threadId);
    if (!watched) return;
    clearTimeout(watched.timer ?? undefined);
    watched.timer = setTimeout(() => void this.#look(threadId), timerMs(watched.delayMs));
    watched.timer.unref();
  }

  async #look(threadId: string): Promise<void> {
    const verdict = await this.#unload(threadId).catch((error: unknown): IdleVerdict => {
      logger().warn({ threadId, error: messageOf(error) }, 'an idle thread could not be unloaded');
      return 'later';
    });
    if (verdict === 'later') this.touch(threadId);
  }
}
