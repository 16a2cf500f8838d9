// The paths below one root, in the order in which they were found. Directories end with a slash. Grows until `done`, up to a bound.

export const MAX_PATHS = 200_000;

export class PathList {
  readonly root: string;
  readonly paths: string[] = [];
  /** True when there was more than fits, or more than there was time for. */
  cut = false;
  /** Set once, when nothing more comes. */
  complete = false;

  constructor(root: string) {
    this.root = root;
  }

  /** False when there is no room: then nothing more is looked for. */
  add(found: string): boolean {
    if (this.paths.length >= MAX_PATHS) {
      this.cut = true;
      return false;
    }
    this.paths.push(found);
    return true;
  }
}

/** Adds the paths of files, each directory on their way before the first of them. */
export class FileCollector {
  readonly #list: PathList;
  readonly #folders = new Set<string>();
  #last = '';

  constructor(list: PathList) {
    this.#list = list;
  }

  add(file: string): boolean {
    // A file in conflict is listed once for each side.
    if (file === this.#last) return true;
    this.#last = file;
    return this.#addFolders(file) && this.#list.add(file);
  }

  #addFolders(file: string): boolean {
    const missing: string[] = [];
    for (let at = file.lastIndexOf('/', file.length - 2); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at + 1);
      if (this.#folders.has(folder)) break;
      missing.push(folder);
    }
    for (const folder of missing.reverse()) {
      this.#folders.add(folder);
      if (!this.#list.add(folder)) return false;
    }
    return true;
  }
}
