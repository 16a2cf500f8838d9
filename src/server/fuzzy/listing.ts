// Finds the paths below the roots of a search: through git in a repository, by a walk everywhere else.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { addGitPaths, type GitPorts, repositoryOf } from './git-paths.ts';
import { PathList } from './path-list.ts';
import { addWalkedPaths } from './walk.ts';

async function fill(list: PathList, ports: GitPorts, signal: AbortSignal): Promise<void> {
  // Git and the rules of folders above go by real paths.
  const folder = await realpath(path.resolve(list.root));
  if (!(await stat(folder)).isDirectory()) return;
  const repository = await repositoryOf(folder);
  signal.throwIfAborted();
  if (repository && (await addGitPaths(list, folder, ports, signal))) return;
  await addWalkedPaths(list, folder, repository ?? folder, signal);
}

export class Listing {
  /** One a root, each root once. They grow until `done`. */
  readonly lists: readonly PathList[];
  /** Never rejects: a root that cannot be read has no paths. */
  readonly done: Promise<void>;

  constructor(roots: readonly string[], ports: GitPorts, signal: AbortSignal) {
    this.lists = [...new Set(roots)].map((root) => new PathList(root));
    this.done = Promise.all(this.lists.map((list) => this.#fill(list, ports, signal))).then(() => {});
  }

  get complete(): boolean {
    return this.lists.every((list) => list.complete);
  }

  async #fill(list: PathList, ports: GitPorts, signal: AbortSignal): Promise<void> {
    try {
      if (list.root !== '') await fill(list, ports, signal);
    } catch {
      // Gone, not to be read, or nobody waits for it any more.
    } finally {
      list.complete = true;
    }
  }
}
