// Runs one task for each item, a few at a time: the disk answers several requests sooner than one after another.

const AT_ONCE = 8;

/** Results in the order of the items. The first rejection is passed on after the tasks that already run have ended. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const at = next++;
      try {
        results[at] = await task(items[at]);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
