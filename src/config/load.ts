// Builds the configuration in force from its sources, lowest first: built-in, system, user, profile, project folders, command line,
// thread. Each source is checked alone, so that an error can name its file and line, and then laid over the ones below.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import { ConfigError, type ConfigProblem, describeProblem, type Position, sourceError } from './config-error.ts';
import { CONFIG_FILE, expandTilde, PROJECT_FOLDER } from './home.ts';
import { formatPath, parsePath } from './key-path.ts';
import type { ConfigLayer, ConfigWarning, LayerKind } from './layer.ts';
import { mergeLayers, type Origin } from './merge-layers.ts';
import { defaultProviderId, providerIds, providerOf } from './provider.ts';
import { CONFIG_SHAPE, type ConfigTable, DEFAULTS, type EffectiveConfig } from './schema.ts';
import { check, nearest, resolvePaths } from './shape.ts';
import { copyOf, deepFreeze, deleteAt, mergeOver, type ReadonlyTable, setAt, type Table, valueAt, withoutNulls } from './table.ts';
import { parseLooseValue, parseToml, readConfigText } from './toml.ts';
import { locate } from './toml-lines.ts';
import { ProjectTrust, projectFolders, projectRoot, realPath, type TrustLevel } from './trust.ts';

export interface ProjectInfo {
  /** Real path. */
  readonly root: string;
  /** Undefined when the user has not decided. */
  readonly trust: TrustLevel | undefined;
  readonly trusted: boolean;
  /** The `.harnessd` folders that may speak, from the root down to cwd. */
  readonly folders: readonly string[];
}

export interface LoadedConfig {
  readonly config: EffectiveConfig;
  /** Dotted key of each value that is not a table → the layer that decided it. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Lowest first, disabled ones included. */
  readonly layers: readonly ConfigLayer[];
  readonly warnings: readonly ConfigWarning[];
  /** Null when no cwd was given. */
  readonly project: ProjectInfo | null;
}

export interface LoadOptions {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Turns on the project layers. */
  readonly cwd?: string | null;
  /** `--profile`; wins over the `profile` key of any file. */
  readonly profile?: string | null;
  /** The texts of `-c key=value`, in order. */
  readonly overrides?: readonly string[];
  /** The `config` of thread/start: dotted keys allowed. */
  readonly thread?: ReadonlyTable | null;
  readonly systemFile?: string;
  /** Read in place of the user's file: what a write is about to put there. */
  readonly userText?: string;
}

export type LoadResult = ({ readonly ok: true } & LoadedConfig) | { readonly ok: false; readonly error: ConfigError };

export const SYSTEM_CONFIG_FILE = '/etc/harnessd/config.toml';

interface Source {
  kind: LayerKind;
  file: string | null;
  text: string;
  table: Table;
  /** Against what relative paths are resolved. */
  base: string;
}

/** What a source may not say. Trust is the user's file's alone, a project does not choose among the user's profiles, a client brings no code. */
function forbiddenKeys(kind: LayerKind): readonly (readonly string[])[] {
  switch (kind) {
    case 'defaults':
    case 'user':
      return [];
    case 'profile':
      return [['projects'], ['hooks'], ['profile'], ['profiles']];
    case 'system':
    case 'flags':
      return [['projects'], ['hooks', 'state']];
    case 'thread':
      return [['projects'], ['hooks', 'state'], ['extensions']];
    case 'project':
      return [['projects'], ['hooks', 'state'], ['profile'], ['profiles']];
    default:
      return assertNever(kind, 'layer');
  }
}

/** Where a source still says `on-failure`. */
function olderPolicies({ approval_policy, profiles = {} }: ConfigTable): (readonly string[])[] {
  const inProfiles = Object.keys(profiles).filter((name) => profiles[name].approval_policy === 'on-failure');
  return [
    ...(approval_policy === 'on-failure' ? [['approval_policy']] : []),
    ...inProfiles.map((name) => ['profiles', name, 'approval_policy']),
  ];
}

