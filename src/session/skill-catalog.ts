// The skills of all threads: read when they are asked for, and watched from then on, so that clients hear of a change and read again.
import { type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type SkillReader, type SkillScan, skillRoots, type WatchedScan } from './skills.ts';

/** An editor's save is several events; a client needs one. */
const QUIET_MS = 120;
const MAX_WATCHERS = 256;
/** Configurations whose skills are followed; the ones asked for least recently go first. */
const MAX_FOLLOWED = 32;

interface Followed {
  loaded: LoadedConfig;
  /** The reading that clients know of. */
  told: string;
  folders: ReadonlySet<string>;
}

interface Watched {
  watcher: FSWatcher;
  /** A folder that was replaced by another of its name is watched anew. */
  inode: number;
  /** For a folder whose root does not exist yet: the only name that counts. */
  only: ReadonlySet<string> | null;
}

const printOf = ({ skills, errors, stamps }: WatchedScan): string => JSON.stringify([skills, errors, stamps]);

export class SkillCatalog {
  readonly #home: string;
  readonly #reader: SkillReader;
  readonly #onChange: () => void;
  /** By the roots, as those of two threads are often the same. */
  readonly #followed = new Map<string, Followed>();
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(home: string, reader: SkillReader, onChange: () => void) {
    this.#home = home;
    this.#reader = reader;
    this.#onChange = onChange;
  }

  async scan(loaded: LoadedConfig): Promise<SkillScan> {
    const scan = await this.#reader.read(loaded);
    const key = JSON.stringify([skillRoots(this.#home, loaded), loaded.config.skills ?? null]);
    const known = this.#followed.get(key);
    this.#followed.delete(key);
    this.#followed.set(key, { loaded, told: known?.told ?? printOf(scan), folders: scan.folders });
    for (const oldest of this.#followed.keys()) {
      if (this.#followed.size <= MAX_FOLLOWED) break;
      this.#followed.delete(oldest);
    }
    this.#watch();
    return { skills: scan.skills, errors: scan.errors };
  }

  /** Brings the watchers in line with what is followed. */
  #watch(): void {
    if (this.#closed) return;
    const wanted = this.#wantedFolders();
    for (const [folder, { watcher, inode }] of this.#watched) {
      if (wanted.has(folder) && inodeOf(folder) === inode) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    for (const [folder, only] of wanted) {
      const known = this.#watched.get(folder);
      if (known) known.only = only;
      else if (this.#watched.size < MAX_WATCHERS) this.#add(folder, only);
    }
  }

  /** Folder → the names in it that count; null for all. */
  #wantedFolders(): Map<string, ReadonlySet<string> | null> {
    const wanted = new Map<string, ReadonlySet<string> | null>();
    for (const { loaded, folders } of this.#followed.values()) {
      for (const folder of folders) wanted.set(folder, null);
      for (const { folder } of skillRoots(this.#home, loaded)) {
        if (folders.has(folder)) continue;
        const parent = path.dirname(folder);
        const only = wanted.get(parent);
        if (only !== null) wanted.set(parent, new Set([...(only ?? []), path.basename(folder)]));
      }
    }
    return wanted;
  }

  #add(folder: string, only: ReadonlySet<string> | null): void {
    const inode = inodeOf(folder);
    if (inode === null) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        const names = this.#watched.get(folder)?.only ?? null;
        if (name === null || names === null || names.has(name)) this.#changed();
      });
      watcher.on('error', () => this.#changed());
      this.#watched.set(folder, { watcher, inode, only });
    } catch (error) {
      // Without a watcher the list is still read from the disk whenever someone asks.
      logger().warn({ folder, error: messageOf(error) }, 'skills are not watched');
    }
  }

  #changed(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#compare();
    }, QUIET_MS);
    this.#timer.unref();
  }

  async #compare(): Promise<void> {
    let changed = false;
    for (const followed of this.#followed.values()) {
      const scan = await this.#reader.read(followed.loaded);
      followed.folders = scan.folders;
      const print = printOf(scan);
      if (print === followed.told) continue;
      followed.told = print;
      changed = true;
    }
    this.#watch();
    if (changed && !this.#closed) this.#onChange();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }
}

function inodeOf(folder: string): number | null {
  try {
    const found = statSync(folder);
    return found.isDirectory() ? found.ino : null;
  } catch {
    return null; // gone, or not ours to see: either way there is nothing to watch
  }
}
