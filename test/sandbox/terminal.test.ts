import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { detectSandbox } from '../../src/exec/sandbox/detect.ts';
import { permissionsFor } from '../../src/exec/sandbox/permissions.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';

const kind = await detectSandbox();
const SCRIPT = '/usr/bin/script';
const cwd = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.terminal-')));
afterAll(() => fs.rmSync(cwd, { recursive: true, force: true }));
const quoted = (argv: readonly string[]): string => argv.map((a) => `'${a.replaceAll("'", "'\\''")}'`).join(' ');

/** Runs a script in a sandbox on a terminal of script(1); types each text when its cue has been printed. */
async function onTerminal(command: string, keys: readonly [string, string][] = []): Promise<{ code: number | null; lines: string[] }> {
  const wrapped = await new SandboxLauncher().wrap({
    argv: ['/bin/bash', '-c', command],
    cwd,
    permissions: permissionsFor({ type: 'workspaceWrite' }, cwd),
    tty: true,
  });
  const child = spawn(SCRIPT, ['-qec', quoted(wrapped.argv), '/dev/null'], {
    cwd,
    env: { PATH: '/usr/bin:/bin', SHELL: '/bin/sh' },
    detached: true,
  });
  let output = '';
  const waiting = [...keys];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (waiting.length > 0 && output.includes(waiting[0][0])) child.stdin.write(waiting.shift()?.[1] ?? '');
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  wrapped.release();
  return {
    code,
    lines: output
      .replaceAll('\r', '')
      .split('\n')
      .filter((l) => l !== ''),
  };
}

describe.skipIf(kind.type !== 'bubblewrap' || !fs.existsSync(SCRIPT))('a terminal inside the sandbox', () => {
  it('[sandbox.terminal.is] it is one, and takes input', async () => {
    expect(
      await onTerminal('test -t 0 && test -t 1 && : < /dev/tty && echo yes; read x; echo "got $x"; exit 3', [['yes', 'word\n']]),
    ).toEqual({ code: 3, lines: ['yes', 'word', 'got word'] });
  });
  it('[sandbox.terminal.ctrl-c] Ctrl-C ends a command that does not mind it, and spares one that does', async () => {
    const plain = await onTerminal('echo going; sleep 60; echo never', [['going', '\u0003']]);
    expect([plain.code, plain.lines.includes('never')]).toEqual([130, false]);
    const minded = await onTerminal('trap "echo caught; c=1" INT; echo going; while [ -z "$c" ]; do sleep 0.05; done; echo after; exit 5', [
      ['going', '\u0003'],
    ]);
    expect([minded.code, minded.lines.slice(-2).map((l) => l.replace('^C', ''))]).toEqual([5, ['caught', 'after']]);
  });
  it('[sandbox.terminal.exit] a death by signal shows its number and nothing else', async () => {
    expect(await onTerminal('kill -9 $$')).toEqual({ code: 137, lines: [] });
  });
  it('[sandbox.terminal.shut] the sandbox holds', async () => {
    const { code, lines } = await onTerminal('echo x > ../outside');
    expect([code, lines.length, lines[0]?.includes('Read-only file system'), fs.existsSync(path.join(cwd, '../outside'))]).toEqual([
      1,
      1,
      true,
      false,
    ]);
  });
});
