import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoginContext } from '../../src/exec/login-shell.ts';
import { LoginShells } from '../../src/exec/login-shell.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, ENV, run } from './support.ts';

const runner = new LocalProcessRunner();
const shell = { path: '/bin/bash', kind: 'bash' } as const;
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'harnessd-login-'));
});
afterAll(async () => {
  await runner.endAll(500);
  await rm(root, { recursive: true });
});

/** A user with this profile; gives what a command prints before and after the profile was learnt. */
async function user(name: string, profile: string) {
  const home = join(root, name);
  await mkdir(home);
  await writeFile(join(home, '.bash_profile'), profile);
  const probes: boolean[] = [];
  const shells = new LoginShells(async ({ argv, env }, { cwd }, timeoutMs) => {
    probes.push(argv[1] === '-lc');
    const collected: Uint8Array[] = [];
    const process = runner.start({ argv, env, cwd, tty: false, stdin: 'closed', merged: true, timeoutMs });
    process.onOutput(({ bytes }) => collected.push(bytes));
    const outcome = await process.exited;
    return outcome.type === 'exited' ? Buffer.concat(collected) : undefined;
  });
  const context: LoginContext = { cwd: home, env: { ...ENV, HOME: home, DROPPED: 'x' }, scope: 'none' };
  const command = async (text: string) => {
    const { argv, env } = await shells.launch(shell, text, context);
    const { text: printed } = await run(runner, { ...bash(''), argv, env, cwd: home });
    return { how: argv[1], printed };
  };
  return { home, shells, probes, command };
}

describe('login shells without their cost', () => {
  it('[exec.login.replay] replays variables and functions of a slow profile, once it is known to give the same each time', async () => {
    const profile = `sleep 0.4; export FROM="a 'b' \\$c
d"; unset DROPPED; plain='p q'; list=(1 "2 3"); greet() { echo "hello $1 $plain"; }\n`;
    const { home, shells, command, probes } = await user('slow', profile);
    const text = 'echo "$FROM|$DROPPED|$plain|"; declare -p list; greet you; env | grep -c -e plain -e HARNESSD_PROFILE; echo $LINENO';
    const first = await command(text);
    expect(first).toEqual({ how: '-lc', printed: `a 'b' $c\nd||p q|\ndeclare -a list=([0]="1" [1]="2 3")\nhello you p q\n0\n1\n` });
    await shells.settled();
    expect(probes).toEqual([false, true, true]);
    expect(await command(text)).toEqual({ how: '-c', printed: first.printed });

    await writeFile(join(home, '.bash_profile'), `${profile}export FROM=changed`);
    expect(await command('echo $FROM')).toEqual({ how: '-lc', printed: 'changed\n' });
    await shells.settled();
    expect(await command('echo $FROM')).toEqual({ how: '-c', printed: 'changed\n' });
  });

  it.each([
    ['noisy', 'sleep 0.06; echo welcome'],
    ['random', 'sleep 0.06; export A=$RANDOM$RANDOM'],
    ['aliases', "sleep 0.06; alias ll='ls -l'"],
    ['options', 'sleep 0.06; set -o pipefail'],
    ['umask', 'sleep 0.06; umask 077'],
    ['folder', 'sleep 0.06; cd /'],
    ['trap', 'sleep 0.06; trap "echo bye" EXIT'],
  ])('[exec.login.kept] keeps running the profile where a replay would not be the same or not pay: %s', async (name, profile) => {
    const { shells, command } = await user(name, profile);
    expect((await command('echo hi')).how).toBe('-lc');
    await shells.settled();
    expect((await command('echo hi')).how).toBe('-lc');
  });

  it('[exec.login.swallows] runs the command without a profile that never reaches it', async () => {
    const { shells, command } = await user('exits', 'exit 3');
    expect(await command('echo hi')).toEqual({ how: '-lc', printed: '' });
    await shells.settled();
    expect(await command('echo hi')).toEqual({ how: '-c', printed: 'hi\n' });
  });
});
