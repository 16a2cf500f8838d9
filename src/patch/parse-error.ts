// Errors of the parser: where, what stood there, what was expected, and what was probably meant. Bounded in size whatever the patch holds.
import { preview } from '../common/text.ts';
import { END } from './markers.ts';

export interface ParseError {
  /** The whole text for the model. */
  readonly message: string;
  /** Line of the patch text, from 1. */
  readonly line: number;
  readonly expected: string;
  readonly nearest?: string;
  /** An empty patch is rejected, not invalid. */
  readonly empty?: true;
}

const HEADERS = "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'";
const KEYWORDS = ['*** Add File:', '*** Delete File:', '*** Update File:', '*** Move to:', '*** End of File', END];
const LIMIT = 160;

const quoted = (text: string): string => `'${preview(text, LIMIT)}'`;

/** Edits between two short texts; enough to tell a slip of the pen from something else. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}

/** The keyword line this one was probably meant to be. */
export function nearestMarker(line: string): string | undefined {
  const text = line.trim();
  const glued = text.indexOf(END);
  if (glued > 0) return END;
  const colon = text.indexOf(':');
  const head = colon >= 0 && colon < 40 ? text.slice(0, colon + 1) : text;
  if (head.length > 40) return undefined;
  const rest = colon >= 0 && colon < 40 ? text.slice(colon + 1) : '';
  let best: { keyword: string; cost: number } | undefined;
  for (const keyword of KEYWORDS) {
    const cost = distance(head.toLowerCase(), keyword.toLowerCase());
    if (cost <= 5 && (!best || cost < best.cost)) best = { keyword, cost };
  }
  return best && preview(best.keyword.endsWith(':') ? best.keyword + rest : best.keyword, LIMIT);
}

const meant = (nearest: string | undefined): string => (nearest ? `. Did you mean ${quoted(nearest)}?` : '');
const glue = (line: string): string => (line.trim().indexOf(END) > 0 ? `. Put '${END}' on a line of its own` : '');

function make(line: number, message: string, expected: string, nearest?: string): ParseError {
  return nearest === undefined ? { message, line, expected } : { message, line, expected, nearest };
}

export function firstLineError(line: number, found: string): ParseError {
  const begin = "invalid patch: The first line of the patch must be '*** Begin Patch'";
  const text = found.trim();
  const isJson = /^[[{"]/.test(text) && text.includes('Begin Patch');
  const hint = isJson
    ? ', but the text is JSON: send the patch itself as plain text, with real line breaks and nothing around it'
    : text.includes('Begin Patch')
      ? `, alone on its line; line ${line} is ${quoted(text)}`
      : text === ''
        ? ''
        : `; line ${line} is ${quoted(text)}`;
  return make(line, begin + hint, "'*** Begin Patch'", text.includes('Begin Patch') ? preview(text, LIMIT) : undefined);
}

/** `last` is the last line with text, when it holds the end marker glued to something else. */
export function lastLineError(line: number, last: string): ParseError {
  const base = `invalid patch: The last line of the patch must be '${END}'`;
  if (last.trim().indexOf(END) > 0) {
    return make(
      line,
      `${base}; line ${line} has it glued to other text: ${quoted(last)}. Put '${END}' on a line of its own`,
      `'${END}'`,
      END,
    );
  }
  return make(line, base, `'${END}'`);
}

export function afterEndError(line: number, found: string): ParseError {
  const more = found.includes('Begin Patch') ? '. Send one patch a call: put all files between one begin and one end' : '';
  return make(
    line,
    `invalid patch: The last line of the patch must be '${END}', but line ${line} follows it: ${quoted(found)}${more}`,
    'nothing',
  );
}

export function headerError(line: number, found: string): ParseError {
  const nearest = nearestMarker(found);
  const message = `invalid hunk at line ${line}, ${quoted(found.trim())} is not a valid hunk header. Valid hunk headers: ${HEADERS}${meant(nearest)}`;
  return make(line, message, HEADERS, nearest);
}

export function pathError(line: number, found: string): ParseError {
  return make(line, `invalid hunk at line ${line}, ${quoted(found.trim())} names no path`, 'a path after the colon');
}

export function addLineError(line: number, found: string): ParseError {
  const message = `invalid hunk at line ${line}, ${quoted(found)} is not a line of the new file: each one starts with '+'. It is not a valid hunk header either. Valid hunk headers: ${HEADERS}`;
  return make(line, message + glue(found), "'+' and the text of the line, or a hunk header", preview(`+${found}`, LIMIT));
}

export function hunkLineError(line: number, found: string): ParseError {
  const message = `invalid hunk at line ${line}, Unexpected line found in update hunk: ${quoted(found)}. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`;
  return make(line, message + glue(found), "' ', '+' or '-' and the text of the line", preview(` ${found}`, LIMIT));
}

export function afterEndOfFileError(line: number, found: string): ParseError {
  const message = `invalid hunk at line ${line}, ${quoted(found)} follows '*** End of File'; begin another hunk with '@@' before the lines that are not at the end`;
  return make(line, message, "'@@' or a hunk header");
}

export function emptyUpdateError(line: number, path: string): ParseError {
  const message = `invalid hunk at line ${line}, Update file hunk for path ${quoted(path)} is empty: it needs '@@' hunks, or a '*** Move to: {path}' line`;
  return make(line, message, "a hunk, or '*** Move to: {path}'");
}

export function emptyChunkError(line: number): ParseError {
  return make(
    line,
    `invalid hunk at line ${line}, Update hunk is empty: after '@@' come lines that start with ' ', '+' or '-'`,
    'lines of the hunk',
  );
}

export function indentError(line: number, found: string): ParseError {
  const message = `invalid hunk at line ${line}, ${quoted(found)} is not indented like the first lines of the patch. Begin the patch at the left margin`;
  return make(line, message, 'the indentation of the first lines');
}

export function emptyPatchError(line: number): ParseError {
  return { message: 'patch rejected: empty patch', line, expected: 'at least one hunk header', empty: true };
}
