// Fuzzy match of a query against a path: each word of the query must be a subsequence of it, in any case. Of all ways to align a word the
// best counts: characters at the beginning of a name or a part of it, in one piece, in the file's own name.

const MATCH = 16;
const SAME_CASE = 1;
const IN_NAME = 2;
const AFTER_SEPARATOR = 8;
const AFTER_SLASH = 10;
const CAMEL_HUMP = 7;
const IN_ONE_PIECE = 8;
const GAP = 3;
const LONGER_GAP = 1;
/** The word is the whole name, or the name up to its extension. */
const WHOLE_NAME = 64;
const WHOLE_STEM = 32;
const IMPOSSIBLE = -1_000_000_000;

const SLASH = 0x2f;
const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;
const isLower = (c: number): boolean => c >= 0x61 && c <= 0x7a;
const isUpper = (c: number): boolean => c >= 0x41 && c <= 0x5a;
const isSeparator = (c: number): boolean => c < 0x80 && !isDigit(c) && !isLower(c) && !isUpper(c);

/** Lower case of the same length, so that positions stay what they are. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from({ length: text.length }, (_, i) => {
    const one = text[i].toLowerCase();
    return one.length === 1 ? one : text[i];
  }).join('');
}

function bonusAt(path: string, at: number, nameStart: number): number {
  const inName = at >= nameStart ? IN_NAME : 0;
  if (at === 0) return AFTER_SLASH + inName;
  const [before, here] = [path.charCodeAt(at - 1), path.charCodeAt(at)];
  if (before === SLASH) return AFTER_SLASH + inName;
  if (isSeparator(before)) return AFTER_SEPARATOR + inName;
  const hump = (isUpper(here) && !isUpper(before)) || (isDigit(here) && !isDigit(before));
  return (hump ? CAMEL_HUMP : 0) + inName;
}

/** The first place at which each character of the word can stand, into `starts`. False when it is no subsequence. */
function findStarts(word: string, text: string, starts: Int32Array): boolean {
  let at = -1;
  for (let i = 0; i < word.length; i++) {
    at = text.indexOf(word[i], at + 1);
    if (at < 0) return false;
    starts[i] = at;
  }
  return true;
}

interface Word {
  readonly text: string;
  readonly folded: string;
}

/** Room for one row per character of a word; grown when a longer path comes. */
class Rows {
  bonus = new Int32Array(512);
  previous = new Int32Array(512);
  current = new Int32Array(512);
  /** Of the word that is being aligned. */
  starts = new Int32Array(512);

  fit(length: number): void {
    if (length <= this.bonus.length) return;
    const size = 2 * length;
    this.bonus = new Int32Array(size);
    this.previous = new Int32Array(size);
    this.current = new Int32Array(size);
    this.starts = new Int32Array(size);
  }

  swap(): void {
    [this.previous, this.current] = [this.current, this.previous];
  }
}

/** @param origins when given, gets for character i at position j where character i - 1 stands */
function fillRow(rows: Rows, i: number, word: Word, path: string, folded: string, origins: Int32Array | null): void {
  const { bonus, previous, current, starts } = rows;
  const length = path.length;
  const [wanted, exact] = [word.folded.charCodeAt(i), word.text.charCodeAt(i)];
  let gap = IMPOSSIBLE;
  let gapFrom = -1;
  // Invariant: a row holds values from the first place of its own character on.
  const before = i === 0 ? length : starts[i - 1];
  for (let j = i === 0 ? starts[0] : before + 1; j < length; j++) {
    // The best way to stand here after a gap of at least one character.
    gap -= LONGER_GAP;
    if (j - 2 >= before && previous[j - 2] - GAP > gap) {
      gap = previous[j - 2] - GAP;
      gapFrom = j - 2;
    }
    if (folded.charCodeAt(j) !== wanted) {
      current[j] = IMPOSSIBLE;
      continue;
    }
    const own = MATCH + bonus[j] + (path.charCodeAt(j) === exact ? SAME_CASE : 0);
    if (i === 0) current[j] = own;
    else {
      const piece = previous[j - 1] + IN_ONE_PIECE;
      current[j] = Math.max(piece, gap) <= IMPOSSIBLE / 2 ? IMPOSSIBLE : own + Math.max(piece, gap);
      if (origins) origins[i * length + j] = piece >= gap ? j - 1 : gapFrom;
    }
  }
}

