// How a wire schema is declared: a thunk, built on first use and kept. Building all of them at start would cost more than the
// rest of the cold start together.
import type * as z from 'zod';

export type Schema<T extends z.ZodType = z.ZodType> = () => T;

export function schema<T extends z.ZodType>(make: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= make());
}

/** The TypeScript type that a schema describes. */
export type Infer<S extends Schema> = z.infer<ReturnType<S>>;
