// Changes single values of a TOML text and leaves every other line as it is: comments, order, blank lines, line endings.
// The parsed table is kept in step, which tells what a path holds; whoever edits parses the result again and compares.
import { sourceError } from './config-error.ts';
import { formatKey, formatPath } from './key-path.ts';
import { copyOf, deleteAt, isTable, mergeOver, sameValue, setAt, type Table, valueAt } from './table.ts';
import { type Header, type Pair, type Statement, scanToml, startsWith } from './toml-lines.ts';
import { formatValue } from './toml-value.ts';

type TablePath = readonly string[];

const keysOf = (path: TablePath): string => path.map(formatKey).join('.');

export class TomlEditor {
  /** Invariant: valid TOML whose content is #table. */
  #text: string;
  readonly #table: Table;
  readonly #break: string;

  /** @param table what `text` parses to; it is copied */
  constructor(text: string, table: Table) {
    this.#text = text;
    this.#table = copyOf(table) as Table;
    this.#break = text.includes('\r\n') ? '\r\n' : '\n';
  }

  get text(): string {
    return this.#text;
  }
  get table(): Table {
    return this.#table;
  }

  /** The value becomes exactly this; `null` removes the key. */
  replace(path: TablePath, value: unknown): void {
    if (value === null) this.#delete(path);
    else this.#assign(path, isTable(value) ? mergeOver({}, value) : value);
  }

  /** Tables are merged into what is there, a `null` inside removes its key; everything else is replaced. */
  upsert(path: TablePath, value: unknown): void {
    if (value === null) this.#delete(path);
    else this.#assign(path, mergeOver(valueAt(this.#table, path), value));
  }

  #assign(path: TablePath, next: unknown): void {
    const now = valueAt(this.#table, path);
    if (now !== undefined && sameValue(now, next)) return;
    this.#refuseWayThroughValues(path);
    if (isTable(now) && isTable(next) && !this.#isInline(path)) {
      for (const key of Object.keys(now)) if (!Object.hasOwn(next, key)) this.#delete([...path, key]);
      if (Object.keys(next).length === 0) this.#insertHeader(path);
      else this.#assignAll(path, next);
      return;
    }
    if (this.#rewrite(path, next)) return;
    if (now !== undefined) this.#delete(path);
    this.#insert(path, next);
  }

  /** Values before tables: what follows a header belongs to it. */
  #assignAll(path: TablePath, next: Table): void {
    const entries = Object.entries(next);
    for (const [key, inner] of entries) if (!isTable(inner)) this.#assign([...path, key], inner);
    for (const [key, inner] of entries) if (isTable(inner)) this.#assign([...path, key], inner);
  }

  #refuseWayThroughValues(path: TablePath): void {
    for (let length = 1; length < path.length; length++) {
      const part = path.slice(0, length);
      const value = valueAt(this.#table, part);
      if (value === undefined) return;
      if (!isTable(value))
        throw sourceError(`${formatPath(part)} is not a table, so ${formatPath(path)} cannot be set; write ${formatPath(part)} whole`);
    }
  }

