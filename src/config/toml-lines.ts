// Where things stand in a TOML text that the parser has accepted: each header and each pair with its offsets and its full path.
// Error texts point with it, edits cut with it. It does not check: on text that is not TOML its result has no meaning.
import type { Position } from './config-error.ts';
import { readQuoted } from './key-path.ts';

export type StatementPath = readonly (string | number)[];

interface Place {
  /** Full path; the entries of lists of tables carry their index. */
  path: StatementPath;
  /** Offset of the first character of the line. */
  start: number;
  /** Offset behind the line break that ends the statement, or the end of the text. */
  end: number;
  keyStart: number;
}
export interface Header extends Place {
  kind: 'header';
  /** True for `[[…]]`. */
  list: boolean;
}
export interface Pair extends Place {
  kind: 'pair';
  /** Index of its header among the statements, −1 for the top of the file. */
  header: number;
  valueStart: number;
  valueEnd: number;
}
export type Statement = Header | Pair;

const isBlank = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\ufeff';
const isBreak = (c: string | undefined): boolean => c === '\n' || c === '\r';

/** The offset behind a string of any of the four kinds. */
function stringEnd(text: string, start: number): number {
  const quote = text[start];
  const triple = quote.repeat(3);
  const long = text.startsWith(triple, start);
  let i = start + (long ? 3 : 1);
  while (i < text.length) {
    if (quote === '"' && text[i] === '\\') i += 2;
    else if (!long && text[i] === quote) return i + 1;
    else if (long && text.startsWith(triple, i)) {
      // Up to two quotes may stand directly before the closing three.
      i += 3;
      while (text[i] === quote) i++;
      return i;
    } else i++;
  }
  return text.length;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at;
}

/** The offset behind a list or inline table that opens at `start`. */
function bracketEnd(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; ) {
    const c = text[i];
    if (c === '"' || c === "'") {
      i = stringEnd(text, i);
      continue;
    }
    if (c === '#') {
      i = lineEnd(text, i);
      continue;
    }
    if (c === '[' || c === '{') depth++;
    if ((c === ']' || c === '}') && --depth === 0) return i + 1;
    i++;
  }
  return text.length;
}

function valueEndOf(text: string, start: number): number {
  const c = text[start];
  if (c === '"' || c === "'") return stringEnd(text, start);
  if (c === '[' || c === '{') return bracketEnd(text, start);
  const line = text.slice(start, lineEnd(text, start));
  return start + line.replace(/#.*$/s, '').trimEnd().length;
}

/** A dotted key that starts at `start`: its segments and the offset of what follows. */
function readKey(text: string, start: number): { path: string[]; end: number } {
  const path: string[] = [];
  let i = start;
  for (;;) {
    while (isBlank(text[i])) i++;
    if (text[i] === '"' || text[i] === "'") {
      const quoted = readQuoted(text, i);
      path.push(quoted?.value ?? '');
      i = quoted?.end ?? text.length;
    } else {
      const from = i;
      while (i < text.length && /[\w-]/.test(text[i])) i++;
      path.push(text.slice(from, i));
    }
    while (isBlank(text[i])) i++;
    if (text[i] !== '.') return { path, end: i };
    i++;
  }
}

const keyOf = (path: StatementPath): string => JSON.stringify(path);

export function scanToml(text: string): Statement[] {
  const statements: Statement[] = [];
  /** Path of a list of tables → index of its latest entry. */
  const lists = new Map<string, number>();
  const enter = (path: readonly string[]): (string | number)[] => {
    const full: (string | number)[] = [];
    for (const segment of path) {
      full.push(segment);
      const latest = lists.get(keyOf(full));
      if (latest !== undefined) full.push(latest);
    }
    return full;
  };
  let header = -1;
  let base: StatementPath = [];
  for (let i = 0; i < text.length; ) {
    const start = i;
    while (isBlank(text[i])) i++;
    if (i >= text.length || isBreak(text[i]) || text[i] === '#') {
      i = lineEnd(text, i) + 1;
      continue;
    }
    if (text[i] === '[') {
      const list = text[i + 1] === '[';
      const key = readKey(text, i + (list ? 2 : 1));
      const path = list ? [...enter(key.path.slice(0, -1)), key.path.at(-1) ?? ''] : enter(key.path);
      if (list) {
        const index = (lists.get(keyOf(path)) ?? -1) + 1;
        lists.set(keyOf(path), index);
        path.push(index);
      }
      const end = Math.min(lineEnd(text, key.end) + 1, text.length);
      header = statements.push({ kind: 'header', list, path, start, end, keyStart: i }) - 1;
      base = path;
      i = end;
      continue;
    }
    const key = readKey(text, i);
    let valueStart = key.end + 1;
    while (isBlank(text[valueStart])) valueStart++;
    const valueEnd = valueEndOf(text, valueStart);
    const end = Math.min(lineEnd(text, valueEnd) + 1, text.length);
    statements.push({ kind: 'pair', path: [...base, ...key.path], header, start, end, keyStart: i, valueStart, valueEnd });
    i = end;
  }
  return statements;
}

export const startsWith = (path: StatementPath, prefix: StatementPath): boolean =>
  prefix.length <= path.length && prefix.every((part, index) => part === path[index]);

function positionOf(text: string, start: number, end: number): Position {
  const at = (offset: number) => {
    const before = text.slice(0, offset).split('\n');
    return { line: before.length, column: before[before.length - 1].length + 1 };
  };
  const [from, to] = [at(start), at(end)];
  return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
}

/** The place of a path: its pair, the pair or header that contains it, or the first statement inside it. */
export function locate(text: string, path: StatementPath): Position | null {
  let best: Statement | undefined;
  for (const statement of scanToml(text)) {
    if (startsWith(path, statement.path) && statement.path.length > (best?.path.length ?? 0)) best = statement;
  }
  const chosen = best && (best.kind === 'pair' || best.path.length === path.length) ? best : undefined;
  const statement = chosen ?? scanToml(text).find((candidate) => startsWith(candidate.path, path)) ?? best;
  if (!statement) return null;
  const end = statement.kind === 'pair' ? statement.valueEnd : statement.end;
  return positionOf(text, statement.keyStart, statement.kind === 'pair' ? end : text.slice(0, end).trimEnd().length);
}
