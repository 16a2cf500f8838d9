import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildEnvironment, matchesGlob } from '../../src/exec/environment.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, run } from './support.ts';

const BASE = {
  PATH: '/bin',
  HOME: '/h',
  LANG: 'de_DE.UTF-8',
  OPENAI_API_KEY: 'k',
  my_token: 't',
  DB_SECRET: 's',
  PGPASSWORD: 'p',
  AWS_CREDENTIALS: 'c',
  PLAIN: 'v',
  XX_ONE: '1',
  PWD: '/old',
  GONE: undefined,
};
/** What the policy decides about, without the fixed values. */
const own = (env: Record<string, string>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name in BASE || ['ADDED', 'MY_KEY', 'HARNESSD_THREAD_ID'].includes(name)));
const ALL = { PATH: '/bin', HOME: '/h', LANG: 'de_DE.UTF-8', PLAIN: 'v', XX_ONE: '1' };

describe('the environment of a child', () => {
  it.each([
    ['everything but secrets by default', {}, ALL],
    ['the core', { inherit: 'core' as const }, { PATH: '/bin', HOME: '/h', LANG: 'de_DE.UTF-8' }],
    ['nothing', { inherit: 'none' as const }, { LANG: 'C.UTF-8' }],
    ['the default excludes stay on when the switch says false', { ignore_default_excludes: false }, ALL],
    [
      'secrets when the default excludes are switched off',
      { ignore_default_excludes: true },
      { ...ALL, OPENAI_API_KEY: 'k', my_token: 't', DB_SECRET: 's', PGPASSWORD: 'p', AWS_CREDENTIALS: 'c' },
    ],
    ['own excludes, in any case', { exclude: ['xx_*', 'PLAI?'] }, { PATH: '/bin', HOME: '/h', LANG: 'de_DE.UTF-8' }],
    [
      'what is set, secret names too',
      { exclude: ['*'], set: { ADDED: 'yes', MY_KEY: 'mine', LANG: 'fr' } },
      { ADDED: 'yes', MY_KEY: 'mine', LANG: 'fr' },
    ],
    [
      'only what is included',
      { include_only: ['PATH', 'A*'], set: { ADDED: 'yes', MY_KEY: 'mine' } },
      { PATH: '/bin', LANG: 'C.UTF-8', ADDED: 'yes' },
    ],
  ])('[exec.env] passes on %s', (_what, policy, expected) => {
    expect(own(buildEnvironment(policy, BASE, { tty: false }))).toEqual(expected);
  });

  it('[exec.env.quiet] lets nothing wait for a pager, an editor or a prompt, for pipes and terminals alike', () => {
    for (const tty of [false, true]) {
      const env = buildEnvironment({ inherit: 'none' }, { PAGER: 'less' }, { tty, values: { HARNESSD_THREAD_ID: 't1' } });
      expect(env).toMatchObject({
        PAGER: 'cat',
        GIT_PAGER: 'cat',
        EDITOR: 'true',
        GIT_EDITOR: 'true',
        GIT_TERMINAL_PROMPT: '0',
        GIT_ASKPASS: '',
        NO_COLOR: '1',
        COLORTERM: '',
      });
      expect(env).toMatchObject({ TERM: tty ? 'xterm-256color' : 'dumb', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', HARNESSD_THREAD_ID: 't1' });
    }
    expect(buildEnvironment({ set: { EDITOR: 'ed' } }, {}, { tty: true }).EDITOR).toBe('ed');
    expect(buildEnvironment({}, { LC_ALL: 'C' }, { tty: true }).LANG).toBeUndefined();
  });

  it.each([
    ['ABC', 'abc', true],
    ['ABC', 'A*', true],
    ['ABC', '*B*', true],
    ['ABC', 'A?C', true],
    ['ABC', '*', true],
    ['ABC', 'AB', false],
    ['ABC', '?', false],
    ['AXBXC', 'a*b*c', true],
    ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB', '*A*A*A*A*A*A*A*C', false],
    ['', '*', true],
    ['A.B', 'A.B', true],
    ['AXB', 'A.B', false],
  ])('[exec.env.glob] %s against %s is %s', (name, glob, expected) => {
    expect(matchesGlob(name, glob)).toBe(expected);
  });

  it('[exec.env.git] lets git log, an empty message and a rebase return, in a terminal too', async () => {
    const runner = new LocalProcessRunner();
    const cwd = await mkdtemp(join(tmpdir(), 'harnessd-git-'));
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
    const git = (cmd: string, tty: boolean) =>
      run(
        runner,
        bash(cmd, {
          cwd,
          tty,
          timeoutMs: 8000,
          env: buildEnvironment({ set: { ...who, HOME: cwd } }, { PATH: process.env.PATH }, { tty }),
        }),
      );
    await git('git init -q . && for i in $(seq 1 40); do git commit -q --allow-empty -m "commit $i"; done', false);
    for (const tty of [false, true]) {
      const log = await git('git log', tty);
      expect([log.outcome, /commit 40\b/.test(log.text), /commit 1\b/.test(log.text)]).toEqual([
        { type: 'exited', exitCode: 0 },
        true,
        true,
      ]);
      expect((await git('git commit --allow-empty', tty)).outcome).toEqual({ type: 'exited', exitCode: 1 });
      expect((await git('git rebase -i HEAD~2', tty)).outcome.type).toBe('exited');
    }
    await runner.endAll(300);
    await rm(cwd, { recursive: true });
  });
});
