import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { detectSandbox } from '../../src/exec/sandbox/detect.ts';
import { permissionsFor, type SandboxPolicy, withAdditional } from '../../src/exec/sandbox/permissions.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';

const kind = await detectSandbox();
if (kind.type !== 'bubblewrap') process.stderr.write(`sandbox tests skipped: ${kind.type === 'none' ? kind.reason : 'not Linux'}\n`);

const base = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.sandbox-')));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));
let count = 0;
let root = '';
let cwd = '';
const home = (): string => path.join(root, 'home');
const launcher = (): SandboxLauncher => new SandboxLauncher({ alwaysGuarded: [home()] });
const file = (name: string, text = ''): string => {
  const at = path.join(cwd, name);
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, text);
  return at;
};
const read = (name: string): string | null => (fs.existsSync(path.join(cwd, name)) ? fs.readFileSync(path.join(cwd, name), 'utf8') : null);

beforeEach(() => {
  root = path.join(base, String(count++));
  cwd = path.join(root, 'work');
  fs.mkdirSync(cwd, { recursive: true });
  fs.mkdirSync(home());
  file('../outside/o.txt', 'o\n');
});

interface Result {
  code: number | null;
  signal: string | null;
  output: string;
}

/** Runs an argv as its own process group, the way the daemon does, and gives everything it printed. */
function run(argv: readonly string[], during?: (pid: number, output: () => string) => void): Promise<Result> {
  const child = spawn(argv[0], argv.slice(1), {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: root },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  if (child.pid !== undefined) during?.(child.pid, () => output);
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, output })));
}

const WORKSPACE: SandboxPolicy = { type: 'workspaceWrite', excludeTmpdirEnvVar: true };

async function inside(script: string, policy: SandboxPolicy = WORKSPACE): Promise<Result> {
  const wrapped = await launcher().wrap({ argv: ['/bin/bash', '-c', script], cwd, permissions: permissionsFor(policy, cwd), tty: false });
  try {
    return await run(wrapped.argv);
  } finally {
    wrapped.release();
  }
}

const succeed = async (scripts: Record<string, string>, policy?: SandboxPolicy): Promise<string[]> => {
  const names: string[] = [];
  for (const [name, script] of Object.entries(scripts)) if ((await inside(script, policy)).code === 0) names.push(name);
  return names;
};

