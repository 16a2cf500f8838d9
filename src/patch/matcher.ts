// Finds the place of a hunk in a file. Exact wins over loose; a loose match must be the only one; anchors narrow the search in order.
import { LEVELS, type LineIndex, lineForm, type Pattern } from './line-index.ts';
import type { Chunk, PatchLine } from './patch.ts';

/** Where the search may begin: after the hunk before, or, failing that, already inside its trailing context. */
export interface Cursor {
  readonly after: number;
  readonly afterChange: number;
}

export interface Place {
  readonly type: 'found';
  /** Lines of the file that the hunk covers: [start, end). */
  readonly start: number;
  readonly end: number;
  /** The hunk's lines, without blank lines that turned out to be a gap after it. */
  readonly lines: readonly PatchLine[];
}

export type MatchResult =
  | Place
  | { readonly type: 'missing' }
  | { readonly type: 'missingAnchor'; readonly anchor: string }
  /** Lines that only follow an anchor which the hunks before have passed. */
  | { readonly type: 'behind'; readonly anchor: number }
  /** Zero-based lines of the candidates. */
  | { readonly type: 'ambiguous'; readonly what: 'lines' | 'anchor'; readonly at: readonly number[] };

/** A range in which the body of a hunk is searched; `loose` is where it may begin when nothing is found from `from` on. */
interface Scope {
  readonly from: number;
  readonly loose: number;
  /** The line of the innermost anchor. */
  readonly anchor?: number;
}

const oldTexts = (lines: readonly PatchLine[]): string[] => lines.filter((l) => l.sign !== '+').map((l) => l.text);

/** The hunk as written, then without blank lines at its end that were written without a space. */
function* variants(lines: readonly PatchLine[]): Generator<readonly PatchLine[]> {
  yield lines;
  let end = lines.length;
  while (end > 0 && lines[end - 1].bare) {
    end--;
    if (end > 0) yield lines.slice(0, end);
  }
}

export function findChunk(index: LineIndex, chunk: Chunk, cursor: Cursor): MatchResult {
  const scopes = anchorScopes(index, chunk, cursor);
  if (!Array.isArray(scopes)) return scopes;
  let first: MatchResult | undefined;
  for (const lines of variants(chunk.lines)) {
    const result = findBody(index, chunk, lines, scopes);
    if (result.type !== 'missing') return result;
    first ??= result;
  }
  return first ?? { type: 'missing' };
}

// ---------- anchors ----------

/** Lines that an anchor may name from `from` on: of the tightest level that has any; below exact, all of them. */
function anchorLines(index: LineIndex, anchor: string, from: number, to = index.length): number[] {
  for (const level of LEVELS) {
    const found = index
      .find(index.pattern([anchor], level), from, level === 0 && to === index.length ? 1 : undefined)
      .filter((line) => line < to);
    if (found.length > 0) return found;
  }
  return [];
}

/** Last, the beginning of a line: a header given without its colon or brace. */
function anchorPrefixes(index: LineIndex, anchor: string, from: number): number[] {
  const start = lineForm(anchor, 3);
  const found: number[] = [];
  const lines = index.texts(3);
  for (let i = Math.max(0, from); i < lines.length; i++) if (lines[i].startsWith(start)) found.push(i);
  return found;
}

function anchorScopes(index: LineIndex, chunk: Chunk, cursor: Cursor): Scope[] | MatchResult {
  if (chunk.anchors.length === 0) return [{ from: cursor.after, loose: cursor.afterChange }];
  const [outer, ...inner] = chunk.anchors;
  const scopes: Scope[] = [];
  let missing = outer;
  for (const line of outerLines(index, outer, cursor)) {
    const anchor = followAnchors(index, inner, line);
    if (typeof anchor === 'string') missing = anchor;
    else scopes.push({ from: Math.max(anchor + 1, cursor.afterChange), loose: Math.max(anchor, cursor.afterChange), anchor });
  }
  return scopes.length > 0 ? scopes : { type: 'missingAnchor', anchor: missing };
}

