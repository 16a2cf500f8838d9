// Why a hunk has no place in a file, in words the model can act on: the file, the lines, where the text begins to differ.
import { assertNever } from '../common/assert-never.ts';
import { preview } from '../common/text.ts';
import { type LineIndex, lineForm } from './line-index.ts';
import type { Cursor, MatchResult, Place } from './matcher.ts';
import type { Chunk } from './patch.ts';

const MAX_LINES = 30;
const MAX_LINE = 200;
/** Comparisons spent on a hint; a hint is not worth more on a huge file. */
const MAX_WORK = 2_000_000;

const quoted = (text: string): string => `'${preview(text, MAX_LINE)}'`;

function list(lines: readonly number[]): string {
  const names = lines.slice(0, 8).map((line) => String(line + 1));
  if (lines.length > 8) return `${names.join(', ')} and ${lines.length - 8} more`;
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

function shown(lines: readonly string[]): string {
  const text = lines.slice(0, MAX_LINES).map((line) => preview(line, MAX_LINE));
  if (lines.length > MAX_LINES) text.push(`… (${lines.length - MAX_LINES} more lines)`);
  return text.join('\n');
}

export function matchErrorText(result: Exclude<MatchResult, Place>, file: string, index: LineIndex, chunk: Chunk, cursor: Cursor): string {
  switch (result.type) {
    case 'missingAnchor':
      return `Failed to find context ${quoted(result.anchor)} in ${file} (hunk at line ${chunk.line} of the patch). An '@@' line must hold one whole line of the file; read the file and copy it.`;
    case 'behind':
      return `The hunk at line ${chunk.line} of the patch adds lines after line ${result.anchor + 1} of ${file}, but a hunk before it already changed lines further down. Keep the hunks of a file in file order.`;
    case 'ambiguous': {
      const what = result.what === 'lines' ? 'lines of the hunk' : "'@@' line of the hunk";
      return `Several places fit: the ${what} at line ${chunk.line} of the patch fit loosely, none exactly, at lines ${list(result.at)} of ${file}. Copy the lines exactly as they are in the file, indentation included, or name the place with an '@@' line.`;
    }
    case 'missing': {
      const old = chunk.lines.filter((line) => line.sign !== '+').map((line) => line.text);
      return `Failed to find expected lines in ${file}:\n${shown(old)}${hint(index, old, chunk, cursor)}`;
    }
    default:
      return assertNever(result);
  }
}

function hint(index: LineIndex, old: readonly string[], chunk: Chunk, cursor: Cursor): string {
  const where = `\n(hunk at line ${chunk.line} of the patch`;
  if (index.length === 0) return `${where}; the file is empty)`;
  if (index.length * old.length > MAX_WORK) return `${where}; read the file again and copy its lines exactly)`;
  const before = index.find(index.pattern(old, 3), 0, 1)[0];
  if (before !== undefined) {
    const after = chunk.anchors.length > 0 ? "its '@@' line" : 'the hunk before it';
    const reached = Math.max(cursor.after, before + 1);
    return `${where}; these lines are at line ${before + 1} of the file, but not after ${after}, which reaches line ${reached}. Keep the hunks in file order)`;
  }
  const pattern = old.map((line) => lineForm(line, 3));
  const nearest = divergence(index, pattern) ?? similarLine(index, pattern);
  return nearest === undefined ? `${where}; nothing like it is in the file: read it again)` : `${where}; ${nearest})`;
}

/** The place where most of the first lines fit, and what stands where they stop to. */
function divergence(index: LineIndex, pattern: readonly string[]): string | undefined {
  const lines = index.texts(3);
  let best = { start: 0, count: 0 };
  for (let start = 0; start < lines.length; start++) {
    let count = 0;
    while (count < pattern.length && lines[start + count] === pattern[count]) count++;
    if (count > best.count && pattern.slice(0, count).some((line) => line !== '')) best = { start, count };
  }
  if (best.count === 0) return undefined;
  const at = best.start + best.count;
  const fits = best.count === 1 ? `line ${best.start + 1} fits` : `lines ${best.start + 1} to ${at} fit`;
  if (at >= index.length) return `${fits}, then the file ends`;
  return `${fits}, then line ${at + 1} of the file is ${quoted(index.at(at))}`;
}

function pairs(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + 1 < text.length; i++) {
    const pair = text.slice(i, i + 2);
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/** Shared pairs of letters, 0 to 1. */
function similarity(a: Map<string, number>, aSize: number, text: string): number {
  if (aSize <= 0 || text.length < 2) return 0;
  let shared = 0;
  for (const [pair, count] of pairs(text)) shared += Math.min(count, a.get(pair) ?? 0);
  return (2 * shared) / (aSize + text.length - 1);
}

function similarLine(index: LineIndex, pattern: readonly string[]): string | undefined {
  const wanted = pattern.find((line) => line.length > 2)?.slice(0, MAX_LINE);
  if (wanted === undefined) return undefined;
  const counts = pairs(wanted);
  let best = { line: -1, score: 0.6 };
  const lines = index.texts(3);
  for (let i = 0; i < Math.min(lines.length, 5_000); i++) {
    const score = similarity(counts, wanted.length - 1, lines[i].slice(0, MAX_LINE));
    if (score > best.score) best = { line: i, score };
  }
  return best.line < 0 ? undefined : `the nearest text is line ${best.line + 1} of the file: ${quoted(index.at(best.line))}`;
}
