// Which processes clients have started, under the names they gave them. A process belongs to one client: others cannot name it, and it
// ends when that client leaves.
import { Deferred } from '../common/deferred.ts';
import { invalidRequest } from '../common/errors.ts';
import type { RunningProcess } from '../exec/process.ts';
import type { ClientSession } from './client-session.ts';

/** The words of one family of methods. */
export interface RegistryTexts {
  duplicate(id: string): string;
  unknown(id: string): string;
}

export interface SlotOptions {
  /** Null for one that nobody will name. */
  id: string | null;
  tty: boolean;
  /** Whether the client may write to it. A terminal always takes input. */
  stdin: boolean;
}

export interface Input {
  bytes: Uint8Array | null;
  close: boolean;
}

/** One process from the request that asks for it to its end. What is asked of it before it is up waits. */
export class ExecSlot {
  readonly client: ClientSession;
  readonly options: SlotOptions;
  /** Null when it never came to life. */
  readonly #process = new Deferred<RunningProcess | null>();
  readonly #ended = new Deferred<void>();
  readonly #unknown: () => Error;
  /** Set by kill(), which may come before there is a process. */
  #killed = false;

  constructor(client: ClientSession, options: SlotOptions, unknown: () => Error) {
    this.client = client;
    this.options = options;
    this.#unknown = unknown;
  }

  attach(process: RunningProcess): void {
    this.#process.resolve(process);
    if (this.#killed) void process.terminate(0);
  }

  /** Called once, by the registry, when nothing is left to be asked of it. */
  closed(): void {
    this.#process.resolve(null);
    this.#ended.resolve();
  }

  async write({ bytes, close }: Input): Promise<void> {
    const process = await this.#process.promise;
    if (!process || this.#ended.settled) throw this.#unknown();
    if (bytes && bytes.length > 0 && !process.write(bytes)) throw invalidRequest(`stdin of ${JSON.stringify(this.options.id)} is closed`);
    if (close) process.closeStdin();
  }

  async resize(rows: number, cols: number): Promise<void> {
    const process = await this.#process.promise;
    if (!process || this.#ended.settled) throw this.#unknown();
    process.resize(rows, cols);
  }

  /** Ends it with everything it started. Resolves when its end has been dealt with. */
  async kill(): Promise<void> {
    if (!this.#killed) {
      this.#killed = true;
      if (this.#process.settled) void (await this.#process.promise)?.terminate(0);
    }
    await this.#ended.promise;
  }
}

export class ExecRegistry {
  readonly #texts: RegistryTexts;
  /** Invariant: a slot is in here from the request that opened it until its process has ended. */
  readonly #slots = new Set<ExecSlot>();
  /** Set by endAll(): from then on nothing starts. */
  #ending = false;

  constructor(texts: RegistryTexts) {
    this.#texts = texts;
  }

  /** Takes the name at once, so that of two requests in one moment the second is refused. */
  open(client: ClientSession, options: SlotOptions): ExecSlot {
    if (this.#ending) throw invalidRequest('the daemon is about to end: nothing is started any more');
    const { id } = options;
    if (id === '') throw invalidRequest('the id of a process must not be empty');
    if (id !== null && this.#find(client, id)) throw invalidRequest(this.#texts.duplicate(id));
    const slot = new ExecSlot(client, options, () => invalidRequest(this.#texts.unknown(id ?? '')));
    this.#slots.add(slot);
    return slot;
  }

  close(slot: ExecSlot): void {
    this.#slots.delete(slot);
    slot.closed();
  }

  /** Throws the error for a name that the client does not have. */
  get(client: ClientSession, id: string): ExecSlot {
    const slot = this.#find(client, id);
    if (!slot) throw invalidRequest(this.#texts.unknown(id));
    return slot;
  }

  #find(client: ClientSession, id: string): ExecSlot | undefined {
    for (const slot of this.#slots) if (slot.client === client && slot.options.id === id) return slot;
    return undefined;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Ends what one client has started. */
  async endClient(client: ClientSession): Promise<void> {
    await Promise.all([...this.#slots].filter((slot) => slot.client === client).map((slot) => slot.kill()));
  }

  async endAll(): Promise<void> {
    this.#ending = true;
    await Promise.all([...this.#slots].map((slot) => slot.kill()));
  }
}
