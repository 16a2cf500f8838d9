// Names that a model probably meant, for the answer to an unknown one.
import { flatName, type ToolName } from '../protocol/tool-spec.ts';

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Edit distance, given up (Infinity) beyond `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    previous = row;
  }
  return previous[b.length] > limit ? Number.POSITIVE_INFINITY : previous[b.length];
}

/** Up to three registered names like `wanted`: same letters, one inside the other, or a small edit distance. */
export function nearestNames(wanted: ToolName, known: Iterable<ToolName>): string[] {
  const asked = [plain(flatName(wanted)), plain(wanted.name)].filter((text) => text.length > 0);
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const forms = [plain(flatName(name)), plain(name.name)];
    let best = Number.POSITIVE_INFINITY;
    for (const a of asked) {
      for (const b of forms) {
        if (a === b) best = 0;
        else if (b.length > 3 && a.includes(b)) best = Math.min(best, 1);
        else best = Math.min(best, distance(a.slice(0, 80), b.slice(0, 80), Math.max(1, Math.floor(b.length / 3))));
      }
    }
    if (best !== Number.POSITIVE_INFINITY) scored.push({ name: flatName(name), score: best });
  }
  scored.sort((a, b) => a.score - b.score || a.name.localeCompare(b.name));
  return scored.slice(0, 3).map((entry) => entry.name);
}
