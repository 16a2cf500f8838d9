// Time as the wire wants it. `…At` is whole seconds since 1970, `…AtMs` milliseconds, durations are milliseconds on a monotonic clock.

export const nowMs = (): number => Date.now();
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
/** Monotonic milliseconds; only differences mean anything. Not of `performance`: the first look at that one loads a part of node. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** As long as a timer goes. A longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A duration as a timer takes it. */
export const timerMs = (ms: number): number => Math.min(ms, MAX_TIMER_MS);

/** Waits, or returns early (false) when the signal aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve(false);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    }, timerMs(ms));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
