// How two lines may be the same: four levels, each looser than the one before. The index keeps the lines of one file in each form.

export type Level = 0 | 1 | 2 | 3;
/** Exact · trailing white space ignored · white space at both ends ignored · punctuation, spaces and normal form made equal. */
export const LEVELS: readonly Level[] = [0, 1, 2, 3];

const PUNCTUATION: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-'],
  [/[\u2018-\u201b\u2032\u02bc]/g, "'"],
  [/[\u201c-\u201f\u2033]/g, '"'],
  [/\u2026/g, '...'],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' '],
  // Marks that show nothing: zero-width space, word joiner, soft hyphen, byte order mark.
  [/[\u200b\u2060\u00ad\ufeff]/g, ''],
];

const ASCII = /^[\x00-\x7f]*$/;

function normalForm(line: string): string {
  if (ASCII.test(line)) return line.trim();
  let text = line.normalize('NFC');
  for (const [pattern, plain] of PUNCTUATION) text = text.replace(pattern, plain);
  return text.trim();
}

export function lineForm(line: string, level: Level): string {
  if (level === 0) return line;
  if (level === 1) return line.trimEnd();
  return level === 2 ? line.trim() : normalForm(line);
}

/** Lines to look for, as numbers that stand for their text at one level; undefined when the file lacks one of them. */
export interface Pattern {
  readonly level: Level;
  readonly ids: readonly number[] | undefined;
}

/** One level of a file: equal lines have equal numbers, so that a search compares numbers, however long and alike the lines are. */
interface Form {
  readonly texts: readonly string[];
  readonly ids: Int32Array;
  readonly idOf: ReadonlyMap<string, number>;
}

function formOf(texts: readonly string[]): Form {
  const idOf = new Map<string, number>();
  const ids = Int32Array.from(texts, (text) => {
    const known = idOf.get(text);
    if (known !== undefined) return known;
    const id = idOf.size;
    idOf.set(text, id);
    return id;
  });
  return { texts, ids, idOf };
}

export class LineIndex {
  readonly #lines: readonly string[];
  /** Filled level by level, on first use: most hunks match exactly. */
  readonly #forms: Form[] = [];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  get length(): number {
    return this.#lines.length;
  }

  at(line: number): string {
    return this.#lines[line];
  }

  #form(level: Level): Form {
    this.#forms[level] ??= formOf(this.#lines.map((line) => lineForm(line, level)));
    return this.#forms[level];
  }

  texts(level: Level): readonly string[] {
    return this.#form(level).texts;
  }

  pattern(lines: readonly string[], level: Level): Pattern {
    const { idOf } = this.#form(level);
    const ids: number[] = [];
    for (const line of lines) {
      const id = idOf.get(lineForm(line, level));
      if (id === undefined) return { level, ids: undefined };
      ids.push(id);
    }
    return { level, ids };
  }

  matchesAt(pattern: Pattern, start: number): boolean {
    const wanted = pattern.ids;
    if (!wanted || start < 0 || start + wanted.length > this.length) return false;
    const { ids } = this.#form(pattern.level);
    for (let i = 0; i < wanted.length; i++) if (ids[start + i] !== wanted[i]) return false;
    return true;
  }

  /** First lines of every place from `from` on, at most `limit`. */
  find(pattern: Pattern, from: number, limit = Number.POSITIVE_INFINITY): number[] {
    const found: number[] = [];
    if (!pattern.ids) return found;
    const end = this.length - pattern.ids.length;
    for (let start = Math.max(0, from); start <= end && found.length < limit; start++) {
      if (this.matchesAt(pattern, start)) found.push(start);
    }
    return found;
  }
}
