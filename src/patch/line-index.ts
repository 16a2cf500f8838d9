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

export class LineIndex {
  readonly #lines: readonly string[];
  /** Filled level by level, on first use: most hunks match exactly. */
  readonly #forms: (readonly string[])[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#forms = [lines];
  }

  get length(): number {
    return this.#lines.length;
  }

  at(line: number): string {
    return this.#lines[line];
  }

  form(level: Level): readonly string[] {
    this.#forms[level] ??= this.#lines.map((line) => lineForm(line, level));
    return this.#forms[level];
  }

  /** Whether the pattern, already in the form of the level, stands at this line. */
  matchesAt(pattern: readonly string[], level: Level, start: number): boolean {
    if (start < 0 || start + pattern.length > this.length) return false;
    const lines = this.form(level);
    for (let i = 0; i < pattern.length; i++) if (lines[start + i] !== pattern[i]) return false;
    return true;
  }

  /** First lines of every place from `from` on, at most `limit`. */
  find(pattern: readonly string[], level: Level, from: number, limit = Number.POSITIVE_INFINITY): number[] {
    const found: number[] = [];
    for (let start = Math.max(0, from); start + pattern.length <= this.length && found.length < limit; start++) {
      if (this.matchesAt(pattern, level, start)) found.push(start);
    }
    return found;
  }
}
