import { afterAll, describe, expect, it } from 'vitest';
import { OutputCollector } from '../../src/exec/output.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { ExecSessions } from '../../src/exec/sessions.ts';
import { bash, mark, sleepers, until } from './support.ts';

const runner = new LocalProcessRunner();
afterAll(() => runner.endAll(500));

function open(sessions: ExecSessions, cmd: string, tty = false) {
  const process = runner.start(bash(cmd, { tty }));
  const output = new OutputCollector();
  output.attach(process);
  const id = sessions.reserveId();
  return sessions.add(id, { process, output, itemId: `item-${id}`, command: cmd, cwd: '/tmp', tty });
}

describe('running commands of a thread', () => {
  it('[exec.session.poll] yields, gives only new output, and tells the end', async () => {
    const sessions = new ExecSessions();
    const { session } = open(sessions, 'echo start; sleep 0.5; echo end; exit 5');
    expect(session.id).toBeGreaterThanOrEqual(10_000);
    expect(session.id).toBeLessThan(100_000);
    expect(await session.waitForYield(250)).toBe('yielded');
    expect(session.takeNewOutput()).toEqual({ text: 'start\n', omittedBytes: 0, lines: 1 });
    expect(sessions.find(session.id)).toEqual({ type: 'found', session });
    expect(await session.waitForYield(5000)).toBe('ended');
    expect([session.outcome, session.takeNewOutput().text, session.output.aggregated()]).toEqual([
      { type: 'exited', exitCode: 5 },
      'end\n',
      'start\nend\n',
    ]);
    expect(session.durationMs).toBeGreaterThan(450);
    sessions.forget(session.id);
    expect(sessions.find(session.id)).toEqual({ type: 'ended', exitCode: 5, liveIds: [] });
  });

  it('[exec.session.abort] stops waiting on abort without ending the command', async () => {
    const sessions = new ExecSessions();
    const { session } = open(sessions, 'sleep 30');
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 30);
    expect(await session.waitForYield(10_000, abort.signal)).toBe('aborted');
    expect(await session.waitForYield(10_000, abort.signal)).toBe('aborted');
    expect(session.outcome).toBeUndefined();
    expect(await sessions.terminateAll(300)).toBe(1);
    expect(session.outcome?.type).toBe('cancelled');
  });

  it('[exec.session.find] names the live sessions for an id that is unknown', async () => {
    const sessions = new ExecSessions();
    const ids = [open(sessions, 'sleep 30').session.id, open(sessions, 'sleep 30', true).session.id];
    expect(sessions.find(1)).toEqual({ type: 'unknown', liveIds: ids });
    await sessions.terminateAll(300);
    expect(sessions.find(1)).toEqual({ type: 'unknown', liveIds: [] });
  });

  it('[exec.session.list] lists what runs, and ends one or all', async () => {
    const sessions = new ExecSessions();
    const marks = [mark(), mark(), mark()];
    const all = marks.map((m) => open(sessions, `sleep ${m} & wait`).session);
    await until(() => marks.every((m) => sleepers(m).length === 1));
    const listed = await sessions.list();
    expect(listed.map(({ id, itemId, command, cwd, tty, pid }) => ({ id, itemId, command, cwd, tty, pid }))).toEqual(
      all.map((s, i) => ({
        id: s.id,
        itemId: `item-${s.id}`,
        command: `sleep ${marks[i]} & wait`,
        cwd: '/tmp',
        tty: false,
        pid: s.process.pid,
      })),
    );
    for (const entry of listed) {
      expect(entry.rssKb).toBeGreaterThan(500);
      expect(entry.cpuPercent).toBeGreaterThanOrEqual(0);
    }
    expect(await sessions.terminate(all[0].id)).toBe(true);
    expect(sleepers(marks[0])).toEqual([]);
    expect(await sessions.terminate(all[0].id)).toBe(false);
    expect((await sessions.list()).map((s) => s.id)).toEqual([all[1].id, all[2].id]);
    expect(await sessions.terminateAll()).toBe(2);
    expect([marks.map((m) => sleepers(m).length), await sessions.list()]).toEqual([[0, 0, 0], []]);
  });

  it('[exec.session.limit] makes room: what ended goes first, then the oldest that runs is ended and told', async () => {
    const sessions = new ExecSessions(3);
    const first = open(sessions, 'sleep 30').session;
    const ended = open(sessions, 'exit 7').session;
    const third = open(sessions, 'sleep 30').session;
    await ended.ended;
    expect(open(sessions, 'sleep 30').pruned).toBe(ended);
    expect(sessions.find(ended.id)).toMatchObject({ type: 'ended', exitCode: 7 });
    const last = open(sessions, 'sleep 30');
    expect(last.pruned).toBe(first);
    expect((await first.ended).type).toBe('cancelled');
    expect(sessions.find(first.id)).toMatchObject({ type: 'ended', exitCode: 143 });
    expect(sessions.liveIds()).toContain(third.id);
    expect(await sessions.terminateAll(300)).toBe(3);
  });
});