function bestEnd(row: Int32Array, start: number, length: number): number {
  let best = start;
  for (let j = start + 1; j < length; j++) if (row[j] > row[best]) best = j;
  return best;
}

function wholeBonus(word: Word, folded: string, nameStart: number): number {
  if (!folded.endsWith(word.folded)) {
    const dot = folded.lastIndexOf('.');
    return dot > nameStart && folded.slice(nameStart, dot) === word.folded ? WHOLE_STEM : 0;
  }
  const start = folded.length - word.folded.length;
  return start === nameStart || (start < nameStart && (start === 0 || folded.charCodeAt(start - 1) === SLASH)) ? WHOLE_NAME : 0;
}

export class FuzzyQuery {
  readonly #words: readonly Word[];
  readonly #rows = new Rows();

  constructor(query: string) {
    const words = query.split(/\s+/).filter((word) => word !== '');
    this.#words = words.map((text) => ({ text, folded: foldCase(text) }));
  }

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  /** Above 0 for a match, 0 for none. */
  score(path: string): number {
    const folded = foldCase(path);
    this.#rows.fit(path.length);
    const { starts } = this.#rows;
    if (this.isEmpty || !this.#words.every((word) => findStarts(word.folded, folded, starts))) return 0;
    const nameStart = this.#prepare(path);
    let sum = 0;
    for (const word of this.#words) sum += this.#align(word, path, folded, null).score + wholeBonus(word, folded, nameStart);
    return Math.max(1, sum);
  }

  /** Positions of the matched characters in a path that matches, ascending, counted in characters. */
  indices(path: string): number[] {
    const folded = foldCase(path);
    this.#rows.fit(path.length);
    this.#prepare(path);
    const found = new Set<number>();
    for (const word of this.#words) {
      const origins = new Int32Array(word.text.length * path.length);
      let at = this.#align(word, path, folded, origins).end;
      for (let i = word.text.length - 1; i >= 0; i--) {
        found.add(at);
        at = origins[i * path.length + at];
      }
    }
    return inCharacters(
      path,
      [...found].sort((a, b) => a - b),
    );
  }

  /** Gives where the name begins. */
  #prepare(path: string): number {
    const nameStart = path.lastIndexOf('/') + 1;
    for (let j = 0; j < path.length; j++) this.#rows.bonus[j] = bonusAt(path, j, nameStart);
    return nameStart;
  }

  #align(word: Word, path: string, folded: string, origins: Int32Array | null): { score: number; end: number } {
    findStarts(word.folded, folded, this.#rows.starts);
    for (let i = 0; i < word.text.length; i++) {
      fillRow(this.#rows, i, word, path, folded, origins);
      this.#rows.swap();
    }
    const end = bestEnd(this.#rows.previous, this.#rows.starts[word.text.length - 1], path.length);
    return { score: this.#rows.previous[end], end };
  }
}

/** From code units to characters, where the text has any that take two. */
function inCharacters(text: string, units: readonly number[]): number[] {
  if (!/[\ud800-\udbff]/.test(text)) return [...units];
  const characters: number[] = [];
  let count = -1;
  for (let unit = 0; unit < text.length; unit++) {
    const isTail = unit > 0 && (text.charCodeAt(unit) & 0xfc00) === 0xdc00 && (text.charCodeAt(unit - 1) & 0xfc00) === 0xd800;
    if (!isTail) count++;
    if (units.includes(unit)) characters.push(count);
  }
  return [...new Set(characters)];
}
