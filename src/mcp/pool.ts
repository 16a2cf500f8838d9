// The servers of the whole daemon. Threads that agree on a key share one server; it is ended when nobody has used it for a while.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CatalogueCache, noCache } from './catalogue-cache.ts';
import { PooledServer } from './server.ts';
import { type ServerSpec, serverKey } from './server-spec.ts';
import type { OpenTransport } from './transport-port.ts';

/** A thread's hold on a server. */
export interface Lease {
  readonly server: PooledServer;
  release(): void;
}

interface Entry {
  readonly server: PooledServer;
  readonly holders: Set<{ cwd: string }>;
  reaper: NodeJS.Timeout | undefined;
}

const LINGER_MS = 5_000;
/** A call that is under way keeps its server for as long as it takes. */
const BUSY_MS = 500;

export class McpPool {
  readonly #open: OpenTransport;
  readonly #cache: CatalogueCache;
  readonly #lingerMs: number;
  /** By key: what new leases get. A retired server is in `#all` only. */
  readonly #current = new Map<string, Entry>();
  readonly #all = new Set<Entry>();
  #closed = false;

  constructor(open: OpenTransport, options: { lingerMs?: number; cache?: CatalogueCache } = {}) {
    this.#open = open;
    this.#cache = options.cache ?? noCache;
    this.#lingerMs = options.lingerMs ?? LINGER_MS;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Starts the server unless it runs. `cwd`: the folder that the holder works in. */
  acquire(spec: ServerSpec, cwd: string): Lease {
    const key = serverKey(spec.transport);
    const entry = this.#current.get(key) ?? this.#add(key, spec);
    clearTimeout(entry.reaper);
    const holder = { cwd };
    entry.holders.add(holder);
    entry.server.rootsChanged();
    return {
      server: entry.server,
      release: () => {
        if (!entry.holders.delete(holder)) return;
        entry.server.rootsChanged();
        this.#reapWhenUnused(entry);
      },
    };
  }

  /** New leases get a new process; the old ones end with their last lease. */
  retire(): void {
    for (const [key, entry] of this.#current) {
      this.#current.delete(key);
      this.#reapWhenUnused(entry);
    }
  }

  /** Ends every server; nothing starts afterwards. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((entry) => this.#end(entry)));
  }

  #add(key: string, spec: ServerSpec): Entry {
    if (this.#closed) throw new Error('the daemon is ending');
    const holders = new Set<{ cwd: string }>();
    // A local server learns which folders are worked in; a remote one is told nothing of this machine.
    const roots = () => (spec.transport.type === 'stdio' ? [...new Set([...holders].map(({ cwd }) => cwd))].map(rootOf) : []);
    const entry: Entry = {
      server: new PooledServer(key, spec, { open: this.#open, cache: this.#cache, roots }),
      holders,
      reaper: undefined,
    };
    this.#current.set(key, entry);
    this.#all.add(entry);
    return entry;
  }

  #reapWhenUnused(entry: Entry, atLeastMs = 0): void {
    if (entry.holders.size > 0 || this.#closed) return;
    clearTimeout(entry.reaper);
    const linger = this.#current.get(entry.server.key) === entry ? this.#lingerMs : 0;
    entry.reaper = setTimeout(
      () => {
        if (entry.server.busy) this.#reapWhenUnused(entry, BUSY_MS);
        else if (entry.holders.size === 0) void this.#end(entry);
      },
      Math.max(linger, atLeastMs),
    );
    entry.reaper.unref();
  }

  async #end(entry: Entry): Promise<void> {
    clearTimeout(entry.reaper);
    if (this.#current.get(entry.server.key) === entry) this.#current.delete(entry.server.key);
    await entry.server.close();
    this.#all.delete(entry);
  }
}

const rootOf = (cwd: string) => ({ uri: pathToFileURL(cwd).href, name: path.basename(cwd) || cwd });
