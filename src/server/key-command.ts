// A provider's key from a program of the user, such as a password manager: asked before a request, kept in memory for a while, never shown.
import { execFile } from 'node:child_process';
import { monotonicMs } from '../common/clock.ts';
import { systemCode } from '../common/errors.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from '../model/client.ts';

/** A program may ask the user for a fingerprint; a key that changes by the hour must not be kept longer. */
const FRESH_MS = 5 * 60_000;
const TIMEOUT_MS = 60_000;

export class KeyCommand {
  readonly #provider: string;
  readonly #argv: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  /** Null before the first answer and after a refusal of the key. Written by `refresh` and `forget`. */
  #known: { key: string; at: number } | null = null;
  /** Set while the program runs: requests that come meanwhile wait for the same answer. */
  #running: Promise<void> | null = null;

  constructor(provider: string, argv: readonly string[], env: NodeJS.ProcessEnv) {
    this.#provider = provider;
    this.#argv = argv;
    this.#env = env;
  }

  get key(): string | undefined {
    return this.#known?.key;
  }

  /** The next request asks again. */
  forget(): void {
    this.#known = null;
  }

  /** Throws a ModelError that names the provider. Neither output of the program enters a text: both may hold the key. */
  async refresh(): Promise<void> {
    if (this.#known && monotonicMs() - this.#known.at < FRESH_MS) return;
    this.#running ??= this.#ask().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  async #ask(): Promise<void> {
    const [program, ...args] = this.#argv;
    const key = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new ModelError('unauthorized', `model provider "${this.#provider}": api_key_command ${why}`));
      if (program === undefined) return fail('is empty');
      execFile(program, args, { env: this.#env, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 }, (error, stdout) => {
        if (!error) return stdout.trim() === '' ? fail('gave no key on its standard output') : resolve(stdout.trim());
        const code = systemCode(error);
        if (code !== undefined) fail(`cannot be run (${code}): ${program}`);
        else fail(error.killed ? `gave no key within ${TIMEOUT_MS / 1000} s` : `failed with exit code ${String(error.code)}`);
      });
    });
    this.#known = { key, at: monotonicMs() };
  }
}

/** Asks for the key before each request. A key that the provider refuses is asked for anew by the next one. */
export class KeyedClient implements ModelClient {
  readonly #inner: ModelClient;
  readonly #command: KeyCommand;

  constructor(inner: ModelClient, command: KeyCommand) {
    this.#inner = inner;
    this.#command = command;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    await this.#command.refresh();
    try {
      yield* this.#inner.stream(request, signal);
    } catch (error) {
      if (error instanceof ModelError && error.kind === 'unauthorized') this.#command.forget();
      throw error;
    }
  }

  close(): void {
    this.#inner.close();
  }
}
