// A small reader of shell text: words, operators, here-documents. It never runs or expands anything; what it cannot read it says so.

export interface ShellWord {
  /** Quotes and escapes taken off; expansions stand as they were written. */
  readonly text: string;
  /** Holds something the shell would replace: a variable, a substitution, a pattern, a home folder. */
  readonly expands: boolean;
}

export interface Heredoc {
  readonly quoted: boolean;
  readonly body: string;
}

/** One simple command, and the operator that follows it ('' at the end). */
export interface ShellCommand {
  readonly words: ShellWord[];
  readonly heredocs: Heredoc[];
  /** Other redirections as written, `2>&1` for one. */
  readonly redirects: string[];
  operator: string;
}

const OPERATOR = /^(?:\|\||&&|;;|\|&|[|&;()\n])/;
const REDIRECT = /^\d*(?:<<<|<>|>>|>\||[<>]&|&>>?|[<>])/;
const BLANK = /^(?:[ \t\r]|\\\r?\n)+/;

interface PendingHeredoc {
  delimiter: string;
  quoted: boolean;
  stripTabs: boolean;
  command: ShellCommand;
}

/** undefined when a quote or a substitution is not closed. */
export function scanShell(script: string): ShellCommand[] | undefined {
  try {
    return new Scanner(script).scan();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

class Scanner {
  readonly #text: string;
  /** Only moves forward: the scan is linear. */
  #at = 0;
  readonly #commands: ShellCommand[] = [];
  #current: ShellCommand = newCommand();
  /** Here-documents whose bodies begin after the next line break. */
  #pending: PendingHeredoc[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  scan(): ShellCommand[] {
    while (this.#at < this.#text.length) this.#token();
    this.#endCommand('');
    return this.#commands.filter((command) => !isEmpty(command));
  }

  #rest(length = 16): string {
    return this.#text.slice(this.#at, this.#at + length);
  }

  #token(): void {
    const blank = BLANK.exec(this.#rest(256));
    if (blank) {
      this.#at += blank[0].length;
      return;
    }
    if (this.#text[this.#at] === '#') {
      const end = this.#text.indexOf('\n', this.#at);
      this.#at = end < 0 ? this.#text.length : end;
      return;
    }
    const rest = this.#rest();
    if (/^\d*<<(?!<)/.test(rest)) {
      this.#heredoc();
      return;
    }
    const redirect = REDIRECT.exec(rest);
    if (redirect) {
      this.#redirect(redirect[0]);
      return;
    }
    const operator = OPERATOR.exec(rest);
    if (operator) {
      this.#at += operator[0].length;
      if (operator[0] === '\n') this.#bodies();
      this.#endCommand(operator[0]);
      return;
    }
    this.#current.words.push(this.#word());
  }

  #endCommand(operator: string): void {
    if (isEmpty(this.#current)) {
      // An empty line changes nothing about the operator before it; anything else after nothing is kept as a command of its own.
      if (operator !== '\n' && operator !== '')
        this.#commands.push({ ...newCommand(), words: [{ text: operator, expands: true }], operator });
      return;
    }
    this.#current.operator = operator;
    this.#commands.push(this.#current);
    this.#current = newCommand();
  }

  #redirect(operator: string): void {
    this.#at += operator.length;
    while (/^[ \t]/.test(this.#rest(1))) this.#at++;
    const target = this.#at < this.#text.length && !OPERATOR.test(this.#rest()) ? this.#word().text : '';
    this.#current.redirects.push(`${operator}${target}`);
  }

  #heredoc(): void {
    this.#at = this.#text.indexOf('<<', this.#at) + 2;
    const stripTabs = this.#text[this.#at] === '-';
    if (stripTabs) this.#at++;
    while (/^[ \t]/.test(this.#rest(1))) this.#at++;
    const start = this.#at;
    const word = this.#word();
    const quoted = /['"\\]/.test(this.#text.slice(start, this.#at));
    if (word.text === '' && !quoted) throw new Unreadable();
    this.#pending.push({ delimiter: word.text, quoted, stripTabs, command: this.#current });
  }

  /** Reads the bodies that begin here; one without its delimiter goes to the end of the text, as the shell does it. */
  #bodies(): void {
    for (const { delimiter, quoted, stripTabs, command } of this.#pending) {
      const lines: string[] = [];
      while (this.#at < this.#text.length) {
        const newline = this.#text.indexOf('\n', this.#at);
        const end = newline < 0 ? this.#text.length : newline;
        const raw = this.#text.slice(this.#at, end);
        const line = stripTabs ? raw.replace(/^\t+/, '') : raw;
        this.#at = Math.min(end + 1, this.#text.length);
        if (line.trimEnd() === delimiter) break;
        lines.push(`${line}\n`);
      }
      command.heredocs.push({ quoted, body: lines.join('') });
    }
    this.#pending = [];
  }

  #word(): ShellWord {
    const parts: string[] = [];
    const start = this.#at;
    let expands = false;
    for (;;) {
      const c = this.#text[this.#at];
      if (c === undefined || /[ \t\r\n|&;()<>]/.test(c)) break;
      if (c === "'") parts.push(this.#single());
      else if (c === '"') expands = this.#double(parts) || expands;
      else if (c === '\\') parts.push(this.#escape());
      else if (c === '$' || c === '`') {
        expands = true;
        parts.push(this.#expansion());
      } else {
        expands ||= '*?[{'.includes(c) || (c === '~' && this.#at === start);
        parts.push(c);
        this.#at++;
      }
    }
    return { text: parts.join(''), expands };
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw new Unreadable();
    const text = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return text;
  }

  /** True when something inside would be expanded. */
  #double(parts: string[]): boolean {
    let expands = false;
    this.#at++;
    for (;;) {
      const c = this.#text[this.#at];
      if (c === undefined) throw new Unreadable();
      if (c === '"') break;
      if (c === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        // Between double quotes a backslash is taken off before these only.
        if (next !== '\n') parts.push('$`"\\'.includes(next) ? next : c + next);
        this.#at += 2;
      } else if (c === '$' || c === '`') {
        expands = true;
        parts.push(this.#expansion());
      } else {
        parts.push(c);
        this.#at++;
      }
    }
    this.#at++;
    return expands;
  }

  #escape(): string {
    const next = this.#text[this.#at + 1];
    this.#at += next === undefined ? 1 : 2;
    return next === undefined || next === '\n' ? '' : next;
  }

  /** A `$` or backquote and what belongs to it, as written. */
  #expansion(): string {
    const start = this.#at;
    const next = this.#text[this.#at + 1];
    if (this.#text[this.#at] === '`') {
      const end = this.#text.indexOf('`', this.#at + 1);
      if (end < 0) throw new Unreadable();
      this.#at = end + 1;
    } else if (next === '(' || next === '{') {
      this.#balanced(next, next === '(' ? ')' : '}');
    } else if (next === "'") {
      this.#at++;
      this.#single();
    } else {
      this.#at++;
    }
    return this.#text.slice(start, this.#at);
  }

  #balanced(open: string, close: string): void {
    let depth = 0;
    this.#at++;
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at];
      if (c === "'") {
        this.#single();
        continue;
      }
      if (c === '\\') this.#at++;
      else if (c === open) depth++;
      else if (c === close && --depth === 0) {
        this.#at++;
        return;
      }
      this.#at++;
    }
    throw new Unreadable();
  }
}

const newCommand = (): ShellCommand => ({ words: [], heredocs: [], redirects: [], operator: '' });
const isEmpty = (command: ShellCommand): boolean => command.words.length + command.heredocs.length + command.redirects.length === 0;
