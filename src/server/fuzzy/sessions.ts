// Searches that clients keep open: the paths are listed once, each new query is ranked against them and takes the place of the one before.
import { setTimeout as wait } from 'node:timers/promises';
import { invalidRequest } from '../../common/errors.ts';
import { logger } from '../../common/log.ts';
import type { ClientSession } from '../client-session.ts';
import type { GitPorts } from './git-paths.ts';
import { Listing } from './listing.ts';
import { Ranking } from './ranking.ts';

const MAX_SESSIONS = 16;
/** While paths still come in, results are told again after this long. */
const GROW_MS = 120;

export type CutListener = (client: ClientSession, listing: Listing) => void;

class SearchSession {
  readonly #client: ClientSession;
  readonly #id: string;
  readonly #end = new AbortController();
  readonly #listing: Listing;
  readonly #onCut: CutListener;
  /** Of the query in force; aborted by the next one. */
  #current = new AbortController();

  constructor(client: ClientSession, id: string, roots: readonly string[], ports: GitPorts, onCut: CutListener) {
    this.#client = client;
    this.#id = id;
    this.#onCut = onCut;
    this.#listing = new Listing(roots, ports, this.#end.signal);
  }

  search(query: string): void {
    this.#current.abort();
    this.#current = new AbortController();
    const { signal } = this.#current;
    this.#run(query, signal).catch((error: unknown) => {
      if (!signal.aborted) logger().error({ err: error }, 'a file search failed');
    });
  }

  stop(): void {
    this.#end.abort();
    this.#current.abort();
  }

  async #run(query: string, signal: AbortSignal): Promise<void> {
    const { done } = this.#listing;
    const ranking = new Ranking(query, this.#listing);
    let told: string | undefined;
    for (let isWhole = false; !isWhole; ) {
      isWhole = ranking.isEmpty || this.#listing.complete;
      await ranking.advance(signal);
      const files = await ranking.results(signal);
      signal.throwIfAborted();
      const text = JSON.stringify(files);
      if (text !== told && (isWhole || files.length > 0)) {
        this.#client.notify('fuzzyFileSearch/sessionUpdated', { sessionId: this.#id, query, files });
        told = text;
      }
      if (!isWhole) await Promise.race([done, wait(GROW_MS, undefined, { signal })]);
    }
    this.#client.notify('fuzzyFileSearch/sessionCompleted', { sessionId: this.#id });
    this.#onCut(this.#client, this.#listing);
  }
}

export class SearchSessions {
  readonly #ports: GitPorts;
  readonly #onCut: CutListener;
  readonly #sessions = new Map<ClientSession, Map<string, SearchSession>>();
  /** Set by endAll: nothing begins after it. */
  #ended = false;

  constructor(ports: GitPorts, onCut: CutListener) {
    this.#ports = ports;
    this.#onCut = onCut;
  }

  /** A session with the same id ends: the client has begun anew. */
  start(client: ClientSession, id: string, roots: readonly string[]): void {
    this.stop(client, id);
    const own = this.#sessions.get(client) ?? new Map<string, SearchSession>();
    if (own.size >= MAX_SESSIONS)
      throw invalidRequest(`a client has at most ${MAX_SESSIONS} search sessions; end one with fuzzyFileSearch/sessionStop`);
    if (this.#ended) return;
    own.set(id, new SearchSession(client, id, roots, this.#ports, this.#onCut));
    this.#sessions.set(client, own);
  }

  get(client: ClientSession, id: string): SearchSession {
    const session = this.#sessions.get(client)?.get(id);
    if (!session) throw invalidRequest(`fuzzy file search session not found: ${JSON.stringify(id)}`);
    return session;
  }

  /** An unknown id is no error. */
  stop(client: ClientSession, id: string): void {
    const own = this.#sessions.get(client);
    own?.get(id)?.stop();
    own?.delete(id);
  }

  endClient(client: ClientSession): void {
    for (const session of this.#sessions.get(client)?.values() ?? []) session.stop();
    this.#sessions.delete(client);
  }

  endAll(): void {
    this.#ended = true;
    for (const client of [...this.#sessions.keys()]) this.endClient(client);
  }
}
