// The watches of clients: an id belongs to the client that chose it. Changes are gathered and told at most five times a second, and less
// often to a client that reads slowly.
import { invalidRequest } from '../../common/errors.ts';
import type { ClientSession } from '../client-session.ts';
import { pathError } from './host-path.ts';
import { PathWatch } from './path-watch.ts';

const GATHER_MS = 200;
/** With more different paths than this in one go, the watched path stands for all of them. */
const MAX_PATHS = 1_000;
const MAX_WATCHES = 1_024;
/** While more than this waits for the client, changes go on being gathered. */
const MAX_WAITING_BYTES = 256 * 1024;

/** One watch and what has changed since the client was last told. */
class Watch {
  readonly #client: ClientSession;
  readonly #id: string;
  readonly #target: string;
  readonly #watch: PathWatch;
  /** Null when there were too many. */
  #changed: Set<string> | null = new Set();
  /** Set while something waits to be told. */
  #timer: NodeJS.Timeout | undefined;

  constructor(client: ClientSession, id: string, target: string) {
    this.#client = client;
    this.#id = id;
    this.#target = target;
    this.#watch = new PathWatch(target, (changed) => this.#gather(changed));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watch.close();
  }

  #gather(changed: string): void {
    if (this.#changed?.add(changed) && this.#changed.size > MAX_PATHS) this.#changed = null;
    this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS).unref();
  }

  #tell(): void {
    const { connection } = this.#client;
    if (!connection.closed && connection.waitingBytes > MAX_WAITING_BYTES) {
      this.#timer = setTimeout(() => this.#tell(), GATHER_MS).unref();
      return;
    }
    const changedPaths = this.#changed ? [...this.#changed].sort() : [this.#target];
    this.#changed = new Set();
    this.#timer = undefined;
    this.#client.notify('fs/changed', { watchId: this.#id, changedPaths });
  }
}

export class FileWatches {
  readonly #watches = new Map<ClientSession, Map<string, Watch>>();
  /** Set by endAll: nothing begins after it. */
  #ended = false;

  open(client: ClientSession, id: string, target: string): void {
    const own = this.#watches.get(client) ?? new Map<string, Watch>();
    if (own.has(id)) throw invalidRequest(`watchId already exists: ${JSON.stringify(id)}`);
    if (own.size >= MAX_WATCHES) throw invalidRequest(`a client has at most ${MAX_WATCHES} watches; end one with fs/unwatch`);
    if (this.#ended || client.connection.closed) return;
    try {
      own.set(id, new Watch(client, id, target));
    } catch (error) {
      throw pathError('fs/watch', target, error);
    }
    this.#watches.set(client, own);
  }

  /** An unknown id is no error: it is not watched, as asked. */
  close(client: ClientSession, id: string): void {
    const own = this.#watches.get(client);
    own?.get(id)?.close();
    own?.delete(id);
  }

  endClient(client: ClientSession): void {
    for (const watch of this.#watches.get(client)?.values() ?? []) watch.close();
    this.#watches.delete(client);
  }

  endAll(): void {
    this.#ended = true;
    for (const client of [...this.#watches.keys()]) this.endClient(client);
  }
}
