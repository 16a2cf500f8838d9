import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { denialHint, recogniseDenial } from '../../src/exec/sandbox/denial.ts';
import type { SandboxPermissions } from '../../src/exec/sandbox/permissions.ts';

const root = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.denial-')));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const cwd = path.join(root, 'work');
fs.mkdirSync(path.join(cwd, '.git'), { recursive: true });
fs.mkdirSync(path.join(root, 'outside'));
const permissions: SandboxPermissions = { type: 'restricted', writableRoots: [cwd], scratchRoots: [], readAll: true, network: false };
const judge = (output: string, more: { exitCode?: number; sandboxed?: boolean; network?: boolean } = {}) =>
  recogniseDenial({
    exitCode: more.exitCode ?? 1,
    output,
    cwd,
    permissions: { ...permissions, network: more.network ?? false },
    sandboxed: more.sandboxed ?? true,
  });

describe('denial', () => {
  it('[sandbox.denial.write] an error line with a path out of bounds is a denial', () => {
    const log = path.join(root, 'outside/log');
    const git = path.join(cwd, '.git/config');
    const lines: [string, string][] = [
      ['bash: line 1: ../outside/log: Read-only file system', log],
      ["touch: cannot touch '../outside/log': Read-only file system", log],
      [`OSError: [Errno 30] Read-only file system: '${log}'`, log],
      [`Error: EROFS: read-only file system, open '${log}'`, log],
      [`first\nbash: ${log}: Permission denied\nlast`, log],
      ['bash: line 1: .git/config: Read-only file system', git],
      ["mkdir: cannot create directory '.git/hooks': Read-only file system", path.join(cwd, '.git/hooks')],
      ["mv: cannot move '.git' to '.git2': Device or resource busy", path.join(cwd, '.git')],
    ];
    expect(lines.map(([line]) => judge(line))).toEqual(lines.map(([, file]) => ({ denied: true, kind: 'write', path: file })));
  });

  it('[sandbox.denial.ordinary] an ordinary failure is none', () => {
    const lines = [
      'permission denied',
      'Read-only file system',
      'cat: missing.txt: No such file or directory',
      'error: permission denied: try again',
      'bash: ./inside: Permission denied',
      "touch: cannot touch 'inside/x': Permission denied",
      'cat: /no/such/folder/x: Permission denied',
      'ls: /proc/1/fd: Permission denied',
      'sudo: Operation not permitted',
      '',
      'Connection refused',
      'fatal: Permission denied (publickey).',
      'bash: /dev/tty: Permission denied',
    ];
    expect(lines.filter((line) => judge(line).denied)).toEqual([]);
    expect(judge('bash: ../outside/log: Read-only file system', { exitCode: 0 })).toEqual({ denied: false });
    expect(judge('bash: ../outside/log: Read-only file system', { sandboxed: false })).toEqual({ denied: false });
  });

  it('[sandbox.denial.network] network errors count only when the network is off', () => {
    const lines: [string, string][] = [
      ['curl: (6) Could not resolve host: example.com', 'example.com'],
      ['bash: line 1: /dev/tcp/127.0.0.1/80: Connection refused', '127.0.0.1'],
      ['npm error getaddrinfo EAI_AGAIN registry.npmjs.org', 'registry.npmjs.org'],
      ['Error: connect ECONNREFUSED 127.0.0.1:5432', '127.0.0.1:5432'],
      ['fatal: unable to access: Could not resolve host: github.com', 'github.com'],
      ["curl: (7) Failed to connect to 10.0.0.1 port 80 after 0 ms: Couldn't connect to server", '10.0.0.1'],
      ['connect: Network is unreachable', 'Network is unreachable'],
    ];
    expect(lines.map(([line]) => judge(line))).toEqual(lines.map(([, host]) => ({ denied: true, kind: 'network', host })));
    expect(lines.filter(([line]) => judge(line, { network: true }).denied)).toEqual([]);
  });

  it('[sandbox.denial.hint] the hint names cause and way on', () => {
    const denial = { denied: true, kind: 'write', path: '/x' } as const;
    expect([
      denialHint(denial, true, 'on-request'),
      denialHint(denial, false, 'approval policy never'),
      denialHint({ denied: false }, true, ''),
    ]).toEqual([
      'The sandbox stopped this command: writing /x is not allowed in it. If the command needs it, call again with sandbox_permissions "require_escalated" and a justification; note that the whole command runs again.',
      'The sandbox stopped this command: writing /x is not allowed in it. Under approval policy never this cannot be asked for; find a way within the sandbox, or say what you could not do.',
      '',
    ]);
  });
});
