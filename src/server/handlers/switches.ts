// What clients switch on and off beside config/*: features for as long as the daemon runs, skills in the user's own file.
import path from 'node:path';
import { invalidParams } from '../../common/errors.ts';
import type { ConfigWriter } from '../../config/edit.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { layerMetadata } from '../../config/read.ts';
import type { SkillsConfigWriteParams } from '../../protocol/catalog.ts';
import type { SkillScan } from '../../session/skills.ts';
import type { FeatureSwitches } from '../features.ts';
import type { HandlersFor } from '../handler.ts';

export interface SwitchPorts {
  features: FeatureSwitches;
  writer: ConfigWriter;
  load(cwd: string | null): Promise<LoadedConfig>;
  skills(loaded: LoadedConfig): Promise<SkillScan>;
  /** Tells clients that the list of skills is another now. */
  skillsChanged(): void;
}

type Entry = Readonly<Record<string, unknown>>;
type Selector = { name: string } | { path: string };

function selectorOf({ name, path: file }: SkillsConfigWriteParams): Selector {
  if (name?.trim() && !file) return { name: name.trim() };
  if (!file || name) throw invalidParams('params: expected either name or path, which say the skill');
  if (!path.isAbsolute(file)) throw invalidParams(`params.path: expected an absolute path, got ${JSON.stringify(file)}`);
  return { path: path.resolve(file) };
}

const fileOf = (given: string): string => (path.basename(given) === 'SKILL.md' ? path.dirname(given) : given);

/** A skill may be named by its folder or by the file in it. */
function means(entry: { name?: unknown; path?: unknown }, selector: Selector): boolean {
  if ('name' in selector) return entry.name === selector.name;
  return typeof entry.path === 'string' && fileOf(path.resolve(entry.path)) === fileOf(selector.path);
}

/** The entries of the user's own file: what other sources add is theirs. */
function ownEntries({ layers }: LoadedConfig): { entries: readonly Entry[]; version: string | null } {
  const user = layers.find((layer) => layer.kind === 'user');
  return { entries: user?.table.skills?.config ?? [], version: (user && layerMetadata(user)?.version) ?? null };
}

async function writeSkill(ports: SwitchPorts, params: SkillsConfigWriteParams): Promise<boolean> {
  const selector = selectorOf(params);
  const { entries, version } = ownEntries(await ports.load(null));
  const others = entries.filter((entry) => !means(entry, selector));
  // The last entry about a skill counts, so the new one goes to the end.
  const value = [...others, { ...selector, enabled: params.enabled }];
  await ports.writer.write({ edits: [{ keyPath: 'skills.config', value, mergeStrategy: 'replace' }], expectedVersion: version });
  const { skills } = await ports.skills(await ports.load(null));
  return skills.find((skill) => means(skill, selector))?.enabled ?? params.enabled;
}

export function switchHandlers(ports: SwitchPorts): HandlersFor<'experimentalFeature/enablement/set' | 'skills/config/write'> {
  return {
    'experimentalFeature/enablement/set': ({ enablement }) => {
      ports.features.set(enablement);
      return { enablement };
    },
    'skills/config/write': async (params, { after }) => {
      const effectiveEnabled = await writeSkill(ports, params);
      after(() => ports.skillsChanged());
      return { effectiveEnabled };
    },
  };
}
