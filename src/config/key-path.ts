// Dotted keys: `model`, `mcp_servers.x.command`, `projects."/a.b".trust_level`. Used by -c, by the `config` of a thread, by writes,
// and to name a key in texts.

const BARE = /^[A-Za-z0-9_-]+$/;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b', '"': '"', '\\': '\\' };
const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** A quoted string that starts at `start`: its value and the offset behind the closing quote; undefined when it is not closed or odd. */
export function readQuoted(text: string, start: number): { value: string; end: number } | undefined {
  const quote = text[start];
  let value = '';
  for (let i = start + 1; i < text.length; i++) {
    const c = text[i];
    if (c === quote) return { value, end: i + 1 };
    if (c !== '\\' || quote === "'") {
      value += c;
      continue;
    }
    const letter = text[++i] ?? '';
    const digits = HEX_LENGTH[letter];
    if (digits === undefined) {
      const plain = ESCAPES[letter];
      if (plain === undefined) return undefined;
      value += plain;
      continue;
    }
    const code = Number.parseInt(text.slice(i + 1, i + 1 + digits), 16);
    if (Number.isNaN(code) || code > 0x10ffff) return undefined;
    value += String.fromCodePoint(code);
    i += digits;
  }
  return undefined;
}

export const formatKey = (segment: string): string => (BARE.test(segment) ? segment : quoteToml(segment));

/** The dotted form; a number is an index into a list. */
export const formatPath = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${formatKey(part)}`),
    '',
  );

/** A basic TOML string. JSON escapes are TOML escapes, except that DEL must be escaped too. */
export const quoteToml = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f');

/**
 * The segments of a dotted key. An unquoted segment may hold anything but dots and quotes (more than TOML allows: names of servers
 * with a blank are written this way). Undefined when the key is empty, ends in a dot or has an open quote.
 */
export function parsePath(text: string): string[] | undefined {
  const path: string[] = [];
  let i = 0;
  const skipBlanks = () => {
    while (text[i] === ' ' || text[i] === '\t') i++;
  };
  for (;;) {
    skipBlanks();
    if (text[i] === '"' || text[i] === "'") {
      const quoted = readQuoted(text, i);
      if (!quoted) return undefined;
      path.push(quoted.value);
      i = quoted.end;
      skipBlanks();
    } else {
      const start = i;
      while (i < text.length && text[i] !== '.' && text[i] !== '"' && text[i] !== "'") i++;
      const segment = text.slice(start, i).trim();
      if (segment === '') return undefined;
      path.push(segment);
    }
    if (i === text.length) return path;
    if (text[i] !== '.') return undefined;
    i++;
  }
}
