/** The end of an exhaustive switch: a compile error when a variant was forgotten, a clear throw when data lies about its type. */
export function assertNever(value: never, what = 'variant'): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`);
}
