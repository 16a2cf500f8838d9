import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, descriptors, ENV, mark, run, sleepers, until } from './support.ts';

const runner = new LocalProcessRunner();
afterAll(() => runner.endAll(500));

describe('a child over pipes', () => {
  it('[exec.merged] shows stdout and stderr in the order of the writes', async () => {
    const cmd = 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done; printf end';
    expect(await run(runner, bash(cmd))).toEqual({
      outcome: { type: 'exited', exitCode: 0 },
      text: 'o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\nend',
      bytes: 33,
    });
  });

  it('[exec.separate] labels both streams when they are not merged', async () => {
    const process = runner.start(bash('echo out; echo err >&2', { merged: false }));
    const seen: Record<string, string> = { stdout: '', stderr: '' };
    process.onOutput(({ stream, bytes }) => {
      seen[stream] += Buffer.from(bytes).toString();
    });
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 0 });
    expect(seen).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  });

  it('[exec.dev-stdio] takes input when asked for, and lets a command open /dev/stdout and /dev/stderr', async () => {
    const process = runner.start(bash('cat > /dev/stdout; echo x > /dev/stderr', { stdin: 'open' }));
    let text = '';
    process.onOutput(({ bytes }) => {
      text += Buffer.from(bytes).toString();
    });
    expect(process.write('typed ')).toBe(true);
    expect(process.write(Buffer.from('twice\n'))).toBe(true);
    process.closeStdin();
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 0 });
    expect(text).toBe('typed twice\nx\n');
    expect(process.write('late')).toBe(false);
  });

  it('[exec.no-stdin] gives end of file at once, and no controlling terminal', async () => {
    const { text, outcome } = await run(
      runner,
      bash('cat; echo cat=$?; read x; echo read=$?; (: < /dev/tty) 2>/dev/null && echo tty; exit 3'),
    );
    expect({ text, outcome }).toEqual({ text: 'cat=0\nread=1\n', outcome: { type: 'exited', exitCode: 3 } });
    const closed = runner.start(bash('sleep 0.1'));
    expect(closed.write('x')).toBe(false);
    await closed.exited;
  });

  it('[exec.tail] delivers 20 KB without newline and an exit, a hundred times', async () => {
    for (let round = 0; round < 20; round++) {
      const runs = await Promise.all(Array.from({ length: 5 }, () => run(runner, bash('printf "%020000d" 7'))));
      expect(runs.map((r) => [r.outcome, r.bytes, r.text.slice(-3)])).toEqual(
        Array(5).fill([{ type: 'exited', exitCode: 0 }, 20000, '007']),
      );
    }
  });

  it('[exec.signal] reports death by a signal as 128 plus its number', async () => {
    expect((await run(runner, bash('kill -9 $$'))).outcome).toEqual({ type: 'signalled', signal: 'SIGKILL', exitCode: 137 });
    expect((await run(runner, bash('kill -TERM $$'))).outcome).toEqual({ type: 'signalled', signal: 'SIGTERM', exitCode: 143 });
  });

  it('[exec.background] is not held by a background child, which lives on until everything is ended', async () => {
    const own = new LocalProcessRunner();
    const [plain, apart, chatty] = [mark(), mark(), mark()];
    const began = performance.now();
    const runs = [
      await run(own, bash(`sleep ${plain} & echo done`)),
      await run(own, bash(`(setsid sleep ${apart} &) ; echo done`)),
      await run(own, bash(`(while :; do echo noise; sleep 0.05; done) & sleep ${chatty} & echo done`)),
    ];
    expect(performance.now() - began).toBeLessThan(6000);
    expect(runs.map((r) => r.outcome)).toEqual(Array(3).fill({ type: 'exited', exitCode: 0 }));
    expect(runs.map((r) => r.text.startsWith('done\n') || r.text.includes('done\n'))).toEqual([true, true, true]);
    expect([plain, apart, chatty].map((m) => sleepers(m).length)).toEqual([1, 1, 1]);
    await own.endAll(500);
    expect([plain, apart, chatty].map((m) => sleepers(m).length)).toEqual([0, 0, 0]);
  });

  it('[exec.drain] waits for a process substitution that prints after the shell', async () => {
    const { text } = await run(runner, bash('exec > >(sleep 0.02; cat) 2>&1; echo hi'));
    expect(text).toBe('hi\n');
  });

  it('[exec.backpressure] blocks the child while paused and loses nothing', async () => {
    const process = runner.start(bash('seq 1 60000'));
    const chunks: Uint8Array[] = [];
    let naps = 0;
    process.onOutput(({ bytes }) => {
      chunks.push(bytes);
      if (naps++ < 5) {
        process.pause();
        setTimeout(() => process.resume(), 30);
      }
    });
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 0 });
    expect(Buffer.concat(chunks).toString()).toBe(Array.from({ length: 60000 }, (_, i) => `${i + 1}\n`).join(''));
  });

  it('[exec.descriptors] leaves none behind, and hands none of ours to a child', async () => {
    await run(runner, bash('true'));
    const before = descriptors().length;
    for (let i = 0; i < 5; i++)
      await Promise.all(Array.from({ length: 10 }, () => run(runner, bash('true', { merged: false, stdin: 'open' }))));
    await until(() => descriptors().length <= before);
    expect(descriptors().length).toBeLessThanOrEqual(before);
  });

  it('[exec.refused] names what could not be started', async () => {
    const reasons = await Promise.all(
      [
        bash('pwd', { cwd: '/no/such/folder' }),
        bash('pwd', { cwd: '/etc/passwd' }),
        bash('pwd', { cwd: 'relative' }),
        { ...bash(''), argv: [] },
        { ...bash(''), argv: ['no-such-program-here'] },
        { ...bash(''), argv: ['/etc/passwd'] },
        { ...bash(''), argv: ['echo', 'a\0b'] },
        bash('pwd', { env: { 'A=B': 'x' } }),
        bash('x'.repeat(3_000_000)),
      ].map(async (request) => (await run(runner, request)).outcome),
    );
    expect(reasons).toEqual(
      [
        'the working directory does not exist: /no/such/folder; create it first or choose another',
        'the working directory is not a folder: /etc/passwd',
        'the working directory must be an absolute path: "relative"',
        'no command was given: the first element of argv must name a program',
        'program not found: no-such-program-here is in none of the folders of PATH',
        '/etc/passwd is not an executable file; run it through its interpreter or make it executable',
        'argument 1 holds a NUL byte, which no command line can carry: a\\0b',
        'the environment variable "A=B" cannot be passed on: its name or value holds "=" or a NUL byte where none may be',
        'could not start /bin/bash: the command line is too long for the system; put the data into a file and pass its path',
      ].map((reason) => ({ type: 'failedToStart', reason })),
    );
  });

  it('[exec.environment] passes on exactly the given environment, the folder and the mark', async () => {
    const { text } = await run(runner, { argv: ['env'], cwd: tmpdir(), env: { PATH: ENV.PATH, ONE: '1' }, tty: false, stdin: 'closed' });
    expect(
      text
        .replace(/(HARNESSD_PROCESS=)[0-9a-f]{32}\.\d+/, '$1…')
        .trimEnd()
        .split('\n')
        .sort(),
    ).toEqual(['HARNESSD_PROCESS=…', 'ONE=1', `PATH=${ENV.PATH}`, `PWD=${tmpdir()}`]);
  });
});
