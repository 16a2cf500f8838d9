// Many short commands in terminals at once: the end of the output is where terminals lose bytes, and descriptors are what they leak.
import { afterAll, expect, it } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, descriptors, mark, run, sleepers, until } from './support.ts';

const COMMANDS = 500;
const AT_ONCE = 20;
const BYTES = 20_000;

const runner = new LocalProcessRunner();
afterAll(() => runner.endAll(0));

it('[exec.stress] every byte of 500 terminals arrives, no descriptor stays open, nothing survives', { timeout: 110_000 }, async () => {
  const argument = mark();
  // 100 lines of 200 bytes, each with the number of its command: a byte of another's terminal would show.
  const line = (n: number, i: number) => `${n}:${i}:`.padEnd(199, 'x');
  const script = (n: number) =>
    `sleep ${argument} & for ((i = 0; i < ${BYTES / 200}; i++)); do printf '%-199s\\n' "${n}:$i:"; done | tr ' ' x`;
  const wanted = (n: number) => Array.from({ length: BYTES / 200 }, (_, i) => `${line(n, i)}\r\n`).join('');
  await run(runner, bash('true', { tty: true })); // what is opened once stays open
  const before = descriptors().length;
  let next = 0;
  let most = 0;
  const wrong: string[] = [];
  const worker = async () => {
    for (let n = next++; n < COMMANDS; n = next++) {
      const { outcome, text } = await run(runner, bash(script(n), { tty: true }));
      if (outcome.type !== 'exited' || outcome.exitCode !== 0 || text !== wanted(n)) {
        wrong.push(`${n}: ${JSON.stringify(outcome)}, ${text.length} of ${wanted(n).length}`);
      }
      most = Math.max(most, descriptors().length - before);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(wrong).toEqual([]);
  // A terminal is two descriptors; the rest is what a spawn needs for a moment.
  expect(most).toBeLessThanOrEqual(AT_ONCE * 8);
  expect(await until(() => descriptors().length <= before)).toBe(true);
  await runner.endAll(0);
  expect(sleepers(argument)).toEqual([]);
});
