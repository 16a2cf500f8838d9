// Ranks the paths of a listing for one query, also while it grows, and gives the best of them as results.
import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import type { FuzzyFileSearchResult } from '../../protocol/fs.ts';
import type { Listing } from './listing.ts';
import { FuzzyQuery } from './matcher.ts';
import { Slice } from './slice.ts';

export const MAX_RESULTS = 50;
/** Some more are kept: what was removed since it was listed is left out at the end. */
const KEPT = MAX_RESULTS + 14;
const PATHS_BETWEEN_PAUSES = 64;

interface Hit {
  readonly root: string;
  readonly path: string;
  readonly score: number;
}

/** The higher score, then the shorter path, then the alphabet. */
const before = (a: Hit, b: Hit): boolean =>
  a.score !== b.score ? a.score > b.score : a.path.length !== b.path.length ? a.path.length < b.path.length : a.path < b.path;

export class Ranking {
  readonly #query: FuzzyQuery;
  readonly #listing: Listing;
  /** How many paths of each list have been looked at. */
  readonly #looked: number[];
  /** Best first, at most KEPT. */
  readonly #hits: Hit[] = [];

  constructor(query: string, listing: Listing) {
    this.#query = new FuzzyQuery(query);
    this.#listing = listing;
    this.#looked = listing.lists.map(() => 0);
  }

  get isEmpty(): boolean {
    return this.#query.isEmpty;
  }

  /** Looks at what has come since the last time. Throws the signal's reason. */
  async advance(signal: AbortSignal): Promise<void> {
    const slice = new Slice();
    for (const [i, list] of this.#listing.lists.entries()) {
      for (; this.#looked[i] < list.paths.length; this.#looked[i]++) {
        if (this.#looked[i] % PATHS_BETWEEN_PAUSES === 0) await slice.pause(signal);
        this.#look(list.root, list.paths[this.#looked[i]]);
      }
    }
  }

  #look(root: string, listed: string): void {
    const found = listed.endsWith('/') ? listed.slice(0, -1) : listed;
    const score = this.#query.score(found);
    if (score === 0) return;
    const hit = { root, path: found, score };
    if (this.#hits.length === KEPT && !before(hit, this.#hits[KEPT - 1])) return;
    let [low, high] = [0, this.#hits.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(hit, this.#hits[middle])) high = middle;
      else low = middle + 1;
    }
    this.#hits.splice(low, 0, hit);
    if (this.#hits.length > KEPT) this.#hits.pop();
  }

  /** The best of what was looked at, as far as it is still there. */
  async results(signal: AbortSignal): Promise<FuzzyFileSearchResult[]> {
    const kinds = await Promise.all(this.#hits.map(({ root, path: found }) => kindOf(path.join(root, found))));
    const slice = new Slice();
    const results: FuzzyFileSearchResult[] = [];
    for (const [i, { root, path: found, score }] of this.#hits.entries()) {
      const kind = kinds[i];
      if (!kind || results.length === MAX_RESULTS) continue;
      await slice.pause(signal);
      const indices = this.#query.indices(found);
      results.push({ root, path: found, match_type: kind, file_name: path.posix.basename(found), score, indices });
    }
    return results;
  }
}

/** Undefined for what is not there. */
async function kindOf(place: string): Promise<FuzzyFileSearchResult['match_type'] | undefined> {
  const own = await lstat(place).catch(() => undefined);
  if (!own) return undefined;
  const found = own.isSymbolicLink() ? await stat(place).catch(() => own) : own;
  return found.isDirectory() ? 'directory' : 'file';
}
