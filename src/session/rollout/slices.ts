// Many small looks at files, one after the other. Each is far quicker made at once than handed to another thread; what keeps the event loop
// free is to let it go on between them.
import { setImmediate as others } from 'node:timers/promises';
import { monotonicMs } from '../../common/clock.ts';

const SLICE_MS = 8;

/** The results in the order of the inputs. Rejects with the first failure. */
export async function inSlices<T, R>(inputs: readonly T[], work: (input: T) => R): Promise<R[]> {
  const results: R[] = [];
  let end = monotonicMs() + SLICE_MS;
  for (const input of inputs) {
    if (monotonicMs() > end) {
      await others();
      end = monotonicMs() + SLICE_MS;
    }
    results.push(work(input));
  }
  return results;
}
