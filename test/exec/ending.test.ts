import { afterAll, describe, expect, it } from 'vitest';
import { parseStat } from '../../src/exec/process-table.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { bash, mark, run, sleepers, until } from './support.ts';

const runner = new LocalProcessRunner();
afterAll(() => runner.endAll(500));

describe('ending a command', () => {
  for (const tty of [false, true]) {
    it(`[exec.group] ends the whole tree, setsid children and double forks included (tty ${tty})`, async () => {
      const marks = [mark(), mark(), mark(), mark()];
      const process = runner.start(
        bash(
          `sleep ${marks[0]} & (sleep ${marks[1]} & wait) & setsid sleep ${marks[2]} & (setsid sh -c 'sleep ${marks[3]} & wait' &) ; echo up; wait`,
          { tty },
        ),
      );
      expect(await until(() => marks.every((m) => sleepers(m).length === 1))).toBe(true);
      await process.terminate(500);
      expect(marks.map((m) => sleepers(m).length)).toEqual([0, 0, 0, 0]);
      expect((await process.exited).type).toBe('cancelled');
    });

    it(`[exec.ignores-term] kills what ignores TERM after the grace (tty ${tty})`, async () => {
      const m = mark();
      const process = runner.start(bash(`trap "" TERM INT HUP; sleep ${m}; sleep ${m}; sleep ${m}`, { tty }));
      expect(await until(() => sleepers(m).length === 1)).toBe(true);
      await process.terminate(200);
      expect(sleepers(m)).toEqual([]);
      expect(await process.exited).toEqual({ type: 'cancelled', exitCode: 137 });
    });
  }

  it('[exec.timeout] ends the group at the limit and reports 124, once', async () => {
    const marks = [mark(), mark()];
    const began = performance.now();
    const { outcome, text } = await run(runner, bash(`echo begun; sleep ${marks[0]} & sleep ${marks[1]}; echo never`, { timeoutMs: 300 }));
    expect({ outcome, text }).toEqual({ outcome: { type: 'timedOut', exitCode: 124 }, text: 'begun\n' });
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
    expect(marks.map((m) => sleepers(m).length)).toEqual([0, 0]);
  });

  it('[exec.stopped] ends a stopped process', async () => {
    const process = runner.start(bash('kill -STOP $$'));
    await until(() => process.pid !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await process.terminate(1000);
    expect(await process.exited).toEqual({ type: 'cancelled', exitCode: 143 });
  });

  it('[exec.cancel-early] does not start what was cancelled before it was up', async () => {
    const process = runner.start(bash('echo ran'));
    let text = '';
    process.onOutput(({ bytes }) => {
      text += Buffer.from(bytes).toString();
    });
    await process.terminate(100);
    expect(await process.exited).toEqual({ type: 'cancelled', exitCode: 143 });
    expect(text).toBe('');
  });

  it('[exec.cancel-paused] reports the end of a cancelled process that nobody reads', async () => {
    const process = runner.start(bash('yes'));
    process.onOutput(() => process.pause());
    await until(() => process.pid !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await process.terminate(200);
    expect((await process.exited).type).toBe('cancelled');
  });

  it('[exec.terminate-after] keeps the outcome, and ends what was left in the background', async () => {
    const [m, apart] = [mark(), mark()];
    const process = runner.start(bash(`sleep ${m} & (setsid sleep ${apart} &); exit 5`));
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 5 });
    expect(await until(() => sleepers(m).length === 1 && sleepers(apart).length === 1)).toBe(true);
    await process.terminate(500);
    expect([sleepers(m), sleepers(apart)]).toEqual([[], []]);
    expect(await process.exited).toEqual({ type: 'exited', exitCode: 5 });
    await process.terminate(500);
  });

  it('[exec.end-all] ends everything, twice', async () => {
    const own = new LocalProcessRunner();
    const marks = [mark(), mark(), mark()];
    const live = own.start(bash(`sleep ${marks[0]}`));
    await run(own, bash(`sleep ${marks[1]} &`));
    await run(own, bash(`(setsid sh -c 'exec >/dev/null 2>&1; sleep ${marks[2]}' &)`));
    expect(await until(() => marks.every((m) => sleepers(m).length === 1))).toBe(true);
    await own.endAll(300);
    expect(marks.map((m) => sleepers(m).length)).toEqual([0, 0, 0]);
    expect((await live.exited).type).toBe('cancelled');
    await own.endAll(300);
    expect((await run(own, bash('echo again'))).text).toBe('again\n');
    await own.endAll(300);
  });

  it('[exec.kill-all] has killed everything when it returns, what ignores TERM and what went its own way included', async () => {
    const own = new LocalProcessRunner();
    const marks = [mark(), mark(), mark()];
    const live = own.start(bash(`trap "" TERM INT HUP; sleep ${marks[0]}; sleep ${marks[0]}`));
    await run(own, bash(`sleep ${marks[1]} &`));
    await run(own, bash(`(setsid sh -c 'exec >/dev/null 2>&1; sleep ${marks[2]}; sleep ${marks[2]}' &)`));
    expect(await until(() => marks.every((m) => sleepers(m).length === 1))).toBe(true);
    own.killAll();
    expect(await live.exited).toEqual({ type: 'cancelled', exitCode: 137 });
    expect(await until(() => marks.every((m) => sleepers(m).length === 0))).toBe(true);
    own.killAll();
  });

  it('[exec.stat] reads a process line whose name holds parentheses and spaces', () => {
    const line = '42 (a) b) c) S 1 40 39 0 -1 4194560 1 2 3 4 70 30 0 0 20 0 1 0 123456 1000 10';
    expect(parseStat(42, line)).toEqual({ pid: 42, state: 'S', parent: 1, group: 40, session: 39, ticks: 100, startedAt: 123456 });
  });
});
