// Which folders of a project may speak. Trust is an entry in the user's own config.toml and nowhere else; without one the answer is no.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { expandTilde } from './home.ts';

export type TrustLevel = 'trusted' | 'untrusted';
type Projects = Readonly<Record<string, { readonly trust_level?: TrustLevel }>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** The real path as far as the path exists. */
export function realPath(given: string): string {
  const absolute = path.resolve(given);
  try {
    return realpathSync.native(absolute);
  } catch {
    const parent = path.dirname(absolute);
    return parent === absolute ? absolute : path.join(realPath(parent), path.basename(absolute));
  }
}

/** The nearest folder, from `cwd` upwards, that holds `.git`; `cwd` itself when there is none. Real path. */
export function projectRoot(cwd: string): string {
  const start = realPath(cwd);
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git'))) return folder;
    if (folder === path.dirname(folder)) return start;
  }
}

/** The folders from the project root down to `cwd`, both included. */
export function projectFolders(root: string, cwd: string): string[] {
  const steps = path.relative(root, realPath(cwd)).split(path.sep).filter(Boolean);
  return [root, ...steps.map((_, index) => path.join(root, ...steps.slice(0, index + 1)))];
}

/**
 * The repository whose worktree this root is. The `.git` file of a worktree is part of the checkout and may claim anything, so the
 * repository must name this worktree too.
 */
function mainRepository(root: string): string | undefined {
  try {
    const link = path.join(root, '.git');
    if (!statSync(link).isFile()) return undefined;
    const folder = /^gitdir: (.+)$/m.exec(readFileSync(link, 'utf8'))?.[1];
    if (folder === undefined) return undefined;
    const administration = realPath(path.resolve(root, folder.trim()));
    const worktrees = path.dirname(administration);
    const git = path.dirname(worktrees);
    if (path.basename(worktrees) !== 'worktrees' || path.basename(git) !== '.git') return undefined;
    const back = readFileSync(path.join(administration, 'gitdir'), 'utf8').trim();
    return realPath(path.resolve(administration, back)) === realPath(link) ? path.dirname(git) : undefined;
  } catch {
    return undefined;
  }
}

export class ProjectTrust {
  /** Real path → level. Invariant: only what the user's own file says. */
  readonly #levels = new Map<string, TrustLevel>();

  /** @param projects the `projects` table of the user's file, never of a merged configuration */
  constructor(projects: Projects | undefined, env: Environment) {
    for (const [folder, entry] of Object.entries(projects ?? {})) {
      if (entry.trust_level === undefined) continue;
      const expanded = expandTilde(folder, env);
      // A relative path would mean another folder for every daemon.
      if (!path.isAbsolute(expanded)) continue;
      const key = realPath(expanded);
      // Two spellings of one folder: the stricter one holds.
      if (this.#levels.get(key) !== 'untrusted') this.#levels.set(key, entry.trust_level);
    }
  }

  /**
   * The level of a folder: its own entry, else that of the nearest folder above it up to the project root, else that of the main
   * repository of a worktree. Undefined when nobody has decided.
   */
  levelOf(folder: string, root: string): TrustLevel | undefined {
    const top = realPath(root);
    for (let current = realPath(folder); ; current = path.dirname(current)) {
      const level = this.#levels.get(current);
      if (level !== undefined) return level;
      if (current === top || current === path.dirname(current)) break;
    }
    if (this.#levels.size === 0) return undefined;
    const repository = mainRepository(top);
    return repository === undefined ? undefined : this.#levels.get(repository);
  }

  isTrusted(folder: string, root: string): boolean {
    return this.levelOf(folder, root) === 'trusted';
  }
}
