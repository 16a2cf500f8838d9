// command/exec with real processes, asked for over a connection.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectSandbox } from '../../src/exec/sandbox/detect.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';
import { ClientSession } from '../../src/server/client-session.ts';
import { mark, sleepers, until } from '../exec/support.ts';
import { b64, commands, deltas, sh } from './commands.ts';

const hasSandbox = (await detectSandbox()).type !== 'none';

describe('command/exec', () => {
  it('[exec-wire.plain] gives exit code and both streams; cwd and environment as asked', async () => {
    const { client, cwd } = commands();
    const run = (params: object) => client.result('command/exec', { cwd, ...params });
    expect(await run({ command: sh('echo out; echo err >&2; exit 3') })).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
    mkdirSync(path.join(cwd, 'dir'));
    const relative = path.relative(process.cwd(), path.join(cwd, 'dir'));
    expect((await run({ command: ['pwd'], cwd: relative })).stdout).toBe(`${cwd}/dir\n`);
    expect((await run({ command: ['pwd'], cwd: null })).stdout).toBe(`${process.cwd()}\n`);
    expect((await run({ command: sh('echo "$A|$HOME|$MY_TOKEN"'), env: { A: 'b c', HOME: null } })).stdout).toBe('b c||\n');
    expect((await run({ command: ['printf', '%s|', 'a b', '$HOME', '*'] })).stdout).toBe('a b|$HOME|*|');
    expect((await run({ command: ['cat'] })).stdout).toBe('');
    expect((await run({ command: sh('kill -SEGV $$') })).exitCode).toBe(139);
  });

  it('[exec-wire.refused] says what is wrong with a request that cannot be meant', async () => {
    const { client, cwd } = commands();
    const refused = (params: object) => client.refusal('command/exec', { command: ['true'], cwd, ...params });
    expect(await refused({ command: [] })).toBe('-32600 command must not be empty');
    expect(await refused({ timeoutMs: -1 })).toBe('-32602 command/exec timeoutMs must be non-negative, got -1');
    expect(await refused({ timeoutMs: 5, disableTimeout: true })).toBe('-32602 command/exec cannot set both timeoutMs and disableTimeout');
    expect(await refused({ outputBytesCap: 0, disableOutputCap: true })).toBe(
      '-32602 command/exec cannot set both outputBytesCap and disableOutputCap',
    );
    for (const flag of ['tty', 'streamStdin', 'streamStdoutStderr'])
      expect(await refused({ [flag]: true })).toBe('-32600 command/exec tty or streaming requires a client-supplied processId');
    expect(await refused({ sandboxPolicy: { type: 'readOnly' }, permissionProfile: ':read-only' })).toBe(
      '-32600 `permissionProfile` cannot be combined with `sandboxPolicy`',
    );
    expect(await refused({ permissionProfile: ':none' })).toBe(
      '-32602 params.permissionProfile: there is no profile ":none"; known: :read-only, :workspace, :danger-full-access',
    );
    expect(await refused({ sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['x'] } })).toBe(
      '-32602 params.sandboxPolicy.writableRoots[0]: expected an absolute path, got "x"',
    );
    expect(await refused({ size: { rows: 1, cols: 1 } })).toBe('-32602 command/exec size needs tty: true');
    expect(await refused({ size: { rows: 0, cols: 1 }, tty: true, processId: 'p' })).toBe(
      '-32602 params.size.rows: expected 1 to 65535, got 0',
    );
    expect(await refused({ processId: '' })).toBe('-32600 the id of a process must not be empty');
    expect(await refused({ cwd: path.join(cwd, 'no') })).toBe(
      `-32600 the working directory does not exist: ${cwd}/no; create it first or choose another`,
    );
    expect(await refused({ command: ['no-such-program-7', 'x'] })).toBe(
      '-32600 program not found: no-such-program-7 is in none of the folders of PATH',
    );
    expect(await refused({ command: ['echo', 'a\0b'] })).toMatch(/^-32600 argument 1 holds a NUL byte/);
    expect((await client.result('command/exec', { command: ['echo', 'fine'], cwd })).stdout).toBe('fine\n');
  });

  it('[exec-wire.unknown] names a process that is not there, also one of another client', async () => {
    const { client, cwd, ends } = commands();
    const told = 'no active command/exec for process id "zz"';
    expect(await client.refusal('command/exec/write', { processId: 'zz', deltaBase64: '' })).toBe(`-32600 ${told}`);
    expect(await client.refusal('command/exec/resize', { processId: 'zz', size: { rows: 1, cols: 1 } })).toBe(`-32600 ${told}`);
    expect(await client.refusal('command/exec/terminate', { processId: 'zz' })).toBe(`-32600 ${told}`);
    const slow = client.result('command/exec', { command: ['sleep', '30'], cwd, processId: 'p' });
    expect(await client.refusal('command/exec', { command: ['true'], cwd, processId: 'p' })).toBe(
      '-32600 duplicate active command/exec process id: "p"',
    );
    await ends[0].endClient(new ClientSession(client.session.connection));
    expect(await client.result('command/exec/terminate', { processId: 'p' })).toEqual({});
    expect((await slow).exitCode).toBe(137);
    expect((await client.result('command/exec', { command: ['true'], cwd, processId: 'p' })).exitCode).toBe(0);
  });

  it('[exec-wire.timeout] ends at its limit with 124, what was printed, and no survivor', async () => {
    const { client, cwd } = commands();
    const nap = mark();
    const command = sh(`echo before; sleep ${nap} & sleep ${nap}; echo after`);
    expect(await client.result('command/exec', { command, cwd, timeoutMs: 300 })).toEqual({
      exitCode: 124,
      stdout: 'before\n',
      stderr: '',
    });
    expect(sleepers(nap)).toEqual([]);
    expect((await client.result('command/exec', { command: sh('sleep 0.3; echo x'), cwd, disableTimeout: true })).stdout).toBe('x\n');
  });

  it('[exec-wire.caps] keeps the first bytes up to the cap and marks the cut', async () => {
    const { client, cwd } = commands();
    const run = (params: object) => client.result<{ stdout: string }>('command/exec', { cwd, ...params });
    const cut = { exitCode: 0, stderr: '', stdoutCapReached: true };
    expect(await run({ command: ['seq', '1', '100'], outputBytesCap: 10 })).toEqual({ ...cut, stdout: '1\n2\n3\n4\n5\n' });
    expect(await run({ command: ['seq', '1', '3'], outputBytesCap: 0 })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await run({ command: ['seq', '1', '3'], outputBytesCap: 6 })).toEqual({ exitCode: 0, stdout: '1\n2\n3\n', stderr: '' });
    const megabytes = sh('yes | head -c 3000000');
    expect(await run({ command: megabytes })).toEqual({ ...cut, stdout: 'y\n'.repeat(512 * 1024) });
    expect((await run({ command: megabytes, disableOutputCap: true })).stdout.length).toBe(3_000_000);
  });

  it('[exec-wire.stream] streams the bytes of each stream before the answer and marks the cap', async () => {
    const { client, cwd } = commands();
    const run = (processId: string, command: string[], more: object = {}) =>
      client.result('command/exec', { command, cwd, processId, streamStdoutStderr: true, ...more });
    expect(await run('p1', sh('echo 1; sleep 0.05; echo 2; echo e >&2; exit 7'))).toEqual({ exitCode: 7, stdout: '', stderr: '' });
    expect([deltas(client, 'p1', 'stdout'), deltas(client, 'p1', 'stderr')]).toEqual(['1\n2\n', 'e\n']);
    expect(client.link.received.at(-1)).toHaveProperty('result');
    expect(await run('p2', ['seq', '1', '100'], { outputBytesCap: 20 })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(deltas(client, 'p2')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n10');
    expect(client.notifications('command/exec/outputDelta').at(-1)).toMatchObject({ processId: 'p2', capReached: true });
    await run('p3', ['printf', '\\377\\000\\303\\251']);
    expect(client.notifications('command/exec/outputDelta').at(-1)?.deltaBase64).toBe(Buffer.from('ff00c3a9', 'hex').toString('base64'));
  });

  it('[exec-wire.stdin] takes input in pieces, also before it is up, and refuses what cannot come', async () => {
    const { client, cwd } = commands();
    const running = client.result('command/exec', { command: ['cat'], cwd, processId: 'p', streamStdin: true, streamStdoutStderr: true });
    const write = (more: object) => ({ processId: 'p', ...more });
    expect(await client.result('command/exec/write', write({ deltaBase64: b64('early ') }))).toEqual({});
    expect(await client.refusal('command/exec/write', write({ deltaBase64: '!!!' }))).toBe(
      '-32602 invalid deltaBase64: expected standard base64 with padding',
    );
    expect(await client.refusal('command/exec/write', write({}))).toBe('-32602 command/exec/write requires deltaBase64 or closeStdin');
    expect(await client.refusal('command/exec/resize', write({ size: { rows: 2, cols: 2 } }))).toBe(
      '-32600 command/exec "p" has no terminal: only one with tty: true has a size',
    );
    await client.result('command/exec/write', write({ deltaBase64: b64('late\n'), closeStdin: true }));
    expect((await running).exitCode).toBe(0);
    expect(deltas(client, 'p')).toBe('early late\n');
    const deaf = client.result('command/exec', { command: ['sleep', '0.2'], cwd, processId: 'deaf' });
    expect(await client.refusal('command/exec/write', { processId: 'deaf', deltaBase64: b64('x') })).toBe(
      '-32600 stdin streaming is not enabled for this command/exec',
    );
    expect((await deaf).exitCode).toBe(0);
  });

  it('[exec-wire.tty] runs on a terminal of the size asked for, takes keys and a new size', async () => {
    const { client, cwd } = commands();
    const running = client.result('command/exec', {
      command: sh('stty size; read x; echo got:$x; stty size'),
      cwd,
      processId: 'p',
      tty: true,
      size: { rows: 33, cols: 99 },
    });
    await client.link.until(() => deltas(client, 'p').includes('33 99'), 'the first size');
    expect(await client.result('command/exec/resize', { processId: 'p', size: { rows: 40, cols: 120 } })).toEqual({});
    expect(await client.refusal('command/exec/resize', { processId: 'p', size: { rows: 0, cols: 0 } })).toMatch(/^-32602 /);
    await client.result('command/exec/write', { processId: 'p', deltaBase64: b64('yo\n') });
    expect((await running).exitCode).toBe(0);
    expect(deltas(client, 'p')).toMatch(/^33 99\r\n(yo\r\n)?got:yo\r\n40 120\r\n$/);
  });

  it('[exec-wire.leave] ends what a client started when its request is cancelled, when it leaves, and at the end of the daemon', async () => {
    const { client, cwd, ends } = commands();
    const [one, two, three] = [mark(), mark(), mark()];
    const start = (nap: string, more: object = {}) =>
      client.ask('command/exec', { command: sh(`trap "" TERM; sleep ${nap} & sleep ${nap}`), cwd, disableTimeout: true, ...more });
    const cancelled = start(one);
    expect(await until(() => sleepers(one).length === 2)).toBe(true);
    client.link.send({ method: '$/cancelRequest', params: { id: 1 } });
    expect((await cancelled).result).toMatchObject({ exitCode: 137 });
    const left = start(two);
    expect(await until(() => sleepers(two).length === 2)).toBe(true);
    await ends[0].endClient(client.session);
    expect((await left).result).toMatchObject({ exitCode: 137 });
    // Asked for and ended in one breath.
    const last = start(three);
    const [, answer] = await Promise.all([ends[0].endAll(), last]);
    expect(answer.result ?? answer.error).toBeDefined();
    expect([one, two, three].flatMap(sleepers)).toEqual([]);
    expect(await client.refusal('command/exec', { command: ['true'], cwd })).toMatch(/^-32600 the daemon is about to end/);
  });

  it('[exec-wire.slow-reader] holds a command whose client does not read, and loses nothing', async () => {
    const { client, cwd } = commands();
    client.link.fromServer.pause();
    const request = {
      command: sh('yes 0123456789abcde | head -c 4000000; echo done > end'),
      cwd,
      processId: 'p',
      streamStdoutStderr: true,
    };
    const answer = client.result('command/exec', { ...request, disableOutputCap: true, disableTimeout: true });
    expect(await until(() => client.session.connection.waitingBytes > 256 * 1024)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(existsSync(path.join(cwd, 'end'))).toBe(false);
    expect(client.session.connection.waitingBytes).toBeLessThan(1024 * 1024);
    client.link.fromServer.resume();
    expect((await answer).exitCode).toBe(0);
    expect(deltas(client, 'p')).toBe('0123456789abcde\n'.repeat(250_000));
    expect(client.notifications('command/exec/outputDelta').some((delta) => delta.capReached)).toBe(false);
  });
});

describe('the sandbox of command/exec', () => {
  const CONFIG = 'sandbox_mode = "workspace-write"\n';

  it.skipIf(!hasSandbox)('[exec-wire.sandbox] is the configured one, or the one that the request names', async () => {
    const { client, cwd, root } = commands(CONFIG);
    const writes = async (file: string, more: object = {}) => {
      const { stdout } = await client.result('command/exec', { command: sh(`echo x > ${file} && echo ok`), cwd, ...more });
      return stdout === 'ok\n' && readFileSync(file, 'utf8') === 'x\n';
    };
    expect(await writes(`${cwd}/in`)).toBe(true);
    expect(await writes(`${root}/out`)).toBe(false);
    expect(await writes(`${cwd}/ro`, { sandboxPolicy: { type: 'readOnly' } })).toBe(false);
    expect(await writes(`${cwd}/ro`, { permissionProfile: ':read-only' })).toBe(false);
    expect(await writes(`${root}/full`, { sandboxPolicy: { type: 'dangerFullAccess' } })).toBe(true);
    expect(await writes(`${root}/root`, { sandboxPolicy: { type: 'workspaceWrite', writableRoots: [root] } })).toBe(true);
    expect(await client.refusal('command/exec', { command: ['no-such-program-7'], cwd })).toMatch(/program not found: no-such-program-7/);
  });

  it('[exec-wire.no-sandbox] is not left out in silence where there is none', async () => {
    const launcher = new SandboxLauncher({ detect: async () => ({ type: 'none', reason: 'not here' }) });
    const { client, cwd } = commands(CONFIG, { launcher });
    expect(await client.refusal('command/exec', { command: ['true'], cwd })).toBe(
      '-32600 no sandbox: not here; give sandboxPolicy {"type":"dangerFullAccess"} to run the command without one',
    );
    expect((await client.result('command/exec', { command: ['true'], cwd, permissionProfile: ':danger-full-access' })).exitCode).toBe(0);
  });
});
