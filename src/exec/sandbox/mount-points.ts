// Keeps a missing .git or .harnessd at the top of a workspace from being made by a sandboxed command: an empty folder is put there
// for the time of the command, covered read-only, and taken away after the last command that needs it.
import fs from 'node:fs';
import path from 'node:path';
import { GUARDED_NAMES, RESERVED_NAMES } from './guarded-paths.ts';

export class MountPoints {
  /** Folders made by us and the number of running commands that lean on each; an entry lives as long as its count is above 0. */
  readonly #users = new Map<string, number>();

  /** Gives the folders held for `root`; each must be given back with release. Existing entries are left alone. */
  hold(root: string): string[] {
    const held: string[] = [];
    // A root granted inside a guarded folder is no workspace.
    if (root.split(path.sep).some((part) => GUARDED_NAMES.includes(part))) return held;
    for (const name of RESERVED_NAMES) {
      const folder = path.join(root, name);
      const users = this.#users.get(folder);
      if (users === undefined && !this.#make(folder)) continue;
      this.#users.set(folder, (users ?? 0) + 1);
      held.push(folder);
    }
    return held;
  }

  #make(folder: string): boolean {
    try {
      fs.mkdirSync(folder);
      return true;
    } catch {
      // There already, or the root is not writable for us either: nothing to keep out.
      return false;
    }
  }

  release(held: readonly string[]): void {
    for (const folder of held) {
      const users = this.#users.get(folder) ?? 0;
      if (users > 1) {
        this.#users.set(folder, users - 1);
        continue;
      }
      this.#users.delete(folder);
      try {
        fs.rmdirSync(folder);
      } catch {
        // No longer empty: someone outside made it theirs. It stays.
      }
    }
  }
}
