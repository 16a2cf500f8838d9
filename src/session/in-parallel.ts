// Many small asynchronous pieces of work, a few at a time.

/** The results in the order of the inputs. Rejects with the first failure. */
export async function inParallel<T, R>(workers: number, inputs: readonly T[], work: (input: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(inputs.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < inputs.length) {
      const i = next++;
      results[i] = await work(inputs[i]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, inputs.length) }, worker));
  return results;
}
