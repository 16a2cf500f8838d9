// process/* with real processes: one answer, then deltas and exactly one end.
import { describe, expect, it } from 'vitest';
import { mark, sleepers, until } from '../exec/support.ts';
import { b64, commands, deltas, sh } from './commands.ts';
import type { Served } from './served.ts';

async function exited(client: Served, processHandle: string): Promise<Record<string, unknown>> {
  const found = () => client.notifications('process/exited').filter((params) => params.processHandle === processHandle);
  await client.link.until(() => found().length > 0, `the end of ${processHandle}`);
  expect(found().length).toBe(1);
  return found()[0];
}

const ended = { stdout: '', stderr: '', stdoutCapReached: false, stderrCapReached: false, outputDrainTimedOut: false };

describe('process/spawn', () => {
  it('[process-wire.spawn] answers first, then tells the output and the end', async () => {
    const { client, cwd } = commands();
    const spawn = (processHandle: string, command: string[], more: object = {}) =>
      client.result('process/spawn', { command, cwd, processHandle, ...more });
    expect(await spawn('h1', sh('echo "$A"; pwd; echo e >&2; exit 4'), { env: { A: 'b' } })).toEqual({});
    expect(await exited(client, 'h1')).toEqual({ ...ended, processHandle: 'h1', exitCode: 4, stdout: `b\n${cwd}\n`, stderr: 'e\n' });
    await spawn('h2', sh('echo hi; echo e >&2'), { streamStdoutStderr: true });
    expect(await exited(client, 'h2')).toEqual({ ...ended, processHandle: 'h2', exitCode: 0 });
    expect([deltas(client, 'h2', 'stdout'), deltas(client, 'h2', 'stderr')]).toEqual(['hi\n', 'e\n']);
    await spawn('h3', ['seq', '1', '100'], { outputBytesCap: 10 });
    expect(await exited(client, 'h3')).toEqual({
      ...ended,
      processHandle: 'h3',
      exitCode: 0,
      stdout: '1\n2\n3\n4\n5\n',
      stdoutCapReached: true,
    });
    await spawn('h4', sh('yes | head -c 2000000'), { outputBytesCap: null });
    expect(await exited(client, 'h4')).toEqual({ ...ended, processHandle: 'h4', exitCode: 0, stdout: 'y\n'.repeat(1_000_000) });
    expect(client.link.received.slice(0, 2).map((message) => message.method ?? 'answer')).toEqual(['answer', 'process/exited']);
  });

  it('[process-wire.refused] refuses what cannot be started, and says nothing more about it', async () => {
    const { client, cwd } = commands();
    const refused = (params: object) => client.refusal('process/spawn', { command: ['true'], cwd, processHandle: 'h', ...params });
    expect(await refused({ command: ['no-such-program-8'] })).toBe(
      '-32600 program not found: no-such-program-8 is in none of the folders of PATH',
    );
    expect(await refused({ command: [] })).toBe('-32600 command must not be empty');
    expect(await refused({ cwd: 'relative' })).toBe('-32602 params.cwd: expected an absolute path, got "relative"');
    expect(await refused({ timeoutMs: -5 })).toBe('-32602 process/spawn timeoutMs must be non-negative, got -5');
    expect(await refused({})).toBe('it succeeded: {}');
    await exited(client, 'h');
    expect(client.notifications('process/exited').length).toBe(1);
  });

  it('[process-wire.input] takes input sent right behind the request, a terminal size and a new one', async () => {
    const { client, cwd } = commands();
    const started = client.result('process/spawn', {
      command: ['cat'],
      cwd,
      processHandle: 'h1',
      streamStdin: true,
      streamStdoutStderr: true,
    });
    const wrote = client.result('process/writeStdin', { processHandle: 'h1', deltaBase64: b64('yo\n') });
    expect(await Promise.all([started, wrote])).toEqual([{}, {}]);
    expect(await client.refusal('process/spawn', { command: ['true'], cwd, processHandle: 'h1' })).toBe(
      '-32600 duplicate active process handle: "h1"',
    );
    await client.result('process/writeStdin', { processHandle: 'h1', closeStdin: true });
    expect(await exited(client, 'h1')).toEqual({ ...ended, processHandle: 'h1', exitCode: 0 });
    expect(deltas(client, 'h1')).toBe('yo\n');
    expect(await client.refusal('process/writeStdin', { processHandle: 'h1', deltaBase64: '' })).toBe(
      '-32600 no active process for process handle "h1"',
    );
    await client.result('process/spawn', {
      command: sh('stty size; read x; stty size'),
      cwd,
      processHandle: 'h2',
      tty: true,
      size: { rows: 5, cols: 6 },
    });
    await client.link.until(() => deltas(client, 'h2').includes('5 6'), 'the first size');
    await client.result('process/resizePty', { processHandle: 'h2', size: { rows: 50, cols: 60 } });
    await client.result('process/writeStdin', { processHandle: 'h2', deltaBase64: b64('\n') });
    await exited(client, 'h2');
    expect(deltas(client, 'h2')).toMatch(/50 60\r\n$/);
  });

  it('[process-wire.kill] is killed with its children, ends at its limit, and with its client', async () => {
    const { client, cwd, ends } = commands();
    const [one, two, three] = [mark(), mark(), mark()];
    const spawn = (processHandle: string, nap: string, more: object = {}) =>
      client.result('process/spawn', { command: sh(`echo out; sleep ${nap} & sleep ${nap}`), cwd, processHandle, ...more });
    await spawn('h1', one);
    expect(await until(() => sleepers(one).length === 2)).toBe(true);
    expect(await client.result('process/kill', { processHandle: 'h1' })).toEqual({});
    expect(await exited(client, 'h1')).toEqual({ ...ended, processHandle: 'h1', exitCode: 137, stdout: 'out\n' });
    expect(await client.refusal('process/kill', { processHandle: 'h1' })).toBe('-32600 no active process for process handle "h1"');
    await spawn('h2', two, { timeoutMs: 300 });
    expect(await exited(client, 'h2')).toEqual({ ...ended, processHandle: 'h2', exitCode: 124, stdout: 'out\n' });
    await spawn('h3', three);
    await ends[1].endClient(client.session);
    expect((await exited(client, 'h3')).exitCode).toBe(137);
    await ends[1].endAll();
    expect([one, two, three].flatMap(sleepers)).toEqual([]);
  });
});
