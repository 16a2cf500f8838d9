// A oneshot: a promise that is settled from outside, exactly once. The first settlement wins; later ones report false.

export class Deferred<T> {
  readonly promise: Promise<T>;
  /** Written by the first resolve or reject only. */
  #settled = false;
  #resolve!: (value: T) => void;
  #reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A rejection that nobody awaits yet is not an unhandled one: whoever awaits `promise` still sees it.
    this.promise.catch(() => {});
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** True when this call settled the oneshot. */
  resolve(value: T): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#resolve(value);
    return true;
  }

  reject(reason: unknown): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#reject(reason);
    return true;
  }
}
