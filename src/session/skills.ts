// Finds skills: folders with a SKILL.md whose front matter says what it is for. The home's own, and those of trusted projects; a broken
// one is told, not dropped.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, systemCode } from '../common/errors.ts';
import type { LoadedConfig } from '../config/load.ts';
import { FrontMatterError, parseFrontMatter } from './front-matter.ts';

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

interface SkillRoot {
  readonly folder: string;
  readonly scope: Skill['scope'];
}

const SKILL_FILE = 'SKILL.md';
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1024;

/** The nearest first: the project's folders from the inside out, the home, then what the configuration adds. */
function rootsOf(home: string, { config, project }: LoadedConfig): SkillRoot[] {
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

async function readSkill(file: string): Promise<Omit<Skill, 'scope' | 'enabled'> | undefined> {
  const found = await stat(file).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  });
  if (!found) return undefined;
  if (!found.isFile()) throw new FrontMatterError(`${SKILL_FILE} is not a file`);
  if (found.size > MAX_FILE_BYTES) throw new FrontMatterError(`the file has ${found.size} bytes, more than ${MAX_FILE_BYTES}`);
  const fields = parseFrontMatter(await readFile(file, 'utf8'));
  return {
    name: text(fields, 'name', MAX_NAME),
    description: text(fields, 'description', MAX_DESCRIPTION),
    shortDescription: fields.get('metadata.short-description')?.trim() || null,
    path: file,
  };
}

const reasonOf = (error: unknown): string =>
  error instanceof FrontMatterError ? error.message : `it cannot be read (${systemCode(error) ?? messageOf(error)})`;

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw error;
  }
}

/** Never throws for what stands in the folders. Reads the disk each time: what it gives is true now. */
export async function discoverSkills(home: string, loaded: LoadedConfig): Promise<SkillScan> {
  const skills: Skill[] = [];
  const errors: { path: string; message: string }[] = [];
  const seen = new Set<string>();
  for (const { folder, scope } of rootsOf(home, loaded)) {
    const names = await namesIn(folder).catch((error: unknown) => {
      errors.push({ path: folder, message: reasonOf(error) });
      return [];
    });
    for (const name of names) {
      const file = path.join(folder, name, SKILL_FILE);
      const real = await realpath(file).catch(() => file);
      if (seen.has(real)) continue;
      seen.add(real);
      try {
        const skill = await readSkill(file);
        if (skill) skills.push({ ...skill, scope, enabled: isEnabled(loaded, file, skill.name) });
      } catch (error) {
        errors.push({ path: file, message: reasonOf(error) });
      }
    }
  }
  return { skills, errors };
}