/** The same anchor may head several hunks: when it is not ahead, the nearest one behind the place reached counts. */
function outerLines(index: LineIndex, anchor: string, cursor: Cursor): number[] {
  for (const from of [cursor.after, cursor.afterChange]) {
    const ahead = anchorLines(index, anchor, from);
    if (ahead.length > 0) return ahead;
  }
  const behind = anchorLines(index, anchor, 0, cursor.afterChange).slice(-1);
  return behind.length > 0 ? behind : anchorPrefixes(index, anchor, cursor.afterChange);
}

/** Each inner anchor is the first one after the outer. The last one's line, or the anchor that is not there. */
function followAnchors(index: LineIndex, anchors: readonly string[], line: number): number | string {
  let at = line;
  for (const anchor of anchors) {
    const next = anchorLines(index, anchor, at + 1)[0] ?? anchorPrefixes(index, anchor, at + 1)[0];
    if (next === undefined) return anchor;
    at = next;
  }
  return at;
}

// ---------- the lines of the hunk ----------

function findBody(index: LineIndex, chunk: Chunk, lines: readonly PatchLine[], scopes: readonly Scope[]): MatchResult {
  const old = oldTexts(lines);
  const place = (start: number): Place => ({ type: 'found', start, end: start + old.length, lines });
  if (old.length === 0) return insertion(index, chunk, scopes, place);
  if (chunk.endOfFile) {
    const start = index.length - old.length;
    const fits = LEVELS.some((level) => index.matchesAt(index.pattern(old, level), start));
    if (fits && scopes.some((scope) => start >= scope.loose)) return place(start);
  }
  for (const level of LEVELS) {
    const result = findAtLevel(index, chunk, index.pattern(old, level), scopes);
    if (result !== undefined) return typeof result === 'number' ? place(result) : result;
  }
  return { type: 'missing' };
}

function insertion(index: LineIndex, chunk: Chunk, scopes: readonly Scope[], place: (start: number) => Place): MatchResult {
  const end = index.length;
  const anchors = scopes.flatMap((scope) => scope.anchor ?? []);
  if (chunk.endOfFile) return place(end);
  if (anchors.length === 0) return place(chunk.lineHint === undefined ? end : Math.min(end, Math.max(scopes[0].loose, chunk.lineHint)));
  if (anchors.length > 1) return { type: 'ambiguous', what: 'anchor', at: anchors };
  // Lines that only follow an anchor have one place; when a hunk before it went past, this one is out of order.
  return anchors[0] + 1 < scopes[0].from ? { type: 'behind', anchor: anchors[0] } : place(scopes[0].from);
}

/** The place at one level, the candidates when they are equally loose, or undefined when there is none. */
function findAtLevel(index: LineIndex, chunk: Chunk, pattern: Pattern, scopes: readonly Scope[]): number | MatchResult | undefined {
  const places = new Set<number>();
  const anchors: number[] = [];
  for (const scope of scopes) {
    const found = findInScope(index, chunk, pattern, scope);
    if (found.length === 0) continue;
    if (found.length > 1 && pattern.level > 0) return { type: 'ambiguous', what: 'lines', at: found };
    places.add(found.length === 1 ? found[0] : nearestTo(found, chunk.lineHint ?? 0));
    if (scope.anchor !== undefined) anchors.push(scope.anchor);
  }
  // Several loose anchors that lead to different places name none of them.
  if (places.size > 1) return { type: 'ambiguous', what: 'anchor', at: anchors };
  return places.values().next().value;
}

function findInScope(index: LineIndex, chunk: Chunk, pattern: Pattern, scope: Scope): number[] {
  // A hunk that repeats its anchor as its first line begins there, not at the next place that looks like it.
  if (scope.anchor === scope.loose && (pattern.ids?.length ?? 0) > 1 && index.matchesAt(pattern, scope.loose)) return [scope.loose];
  // An anchor makes the first place after it the right one, as an exact match does; a line hint chooses among all.
  const limit = (pattern.level === 0 || scope.anchor !== undefined) && chunk.lineHint === undefined ? 1 : undefined;
  const found = index.find(pattern, scope.from, limit);
  return found.length === 0 && scope.loose < scope.from ? index.find(pattern, scope.loose, limit) : found;
}

function nearestTo(candidates: readonly number[], line: number): number {
  return candidates.reduce((best, candidate) => (Math.abs(candidate - line) < Math.abs(best - line) ? candidate : best));
}
