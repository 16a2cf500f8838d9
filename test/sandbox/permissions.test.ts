import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bubblewrapArgv } from '../../src/exec/sandbox/bubblewrap.ts';
import { detectSandbox } from '../../src/exec/sandbox/detect.ts';
import { isGuarded } from '../../src/exec/sandbox/guarded-paths.ts';
import {
  mayWrite,
  permissionsFor,
  permissionsLabel,
  type RestrictedPermissions,
  withAdditional,
} from '../../src/exec/sandbox/permissions.ts';
import { SandboxLauncher, SandboxUnavailable } from '../../src/exec/sandbox/sandbox.ts';
import { seatbeltArgv, seatbeltProfile } from '../../src/exec/sandbox/seatbelt.ts';

const root = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.permissions-')));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const cwd = path.join(root, 'work');
const link = path.join(root, 'link');
fs.mkdirSync(cwd);
fs.symlinkSync(cwd, link);
const restricted = (more: Partial<RestrictedPermissions> = {}): RestrictedPermissions => ({
  type: 'restricted',
  writableRoots: [],
  scratchRoots: [],
  readAll: true,
  network: false,
  ...more,
});

describe('permissions', () => {
  it('[sandbox.permissions.policy] derived from each policy', () => {
    const env = { TMPDIR: root };
    expect([
      permissionsFor({ type: 'dangerFullAccess' }, cwd, env),
      permissionsFor({ type: 'externalSandbox', networkAccess: 'enabled' }, cwd, env),
      permissionsFor({ type: 'readOnly' }, cwd, env),
      permissionsFor({ type: 'readOnly', networkAccess: true }, cwd, env),
      permissionsFor({ type: 'workspaceWrite' }, link, env),
      permissionsFor(
        {
          type: 'workspaceWrite',
          excludeSlashTmp: true,
          excludeTmpdirEnvVar: true,
          networkAccess: true,
          writableRoots: ['/opt/x', 'relative'],
        },
        cwd,
        env,
      ),
    ]).toEqual([
      { type: 'fullAccess' },
      { type: 'fullAccess' },
      restricted(),
      restricted({ network: true }),
      restricted({ writableRoots: [cwd], scratchRoots: [fs.realpathSync('/tmp'), root] }),
      restricted({ writableRoots: [cwd, '/opt/x'], network: true }),
    ]);
  });

  it('[sandbox.permissions.more] widened by exactly what was approved; labels tell them apart', () => {
    const plain = permissionsFor({ type: 'workspaceWrite', excludeSlashTmp: true }, cwd, {});
    const wider = withAdditional(plain, { fileSystem: { write: ['../other', '~/own'], read: ['/etc'] }, network: { enabled: true } }, cwd);
    expect(wider).toEqual(restricted({ writableRoots: [cwd, path.join(root, 'other'), path.join(os.homedir(), 'own')], network: true }));
    expect([withAdditional(plain, {}, cwd), withAdditional({ type: 'fullAccess' }, { network: { enabled: true } }, cwd)]).toEqual([
      plain,
      { type: 'fullAccess' },
    ]);
    expect([permissionsLabel(plain), permissionsLabel({ type: 'fullAccess' })]).toEqual([`writing ["${cwd}"], network off`, 'full access']);
    expect(permissionsLabel(wider)).not.toBe(permissionsLabel(plain));
  });

  it('[sandbox.permissions.write] links are followed, also above what does not exist yet', () => {
    fs.symlinkSync(root, path.join(cwd, 'out'));
    const plain = permissionsFor({ type: 'workspaceWrite', excludeSlashTmp: true }, cwd, {});
    const tries = ['a', 'a/b/c', '../x', 'out/x', 'out/new/x', 'out/work/x', '../workx'];
    expect(tries.filter((t) => mayWrite(plain, path.join(cwd, t)))).toEqual(['a', 'a/b/c', 'out/work/x']);
    expect(
      ['.git', '.git/x', 'sub/.git/hooks/x', '.agents/a', 'git/x', '.gitignore', '../.git'].filter((t) =>
        isGuarded([cwd], path.join(cwd, t)),
      ),
    ).toEqual(['.git', '.git/x', 'sub/.git/hooks/x', '.agents/a']);
  });
});

