// The commands that look at the machine: doctor and config check.
import { chmodSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configCheck } from '../../src/cli/config-check.ts';
import { doctor, examine } from '../../src/cli/doctor.ts';
import { workspace } from '../config/workspace.ts';
import { answers, SseServer } from '../model/sse-server.ts';

const env = (root: string) => ({ PATH: process.env.PATH, HOME: root, SHELL: '/bin/sh' });

describe('doctor', () => {
  it('[doctor.well] finds nothing to do on a machine that has all, and asks no provider unasked', async () => {
    const w = workspace('');
    chmodSync(w.home, 0o700);
    const findings = await examine({ home: w.home, env: env(w.root), overrides: [], profile: null, online: false });
    expect(findings.filter(({ what }) => what !== 'sandbox').map(({ what, level }) => [what, level])).toEqual([
      ['versions', 'ok'],
      ['home', 'ok'],
      ['config', 'ok'],
      ['shell', 'ok'],
      ['terminals', 'ok'],
      ['threads', 'ok'],
      ['provider scripted', 'ok'],
    ]);
    expect(findings.filter(({ level, advice }) => (level === 'ok') !== (advice === undefined))).toEqual([]);
  });

  it('[doctor.advice] says what to do for each finding, and fails when a daemon could not work', async () => {
    const w = workspace('modle = "x"\nmodel_provider = "m"\n[model_providers.m]\nbase_url = "http://127.0.0.1:9/v1"\nenv_key = "M_KEY"\n');
    chmodSync(w.home, 0o755);
    const options = { home: w.home, overrides: [], profile: null, online: true };
    const without = await doctor({ ...options, env: env(w.root) });
    expect(without.exitCode).toBe(1);
    const text = without.text.replaceAll(w.root, '~');
    expect(text).toContain(
      'warning  home: ~/home is open to other users\n         → It holds threads and perhaps a key: chmod 700 ~/home\n',
    );
    expect(text).toContain('did you mean model?');
    expect(text).toContain(
      'FAILURE  provider m: there is no key: M_KEY is not set\n         → Set M_KEY, or choose another model_provider.\n',
    );
    const broken = workspace('model = 5\n');
    const refused = await doctor({ ...options, home: broken.home, env: env(broken.root) });
    expect([refused.exitCode, refused.text.includes('config.toml:1: model must be a string')]).toEqual([1, true]);
  });

  it('[doctor.online] tells a provider that answers from one that refuses the key or is not there', async () => {
    const server = await SseServer.start();
    onTestFinished(() => server.close());
    const w = workspace(
      `model_provider = "m"\n[model_providers.m]\nbase_url = "${server.base}"\nenv_key = "M_KEY"\n[model_providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\n`,
    );
    const options = { home: w.home, env: { ...env(w.root), M_KEY: 'sk-1' }, profile: null, online: true };
    const last = async (overrides: string[] = []) => {
      const { level, text } = (await examine({ ...options, overrides })).at(-1) ?? {};
      return [level, text];
    };
    const host = new URL(server.base).host;
    server.replies.push(answers(200, {}), answers(401, {}), answers(503, {}));
    expect(await last()).toEqual(['ok', `${host} answers`]);
    expect(await last()).toEqual(['failure', `${host} refused the key (401)`]);
    expect(await last()).toEqual(['warning', `${host} answers 503`]);
    expect(await last(['model_provider=gone'])).toEqual(['failure', '127.0.0.1:9 cannot be reached: ECONNREFUSED']);
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual(Array(3).fill(['/v1/models', 'Bearer sk-1']));
  });
});

describe('config check', () => {
  it('[doctor.config] shows each value with its source, the layers in order, warnings, and no secret', async () => {
    const w = workspace(
      'model = "m"\nmodle = "x"\n[model_providers.p]\nexperimental_bearer_token = "SECRET"\n[profiles.work]\nmodel = "w"\n',
    );
    w.put('work/.harnessd/config.toml', 'model = "evil"');
    const options = { home: w.home, env: env(w.root), systemFile: w.systemFile, cwd: w.work, profile: 'work' };
    const { text, exitCode } = await configCheck({ ...options, overrides: ['sandbox_mode=workspace-write'] });
    expect(exitCode).toBe(0);
    const lines = text.replaceAll(w.root, '~').split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '# Layers, each over the ones before',
      '  user       ~/home/config.toml',
      '  profile work ~/home/config.toml',
      '  project    ~/work/.harnessd/config.toml (not read: the project is not trusted)',
      '  flags      (no file)',
    ]);
    const value = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.replace(/ +/g, ' ');
    expect(value('model')).toBe('model = "w" # ~/home/config.toml:6 (profile work)');
    expect(value('sandbox_mode')).toBe('sandbox_mode = "workspace-write" # -c');
    expect(value('approval_policy')).toBe('approval_policy = "on-request" # built-in');
    expect(text).not.toContain('SECRET');
    expect(lines.slice(-5, -1)).toEqual([
      '# 2 warnings',
      '  ~/home/config.toml:2: unknown key modle is ignored; did you mean model?',
      '  ~/work/.harnessd is ignored (configuration, hooks, extensions, servers, skills): the project is not trusted.',
      expect.stringContaining('To trust it'),
    ]);
  });

  it('[doctor.config-broken] names the file, the line and the key of what cannot be used', async () => {
    const w = workspace('\nsandbox_mode = 5\n');
    expect(await configCheck({ home: w.home, env: env(w.root), systemFile: w.systemFile })).toEqual({
      exitCode: 1,
      text: expect.stringContaining(`${w.file}:2: sandbox_mode must be one of`),
    });
  });
});
