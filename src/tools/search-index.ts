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

interface Posting {
  document: number;
  frequency: number;
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
      let length = 0;
      for (const [word, frequency] of counts) {
        length += frequency;
        const list = this.#postings.get(word);
        if (list) list.push({ document, frequency });
        else this.#postings.set(word, [{ document, frequency }]);
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
    const scores = new Map<number, number>();
    for (const word of new Set(words(query))) {
      const list = this.#postings.get(word);
      if (!list) continue;
      const idf = Math.log(1 + (this.#tools.length - list.length + 0.5) / (list.length + 0.5));
      for (const { document, frequency } of list) {
        const norm = frequency + K1 * (1 - B + (B * this.#lengths[document]) / this.#averageLength);
        scores.set(document, (scores.get(document) ?? 0) + (idf * frequency * (K1 + 1)) / norm);
      }
    }
    const ranked = [...scores].filter(([document]) => !exact.includes(document)).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const rest = ranked.slice(0, Math.max(0, limit - exact.length)).map(([document]) => document);
    return [...exact, ...rest].map((document) => this.#tools[document]);
  }

  #namedIn(query: string): number[] {
    const found: number[] = [];
    const candidates = [query, ...query.split(/[\s,;]+/), ...query.split(/[\s,;]+/).map((part) => part.split(/[./:]/).at(-1) ?? '')];
    for (const candidate of candidates)
      for (const document of this.#exact.get(plain(candidate)) ?? []) if (!found.includes(document)) found.push(document);
    return found;
  }
}
