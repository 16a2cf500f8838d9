// Reading TOML: files and single values. The parser is loaded when there is something to parse, and its errors lose their excerpt of
// the file, which may show a secret.
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { messageOf, systemCode } from '../common/errors.ts';
import { sourceError } from './config-error.ts';
import { readQuoted } from './key-path.ts';
import type { Table } from './table.ts';

/** A configuration larger than this is a mistake, or a device file behind a link. */
const MAX_BYTES = 1 << 20;

/** The text of a file, undefined when there is none. Throws ConfigError for everything else that is not a small UTF-8 file. */
export function readConfigText(file: string): string | undefined {
  let text: string;
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isFile()) throw sourceError('is not a regular file', file);
    if (stat.size > MAX_BYTES) throw sourceError(`is larger than ${MAX_BYTES} bytes`, file);
    text = readFileSync(file, 'utf8');
    // Decoding puts this character in the place of bad bytes; it may also stand in the file itself.
    if (text.includes('\ufffd') && !isUtf8(readFileSync(file))) throw sourceError('is not UTF-8 text', file);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === undefined) throw error;
    throw sourceError(`cannot be read (${code})`, file);
  }
  return text;
}

/** Throws ConfigError with file, line and column. A byte order mark is allowed. */
export async function parseToml(text: string, file: string | null): Promise<Table> {
  if (text.trim() === '') return {};
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text, { unsafeKeyBehaviour: 'throw', maxDepth: 100 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw sourceError(`invalid TOML: ${messageOf(error)}`, file);
    const { line, column } = error;
    const reason = messageOf(error)
      .split('\n', 1)[0]
      .replace(/^Invalid TOML document: /, '');
    throw sourceError(`invalid TOML at column ${column}: ${reason}`, file, { line, column, endLine: line, endColumn: column });
  }
}

const BARE_WORD = /^[A-Za-z_][\w./:@-]*$/;
const INTEGER = /^(0|-?[1-9]\d{0,14})$/;

/** The value of `-c key=value`: TOML where it is TOML, else the text itself. */
export async function parseLooseValue(given: string): Promise<unknown> {
  const text = given.trim();
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (INTEGER.test(text)) return Number(text);
  if (BARE_WORD.test(text) && text !== 'nan' && text !== 'inf') return text;
  if (text.startsWith('"') && !text.startsWith('""')) {
    const quoted = readQuoted(text, 0);
    if (quoted?.end === text.length) return quoted.value;
  }
  try {
    const parsed = await parseToml(`value = ${text}`, null);
    // More keys than the one mean that the text held a line break and further lines: then it is no value but a text.
    if (Object.keys(parsed).length === 1) return parsed.value;
  } catch {
    // Not TOML: taken as it stands.
  }
  return text;
}
