// The files of one patch while it is planned: read once, then changed in memory only, so that later sections see earlier ones.

import path from 'node:path';
import { systemCode } from '../common/errors.ts';
import type { PatchFs } from './fs.ts';
import { reasonOf } from './fs-error.ts';
import { inParallel } from './in-parallel.ts';
import { ancestors, PathError, realEntry, realTarget, resolvePatchPath } from './paths.ts';
import type { FileImage } from './plan.ts';

/** Larger files are refused by name rather than loaded whole several times over. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;

/** A section that cannot be carried out; the planner collects these. */
export class PlanFailure extends Error {
  readonly path: string;
  readonly code: string | undefined;

  constructor(message: string, path: string, code?: string) {
    super(message);
    this.name = 'PlanFailure';
    this.path = path;
    this.code = code;
  }
}

/** Something is there, but not a file that a patch may change. */
class NotPatchable extends Error {}

export interface FileState {
  /** Absolute, as first named. */
  readonly path: string;
  readonly entry: string;
  readonly target: string;
  readonly original: FileImage | undefined;
  /** What the symbolic link holds when this state is a link that is removed; such a state is used once. */
  readonly link: string | undefined;
  /** Content after the sections so far; undefined when there is no such file. Written by the planner only. */
  current: Uint8Array | undefined;
  /** The file this one was moved from, through any number of moves. Written by the planner only. */
  origin: FileState | undefined;
  /** Set when an added file replaces an existing one. */
  overwrite: boolean;
  /** False for a file that was only looked at, as the other end of a link or a move. */
  touched: boolean;
}

export class Workspace {
  readonly #fs: PatchFs;
  readonly #cwd: string;
  /** By real path: of the content for files, of the entry for removed links. Insertion order is the order of first naming. */
  readonly #states = new Map<string, FileState>();
  /** Real paths that are known to be folders; a patch names few folders and many files in them. */
  readonly #folders = new Set<string>();
  /** Look-ups under way or done, by absolute and by real path; each is made once a plan. */
  readonly #places = new Map<string, Promise<{ entry: string; target: string }>>();
  readonly #images = new Map<string, Promise<FileImage | undefined>>();

  constructor(fs: PatchFs, cwd: string) {
    this.#fs = fs;
    this.#cwd = cwd;
  }

  get states(): readonly FileState[] {
    return [...this.#states.values()];
  }

  resolve(written: string): string {
    if (written.endsWith('/'))
      throw new PlanFailure(
        `${written} names a folder; a patch changes files only, and makes their folders by itself`,
        path.resolve(this.#cwd, written),
      );
    try {
      return resolvePatchPath(this.#cwd, written);
    } catch (error) {
      throw new PlanFailure(`Failed to resolve ${error instanceof PathError ? error.path : written}: ${reasonOf(error)}`, written);
    }
  }

  /** Looks up and reads the files of a patch ahead of their sections, several at once. What fails here fails again, with its text, when it is used. */
  async readAhead(written: readonly string[]): Promise<void> {
    await inParallel(written, async (file) => {
      try {
        const { target } = await this.#place(this.resolve(file));
        await this.#image(target);
      } catch {}
    });
  }

  /** The file a path leads to, links followed. `what` begins the text of an error. */
  async open(abs: string, what: string): Promise<FileState> {
    const { entry, target } = await this.#locate(abs, what);
    if (this.#states.get(entry)?.link !== undefined) {
      throw new PlanFailure(
        `${what} ${abs}: the symbolic link is removed earlier in this patch; use another patch for what comes after`,
        abs,
      );
    }
    const known = this.#states.get(target);
    if (known) return known;
    const original = await this.#read(abs, target, what);
    const state: FileState = {
      path: abs,
      entry,
      target,
      original,
      link: undefined,
      current: original?.bytes,
      origin: undefined,
      overwrite: false,
      touched: false,
    };
    this.#states.set(target, state);
    return state;
  }

  /** The entry that a delete or a move takes away: the link itself where the path is one. */
  async openEntry(abs: string, what: string): Promise<FileState> {
    const { entry, target } = await this.#locate(abs, what);
    const isLink = entry !== target && (await this.#fs.lstat(entry))?.type === 'link';
    if (!isLink) return this.open(abs, what);
    if (this.#states.has(entry)) throw new PlanFailure(`${what} ${abs}: the symbolic link is already removed earlier in this patch`, abs);
    const link = await this.#fs.readLink(entry);
    const content = this.#states.get(target);
    const original = content ? content.original : await this.#read(abs, target, what);
    const state: FileState = {
      path: abs,
      entry,
      target: entry,
      original,
      link,
      current: content ? content.current : original?.bytes,
      origin: undefined,
      overwrite: false,
      touched: false,
    };
    this.#states.set(entry, state);
    return state;
  }

  /** Whether the folders above a new file exist or can be made, as far as the patch and the disk tell. */
  async checkFolders(state: FileState, what: string): Promise<void> {
    for (const folder of ancestors(state.target)) {
      if (this.#folders.has(folder)) return;
      const planned = this.#states.get(folder);
      const stat = planned ? undefined : await this.#fs.stat(folder);
      if (planned?.current !== undefined || (stat && stat.type !== 'folder')) {
        throw new PlanFailure(`${what} ${state.path}: ${folder} is a file, not a folder`, state.path);
      }
      if (stat) {
        this.#folders.add(folder);
        return;
      }
    }
  }

  #place(abs: string): Promise<{ entry: string; target: string }> {
    const known = this.#places.get(abs);
    if (known) return known;
    const place = (async () => ({ entry: await realEntry(abs, this.#fs), target: await realTarget(abs, this.#fs) }))();
    this.#places.set(abs, place);
    return place;
  }

  async #locate(abs: string, what: string): Promise<{ entry: string; target: string }> {
    try {
      return await this.#place(abs);
    } catch (error) {
      throw new PlanFailure(`${what} ${abs}: ${reasonOf(error)}`, abs, systemCode(error));
    }
  }

  async #read(abs: string, target: string, what: string): Promise<FileImage | undefined> {
    try {
      return await this.#image(target);
    } catch (error) {
      const reason = error instanceof NotPatchable ? error.message : reasonOf(error);
      throw new PlanFailure(`${what} ${abs}: ${reason}`, abs, systemCode(error));
    }
  }

  #image(target: string): Promise<FileImage | undefined> {
    const known = this.#images.get(target);
    if (known) return known;
    const image = this.#load(target);
    this.#images.set(target, image);
    return image;
  }

  async #load(target: string): Promise<FileImage | undefined> {
    const stat = await this.#fs.stat(target);
    if (!stat) return undefined;
    if (stat.type === 'folder') throw new NotPatchable('a folder of that name exists, and a patch changes files only');
    if (stat.type !== 'file') throw new NotPatchable('it is not a regular file (a device, pipe or socket)');
    if (stat.size > MAX_FILE_BYTES)
      throw new NotPatchable(`the file has ${stat.size} bytes, more than the ${MAX_FILE_BYTES} a patch may change`);
    return { bytes: await this.#fs.readFile(target), stat };
  }
}
