// Unified diffs of two texts. Bounded in time: what would take too long is shown as one hunk that replaces everything between the ends.
import { diffArrays } from 'diff';
import { splitKeepingEnds } from './lines.ts';

const TIMEOUT_MS = 200;
const MAX_EDITS = 4_000;

/** A run of lines; `same` runs are in both texts. */
interface Run {
  readonly type: 'same' | 'removed' | 'added';
  readonly lines: readonly string[];
}

/** What the two texts share and do not share, line by line, in order. */
export function lineRuns(before: string, after: string): Run[] {
  const old = splitKeepingEnds(before);
  const now = splitKeepingEnds(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const middle = middleRuns(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const runs: Run[] = [{ type: 'same', lines: old.slice(0, head) }, ...middle, { type: 'same', lines: old.slice(old.length - tail) }];
  return runs.filter((run) => run.lines.length > 0);
}

function middleRuns(old: string[], now: string[]): Run[] {
  const replaced: Run[] = [
    { type: 'removed', lines: old },
    { type: 'added', lines: now },
  ];
  if (old.length === 0 || now.length === 0) return replaced;
  const parts = diffArrays(old, now, { timeout: TIMEOUT_MS, maxEditLength: MAX_EDITS });
  if (parts === undefined) return replaced;
  return parts.map((part) => ({ type: part.added ? 'added' : part.removed ? 'removed' : 'same', lines: part.value }));
}

/** A line with its sign; zero-based positions in both texts. */
interface Entry {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  readonly old: number;
  readonly now: number;
}

function entriesOf(runs: readonly Run[]): Entry[] {
  const entries: Entry[] = [];
  let old = 0;
  let now = 0;
  for (const run of runs) {
    const sign = run.type === 'same' ? ' ' : run.type === 'removed' ? '-' : '+';
    for (const text of run.lines) {
      entries.push({ sign, text, old, now });
      if (sign !== '+') old++;
      if (sign !== '-') now++;
    }
  }
  return entries;
}

/** Ranges of entries that make a hunk: changes with their context, joined where the contexts touch. */
function hunkRanges(entries: readonly Entry[], context: number): [number, number][] {
  const ranges: [number, number][] = [];
  entries.forEach((entry, i) => {
    if (entry.sign === ' ') return;
    const start = Math.max(0, i - context);
    const end = Math.min(entries.length, i + context + 1);
    const last = ranges.at(-1);
    if (last && start <= last[1]) last[1] = end;
    else ranges.push([start, end]);
  });
  return ranges;
}

const range = (start: number, count: number): string => (count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`);

/** Hunks without file headers; '' when the texts are equal. */
export function unifiedHunks(before: string, after: string, context: number): string {
  return formatHunks(lineRuns(before, after), context);
}

export function formatHunks(runs: readonly Run[], context: number): string {
  const entries = entriesOf(runs);
  const out: string[] = [];
  for (const [start, end] of hunkRanges(entries, context)) {
    const part = entries.slice(start, end);
    const old = part.filter((entry) => entry.sign !== '+').length;
    const now = part.filter((entry) => entry.sign !== '-').length;
    out.push(`@@ -${range(part[0].old, old)} +${range(part[0].now, now)} @@\n`);
    for (const { sign, text } of part) out.push(sign, text, text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n');
  }
  return out.join('');
}
