// Ranking for the tool search: BM25 over names, descriptions, namespaces and parameter names, with exact names before everything else.
import { flatName, type ToolName } from '../protocol/tool-spec.ts';

export interface Searchable {
  name: ToolName;
  description: string;
  namespaceDescription?: string;
  parameterNames: readonly string[];
}

const K1 = 1.2;
const B = 0.75;
/** How much a field weighs against the description. */
const NAME_WEIGHT = 3;

/** Words of a text: split on separators and on case (getUserProfile, HTTPStatus), lower case, a plural s dropped. */
export function words(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 0)
    .map((word) => (word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word));
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Words that say nothing about what a tool does; they count in a query, not in a message of a person. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  (
    'a able about after all also an and any are as at be because been before but by can could did do does doing done else for from ' +
    'get give go had has have he her here him his how i if in into is it its just know let like look make may me mine more most my need new no not ' +
    'now of on once one only or other our out over own please put see she should so some such take tell than that the their them then there ' +
    'these they thi this those through to too try up us use very want wa was way we were what when where which while who why will with would ye yes you your'
  ).split(' '),
);

/** The documents of one word, side by side. `weights`: what the word adds to the score of each. */
interface Postings {
  readonly documents: number[];
  readonly weights: number[];
  /** Documents that have the word in their name. */
  readonly named: Set<number>;
}

interface Match {
  readonly document: number;
  readonly score: number;
}

/** Built once for a set of tools; the query cost follows the postings of its words. */
export class SearchIndex<T extends Searchable> {
  readonly #tools: readonly T[];
  readonly #postings = new Map<string, Postings>();
  readonly #exact = new Map<string, number[]>();
  /** Scratch of one search, by document; all zero between searches. */
  readonly #scores: Float64Array;
  readonly #counts: Uint16Array;

  constructor(tools: readonly T[]) {
    this.#tools = tools;
    this.#scores = new Float64Array(tools.length);
    this.#counts = new Uint16Array(tools.length);
    const lengths = this.#addAll(tools);
    const average = tools.length ? Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / tools.length) : 1;
    for (const { documents, weights } of this.#postings.values()) {
      const idf = Math.log(1 + (tools.length - documents.length + 0.5) / (documents.length + 0.5));
      documents.forEach((document, i) => {
        const frequency = weights[i];
        weights[i] = (idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * lengths[document]) / average));
      });
    }
  }

  /** Counts the words of every tool; the weights are bare frequencies for now. Gives the lengths. */
  #addAll(tools: readonly T[]): number[] {
    // Namespaces and parameters say the same again and again.
    const known = new Map<string, readonly string[]>();
    const wordsOf = (text: string): readonly string[] => {
      let list = known.get(text);
      if (!list) known.set(text, (list = words(text)));
      return list;
    };
    return tools.map((tool, document) => {
      const counts = new Map<string, number>();
      const add = (list: readonly string[], weight: number) => {
        for (const word of list) counts.set(word, (counts.get(word) ?? 0) + weight);
      };
      const name = words(tool.name.name);
      add(name, NAME_WEIGHT);
      add(wordsOf(tool.name.namespace ?? ''), 1);
      add(words(tool.description), 1);
      add(wordsOf(tool.namespaceDescription ?? ''), 1);
      for (const parameter of tool.parameterNames) add(wordsOf(parameter), 1);
      let length = 0;
      for (const [word, frequency] of counts) {
        length += frequency;
        const list = this.#postingsOf(word);
        list.documents.push(document);
        list.weights.push(frequency);
      }
      for (const word of name) this.#postingsOf(word).named.add(document);
      for (const form of new Set([plain(tool.name.name), plain(flatName(tool.name))])) {
        const named = this.#exact.get(form);
        if (named) named.push(document);
        else if (form !== '') this.#exact.set(form, [document]);
      }
      return length;
    });
  }

  #postingsOf(word: string): Postings {
    let list = this.#postings.get(word);
    if (!list) this.#postings.set(word, (list = { documents: [], weights: [], named: new Set() }));
    return list;
  }

  /** Exactly named tools first (never cut by the limit), then by score; ties keep registration order. */
  search(query: string, limit: number): T[] {
    const exact = this.#namedIn(query);
    const more = Math.max(0, limit - exact.length);
    const ranked = more === 0 ? [] : this.#best(words(query), more, (document) => !exact.includes(document));
    return [...exact, ...ranked.map(({ document }) => document)].map((document) => this.#tools[document]);
  }

  /** Tools that a message of a person is about, if any: more than a word in common, or one in the name, and near the best of them. */
  suggest(message: string, limit: number): T[] {
    const telling = words(message).filter((word) => word.length > 2 && !EMPTY_WORDS.has(word));
    const inNames = telling.flatMap((word) => this.#postings.get(word)?.named ?? []);
    const ranked = this.#best(telling, limit, (document, count) => count > 1 || inNames.some((named) => named.has(document)));
    const best = ranked[0]?.score ?? 0;
    return ranked.filter(({ score }) => score >= best / 2).map(({ document }) => this.#tools[document]);
  }

  /** The best documents that fit, best first. `fits` is told how many words of the query the document has. */
  #best(query: readonly string[], limit: number, fits: (document: number, count: number) => boolean): Match[] {
    const touched: number[] = [];
    for (const word of new Set(query)) {
      const list = this.#postings.get(word);
      if (!list) continue;
      const { documents, weights } = list;
      for (let i = 0; i < documents.length; i++) {
        const document = documents[i];
        if (this.#counts[document]++ === 0) touched.push(document);
        this.#scores[document] += weights[i];
      }
    }
    const best: Match[] = [];
    for (const document of touched) {
      const score = this.#scores[document];
      const last = best[limit - 1];
      const isBetter = !last || score > last.score || (score === last.score && document < last.document);
      if (isBetter && fits(document, this.#counts[document])) insert(best, { document, score }, limit);
      this.#scores[document] = 0;
      this.#counts[document] = 0;
    }
    return best;
  }

  #namedIn(query: string): number[] {
    const found: number[] = [];
    const parts = query.split(/[\s,;]+/);
    for (const candidate of [query, ...parts, ...parts.map((part) => part.split(/[./:]/).at(-1) ?? '')])
      for (const document of this.#exact.get(plain(candidate)) ?? []) if (!found.includes(document)) found.push(document);
    return found;
  }
}

/** Keeps a short list in order: the score first, then the order of registration. */
function insert(best: Match[], match: Match, limit: number): void {
  let at = best.length;
  while (at > 0 && (best[at - 1].score < match.score || (best[at - 1].score === match.score && best[at - 1].document > match.document)))
    at--;
  best.splice(at, 0, match);
  if (best.length > limit) best.pop();
}
