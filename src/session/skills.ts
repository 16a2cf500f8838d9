// Finds skills: folders with a SKILL.md whose front matter says what it is for. The home's own, and those of trusted projects; a broken
// one is told, not dropped.
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, systemCode } from '../common/errors.ts';
import { utf8HeadLength } from '../common/text.ts';
import type { LoadedConfig } from '../config/load.ts';
import { FrontMatterError, parseFrontMatter, withoutFrontMatter } from './front-matter.ts';

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly shortDescription: string | null;
  /** Of its SKILL.md. Absolute. */
  readonly path: string;
  readonly scope: 'user' | 'repo';
  readonly enabled: boolean;
}

export interface SkillScan {
  readonly skills: readonly Skill[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

export interface SkillRoot {
  readonly folder: string;
  readonly scope: Skill['scope'];
}

type ReadSkill = Omit<Skill, 'scope' | 'enabled'>;

/** What was read of a file, as long as the file stays the same. */
interface Remembered {
  readonly stamp: string;
  readonly skill: ReadSkill;
}

const SKILL_FILE = 'SKILL.md';
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;
/** Folders below a root that are looked into. */
const MAX_DEPTH = 3;
const MAX_FOLDERS = 1000;
/** Of a skill that is put into a prompt. */
const MAX_TOLD_BYTES = 64 * 1024;

/** The nearest first: the project's folders from the inside out, the home, then what the configuration adds. */
export function skillRoots(home: string, { config, project }: LoadedConfig): SkillRoot[] {
  const own = (project?.folders ?? []).toReversed().map((folder): SkillRoot => ({ folder: path.join(folder, 'skills'), scope: 'repo' }));
  const extra = (config.skills?.extra_roots ?? []).map((folder): SkillRoot => ({ folder, scope: 'user' }));
  return [...own, { folder: path.join(home, 'skills'), scope: 'user' }, ...extra];
}

/** `[skills] enabled = false` switches all off, `[[skills.config]] path = "…", enabled = false` one. */
function isEnabled({ config }: LoadedConfig, file: string, name: string): boolean {
  if (config.skills?.enabled === false) return false;
  const means = (entry: Readonly<Record<string, unknown>>) =>
    entry.name === name || (typeof entry.path === 'string' && [file, path.dirname(file)].includes(path.resolve(entry.path)));
  return config.skills?.config?.findLast(means)?.enabled !== false;
}

function text(fields: ReadonlyMap<string, string>, key: string, most: number): string {
  const value = fields.get(key)?.trim();
  if (!value) throw new FrontMatterError(`the front matter has no ${key}`);
  if (value.length > most) throw new FrontMatterError(`${key} has ${value.length} characters, more than ${most}`);
  return value;
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');

const reasonOf = (error: unknown): string =>
  error instanceof FrontMatterError ? error.message : `it cannot be read (${systemCode(error) ?? messageOf(error)})`;

function realPathOf(given: string): string {
  try {
    return realpathSync.native(given);
  } catch {
    return given;
  }
}

/**
 * One reading of the disk, for one configuration. Each turn begins with one, so what is looked at every time is looked at synchronously:
 * some microseconds a folder instead of a fraction of a millisecond. Files are read only when they have changed.
 */
class Scan {
  readonly skills: Skill[] = [];
  readonly errors: { path: string; message: string }[] = [];
  /** Folders that a watcher has to look at, and files with their stamps, so that a change shows. */
  readonly folders = new Set<string>();
  readonly stamps: string[] = [];
  readonly #loaded: LoadedConfig;
  readonly #remembered: Map<string, Remembered>;
  /** Real paths of files and folders: each counts once, and links that lead in a circle end. */
  readonly #seen = new Set<string>();
  #left = MAX_FOLDERS;

  constructor(loaded: LoadedConfig, remembered: Map<string, Remembered>) {
    this.#loaded = loaded;
    this.#remembered = remembered;
  }

  async root({ folder, scope }: SkillRoot): Promise<void> {
    this.#left = MAX_FOLDERS;
    if (!this.#isNew(folder)) return;
    await this.#below(folder, scope, MAX_DEPTH);
    if (this.#left < 0)
      this.errors.push({ path: folder, message: `it holds more than ${MAX_FOLDERS} folders; the rest was not looked into` });
  }

  async #below(folder: string, scope: Skill['scope'], depth: number): Promise<void> {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (!isMissing(error)) this.errors.push({ path: folder, message: reasonOf(error) });
      return;
    }
    this.folders.add(folder);
    const names = entries.filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()));
    for (const { name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (this.#left-- <= 0) return;
      const inner = path.join(folder, name);
      if (!this.#isNew(inner)) continue;
      if (!(await this.#skill(path.join(inner, SKILL_FILE), scope)) && depth > 1) await this.#below(inner, scope, depth - 1);
    }
  }

  #isNew(given: string): boolean {
    const real = realPathOf(given);
    if (this.#seen.has(real)) return false;
    this.#seen.add(real);
    return true;
  }

  /** False when there is no such file. */
  async #skill(file: string, scope: Skill['scope']): Promise<boolean> {
    try {
      const found = statSync(file);
      this.folders.add(path.dirname(file));
      const stamp = `${found.mtimeMs} ${found.size} ${found.ino}`;
      this.stamps.push(`${file} ${stamp}`);
      if (!found.isFile()) throw new FrontMatterError(`${SKILL_FILE} is not a file`);
      if (found.size > MAX_FILE_BYTES) throw new FrontMatterError(`the file has ${found.size} bytes, more than ${MAX_FILE_BYTES}`);
      const skill = await this.#read(file, stamp);
      this.skills.push({ ...skill, scope, enabled: isEnabled(this.#loaded, file, skill.name) });
    } catch (error) {
      if (isMissing(error)) return false;
      this.errors.push({ path: file, message: reasonOf(error) });
    }
    return true;
  }

  async #read(file: string, stamp: string): Promise<ReadSkill> {
    const known = this.#remembered.get(file);
    if (known?.stamp === stamp) return known.skill;
    const fields = parseFrontMatter(await readFile(file, 'utf8'));
    const skill: ReadSkill = {
      name: text(fields, 'name', MAX_NAME),
      description: text(fields, 'description', MAX_DESCRIPTION),
      shortDescription: fields.get('metadata.short-description')?.trim() || null,
      path: file,
    };
    this.#remembered.set(file, { stamp, skill });
    return skill;
  }
}

export interface WatchedScan extends SkillScan {
  readonly folders: ReadonlySet<string>;
  readonly stamps: readonly string[];
}

/** Looks at the disk each time: what it gives is true now. Never throws for what stands in the folders. */
export class SkillReader {
  readonly #home: string;
  /** By file; an entry is used only while the file's stamp is the same. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(home: string) {
    this.#home = home;
  }

  async read(loaded: LoadedConfig): Promise<WatchedScan> {
    const scan = new Scan(loaded, this.#remembered);
    for (const root of skillRoots(this.#home, loaded)) await scan.root(root);
    return scan;
  }
}

export async function discoverSkills(home: string, loaded: LoadedConfig): Promise<SkillScan> {
  const { skills, errors } = await new SkillReader(home).read(loaded);
  return { skills, errors };
}

/** A skill as the model reads it when it is used. */
export async function skillText(skill: Skill): Promise<{ ok: true; text: string } | { ok: false; problem: string }> {
  let bytes: Buffer;
  try {
    bytes = Buffer.from(withoutFrontMatter(await readFile(skill.path, 'utf8')).trim());
  } catch (error) {
    return { ok: false, problem: `The skill ${skill.name} was not added: ${skill.path}: ${reasonOf(error)}.` };
  }
  const kept = utf8HeadLength(bytes, MAX_TOLD_BYTES);
  const rest = kept < bytes.length ? `\n[${bytes.length - kept} bytes more: read ${skill.path}]` : '';
  const body = bytes.toString('utf8', 0, kept);
  return { ok: true, text: `<skill name="${skill.name}" path="${skill.path}">\n${body}${rest}\n</skill>` };
}
