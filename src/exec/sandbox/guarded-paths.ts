// Finds what stays read-only inside the writable roots: folders whose files are run or obeyed later, outside the sandbox (a
// repository's hooks and config, our own project settings). Used by every sandbox; patches ask isGuarded for the same answer.
import fs from 'node:fs';
import path from 'node:path';
import { isWithin, realPath } from './permissions.ts';

export const GUARDED_NAMES: readonly string[] = ['.git', '.harnessd', '.codex', '.agents'];
/** Of these even a missing one must not be made by a command at the top of a workspace. */
export const RESERVED_NAMES: readonly string[] = ['.git', '.harnessd'];

const MAX_DEPTH = 6;
const MAX_ENTRIES = 20_000;
const MAX_FOUND = 256;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules']);
/** A walk is reused for this long: a repository that appears meanwhile was made by a sandboxed command, or by the user just now. */
const FRESH_MS = 5_000;

/** Folders that a .git file points to: the work tree's own, and the one it shares. */
function gitFolders(file: string): string[] {
  try {
    const target = /^gitdir: (.+)$/m.exec(fs.readFileSync(file, 'utf8'))?.[1];
    if (target === undefined) return [];
    const folder = path.resolve(path.dirname(file), target.trim());
    const common = path.join(folder, 'commondir');
    return fs.existsSync(common) ? [folder, path.resolve(folder, fs.readFileSync(common, 'utf8').trim())] : [folder];
  } catch {
    return [];
  }
}

async function walk(root: string): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let entries = 0;
  // Breadth first: when the bound is reached, the shallow repositories have been found.
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      const list = await fs.promises.readdir(folder, { withFileTypes: true }).catch(() => []);
      entries += list.length;
      if (entries > MAX_ENTRIES || found.length > MAX_FOUND) return found;
      for (const entry of list) {
        const file = path.join(folder, entry.name);
        if (GUARDED_NAMES.includes(entry.name)) {
          found.push(file);
          if (entry.name === '.git' && entry.isFile()) found.push(...gitFolders(file).filter((p) => fs.existsSync(p)));
        } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(file);
      }
    }
    level = next;
  }
  return found;
}

export class GuardedPaths {
  /** By root; replaced when older than FRESH_MS. */
  readonly #walks = new Map<string, { readonly at: number; readonly found: Promise<string[]> }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Existing guarded paths under the roots, real, each once. Links are followed: what is guarded is what they lead to. */
  async under(roots: readonly string[]): Promise<string[]> {
    const lists = await Promise.all(roots.map((root) => this.#walk(root)));
    const real = lists
      .flat()
      .filter((p) => fs.existsSync(p))
      .map(realPath);
    return [...new Set(real)].filter((p) => roots.some((root) => isWithin(root, p)));
  }

  #walk(root: string): Promise<string[]> {
    const known = this.#walks.get(root);
    const at = this.#now();
    // The top of the root is looked at each time; only what lies deeper may be a few seconds old.
    const top = GUARDED_NAMES.map((name) => path.join(root, name)).filter((p) => fs.existsSync(p));
    if (known !== undefined && at - known.at < FRESH_MS) return known.found.then((found) => [...top, ...found]);
    const found = walk(root);
    this.#walks.set(root, { at, found });
    if (this.#walks.size > 64) this.#walks.delete([...this.#walks.keys()][0]);
    return found;
  }
}

/**
 * True when a path (absolute) is, or lies in, a guarded folder below the roots. Purely by name. A root inside a guarded folder lies over
 * it, as it does in the sandbox: the innermost one counts.
 */
export function isGuarded(roots: readonly string[], file: string): boolean {
  const around = roots.filter((root) => isWithin(root, file));
  if (around.length === 0) return false;
  const innermost = around.reduce((a, b) => (b.length > a.length ? b : a));
  const below = path.relative(innermost, file).split(path.sep);
  return below.some((part) => GUARDED_NAMES.includes(part));
}
