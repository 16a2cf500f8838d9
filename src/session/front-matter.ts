// The block between two `---` lines at the head of a Markdown file: the part of YAML that such blocks are written in. Keys with a text,
// quoted or not, folded or literal; one level of nested keys, read as `outer.inner`. Lists are passed over.

export class FrontMatterError extends Error {
  override readonly name = 'FrontMatterError';
}

const FENCE = /^---\s*$/;
const END = /^(?:---|\.\.\.)\s*$/;
const ENTRY = /^( *)([A-Za-z_][\w.-]*):(?:\s+(.*))?$/;
const BLOCK = /^([|>])[+-]?\d?[+-]?\s*(?:#.*)?$/;

const indentOf = (line: string): number => line.length - line.trimStart().length;
const isBlank = (line: string): boolean => line.trim() === '';

function unquoted(text: string, line: number): string {
  const quote = text[0];
  const pattern = quote === '"' ? /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/ : /^'((?:[^']|'')*)'\s*(?:#.*)?$/;
  const inner = pattern.exec(text)?.[1];
  if (inner === undefined) throw new FrontMatterError(`line ${line}: the quote ${quote} is not closed`);
  if (quote === "'") return inner.replaceAll("''", "'");
  return inner.replace(/\\(.)/g, (_, c: string) => ({ n: '\n', t: '\t' })[c] ?? c);
}

/** Literal blocks keep their lines; folded ones join them, and a blank line is a line break. */
function blockText(lines: readonly string[], style: string): string {
  const margin = Math.min(...lines.filter((line) => !isBlank(line)).map(indentOf));
  const cut = lines.map((line) => (isBlank(line) ? '' : line.slice(margin).trimEnd()));
  const text = cut.join('\n').trim();
  return style === '|' ? text : text.replace(/([^\n])\n(?=[^\n])/g, '$1 ').replace(/\n\n/g, '\n');
}

class Reader {
  readonly #lines: readonly string[];
  readonly values = new Map<string, string>();
  /** The line that is read next; the fence is line 0. */
  #at = 1;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): void {
    let outer = '';
    for (; ; this.#at++) {
      const line = this.#lines[this.#at];
      if (line === undefined) throw new FrontMatterError('the front matter has no closing ---');
      if (END.test(line)) return;
      if (isBlank(line) || line.trimStart().startsWith('#')) continue;
      const entry = ENTRY.exec(line);
      if (!entry) {
        if (/^\s*-(?:\s|$)/.test(line) || /^\s/.test(line)) continue;
        throw new FrontMatterError(`line ${this.#at + 1}: expected "key: value"`);
      }
      const [, indent, key, given = ''] = entry;
      if (indent === '') outer = key;
      const value = this.#value(given.trim(), indent.length);
      if (value !== undefined) this.values.set(indent === '' ? key : `${outer}.${key}`, value);
    }
  }

  #value(given: string, indent: number): string | undefined {
    const block = BLOCK.exec(given);
    if (block) return blockText(this.#deeper(indent), block[1]);
    if (given.startsWith('"') || given.startsWith("'")) {
      const line = this.#at + 1;
      return unquoted([given, ...this.#deeper(indent).map((more) => more.trim())].join(' '), line);
    }
    if (given === '' || given.startsWith('#')) return undefined;
    return [given, ...this.#deeper(indent)]
      .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
      .join(' ')
      .trim();
  }

  /** The lines that belong to the value of a key because they stand further in; they are consumed. */
  #deeper(indent: number): string[] {
    const found: string[] = [];
    for (let next = this.#lines[this.#at + 1]; next !== undefined; next = this.#lines[this.#at + 1]) {
      if (!isBlank(next) && (indentOf(next) <= indent || END.test(next))) break;
      found.push(next);
      this.#at++;
    }
    return found;
  }
}

/** Throws a FrontMatterError that says what is wrong. */
export function parseFrontMatter(text: string): ReadonlyMap<string, string> {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (!FENCE.test(lines[0])) throw new FrontMatterError('there is no front matter: the first line must be ---');
  const reader = new Reader(lines);
  reader.read();
  return reader.values;
}

/** What follows the block; the whole text when there is none. */
export function withoutFrontMatter(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (!FENCE.test(lines[0])) return text;
  const end = lines.findIndex((line, i) => i > 0 && END.test(line));
  return end < 0 ? text : lines.slice(end + 1).join('\n');
}
