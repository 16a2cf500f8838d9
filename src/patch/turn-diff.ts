// The diff of a whole turn: before-images are kept from the first patch on, and every later one moves the after-image. Git's format.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { formatHunks, lineRuns } from './diff.ts';
import { decodeUtf8, encodeUtf8 } from './lines.ts';
import { isInside } from './paths.ts';
import type { AppliedFile } from './plan.ts';

const CONTEXT = 3;
const NO_BLOB = '0'.repeat(40);
const LINK_MODE = 0o120000;

interface Tracked {
  readonly path: string;
  /** Content before the turn; null: no such file. Never changes. */
  readonly before: Uint8Array | null;
  /** Content after the last patch. */
  after: Uint8Array | null;
  readonly mode: string;
  /** The tracked file it was moved from, through any number of moves. */
  origin: Tracked | undefined;
}

/** The state of one file before the turn, for a revert. */
export interface BeforeImage {
  readonly path: string;
  readonly bytes: Uint8Array | null;
}

export class TurnDiff {
  readonly #cwd: string;
  /** By absolute path; an entry stays also when the file is back to what it was. */
  readonly #files = new Map<string, Tracked>();
  /** Text of one file's part, valid while both images are the same objects. */
  readonly #rendered = new Map<Tracked, { after: Uint8Array | null; from: Tracked | undefined; text: string }>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  record(files: readonly AppliedFile[]): void {
    // Origins are read before any file of this patch moves on: a move is one file that appears and one that goes.
    const origins = files.map((file) => (file.movedFrom === undefined ? undefined : this.#originOf(file.movedFrom, files)));
    files.forEach((file, i) => {
      const tracked = this.#track(file);
      tracked.after = file.link === undefined ? file.after : null;
      tracked.origin = file.after === null ? undefined : (origins[i] ?? tracked.origin);
    });
  }

  get before(): BeforeImage[] {
    return [...this.#files.values()].map(({ path: at, before }) => ({ path: at, bytes: before }));
  }

  /** '' when nothing differs from the state before the turn. */
  render(): string {
    const sources = new Map<Tracked, Tracked>();
    for (const file of this.#files.values()) {
      const from = file.origin;
      // Shown as a rename only while it left nothing behind and replaced nothing.
      if (from && from !== file && file.after && !file.before && from.before && !from.after && !sources.has(from)) sources.set(from, file);
    }
    const renamed = new Map([...sources].map(([from, to]) => [to, from]));
    const parts = [...this.#files.values()]
      .filter((file) => !sources.has(file))
      .map((file) => ({ name: this.#name(file.path), text: this.#part(file, renamed.get(file)) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return parts.map((part) => part.text).join('');
  }

  #originOf(abs: string, files: readonly AppliedFile[]): Tracked | undefined {
    const source = files.find((file) => file.path === abs);
    const tracked = this.#files.get(abs) ?? (source && this.#track(source));
    return tracked?.origin ?? tracked;
  }

  #track(file: AppliedFile): Tracked {
    const known = this.#files.get(file.path);
    if (known) return known;
    const before = file.link === undefined ? file.before : encodeUtf8(file.link);
    const mode = file.link === undefined ? (file.mode & 0o111 ? '100755' : '100644') : LINK_MODE.toString(8);
    const tracked: Tracked = { path: file.path, before, after: before, mode, origin: undefined };
    this.#files.set(file.path, tracked);
    return tracked;
  }

  #part(file: Tracked, from: Tracked | undefined): string {
    const cached = this.#rendered.get(file);
    if (cached && cached.after === file.after && cached.from === from) return cached.text;
    const before = from ? from.before : file.before;
    const text = !from && sameBytes(before, file.after) ? '' : this.#format(from ?? file, file, before, file.after);
    this.#rendered.set(file, { after: file.after, from, text });
    return text;
  }

  #format(from: Tracked, to: Tracked, before: Uint8Array | null, after: Uint8Array | null): string {
    const [a, b] = [quoted(`a/${this.#name(from.path)}`), quoted(`b/${this.#name(to.path)}`)];
    const lines = [`diff --git ${a} ${b}`];
    const old = before && decodeUtf8(before);
    const now = after && decodeUtf8(after);
    const isText = old !== undefined && now !== undefined;
    const runs = isText ? lineRuns(old ?? '', now ?? '') : [];
    if (before === null) lines.push(`new file mode ${to.mode}`);
    if (after === null) lines.push(`deleted file mode ${from.mode}`);
    const same = sameBytes(before, after);
    if (from !== to) {
      lines.push(`similarity index ${same ? 100 : similarity(runs)}%`);
      lines.push(`rename from ${quoted(this.#name(from.path))}`, `rename to ${quoted(this.#name(to.path))}`);
    }
    if (same) return `${lines.join('\n')}\n`;
    lines.push(`index ${blobId(before)}..${blobId(after)}`);
    const left = before === null ? '/dev/null' : a;
    const right = after === null ? '/dev/null' : b;
    if (!isText) lines.push(`Binary files ${left} and ${right} differ`);
    else if (runs.length > 0) lines.push(`--- ${left}`, `+++ ${right}`);
    return `${lines.join('\n')}\n${formatHunks(runs, CONTEXT)}`;
  }

  /** Inside the base folder relative to it, else absolute without its first slash, as the prefix brings one. */
  #name(abs: string): string {
    return isInside(this.#cwd, abs) ? path.relative(this.#cwd, abs) : abs.replace(/^\/+/, '');
  }
}

const sameBytes = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);

function blobId(bytes: Uint8Array | null): string {
  return bytes === null ? NO_BLOB : createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Percentage of the larger text that both share. */
function similarity(runs: ReturnType<typeof lineRuns>): number {
  const size = (type: string): number =>
    runs.reduce((sum, run) => (run.type === type ? sum + run.lines.reduce((n, line) => n + line.length, 0) : sum), 0);
  const [same, removed, added] = [size('same'), size('removed'), size('added')];
  const whole = same + Math.max(removed, added);
  return whole === 0 ? 0 : Math.min(99, Math.floor((100 * same) / whole));
}

/** Git's quoting: only where a name would break the line apart. */
function quoted(name: string): string {
  if (!/[\x00-\x1f\x7f"\\]/.test(name)) return name;
  const escapes: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' };
  return `"${name.replace(/[\x00-\x1f\x7f"\\]/g, (c) => escapes[c] ?? `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}