describe('argv and profile', () => {
  const input = {
    argv: ['/bin/true', 'a b'],
    cwd: '/w',
    permissions: restricted({ writableRoots: ['/w', '/w/.git/hooks'], scratchRoots: ['/tmp'] }),
    guarded: ['/w/.git', '/w/sub/.git'],
    tty: false,
    uid: 1000,
    bash: '/bin/bash',
  };

  it('[sandbox.argv] order of the mounts, and what depends on terminal, network and user', () => {
    const argv = bubblewrapArgv('/usr/bin/bwrap', input);
    const from = argv.indexOf('--bind-try');
    expect(argv.slice(0, 10)).toEqual([
      '/usr/bin/bwrap',
      '--unshare-user',
      '--unshare-pid',
      '--unshare-ipc',
      '--die-with-parent',
      '--new-session',
      '--unshare-net',
      '--ro-bind',
      '/',
      '/',
    ]);
    expect(argv.slice(from)).toEqual([
      '--bind-try',
      '/w',
      '/w',
      '--bind-try',
      '/tmp',
      '/tmp',
      '--ro-bind-try',
      '/w/.git',
      '/w/.git',
      '--ro-bind-try',
      '/w/sub/.git',
      '/w/sub/.git',
      '--bind-try',
      '/w/.git/hooks',
      '/w/.git/hooks',
      '--chdir',
      '/w',
      '--',
      '/bin/true',
      'a b',
    ]);
    const other = bubblewrapArgv('bwrap', { ...input, tty: true, uid: 0, permissions: restricted({ network: true }) });
    expect([other.includes('--new-session'), other.includes('--unshare-net'), other.includes('--cap-drop'), other.slice(-3, -2)]).toEqual([
      false,
      false,
      true,
      ['bash'],
    ]);
  });

  it('[sandbox.seatbelt] everything shut, roots opened, guarded paths last; names are quoted', () => {
    const profile = seatbeltProfile(restricted({ writableRoots: ['/w', '/a"b\\c'], scratchRoots: ['/private/tmp'] }), ['/w/.git']);
    expect(profile.split('\n').filter((l) => l.includes('subpath'))).toEqual([
      '(allow file-write* (subpath "/private/tmp"))',
      '(allow file-write* (subpath "/w"))',
      '(allow file-write* (subpath "/a\\"b\\\\c"))',
      '(deny file-write* (subpath "/w/.git"))',
    ]);
    expect([
      profile.startsWith('(version 1)\n(deny default)\n'),
      profile.includes('(allow network*)'),
      seatbeltProfile(restricted({ network: true }), []).includes('(allow network*)'),
    ]).toEqual([true, false, true]);
    expect(seatbeltArgv(restricted(), [], ['ls', '-l']).slice(3)).toEqual(['--', 'ls', '-l']);
    for (const open of ['(', ')']) expect(profile.split(open).length).toBe(profile.split('(').length);
  });
});

describe('without a sandbox', () => {
  it('[sandbox.none] restricted commands are not run, others are as they were', async () => {
    const launcher = new SandboxLauncher({ detect: async () => ({ type: 'none', reason: 'bubblewrap (bwrap) is not installed' }) });
    expect(await launcher.available()).toBe(false);
    await expect(launcher.wrap({ argv: ['ls'], cwd, permissions: restricted(), tty: false })).rejects.toThrow(
      new SandboxUnavailable('bubblewrap (bwrap) is not installed'),
    );
    expect(await launcher.wrap({ argv: ['ls'], cwd, permissions: { type: 'fullAccess' }, tty: false })).toMatchObject({
      argv: ['ls'],
      sandboxed: false,
    });
  });
  it('[sandbox.detect] each reason is told', async () => {
    expect([
      await detectSandbox('linux', ['/no/bwrap']),
      await detectSandbox('win32'),
      await detectSandbox('linux', ['/bin/false']),
    ]).toEqual([
      { type: 'none', reason: 'bubblewrap (bwrap) is not installed' },
      { type: 'none', reason: 'there is no sandbox for win32' },
      { type: 'none', reason: expect.stringMatching(/^bubblewrap does not work here: /) },
    ]);
  });
});
