// Single searches: each lists its roots anew, so that it is true now. A later one with the same token takes the place of the earlier.
import { Semaphore } from 'async-mutex';
import type { FuzzyFileSearchParams, FuzzyFileSearchResult } from '../../protocol/fs.ts';
import type { ClientSession } from '../client-session.ts';
import type { GitPorts } from './git-paths.ts';
import { Listing } from './listing.ts';
import { Ranking } from './ranking.ts';
import type { CutListener } from './sessions.ts';

/** Each holds the paths of its roots in memory. */
const AT_ONCE = 2;

export class Searches {
  readonly #ports: GitPorts;
  readonly #onCut: CutListener;
  readonly #room = new Semaphore(AT_ONCE);
  /** The search in force for each token of a client. */
  readonly #byToken = new Map<ClientSession, Map<string, AbortController>>();
  readonly #end = new AbortController();

  constructor(ports: GitPorts, onCut: CutListener) {
    this.#ports = ports;
    this.#onCut = onCut;
  }

  /** Empty when it was cancelled. */
  async search(params: FuzzyFileSearchParams, client: ClientSession, cancelled: AbortSignal): Promise<FuzzyFileSearchResult[]> {
    const own = new AbortController();
    const { cancellationToken: token } = params;
    if (typeof token === 'string') this.#replace(client, token, own);
    const signal = AbortSignal.any([own.signal, cancelled, this.#end.signal]);
    try {
      return await this.#room.runExclusive(() => this.#search(params, client, signal));
    } catch (error) {
      if (signal.aborted) return [];
      throw error;
    } finally {
      if (typeof token === 'string') this.#forget(client, token, own);
    }
  }

  async #search({ query, roots }: FuzzyFileSearchParams, client: ClientSession, signal: AbortSignal): Promise<FuzzyFileSearchResult[]> {
    signal.throwIfAborted();
    if (query.trim() === '') return [];
    const listing = new Listing(roots, this.#ports, signal);
    await listing.done;
    const ranking = new Ranking(query, listing);
    await ranking.advance(signal);
    this.#onCut(client, listing);
    return ranking.results(signal);
  }

  #replace(client: ClientSession, token: string, own: AbortController): void {
    const tokens = this.#byToken.get(client) ?? new Map<string, AbortController>();
    tokens.get(token)?.abort();
    tokens.set(token, own);
    this.#byToken.set(client, tokens);
  }

  #forget(client: ClientSession, token: string, own: AbortController): void {
    const tokens = this.#byToken.get(client);
    if (tokens?.get(token) === own) tokens.delete(token);
    if (tokens?.size === 0) this.#byToken.delete(client);
  }

  endClient(client: ClientSession): void {
    for (const controller of this.#byToken.get(client)?.values() ?? []) controller.abort();
  }

  endAll(): void {
    this.#end.abort();
  }
}
