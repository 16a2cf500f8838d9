// A walk through the folders below a root, nearest first, that honours .gitignore: for where git does not answer. It follows no links to
// directories, and ends with the bound of the list or of time.
import type { Dirent } from 'node:fs';
import { lstat, opendir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { IgnoreRules } from './ignore-rules.ts';
import { MAX_PATHS, type PathList } from './path-list.ts';
import { Slice } from './slice.ts';

const MAX_WALK_MS = 20_000;
const MAX_RULES_BYTES = 512 * 1024;
const AT_ONCE = 8;
/** What version control keeps for itself. */
const NEVER = new Set(['.git', '.hg', '.svn', '.jj']);

/** Rules and the number of path parts above their folder. */
interface Scope {
  readonly depth: number;
  readonly rules: IgnoreRules;
}

interface Folder {
  /** Parts from the top: the repository, or the root where there is none. */
  readonly parts: readonly string[];
  /** Outermost first. */
  readonly scopes: readonly Scope[];
}

async function rulesIn(file: string): Promise<IgnoreRules | undefined> {
  try {
    const found = await lstat(file);
    if (!found.isFile() || found.size > MAX_RULES_BYTES) return undefined;
    const rules = new IgnoreRules(await readFile(file, 'utf8'));
    return rules.isEmpty ? undefined : rules;
  } catch {
    return undefined;
  }
}

async function withRules(scopes: readonly Scope[], file: string, depth: number): Promise<readonly Scope[]> {
  const rules = await rulesIn(file);
  return rules ? [...scopes, { depth, rules }] : scopes;
}

/** The innermost rules that speak of a path decide. */
function isIgnored({ scopes }: Folder, parts: readonly string[], isFolder: boolean): boolean {
  for (let i = scopes.length - 1; i >= 0; i--) {
    const said = scopes[i].rules.ignores(parts.slice(scopes[i].depth), isFolder);
    if (said !== undefined) return said;
  }
  return false;
}

class Walk {
  readonly #list: PathList;
  readonly #top: string;
  readonly #signal: AbortSignal;
  readonly #slice = new Slice();
  readonly #deadline = performance.now() + MAX_WALK_MS;
  /** Folders that wait, nearest first; those before #next are done. */
  readonly #folders: Folder[] = [];
  #next = 0;
  /** From the top to the root of the list. */
  readonly #rootParts: readonly string[];

  constructor(list: PathList, folder: string, top: string, signal: AbortSignal) {
    this.#list = list;
    this.#top = top;
    this.#signal = signal;
    this.#rootParts = path.relative(top, folder).split(path.sep).filter(Boolean);
  }

  async run(): Promise<void> {
    this.#folders.push(await this.#root());
    while (this.#next < this.#folders.length && !this.#list.cut) {
      const batch = this.#folders.slice(this.#next, this.#next + AT_ONCE);
      this.#next += batch.length;
      this.#signal.throwIfAborted();
      await Promise.all(batch.map((folder) => this.#folder(folder)));
      this.#forgetDone();
      if (performance.now() > this.#deadline) this.#list.cut ||= this.#next < this.#folders.length;
    }
  }

  #forgetDone(): void {
    if (this.#next < 1_000) return;
    this.#folders.splice(0, this.#next);
    this.#next = 0;
  }

  /** The root with the rules of the repository above it. */
  async #root(): Promise<Folder> {
    const parts = this.#rootParts;
    let scopes = await withRules([], path.join(this.#top, '.git', 'info', 'exclude'), 0);
    for (let depth = 0; depth < parts.length; depth++)
      scopes = await withRules(scopes, path.join(this.#top, ...parts.slice(0, depth), '.gitignore'), depth);
    return { parts, scopes };
  }

  async #folder(folder: Folder): Promise<void> {
    const place = path.join(this.#top, ...folder.parts);
    const entries = await this.#entries(place);
    const hasRules = entries.some((entry) => entry.name === '.gitignore');
    const scopes = hasRules ? await withRules(folder.scopes, path.join(place, '.gitignore'), folder.parts.length) : folder.scopes;
    for (const entry of entries) {
      await this.#slice.pause(this.#signal);
      if (!this.#entry({ ...folder, scopes }, entry)) return;
    }
  }

  /** Those of a folder that cannot be read are none. */
  async #entries(place: string): Promise<Dirent[]> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(place, { bufferSize: 128 })) {
        await this.#slice.pause(this.#signal);
        entries.push(entry);
        if (entries.length >= MAX_PATHS) break;
      }
    } catch {
      this.#signal.throwIfAborted();
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #entry(folder: Folder, entry: Dirent): boolean {
    if (NEVER.has(entry.name)) return true;
    const isFolder = entry.isDirectory();
    const parts = [...folder.parts, entry.name];
    if (isIgnored(folder, parts, isFolder)) return true;
    if (isFolder) this.#folders.push({ parts, scopes: folder.scopes });
    const shown = parts.slice(this.#rootParts.length).join('/');
    return this.#list.add(isFolder ? `${shown}/` : shown);
  }
}

/** @param top the repository that the folder is in, or the folder itself */
export function addWalkedPaths(list: PathList, folder: string, top: string, signal: AbortSignal): Promise<void> {
  return new Walk(list, folder, top, signal).run();
}
