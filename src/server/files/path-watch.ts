// Watches one path, whether it exists or not: the folder that holds it is watched for it to come, go or be replaced, and a directory is
// watched for what happens in it. Not recursive. The listener hears absolute paths, in no order and more than once.
import { type FSWatcher, lstatSync, type Stats, statSync, watch } from 'node:fs';
import path from 'node:path';
import { systemCode } from '../../common/errors.ts';

type Listener = (changed: string) => void;
type Heard = (event: string, name: string | null) => void;

function statOf(look: typeof statSync, target: string): Stats | undefined {
  try {
    return look(target);
  } catch {
    return undefined;
  }
}

const GONE: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR'];
const AT_LIMIT: readonly (string | undefined)[] = ['ENOSPC', 'EMFILE', 'ENFILE'];

export class PathWatch {
  readonly #target: string;
  readonly #changed: Listener;
  /** On the target, when it is a directory or a link to a file. Replaced by #arm only. */
  #inside: FSWatcher | undefined;
  /** On the nearest folder above that exists. Replaced by #arm only. */
  #above: FSWatcher | undefined;
  /** As of the last #arm: tells a disappearance from an absence. */
  #existed = false;
  #closed = false;

  /** Throws the system's error when the path cannot be watched; one that does not exist can. */
  constructor(target: string, changed: Listener) {
    this.#target = target;
    this.#changed = changed;
    try {
      this.#arm();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#disarm();
  }

  #disarm(): void {
    this.#inside?.close();
    this.#above?.close();
    this.#inside = undefined;
    this.#above = undefined;
  }

  #arm(): void {
    this.#disarm();
    const target = this.#target;
    const found = statOf(statSync, target);
    const isLink = statOf(lstatSync, target)?.isSymbolicLink() ?? false;
    this.#existed = found !== undefined || isLink;
    if (found?.isDirectory()) this.#inside = this.#start(target, (_, name) => this.#heardInside(name), false);
    else if (found && isLink) this.#inside = this.#start(target, (event) => this.#heardLinked(event), false);
    let awaited = target;
    for (let folder = path.dirname(awaited); folder !== awaited && !this.#above; folder = path.dirname(folder)) {
      const child = awaited;
      // Where the target itself is heard, a folder above that may not be read does no harm.
      const tolerant = this.#inside !== undefined || child !== target;
      this.#above = this.#start(folder, (event, name) => this.#heardAbove(child, event, name), tolerant);
      awaited = folder;
    }
  }

  /** Undefined when there is nothing to watch. */
  #start(folder: string, heard: Heard, tolerant: boolean): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        if (!this.#closed) heard(event, name);
      });
      watcher.on('error', () => this.#again());
      return watcher;
    } catch (error) {
      const code = systemCode(error);
      if (GONE.includes(code) || (tolerant && !AT_LIMIT.includes(code))) return undefined;
      throw error;
    }
  }

  #heardInside(name: string | null): void {
    // The end of the directory itself is told under its own name.
    if (name === path.basename(this.#target) && !statOf(statSync, this.#target)?.isDirectory()) this.#again();
    else this.#changed(name === null ? this.#target : path.join(this.#target, name));
  }

  #heardLinked(event: string): void {
    if (event === 'rename') this.#again();
    else this.#changed(this.#target);
  }

  /** @param awaited the target, or the part of its way that did not exist when the watch began */
  #heardAbove(awaited: string, event: string, name: string | null): void {
    // The folder above may have gone itself; that is told under its own name.
    const isOwnEnd = event === 'rename' && name === path.basename(path.dirname(awaited));
    if (name !== null && name !== path.basename(awaited) && !isOwnEnd) return;
    if (event === 'rename' || awaited !== this.#target) this.#again();
    // What happens in a directory is told by its own watch.
    else if (!this.#inside) this.#changed(this.#target);
  }

  /** Something on the way was replaced: what was watched may be another object now. */
  #again(): void {
    if (this.#closed) return;
    const existed = this.#existed;
    try {
      this.#arm();
    } catch {
      this.#disarm(); // out of watches: this change is the last that is heard of
    }
    if (existed || this.#existed) this.#changed(this.#target);
  }
}
