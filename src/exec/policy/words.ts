// One word of the syntax tree → the text the program will get. The tree leaves quotes and backslashes in place, so that r"m", \rm and
// 'rm' come back as they were typed; here they become the same word. Whatever is not surely fixed is called dynamic.
import type { Node } from 'web-tree-sitter';
import type { Word } from './syntax.ts';

/** A stretch of a word. Quoted text is not open to globs, tildes or braces. */
interface Piece {
  readonly text: string;
  readonly quoted: boolean;
  readonly known: boolean;
}

const ANSI: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};
const ANSI_ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|([\s\S]))/g;

function ansiString(raw: string): Piece {
  let known = true;
  const text = raw.slice(2, -1).replace(ANSI_ESCAPE, (whole, hex?: string, unicode?: string, octal?: string, plain?: string) => {
    const code = hex ?? unicode;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    const value = ANSI[plain ?? ''];
    known &&= value !== undefined;
    return value ?? whole;
  });
  return { text, quoted: true, known: known && !text.includes('\0') };
}

/** Backslashes inside double quotes are dropped only before these. */
const doubleQuoted = (raw: string): string => raw.replace(/\\([$`"\\\n])/g, (_, c: string) => (c === '\n' ? '' : c));

const isPart = (type: string): boolean => type !== 'string_content' && type !== '"' && type !== '$"';

function doubleString(node: Node): Piece {
  const raw = node.text.slice(node.text.indexOf('"') + 1, -1);
  const expands = node.children.some((child) => isPart(child.type));
  // The second look at the raw text holds when the tree missed an expansion.
  const looksFixed = !/\$[A-Za-z_({0-9@*#?$!-]|`/.test(raw.replace(/\\[\s\S]/g, ''));
  return { text: doubleQuoted(raw), quoted: true, known: !expands && looksFixed && node.type === 'string' };
}

function bareWord(raw: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [, escaped, run] of raw.matchAll(/\\([\s\S])|([^\\]+|\\$)/g)) {
    if (escaped !== undefined) {
      if (escaped !== '\n') pieces.push({ text: escaped, quoted: true, known: true });
    } else pieces.push({ text: run, quoted: false, known: !/[$`;&|<>()"'\s\\]/.test(run) });
  }
  return pieces;
}

function piecesOf(node: Node): Piece[] {
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
    case 'file_descriptor':
      return bareWord(node.text);
    case 'raw_string':
      return [{ text: node.text.slice(1, -1), quoted: true, known: true }];
    case 'ansi_c_string':
      return [ansiString(node.text)];
    case 'string':
    case 'translated_string':
      return [doubleString(node)];
    case 'concatenation':
    case 'command_name':
      return node.children.flatMap((child) => piecesOf(child));
    default:
      return [{ text: node.text, quoted: false, known: false }];
  }
}

const PLACE = '\u0001';

function kindOf(pieces: readonly Piece[]): Word['kind'] {
  if (pieces.some((p) => !p.known)) return 'dynamic';
  const open = pieces.map((p) => (p.quoted ? PLACE.repeat(Math.max(1, p.text.length)) : p.text)).join('');
  if (/\{[^}]*(?:,|\.\.)[^}]*\}/.test(open)) return 'dynamic';
  if (/[*?[]/.test(open) || /[@+!]\(/.test(open)) {
    // A match may become an option unless the word is fixed up to its first character, or up to the = of an option.
    const fixed = pieces[0].text.startsWith('-') ? /^--?[\w-]+=/.test(open) : !/^[*?[@+!]/.test(open);
    return fixed ? 'pattern' : 'dynamic';
  }
  return open.startsWith('~') ? 'pattern' : 'literal';
}

export function wordOf(node: Node): Word {
  const pieces = piecesOf(node);
  return { text: pieces.map((p) => p.text).join(''), kind: kindOf(pieces) };
}