class Loader {
  readonly #options: LoadOptions;
  /** In the order of the sources. */
  readonly #layers: ConfigLayer[] = [];
  readonly #warnings: ConfigWarning[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async load(): Promise<LoadedConfig> {
    const { home, systemFile = SYSTEM_CONFIG_FILE, overrides = [], thread } = this.#options;
    const flags = await this.#flags(overrides);
    const perThread = this.#thread(thread ?? {});
    await this.#file('system', systemFile);
    const user = await this.#file('user', path.join(home, CONFIG_FILE));
    this.#profile([perThread, flags]);
    const project = await this.#project(new ProjectTrust(user.projects, this.#options.env));
    if (flags) this.#add(flags);
    if (perThread) this.#add(perThread);
    return this.#finish(project);
  }

  #finish(project: ProjectInfo | null): LoadedConfig {
    const { env } = this.#options;
    const table: Table = { ...DEFAULTS };
    const defaults: ConfigLayer = { kind: 'defaults', file: null, text: '', table, disabledReason: null };
    const layers = [defaults, ...this.#layers];
    const merged = mergeLayers(layers);
    const config: Table = merged.config;
    // What depends on the environment and on the other values is a built-in value all the same.
    const settle = (key: string, value: string) => {
      table[key] = value;
      if (typeof config[key] === 'string') return;
      config[key] = value;
      merged.origins.set(key, { layer: defaults });
    };
    const provider = merged.config.model_provider ?? defaultProviderId(env);
    const settings = providerOf(merged.config, provider);
    if (!settings) {
      const known = providerIds(merged.config);
      const near = nearest(provider, known);
      const hint = near === undefined ? `known: ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`;
      throw this.#errorAt('model_provider', `model_provider: there is no provider ${JSON.stringify(provider)}; ${hint}`, merged.origins);
    }
    settle('model_provider', provider);
    settle('model', settings.defaultModel);
    return {
      config: deepFreeze(config as EffectiveConfig),
      origins: merged.origins,
      layers: deepFreeze(layers),
      warnings: this.#warnings,
      project,
    };
  }

  #errorAt(key: string, reason: string, origins: ReadonlyMap<string, Origin>): ConfigError {
    const layer = origins.get(key)?.layer;
    const inside = layer?.kind === 'profile' ? ['profiles', layer.profile ?? ''] : [];
    const position = layer ? locate(layer.text, [...inside, key]) : null;
    return new ConfigError([{ key, file: layer?.file ?? null, position, reason }]);
  }

  async #file(kind: LayerKind, file: string): Promise<ConfigTable> {
    const text = (kind === 'user' ? this.#options.userText : undefined) ?? readConfigText(file);
    // The user's layer is there without a file too: clients write to it and ask for its version.
    if (text === undefined && kind !== 'user') return {};
    const table = await parseToml(text ?? '', file);
    return this.#add({ kind, file, text: text ?? '', table, base: path.dirname(file) });
  }

  /** Checks a source and makes it the next layer. */
  #add(source: Source): ConfigTable {
    this.#check(source);
    const table = copyOf(withoutNulls(source.table)) as Table;
    for (const key of forbiddenKeys(source.kind)) {
      if (valueAt(table, key) === undefined) continue;
      deleteAt(table, key);
      const reason = `${formatPath(key)} is ignored here; it can be set in ${path.join(this.#options.home, CONFIG_FILE)}`;
      this.#warn(source, { key: formatPath(key), file: source.file, position: this.#locate(source, key), reason });
    }
    const { env } = this.#options;
    const resolved = resolvePaths(table, CONFIG_SHAPE.rule, (given) => path.resolve(source.base, expandTilde(given, env))) as ConfigTable;
    this.#layers.push({ kind: source.kind, file: source.file, text: source.text, table: resolved, disabledReason: null });
    return resolved;
  }

  #locate(source: Source, at: readonly (string | number)[]): Position | null {
    return source.file === null ? null : locate(source.text, at);
  }

  #check(source: Source): void {
    const wrong: ConfigProblem[] = [];
    for (const { kind, path: at, reason } of check(source.table, CONFIG_SHAPE)) {
      const problem = { key: formatPath(at), file: source.file, position: this.#locate(source, at), reason };
      if (kind === 'wrong') wrong.push(problem);
      else this.#warn(source, problem);
    }
    if (wrong.length > 0) throw new ConfigError(wrong, sourceName(source));
    for (const at of olderPolicies(source.table as ConfigTable)) {
      const key = formatPath(at);
      const reason = `${key} = "on-failure" is read as "on-request": a command that fails in the sandbox is not run again by itself`;
      this.#warn(source, { key, file: source.file, position: this.#locate(source, at), reason });
    }
  }

  #warn(source: Source, problem: ConfigProblem): void {
    this.#warnings.push({
      summary: describeProblem(problem, sourceName(source)),
      details: null,
      file: problem.file,
      position: problem.position,
    });
  }

  /** `--profile` wins over the thread, that over -c, that over the files. A project's file has no say. */
  #profile(higher: readonly (Source | null)[]): void {
    const written = mergeLayers(this.#layers).config;
    const chosen = [this.#options.profile, ...higher.map((source) => source?.table.profile), written.profile];
    const name = chosen.find((value): value is string => typeof value === 'string' && value !== '');
    if (name === undefined) return;
    const profiles = written.profiles ?? {};
    if (!Object.hasOwn(profiles, name)) {
      const known = Object.keys(profiles);
      throw sourceError(
        `profile: there is no profile ${JSON.stringify(name)}; ${known.length === 0 ? 'none is configured' : `known: ${known.join(', ')}`}`,
        written.profile === name ? path.join(this.#options.home, CONFIG_FILE) : null,
      );
    }
    const holder = this.#layers.findLast((layer) => layer.table.profiles && Object.hasOwn(layer.table.profiles, name));
    const table = copyOf(profiles[name]) as Table;
    for (const key of forbiddenKeys('profile')) deleteAt(table, key);
    this.#layers.push({
      kind: 'profile',
      file: holder?.file ?? null,
      text: holder?.text ?? '',
      profile: name,
      table,
      disabledReason: null,
    });
  }

  async #project(trust: ProjectTrust): Promise<ProjectInfo | null> {
    const { cwd, home } = this.#options;
    if (cwd === undefined || cwd === null) return null;
    const root = projectRoot(cwd);
    const ownHome = realPath(home);
    const folders: string[] = [];
    for (const folder of projectFolders(root, cwd)) {
      const own = path.join(folder, PROJECT_FOLDER);
      // The home itself can look like a project folder of the user's home: it is the user's layer, not a project's.
      if (!existsSync(own) || realPath(own) === ownHome) continue;
      const level = trust.levelOf(folder, root);
      if (level === 'trusted') {
        folders.push(own);
        await this.#file('project', path.join(own, CONFIG_FILE));
      } else this.#untrusted(folder, own, level);
    }
    const level = trust.levelOf(realPath(cwd), root);
    return { root, trust: level, trusted: level === 'trusted', folders };
  }

  #untrusted(folder: string, own: string, level: TrustLevel | undefined): void {
    const userFile = path.join(this.#options.home, CONFIG_FILE);
    const reason = level === 'untrusted' ? 'the project is marked as untrusted' : 'the project is not trusted';
    const entry = `[projects.${formatPath([folder])}] trust_level = "trusted"`;
    this.#warnings.push({
      summary: `${own} is ignored (configuration, hooks, extensions, servers, skills): ${reason}.`,
      details: `To trust it, put ${entry} into ${userFile}.`,
      file: own,
      position: null,
    });
    this.#layers.push({ kind: 'project', file: path.join(own, CONFIG_FILE), text: '', table: {}, disabledReason: reason });
  }

  async #flags(overrides: readonly string[]): Promise<Source | null> {
    if (overrides.length === 0) return null;
    const table: Table = {};
    for (const text of overrides) {
      const split = splitOverride(text);
      const key = split && parsePath(split.key);
      if (!split || !key)
        throw sourceError(`-c expects key=value, for example -c model="gpt-5.5"; got ${JSON.stringify(split?.key ?? text)}`);
      setAt(table, key, await parseLooseValue(split.value));
    }
    return { kind: 'flags', file: null, text: '', table, base: process.cwd() };
  }

  #thread(given: ReadonlyTable): Source | null {
    if (Object.keys(given).length === 0) return null;
    const table: Table = {};
    for (const [dotted, value] of Object.entries(given)) {
      const key = parsePath(dotted);
      if (!key) throw sourceError(`config: ${JSON.stringify(dotted)} is not a dotted key`);
      const nested: Table = {};
      setAt(nested, key, value);
      Object.assign(table, mergeOver(table, nested));
    }
    return { kind: 'thread', file: null, text: '', table, base: this.#options.cwd ?? process.cwd() };
  }
}

/** Cuts at the first `=` that is not inside quotes. */
function splitOverride(text: string): { key: string; value: string } | undefined {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote !== '') {
      if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '=') return { key: text.slice(0, i), value: text.slice(i + 1) };
  }
  return undefined;
}

function sourceName(source: Source): string {
  if (source.kind === 'flags') return '-c';
  return source.kind === 'thread' ? 'config of the thread' : '';
}

/** Reads all sources. Never throws for what a user wrote: the daemon decides what a broken configuration means. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  try {
    return { ok: true, ...(await new Loader(options).load()) };
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, error };
    throw error;
  }
}
