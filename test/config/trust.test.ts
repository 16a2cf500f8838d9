import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { ensureHome, resolveHome } from '../../src/config/home.ts';
import { ProjectTrust, projectFolders, projectRoot } from '../../src/config/trust.ts';
import { workspace } from './workspace.ts';

const PROJECT = 'developer_instructions = "project"\n[mcp_servers.evil]\ncommand = "touch"\n';

describe('trust of a folder', () => {
  it('[config.trust.table] its own entry, else the nearest above it within the project', () => {
    const w = workspace();
    for (const name of ['repo/.git', 'repo/sub/deep', 'other']) mkdirSync(path.join(w.root, name), { recursive: true });
    symlinkSync(path.join(w.root, 'repo'), path.join(w.root, 'link'));
    const at = (name: string) => path.join(w.root, name);
    const levels = (projects: Record<string, 'trusted' | 'untrusted'>, folders: string[]) => {
      const table = Object.fromEntries(Object.entries(projects).map(([key, trust_level]) => [key, { trust_level }]));
      const trust = new ProjectTrust(table, { HOME: w.root });
      return folders.map((name) => trust.levelOf(at(name), projectRoot(at(name))));
    };
    const folders = ['repo', 'repo/sub', 'repo/sub/deep', 'other', 'missing'];
    expect(levels({}, folders)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(levels({ [at('repo')]: 'trusted' }, folders)).toEqual(['trusted', 'trusted', 'trusted', undefined, undefined]);
    expect(levels({ [at('repo')]: 'trusted', [at('repo/sub')]: 'untrusted' }, folders)).toEqual([
      'trusted',
      'untrusted',
      'untrusted',
      undefined,
      undefined,
    ]);
    expect(levels({ [at('repo/sub')]: 'trusted' }, folders)).toEqual([undefined, 'trusted', 'trusted', undefined, undefined]);
    // A folder above the project says nothing about it.
    expect(levels({ [w.root]: 'trusted' }, folders)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    // Links, odd spellings and ~ mean the folder itself; a relative entry means none.
    expect(levels({ [at('link')]: 'trusted' }, ['repo', 'link/sub'])).toEqual(['trusted', 'trusted']);
    expect(levels({ [`${w.root}/x/../repo/`]: 'trusted' }, ['repo'])).toEqual(['trusted']);
    expect(levels({ '~/repo': 'trusted', repo: 'untrusted', '.': 'untrusted' }, ['repo'])).toEqual(['trusted']);
    // Two spellings that disagree: the stricter one.
    expect(levels({ [at('repo')]: 'trusted', [at('link')]: 'untrusted' }, ['repo'])).toEqual(['untrusted']);
    expect(levels({ [at('link')]: 'untrusted', [at('repo')]: 'trusted' }, ['repo'])).toEqual(['untrusted']);
  });

  it('[config.trust.worktree] a worktree inherits from its repository only when the repository names it', () => {
    const w = workspace();
    const at = (name: string) => path.join(w.root, name);
    mkdirSync(at('main/.git/worktrees/t'), { recursive: true });
    for (const name of ['tree', 'fake']) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/.git`), `gitdir: ${at('main/.git/worktrees/t')}\n`);
    }
    writeFileSync(at('main/.git/worktrees/t/gitdir'), `${at('tree/.git')}\n`);
    const trust = new ProjectTrust({ [at('main')]: { trust_level: 'trusted' } }, {});
    expect(['main', 'tree', 'fake'].map((name) => trust.isTrusted(at(name), projectRoot(at(name))))).toEqual([true, true, false]);
  });

  it('[config.trust.root] the root is the nearest folder with .git, else the folder itself', () => {
    const w = workspace();
    mkdirSync(path.join(w.root, 'repo/a/b'), { recursive: true });
    writeFileSync(path.join(w.root, 'repo/.git'), 'gitdir: x\n');
    const repo = path.join(w.root, 'repo');
    expect(projectRoot(path.join(repo, 'a/b'))).toBe(repo);
    expect(projectFolders(repo, path.join(repo, 'a/b'))).toEqual([repo, path.join(repo, 'a'), path.join(repo, 'a/b')]);
    expect([projectRoot(w.work), projectFolders(w.work, w.work)]).toEqual([w.work, [w.work]]);
  });
});

describe('the configuration of a project', () => {
  it('[config.trust.untrusted] has no effect, is not even read, and a warning says how to trust it', async () => {
    const w = workspace('model = "x"\n');
    w.put('work/.harnessd/config.toml', 'this is [not TOML');
    const loaded = await w.loaded({ cwd: w.work });
    expect(loaded.config.mcp_servers).toBeUndefined();
    expect(loaded.project).toEqual({ root: w.work, trust: undefined, trusted: false, folders: [] });
    expect(loaded.warnings).toEqual([
      {
        summary: `${w.work}/.harnessd is ignored (configuration, hooks, extensions, servers, skills): the project is not trusted.`,
        details: `To trust it, put [projects."${w.work}"] trust_level = "trusted" into ${w.file}.`,
        file: `${w.work}/.harnessd`,
        position: null,
      },
    ]);
    expect(loaded.layers.find((l) => l.kind === 'project')).toEqual({
      kind: 'project',
      file: `${w.work}/.harnessd/config.toml`,
      text: '',
      table: {},
      disabledReason: 'the project is not trusted',
    });
  });

  it.each([
    ['the command line', (work: string) => ({ overrides: [`projects."${work}".trust_level="trusted"`] })],
    ['the config of a thread', (work: string) => ({ thread: { projects: { [work]: { trust_level: 'trusted' } } } })],
  ])('[config.trust.source] %s cannot grant trust', async (_, options) => {
    const w = workspace('');
    w.put('work/.harnessd/config.toml', PROJECT);
    const loaded = await w.loaded({ cwd: w.work, ...options(w.work) });
    expect([loaded.config.mcp_servers, loaded.config.projects, loaded.project?.trusted]).toEqual([undefined, undefined, false]);
    expect(loaded.warnings.map((x) => x.summary).filter((text) => text.includes('projects is ignored here'))).toHaveLength(1);
  });

  it('[config.trust.source] the config of a thread brings no code along', async () => {
    const w = workspace('extensions = ["/a.mjs"]\n');
    const loaded = await w.loaded({ thread: { extensions: ['/b.mjs'] } });
    expect([loaded.config.extensions, loaded.warnings.map((x) => x.summary.replaceAll(w.root, '~'))]).toEqual([
      ['/a.mjs'],
      ['config of the thread: extensions is ignored here; it can be set in ~/home/config.toml'],
    ]);
  });

  it('[config.trust.source] neither the system file nor a profile nor a project trusts', async () => {
    const w = workspace();
    const entry = (name: string) => `[projects."${path.join(w.root, name)}"]\ntrust_level = "trusted"\n`;
    mkdirSync(path.join(w.root, 'work/.git'));
    w.put('work/sub/.harnessd/config.toml', PROJECT);
    w.put('etc/config.toml', entry('work/sub'));
    writeFileSync(
      w.file,
      `[profiles.p]\n[profiles.p.projects."${w.work}/sub"]\ntrust_level = "trusted"\n[projects."${w.work}"]\ntrust_level = "untrusted"\n`,
    );
    w.put('work/.harnessd/config.toml', entry('work/sub'));
    const loaded = await w.loaded({ cwd: path.join(w.work, 'sub'), profile: 'p' });
    expect([loaded.config.mcp_servers, loaded.project?.trust]).toEqual([undefined, 'untrusted']);
    expect(loaded.layers.filter((l) => l.kind === 'project').map((l) => l.disabledReason)).toEqual([
      'the project is marked as untrusted',
      'the project is marked as untrusted',
    ]);
  });

  it('[config.trust.trusted] holds from the root down to cwd, without the keys that are the user’s', async () => {
    const w = workspace();
    mkdirSync(path.join(w.root, 'work/.git'));
    writeFileSync(
      w.file,
      `model = "user"\n[profiles.p]\nmodel = "profile"\n[projects."${w.work}"]\ntrust_level = "trusted"\n[hooks.state.k]\ntrusted_hash = "u"\n`,
    );
    w.put('work/.harnessd/config.toml', `profile = "p"\n${PROJECT}`);
    w.put(
      'work/a/.harnessd/config.toml',
      'developer_instructions = "inner"\n[hooks.state.k]\ntrusted_hash = "p"\n[projects."/"]\ntrust_level = "trusted"\n',
    );
    w.put('work/a/b/.harnessd/rules/x.rules', '');
    const loaded = await w.loaded({ cwd: path.join(w.work, 'a/b') });
    const { model, developer_instructions, mcp_servers, hooks, projects, profile } = loaded.config;
    expect({ model, developer_instructions, mcp_servers, hooks, projects, profile }).toEqual({
      model: 'user',
      developer_instructions: 'inner',
      mcp_servers: { evil: { command: 'touch' } },
      hooks: { state: { k: { trusted_hash: 'u' } } },
      projects: { [w.work]: { trust_level: 'trusted' } },
      profile: undefined,
    });
    expect(loaded.project?.folders).toEqual(['', '/a', '/a/b'].map((part) => `${w.work}${part}/.harnessd`));
    expect(loaded.warnings.map((x) => x.summary.replaceAll(w.root, '~'))).toEqual([
      '~/work/.harnessd/config.toml:1: profile is ignored here; it can be set in ~/home/config.toml',
      '~/work/a/.harnessd/config.toml:4: projects is ignored here; it can be set in ~/home/config.toml',
      '~/work/a/.harnessd/config.toml:2: hooks.state is ignored here; it can be set in ~/home/config.toml',
    ]);
  });

  it('[config.trust.home] the home is never a project folder', async () => {
    const w = workspace();
    const home = path.join(w.root, '.harnessd');
    w.put('.harnessd/config.toml', 'model = "home"\n');
    const loaded = await w.loaded({ home, cwd: w.root });
    expect([loaded.warnings, loaded.layers.map((l) => l.kind)]).toEqual([[], ['defaults', 'user']]);
  });
});

describe('the home folder', () => {
  it('[config.home] comes from the environment, else it is in the home of the user', () => {
    expect(resolveHome({ HARNESSD_HOME: '/x/../y', HOME: '/u' })).toBe('/y');
    expect(resolveHome({ HARNESSD_HOME: ' ', HOME: '/u' })).toBe('/u/.harnessd');
  });

  it('[config.home] is made for its owner alone; an existing one is left as it is; a file in its place is an error', () => {
    const w = workspace();
    const home = path.join(w.root, 'a/b');
    ensureHome(home);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    const before = statSync(w.work).mode;
    ensureHome(w.work);
    expect(statSync(w.work).mode).toBe(before);
    const file = w.put('file', '');
    for (const wrong of [file, path.join(file, 'x')]) expect(() => ensureHome(wrong)).toThrow(ConfigError);
    expect(() => ensureHome(file)).toThrow(
      `${file}: the home folder cannot be made (EEXIST); set HARNESSD_HOME to a folder that can be written`,
    );
  });
});
