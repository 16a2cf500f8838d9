// The rules of one .gitignore (gitignore(5)): which names below its folder are left out. Matching never goes back further than to the
// last star, so that no pattern of a stranger's repository can hold the daemon up.

type Token =
  | { type: 'char'; char: string }
  | { type: 'any' }
  | { type: 'star' }
  | { type: 'set'; negated: boolean; ranges: readonly (readonly [string, string])[] };

type Segment = { type: 'folders' } | { type: 'literal'; text: string } | { type: 'glob'; tokens: readonly Token[] };

interface Rule {
  readonly segments: readonly Segment[];
  readonly negated: boolean;
  readonly foldersOnly: boolean;
}

/** `[a-z]`, `[!x]`, `[^x]`; `]` first is a member. Undefined when it has no end: then nothing matches. */
function readSet(text: string, start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const negated = text[at] === '!' || text[at] === '^';
  if (negated) at++;
  const ranges: [string, string][] = [];
  for (let first = true; at < text.length; first = false) {
    if (text[at] === ']' && !first) return { token: { type: 'set', negated, ranges }, end: at };
    if (text[at] === '\\') at++;
    const from = text[at++];
    if (text[at] !== '-' || at + 1 >= text.length || text[at + 1] === ']') {
      ranges.push([from, from]);
      continue;
    }
    at++;
    if (text[at] === '\\') at++;
    ranges.push([from, text[at++]]);
  }
  return undefined;
}

function readTokens(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' });
    } else if (char === '?') tokens.push({ type: 'any' });
    else if (char === '[') {
      const set = readSet(text, at);
      if (!set) return undefined;
      tokens.push(set.token);
      at = set.end;
    } else if (char === '\\') {
      if (++at >= text.length) return undefined;
      tokens.push({ type: 'char', char: text[at] });
    } else tokens.push({ type: 'char', char });
  }
  return tokens;
}

function readSegment(text: string): Segment | undefined {
  if (text === '**') return { type: 'folders' };
  const tokens = readTokens(text);
  if (!tokens) return undefined;
  const chars = tokens.map((token) => (token.type === 'char' ? token.char : null));
  return chars.includes(null) ? { type: 'glob', tokens } : { type: 'literal', text: chars.join('') };
}

/** Blanks at the end count only behind a backslash. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t') && line[end - 2] !== '\\') end--;
  return line.slice(0, end);
}

function readRule(line: string): Rule | undefined {
  let text = trimmed(line.replace(/\r$/, ''));
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  const anchored = text.includes('/');
  const parts = text.replace(/^\//, '').split('/');
  if (text === '' || parts.includes('')) return undefined;
  const segments: Segment[] = anchored ? [] : [{ type: 'folders' }];
  for (const part of parts) {
    const segment = readSegment(part);
    if (!segment) return undefined;
    segments.push(segment);
  }
  // `a/**` is what lies inside a, not a itself.
  if (segments.at(-1)?.type === 'folders') segments.push({ type: 'glob', tokens: [{ type: 'star' }] });
  return { segments, negated, foldersOnly };
}

const inSet = (token: Extract<Token, { type: 'set' }>, char: string): boolean =>
  token.ranges.some(([from, to]) => char >= from && char <= to) !== token.negated;

const fits = (token: Token, char: string): boolean =>
  token.type === 'any' || (token.type === 'char' && token.char === char) || (token.type === 'set' && inSet(token, char));

/**
 * Matches a pattern with one kind of star against a sequence: when it fits no further, the last star takes one more.
 * @param isStar whether the pattern has a star there
 */
function matchStars(
  patternLength: number,
  length: number,
  isStar: (p: number) => boolean,
  fitsAt: (p: number, i: number) => boolean,
): boolean {
  let [p, i, star, taken] = [0, 0, -1, 0];
  while (i < length) {
    if (p < patternLength && isStar(p)) [star, taken] = [p++, i];
    else if (p < patternLength && fitsAt(p, i)) {
      p++;
      i++;
    } else if (star >= 0) [p, i] = [star + 1, ++taken];
    else return false;
  }
  while (p < patternLength && isStar(p)) p++;
  return p === patternLength;
}

function matchSegment(segment: Segment, name: string): boolean {
  if (segment.type === 'literal') return segment.text === name;
  if (segment.type === 'folders') return true;
  const { tokens } = segment;
  return matchStars(
    tokens.length,
    name.length,
    (p) => tokens[p].type === 'star',
    (p, i) => fits(tokens[p], name[i]),
  );
}

function matchRule({ segments }: Rule, path: readonly string[]): boolean {
  // The usual rule, a name anywhere, needs a look at the last part only.
  if (segments.length === 2 && segments[0].type === 'folders') return matchSegment(segments[1], path[path.length - 1]);
  return matchStars(
    segments.length,
    path.length,
    (p) => segments[p].type === 'folders',
    (p, i) => matchSegment(segments[p], path[i]),
  );
}

export class IgnoreRules {
  /** The last rule first: it decides. */
  readonly #rules: readonly Rule[];

  constructor(text: string) {
    const lines = text.replace(/^\ufeff/, '').split('\n');
    this.#rules = lines
      .map(readRule)
      .filter((rule) => rule !== undefined)
      .reverse();
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** @param path its parts, counted from the folder of the rules. Undefined when no rule speaks of it. */
  ignores(path: readonly string[], isFolder: boolean): boolean | undefined {
    const found = this.#rules.find((rule) => (isFolder || !rule.foldersOnly) && matchRule(rule, path));
    return found && !found.negated;
  }
}
