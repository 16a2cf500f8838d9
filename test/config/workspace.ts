// A home, a project and a way to load from them; real files in a temporary folder that is removed after each test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type LoadedConfig, type LoadOptions, type LoadResult, loadConfig } from '../../src/config/load.ts';

export interface Workspace {
  root: string;
  home: string;
  work: string;
  file: string;
  systemFile: string;
  /** Writes a file below the root and answers with its path. */
  put(name: string, text: string): string;
  load(options?: Partial<LoadOptions>): Promise<LoadResult>;
  loaded(options?: Partial<LoadOptions>): Promise<LoadedConfig>;
  /** The text of the error that loading ends in, with the root shown as `~`. */
  refused(options?: Partial<LoadOptions>): Promise<string>;
}

export function workspace(config?: string): Workspace {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'config-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, work] = [path.join(root, 'home'), path.join(root, 'work')];
  const systemFile = path.join(root, 'etc/config.toml');
  const file = path.join(home, 'config.toml');
  const put = (name: string, text: string): string => {
    const target = path.join(root, name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
    return target;
  };
  mkdirSync(home);
  mkdirSync(work);
  if (config !== undefined) writeFileSync(file, config);
  const load = (options: Partial<LoadOptions> = {}) => loadConfig({ home, env: { HOME: root }, systemFile, ...options });
  return {
    root,
    home,
    work,
    file,
    systemFile,
    put,
    load,
    async loaded(options) {
      const result = await load(options);
      if (!result.ok) throw result.error;
      return result;
    },
    async refused(options) {
      const result = await load(options);
      return result.ok ? 'it was loaded' : result.error.message.replaceAll(root, '~');
    },
  };
}

/** Key → kind of the layer that decided it, the defaults left out. */
export const decidedBy = (loaded: LoadedConfig): Record<string, string> =>
  Object.fromEntries([...loaded.origins].filter(([, o]) => o.layer.kind !== 'defaults').map(([key, o]) => [key, o.layer.kind]));
