import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayCommand, findShell, requestedShell, shellArgv } from '../../src/exec/shell.ts';

const bash = { path: '/bin/bash', kind: 'bash' } as const;

describe('the shell', () => {
  it("[exec.shell.find] is the user's own if models can write for it and it exists", async () => {
    expect(await findShell({ SHELL: '/bin/sh' })).toEqual({ path: '/bin/sh', kind: 'sh' });
    expect(await findShell({ SHELL: '/usr/bin/fish' })).toEqual(bash);
    expect(await findShell({ SHELL: '/no/such/zsh' })).toEqual(bash);
    expect(await findShell({})).toEqual(bash);
  });

  it('[exec.shell.asked] is found by name or path, and never replaced in silence', async () => {
    expect(await requestedShell('bash', { PATH: '/no/such:/bin' })).toEqual({ type: 'found', shell: bash });
    expect(await requestedShell('/bin/sh', {})).toEqual({ type: 'found', shell: { path: '/bin/sh', kind: 'sh' } });
    expect(await requestedShell('/bin/nosh', {})).toEqual({
      type: 'missing',
      reason: 'the shell "/bin/nosh" does not exist here; leave `shell` out to use /bin/bash',
    });
    expect(await requestedShell('', { PATH: '/bin' })).toMatchObject({ type: 'missing' });
  });

  it('[exec.shell.argv] passes the command as one argument', () => {
    expect(shellArgv(bash, 'echo "a  b"', true)).toEqual(['/bin/bash', '-lc', 'echo "a  b"']);
    expect(shellArgv(bash, 'ls', false)).toEqual(['/bin/bash', '-c', 'ls']);
  });

  it('[exec.shell.display] shows a form that gives the same words again', () => {
    expect(displayCommand(shellArgv(bash, 'echo "a"; ls', true))).toBe(`/bin/bash -lc 'echo "a"; ls'`);
    expect(displayCommand(shellArgv(bash, "echo 'hi'", true))).toBe(`/bin/bash -lc "echo 'hi'"`);
    expect(displayCommand(shellArgv(bash, "echo 'it' $x", true))).toBe(`/bin/bash -lc 'echo '\\''it'\\'' $x'`);
    expect(displayCommand(['ls', '-la', ''])).toBe("ls -la ''");
    const word = fc.string({ unit: fc.constantFrom('a', ' ', "'", '"', '$', '\\', '`', '\n', '*', 'é', '-') });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const printed = execFileSync('/bin/bash', ['-c', `printf '%s\\0' ${displayCommand(words)}`]).toString();
        expect(printed.split('\0').slice(0, -1)).toEqual(words);
      }),
      { numRuns: 40 },
    );
  });
});
