// Applies the hunks of one file to its text. Only added lines are new bytes: context keeps what the file has, endings included.

import { LineIndex } from './line-index.ts';
import { type FileLine, type FileText, formatFileText, hasLoneSurrogate, parseFileText } from './lines.ts';
import { matchErrorText } from './match-error.ts';
import { type Cursor, findChunk, type Place } from './matcher.ts';
import type { Chunk } from './patch.ts';

export type EditResult = { ok: true; text: string } | { ok: false; message: string; line: number };

/** A line of the result; `added` when it is not one of the file's own. */
interface NewLine {
  line: FileLine;
  added: boolean;
}

export function applyChunks(text: string, chunks: readonly Chunk[], file: string): EditResult {
  const before = parseFileText(text);
  const index = new LineIndex(before.lines.map((line) => line.text));
  const result: NewLine[] = [];
  let copied = 0;
  let cursor: Cursor = { after: 0, afterChange: 0 };
  const copyTo = (end: number): void => {
    for (; copied < end; copied++) result.push({ line: before.lines[copied], added: false });
  };
  for (const chunk of chunks) {
    if (chunk.lines.some((line) => line.sign === '+' && hasLoneSurrogate(line.text))) {
      return { ok: false, line: chunk.line, message: loneSurrogateText(file, chunk.line) };
    }
    const place = findChunk(index, chunk, cursor);
    if (place.type !== 'found') return { ok: false, line: chunk.line, message: matchErrorText(place, file, index, chunk, cursor) };
    cursor = replaceLines(before, place, result, copyTo, (line) => {
      copied = line;
    });
  }
  copyTo(before.lines.length);
  return { ok: true, text: formatFileText(before.bom, terminate(before, result, chunks, cursor.after === before.lines.length)) };
}

export const loneSurrogateText = (file: string, line: number): string =>
  `The hunk at line ${line} of the patch holds half of a surrogate pair, which cannot be written to ${file} as UTF-8. Send the whole character.`;

/** Writes the hunk's lines after what lies before it, up to its last change; trailing context is left to be copied, or to the next hunk. */
function replaceLines(
  before: FileText,
  place: Place,
  result: NewLine[],
  copyTo: (end: number) => void,
  skipTo: (line: number) => void,
): Cursor {
  let at = place.start;
  let afterChange = place.start;
  const lastChange = place.lines.findLastIndex((line) => line.sign !== ' ');
  place.lines.forEach((line, i) => {
    if (i > lastChange) return;
    if (line.sign === '+') {
      copyTo(at);
      result.push({ line: { text: line.text, eol: before.eol ?? line.eol }, added: true });
    } else if (line.sign === '-') {
      copyTo(at);
      at++;
      skipTo(at);
    } else {
      at++;
    }
    afterChange = at;
  });
  return { after: place.end, afterChange };
}

/** Every line but the last has an ending; the last one keeps the state of the file's end unless the patch says otherwise. */
function terminate(before: FileText, result: readonly NewLine[], chunks: readonly Chunk[], reachesEnd: boolean): FileLine[] {
  const fallback = before.eol ?? chunks.find((chunk) => chunk.lines.length > 0)?.lines[0].eol ?? '\n';
  const last = chunks.at(-1);
  const lines = result.map(
    ({ line }, i): FileLine => (i < result.length - 1 && line.eol === '' ? { text: line.text, eol: fallback } : line),
  );
  const end = result.at(-1);
  if (!end) return lines;
  const stated = last !== undefined && reachesEnd && (last.oldUnterminated || last.newUnterminated);
  const wasUnterminated = before.lines.at(-1)?.eol === '';
  const unterminated = stated ? last.newUnterminated : end.added ? wasUnterminated : end.line.eol === '';
  lines[lines.length - 1] = { text: end.line.text, eol: unterminated ? '' : end.line.eol || fallback };
  return lines;
}