  /** True when the path is, or lies inside, the value of one pair. */
  #isInline(path: TablePath): boolean {
    return this.#pairAround(scanToml(this.#text), path) !== undefined;
  }

  #pairAround(statements: readonly Statement[], path: TablePath): Pair | undefined {
    return statements.find((s): s is Pair => s.kind === 'pair' && startsWith(path, s.path));
  }

  /** Rewrites the value of the pair that is or holds the path; false when the path is made of headers or dotted keys. */
  #rewrite(path: TablePath, next: unknown): boolean {
    const pair = this.#pairAround(scanToml(this.#text), path);
    if (!pair) return false;
    const holder = pair.path.filter((part): part is string => typeof part === 'string');
    const copy = copyOf(this.#table) as Table;
    setAt(copy, path, copyOf(next));
    this.#splice(pair.valueStart, pair.valueEnd, formatValue(valueAt(copy, holder)));
    setAt(this.#table, path, copyOf(next));
    return true;
  }

  #delete(path: TablePath): void {
    if (valueAt(this.#table, path) === undefined) return;
    const statements = scanToml(this.#text);
    const pair = this.#pairAround(statements, path);
    deleteAt(this.#table, path);
    if (pair && pair.path.length < path.length) {
      const holder = pair.path.filter((part): part is string => typeof part === 'string');
      this.#splice(pair.valueStart, pair.valueEnd, formatValue(valueAt(this.#table, holder)));
      return;
    }
    const gone = statements.filter((s) => startsWith(s.path, path));
    for (const statement of gone.toReversed()) this.#cut(statement);
    this.#dropEmptyParents(path);
  }

  /** A table without a header of its own goes with the last of its keys. */
  #dropEmptyParents(path: TablePath): void {
    const parent = path.slice(0, -1);
    const remains = (s: Statement) => startsWith(s.path, parent) || (s.kind === 'pair' && startsWith(parent, s.path));
    if (parent.length === 0 || scanToml(this.#text).some(remains)) return;
    deleteAt(this.#table, parent);
    this.#dropEmptyParents(parent);
  }

  /** Removes the lines of a statement, and the blank line behind it when it would leave two. */
  #cut(statement: Statement): void {
    const { start } = statement;
    let { end } = statement;
    const blankBefore = start === 0 || /\n[ \t]*\r?\n$/.test(this.#text.slice(0, start));
    const blankAfter = /^[ \t]*\r?\n/.exec(this.#text.slice(end));
    if (statement.kind === 'header' && blankBefore && blankAfter) end += blankAfter[0].length;
    this.#splice(start, end, '');
  }

  #splice(start: number, end: number, replacement: string): void {
    this.#text = this.#text.slice(0, start) + replacement + this.#text.slice(end);
  }

  /** Adds what is not there yet. */
  #insert(path: TablePath, value: unknown): void {
    if (!isTable(value) || this.#mustBeDotted(path.slice(0, -1))) {
      this.#insertPair(path, value);
      return;
    }
    const inner = Object.values(value);
    // A header of its own is needed only for values; tables inside bring their headers along.
    if (inner.length === 0 || inner.some((entry) => !isTable(entry))) this.#insertHeader(path);
    this.#assignAll(path, value);
  }

  /** TOML forbids a header for a table that dotted keys have made. */
  #mustBeDotted(parent: TablePath): boolean {
    return this.#dottedSibling(scanToml(this.#text), parent) !== undefined;
  }

  #dottedSibling(statements: readonly Statement[], parent: TablePath): Pair | undefined {
    if (parent.length === 0) return undefined;
    return statements.findLast((s): s is Pair => {
      if (s.kind !== 'pair' || s.path.length <= parent.length || !startsWith(s.path, parent)) return false;
      const base = s.header === -1 ? 0 : statements[s.header].path.length;
      return base < parent.length;
    });
  }

  #insertPair(path: TablePath, value: unknown): void {
    const parent = path.slice(0, -1);
    let statements = scanToml(this.#text);
    const sibling = this.#dottedSibling(statements, parent);
    if (sibling) {
      const base = sibling.header === -1 ? 0 : statements[sibling.header].path.length;
      this.#insertLine(sibling.end, `${keysOf(path.slice(base))} = ${formatValue(value)}`);
    } else {
      if (parent.length > 0 && !this.#headerOf(statements, parent)) this.#insertHeader(parent);
      statements = scanToml(this.#text);
      const header = this.#headerOf(statements, parent);
      this.#insertLine(this.#endOfSection(statements, header), `${keysOf(path.slice(-1))} = ${formatValue(value)}`, header === undefined);
    }
    setAt(this.#table, path, copyOf(value));
  }

  #headerOf(statements: readonly Statement[], path: TablePath): Header | undefined {
    return statements.find((s): s is Header => s.kind === 'header' && !s.list && s.path.length === path.length && startsWith(s.path, path));
  }

  /** Behind the last pair of the section, else behind its header; at the top of a file without pairs, before the first header. */
  #endOfSection(statements: readonly Statement[], header: Header | undefined): number {
    const index = header ? statements.indexOf(header) : -1;
    const last = statements.findLast((s) => s.kind === 'pair' && s.header === index);
    if (last) return last.end;
    if (header) return header.end;
    const first = statements[0];
    return first ? this.#startOfComment(first.start) : this.#text.length;
  }

  /** Comment lines directly above a header belong to it. */
  #startOfComment(start: number): number {
    const lines = /(?:^|\n)((?:[ \t]*#[^\n]*\n)+)$/.exec(this.#text.slice(0, start));
    return lines ? start - lines[1].length : start;
  }

  #insertLine(at: number, line: string, isTop = false): void {
    const before = at > 0 && this.#text[at - 1] !== '\n' ? this.#break : '';
    const next = this.#text.slice(at);
    // A line put before a header, or before the comment that belongs to it, is set apart.
    const after = isTop && /^[ \t]*[#[]/.test(next) ? this.#break : '';
    this.#splice(at, at, `${before}${line}${this.#break}${after}`);
  }

  /** A new section: behind the last one of the same family, else at the end. */
  #insertHeader(path: TablePath): void {
    const statements = scanToml(this.#text);
    if (this.#headerOf(statements, path)) return;
    const family = statements.findLastIndex((s) => s.kind === 'header' && s.path[0] === path[0]);
    const behind = family === -1 ? undefined : statements.slice(family + 1).find((s) => s.kind === 'header');
    const at = behind ? this.#startOfComment(behind.start) : this.#text.length;
    const head = this.#text.slice(0, at);
    const open = head !== '' && !head.endsWith('\n') ? this.#break : '';
    const apart = head.trim() === '' || /\n[ \t]*\r?\n$/.test(head + open) ? '' : this.#break;
    const after = behind && !/^[ \t]*\r?\n/.test(this.#text.slice(at)) ? this.#break : '';
    this.#splice(at, at, `${open}${apart}[${keysOf(path)}]${this.#break}${after}`);
    if (valueAt(this.#table, path) === undefined) setAt(this.#table, path, {});
  }
}
