import { afterAll, describe, expect, it } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, descriptors, mark, run, sleepers, until } from './support.ts';

const runner = new LocalProcessRunner();
afterAll(() => runner.endAll(500));
const tty = (cmd: string, more = {}) => bash(cmd, { tty: true, ...more });

/** Starts a terminal command and gives a way to wait for its text. */
function open(cmd: string, more = {}) {
  const process = runner.start(tty(cmd, more));
  const seen = { text: '' };
  process.onOutput(({ bytes }) => {
    seen.text += Buffer.from(bytes).toString();
  });
  return { process, seen, shows: (part: string) => until(() => seen.text.includes(part)) };
}

describe('a child in a terminal', () => {
  it('[exec.tty.tail] delivers 20 KB without newline and an exit, a hundred times', async () => {
    for (let round = 0; round < 20; round++) {
      const runs = await Promise.all(Array.from({ length: 5 }, () => run(runner, tty('printf "%020000d" 7'))));
      expect(runs.map((r) => [r.outcome, r.bytes, r.text.slice(-3)])).toEqual(
        Array(5).fill([{ type: 'exited', exitCode: 0 }, 20000, '007']),
      );
    }
  });

  it('[exec.tty.whole] delivers 108 KB of lines whole', async () => {
    const whole = Array.from({ length: 20000 }, (_, i) => `${i + 1}\r\n`).join('');
    const runs = await Promise.all(Array.from({ length: 4 }, () => run(runner, tty('seq 1 20000'))));
    expect(runs.map((r) => r.text === whole)).toEqual(Array(4).fill(true));
  });

  it('[exec.tty.terminal] is a controlling terminal of 24x80 or of the asked size', async () => {
    const probe = 'test -t 0 && test -t 1 && test -t 2 && stty size; (: < /dev/tty) && echo tty; exit 4';
    expect(await run(runner, tty(probe))).toEqual({ outcome: { type: 'exited', exitCode: 4 }, text: '24 80\r\ntty\r\n', bytes: 12 });
    expect((await run(runner, tty('stty size', { size: { rows: 10, cols: 33 } }))).text).toBe('10 33\r\n');
  });

  it('[exec.tty.input] takes typed text, Ctrl-C, Ctrl-D and a resize', async () => {
    const prompt = open('read -p "name? " n; echo "hi $n"; exit 4');
    expect(await prompt.shows('name? ')).toBe(true);
    expect(prompt.process.write('Ada\n')).toBe(true);
    expect(await prompt.process.exited).toEqual({ type: 'exited', exitCode: 4 });
    expect(prompt.seen.text).toBe('name? Ada\r\nhi Ada\r\n');

    const loop = open('echo going; sleep 60; echo never');
    expect(await loop.shows('going')).toBe(true);
    loop.process.write('\u0003');
    expect((await loop.process.exited).type).toBe('signalled');
    expect(loop.seen.text).not.toContain('never');

    const cat = open('cat; echo over');
    cat.process.closeStdin();
    expect(await cat.process.exited).toEqual({ type: 'exited', exitCode: 0 });

    const sized = open('trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.05; done');
    expect(await sized.shows('ready')).toBe(true);
    sized.process.resize(50, 132);
    expect(await sized.process.exited).toEqual({ type: 'exited', exitCode: 0 });
    expect(sized.seen.text).toContain('50 132');
  });

  it('[exec.tty.after-end] takes writes, resizes and pauses around the end as no-ops', async () => {
    for (let i = 0; i < 20; i++) {
      const { process } = open('exit 0');
      const poke = setInterval(() => {
        process.write('x');
        process.resize(30, 90);
      }, 1);
      expect(await process.exited).toEqual({ type: 'exited', exitCode: 0 });
      process.pause();
      process.resume();
      process.closeStdin();
      process.resize(1, 1);
      expect(process.write('late')).toBe(false);
      clearInterval(poke);
    }
  });

  it('[exec.tty.backpressure] blocks while paused, keeps the tail, and reports the end after resume', async () => {
    const process = runner.start(tty('seq 1 20000'));
    let text = '';
    let naps = 0;
    process.onOutput(({ bytes }) => {
      text += Buffer.from(bytes).toString();
      if (naps++ % 4 === 0 && naps < 20) {
        process.pause();
        setTimeout(() => process.resume(), 40);
      }
    });
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 0 });
    expect(text).toBe(Array.from({ length: 20000 }, (_, i) => `${i + 1}\r\n`).join(''));
  });

  it('[exec.tty.background] is not held by a background child', async () => {
    const [plain, apart] = [mark(), mark()];
    const own = new LocalProcessRunner();
    const began = performance.now();
    const runs = [
      await run(own, tty(`sleep ${plain} & echo done`)),
      await run(own, tty(`trap "" HUP; setsid sleep ${apart} & sleep 0.1; echo done`)),
    ];
    expect(performance.now() - began).toBeLessThan(5000);
    expect(runs.map((r) => [r.outcome, r.text])).toEqual(Array(2).fill([{ type: 'exited', exitCode: 0 }, 'done\r\n']));
    expect(sleepers(apart).length).toBe(1);
    await own.endAll(500);
    expect([sleepers(plain), sleepers(apart)]).toEqual([[], []]);
  });

  it('[exec.tty.descriptors] keeps the number of descriptors flat over 200 commands', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => run(runner, tty(`echo ${i}`))));
    const before = descriptors().length;
    for (let round = 0; round < 10; round++) {
      const runs = await Promise.all(Array.from({ length: 20 }, (_, i) => run(runner, tty(`echo ${i}`))));
      expect(runs.map((r) => r.text)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}\r\n`));
    }
    await until(() => descriptors().length <= before);
    expect(descriptors().length).toBeLessThanOrEqual(before);
    expect(descriptors().filter((target) => /ptmx|\/pts\//.test(target))).toEqual([]);
  });

  it('[exec.tty.private] hands no terminal to another command', async () => {
    const held = open('read x');
    await until(() => held.process.pid !== undefined);
    const look = 'for f in /proc/self/fd/*; do readlink $f; done | grep -c ptmx; true';
    expect((await run(runner, bash(look))).text).toBe('0\n');
    expect((await run(runner, tty(look))).text).toBe('0\r\n');
    await held.process.terminate(100);
    expect((await held.process.exited).type).toBe('cancelled');
  });

  it('[exec.tty.utf8] passes characters through that are written a byte at a time', async () => {
    const octal = [...Buffer.from('né日本😀')].map((b) => b.toString(8)).join(' ');
    const { text } = await run(runner, tty(`for b in ${octal}; do printf "\\\\$b"; sleep 0.005; done`));
    expect(text).toBe('né日本😀');
  });
});
