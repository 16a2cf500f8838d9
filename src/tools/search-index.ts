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

interface Posting {
  document: number;
  frequency: number;
  /** The word is in the name of the tool. */
  named: boolean;
}

interface Match {
  document: number;
  score: number;
  /** Words of the query that it holds. */
  words: number;
  named: boolean;
}

/** Built once for a set of tools; the query cost follows the postings of its words. */
export class SearchIndex<T extends Searchable> {
  readonly #tools: readonly T[];
  readonly #postings = new Map<string, Posting[]>();
  readonly #lengths: number[] = [];
  readonly #exact = new Map<string, number[]>();
  #averageLength = 1;

  constructor(tools: readonly T[]) {
    this.#tools = tools;
    let total = 0;
    tools.forEach((tool, document) => {
      const counts = new Map<string, number>();
      const add = (text: string, weight: number) => {
        for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
      };
      add(tool.name.name, NAME_WEIGHT);
      add(tool.name.namespace ?? '', 1);
      add(tool.description, 1);
      add(tool.namespaceDescription ?? '', 1);
      for (const parameter of tool.parameterNames) add(parameter, 1);
      const inName = new Set(words(tool.name.name));
      let length = 0;
      for (const [word, frequency] of counts) {
        length += frequency;
        const posting = { document, frequency, named: inName.has(word) };
        const list = this.#postings.get(word);
        if (list) list.push(posting);
        else this.#postings.set(word, [posting]);
      }
      this.#lengths.push(length);
      total += length;
      for (const form of new Set([plain(tool.name.name), plain(flatName(tool.name))]))
        this.#exact.set(form, [...(this.#exact.get(form) ?? []), document]);
    });
    this.#averageLength = tools.length ? Math.max(1, total / tools.length) : 1;
  }

  /** Exactly named tools first (never cut by the limit), then by score; ties keep registration order. */
  search(query: string, limit: number): T[] {
    const exact = this.#namedIn(query);
    const ranked = this.#ranked(words(query)).filter(({ document }) => !exact.includes(document));
    const rest = ranked.slice(0, Math.max(0, limit - exact.length)).map(({ document }) => document);
    return [...exact, ...rest].map((document) => this.#tools[document]);
  }

  /** Tools that a message of a person is about, if any: more than a word in common, or one in the name, and near the best of them. */
  suggest(message: string, limit: number): T[] {
    const ranked = this.#ranked(words(message).filter((word) => word.length > 2 && !EMPTY_WORDS.has(word)));
    const fitting = ranked.filter((match) => match.named || match.words > 1);
    const best = fitting[0]?.score ?? 0;
    return fitting
      .filter(({ score }) => score >= best / 2)
      .slice(0, limit)
      .map(({ document }) => this.#tools[document]);
  }

  #ranked(query: readonly string[]): Match[] {
    const matches = new Map<number, Match>();
    for (const word of new Set(query)) {
      const list = this.#postings.get(word);
      if (!list) continue;
      const idf = Math.log(1 + (this.#tools.length - list.length + 0.5) / (list.length + 0.5));
      for (const { document, frequency, named } of list) {
        const norm = frequency + K1 * (1 - B + (B * this.#lengths[document]) / this.#averageLength);
        const gain = (idf * frequency * (K1 + 1)) / norm;
        const match = matches.get(document);
        if (!match) matches.set(document, { document, score: gain, words: 1, named });
        else {
          match.score += gain;
          match.words++;
          match.named ||= named;
        }
      }
    }
    return [...matches.values()].sort((a, b) => b.score - a.score || a.document - b.document);
  }

  #namedIn(query: string): number[] {
    const found: number[] = [];
    const candidates = [query, ...query.split(/[\s,;]+/), ...query.split(/[\s,;]+/).map((part) => part.split(/[./:]/).at(-1) ?? '')];
    for (const candidate of candidates)
      for (const document of this.#exact.get(plain(candidate)) ?? []) if (!found.includes(document)) found.push(document);
    return found;
  }
}