describe.skipIf(kind.type !== 'bubblewrap')('bubblewrap', () => {
  it('[sandbox.matrix] what each policy lets through', async () => {
    const server = net.createServer((s) => s.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    const tries = {
      read: 'cat /etc/passwd > /dev/null',
      inside: 'echo x > in.txt',
      outside: 'echo x > ../outside/w.txt',
      tmp: 'f=$(mktemp /tmp/sandbox-XXXXXX) && rm "$f"',
      connect: `exec 3<>/dev/tcp/127.0.0.1/${port}`,
      devices: 'echo x > /dev/null && head -c1 /dev/urandom > /dev/null',
    };
    const rows: [SandboxPolicy, string[]][] = [
      [{ type: 'readOnly' }, ['read', 'devices']],
      [{ type: 'readOnly', networkAccess: true }, ['read', 'connect', 'devices']],
      [WORKSPACE, ['read', 'inside', 'tmp', 'devices']],
      [{ ...WORKSPACE, excludeSlashTmp: true, networkAccess: true }, ['read', 'inside', 'connect', 'devices']],
      [{ ...WORKSPACE, writableRoots: [path.join(root, 'outside')] }, ['read', 'inside', 'outside', 'tmp', 'devices']],
      [{ type: 'dangerFullAccess' }, Object.keys(tries)],
      [{ type: 'externalSandbox' }, Object.keys(tries)],
    ];
    for (const [policy, wanted] of rows) expect([policy, await succeed(tries, policy)]).toEqual([policy, wanted]);
    server.close();
  });

  it('[sandbox.git] .git is read-only: hooks, config, the folder itself', async () => {
    file('.git/config', '[core]\n');
    file('.git/HEAD', 'ref: refs/heads/main\n');
    file('a.txt', 'a\n');
    const tries = [
      'mkdir -p .git/hooks',
      'echo x > .git/hooks',
      'echo x >> .git/config',
      'mv .git .git2',
      'cp a.txt .git/HEAD',
      'ln -s ../a.txt .git/link',
      'rm -r .git',
      'umount .git',
      'mount -o remount,bind,rw .git',
      'chmod 777 .git',
    ];
    expect(await succeed(Object.fromEntries(tries.map((t) => [t, t])))).toEqual([]);
    expect([fs.readdirSync(path.join(cwd, '.git')).sort(), read('.git/config')]).toEqual([['HEAD', 'config'], '[core]\n']);
    expect((await inside('cat .git/HEAD && echo b >> a.txt')).code).toBe(0);
  });

  it('[sandbox.git-nested] nested repositories, .git files and what they point to are kept too', async () => {
    file('sub/.git/config', '[core]\n');
    file('tree/.git', 'gitdir: ../store/trees/x\n');
    file('store/trees/x/HEAD', 'x\n');
    file('store/trees/x/commondir', '../..\n');
    file('.agents/skill.md', 's\n');
    const tries = [
      'echo x >> sub/.git/config',
      'mkdir sub/.git/hooks',
      'echo "gitdir: /evil" > tree/.git',
      'rm tree/.git',
      'echo x > store/trees/x/HEAD',
      'echo x > store/config',
      'echo x > .agents/skill.md',
    ];
    expect(await succeed(Object.fromEntries(tries.map((t) => [t, t])))).toEqual([]);
    expect([read('sub/.git/config'), read('tree/.git')]).toEqual(['[core]\n', 'gitdir: ../store/trees/x\n']);
  });

  it('[sandbox.git-missing] a missing .git or settings folder cannot be made, and nothing is left behind', async () => {
    const tries = ['mkdir .git', 'mkdir -p .git/hooks', 'git init .', 'echo x > .git', 'mkdir -p .harnessd/x', 'mv .git away'];
    expect(await succeed(Object.fromEntries(tries.map((t) => [t, t])))).toEqual([]);
    expect(fs.readdirSync(cwd)).toEqual([]);
    const one = launcher();
    const permissions = permissionsFor(WORKSPACE, cwd);
    const [a, b] = [
      await one.wrap({ argv: ['true'], cwd, permissions, tty: false }),
      await one.wrap({ argv: ['mkdir', '.git/x'], cwd, permissions, tty: false }),
    ];
    a.release();
    a.release();
    expect((await run(b.argv)).code).not.toBe(0);
    fs.writeFileSync(path.join(cwd, '.git/HEAD'), '');
    b.release();
    expect(fs.readdirSync(cwd)).toEqual(['.git']);
  });

  it('[sandbox.no-reserve] what is no command of a model puts nothing into the workspace', async () => {
    const wrapped = await launcher().wrap({
      argv: ['ls', '-A'],
      cwd,
      permissions: permissionsFor(WORKSPACE, cwd),
      tty: false,
      reserves: false,
    });
    expect([fs.readdirSync(cwd), (await run(wrapped.argv)).output]).toEqual([[], '']);
    wrapped.release();
  });

  it('[sandbox.home] the home of the daemon is kept when a writable root covers it', async () => {
    const policy: SandboxPolicy = { ...WORKSPACE, writableRoots: [root] };
    expect(await succeed({ rule: 'mkdir ../home/rules', beside: 'echo x > ../beside' }, policy)).toEqual(['beside']);
  });

  it('[sandbox.additional] an approved folder is opened, also inside a guarded one, and nothing else', async () => {
    file('.git/config', '');
    fs.mkdirSync(path.join(cwd, '.git/hooks'));
    const permissions = withAdditional(permissionsFor(WORKSPACE, cwd), { fileSystem: { write: ['../outside', '.git/hooks'] } }, cwd);
    const wrapped = await launcher().wrap({
      argv: ['/bin/bash', '-c', 'touch ../outside/report .git/hooks/x; touch ../other; touch .git/y'],
      cwd,
      permissions,
      tty: false,
    });
    await run(wrapped.argv);
    wrapped.release();
    expect(['../outside/report', '.git/hooks/x', '../other', '.git/y'].map((f) => read(f) !== null)).toEqual([true, true, false, false]);
  });

  it('[sandbox.escape] what would undo the sandbox from within fails', async () => {
    const outside = path.join(root, 'outside');
    const tries = [
      'mount -o remount,rw /',
      'mount -o remount,bind,rw /',
      `mount --bind / /mnt`,
      `unshare -Ur -m mount -o remount,bind,rw ${outside} ${outside}`,
      'kill -9 -1',
      'ls /proc/self/root/proc/1/root/../../outside/none',
    ];
    await succeed(Object.fromEntries(tries.map((t) => [t, `${t}; echo x > ../outside/w.txt`])));
    expect(fs.readdirSync(outside)).toEqual(['o.txt']);
    // Each opens for writing and changes nothing.
    const kernel = ['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/swappiness', '/sys/power/state'].filter((f) =>
      fs.existsSync(f),
    );
    expect(await succeed(Object.fromEntries(kernel.map((f) => [f, `: >> ${f}`])))).toEqual([]);
    const capabilities = /^CapEff:\s*(\w+)$/m.exec((await inside('cat /proc/self/status')).output)?.[1] ?? '';
    const systemAdministration = 1n << 21n;
    expect(BigInt(`0x${capabilities}`) & systemAdministration).toBe(0n);
    expect(Number((await inside('echo $$')).output)).toBeLessThan(20);
  });

  it('[sandbox.exit] exit codes, deaths by signal and unknown programs', async () => {
    const code = async (script: string) => (await inside(script)).code;
    expect([await code('exit 7'), await code('kill -9 $$'), await code('kill -TERM $$'), await code('true')]).toEqual([7, 137, 143, 0]);
    const wrapped = await launcher().wrap({
      argv: ['no-such-program-7', 'x'],
      cwd,
      permissions: permissionsFor(WORKSPACE, cwd),
      tty: false,
    });
    const result = await run(wrapped.argv);
    wrapped.release();
    expect([result.code, result.output.includes('no-such-program-7'), result.output.includes('bwrap')]).toEqual([127, true, false]);
  });

  it('[sandbox.kill] ending the group ends everything inside, also what left the group', async () => {
    const wrapped = await launcher().wrap({
      argv: ['/bin/bash', '-c', 'setsid bash -c "while :; do date +%N > beat; sleep 0.05; done" & echo up; wait'],
      cwd,
      permissions: permissionsFor(WORKSPACE, cwd),
      tty: false,
    });
    const result = await run(wrapped.argv, (pid, output) => {
      const timer = setInterval(() => {
        if (!output().includes('up') || read('beat') === null) return;
        clearInterval(timer);
        process.kill(-pid, 'SIGKILL');
      }, 20);
    });
    wrapped.release();
    expect(result.signal).toBe('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = read('beat');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(read('beat')).toBe(before);
  });

  it('[sandbox.tty] without a terminal there is none, not even /dev/tty', async () => {
    const result = await inside('test -t 0 && echo in; : < /dev/tty && echo opened; true');
    expect(result.output).not.toMatch(/^(?:in|opened)$/m);
  });
});
