// A long thread is opened before all of it is read: nobody sees a difference, whatever they ask for next.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Asked, calling, says } from '../context/asked.ts';

/** A thread with a long record, put away. */
async function longThread(): Promise<{ t: Asked; threadId: string; file: string }> {
  const t = await Asked.open();
  await t.turn(
    `first ${'x'.repeat(400_000)}`,
    {},
    [calling('update_plan', { plan: [{ step: 'one', status: 'completed' }] })],
    [says('seen')],
  );
  await t.turn('second');
  const { threadId } = t.frontend;
  const { thread } = await t.frontend.result('thread/read', { threadId });
  await t.frontend.result('thread/archive', { threadId });
  await t.frontend.result('thread/unarchive', { threadId });
  return { t, threadId, file: thread.path };
}

const resume = (t: Asked, more = {}) => t.frontend.result('thread/resume', { threadId: t.frontend.threadId, excludeTurns: true, ...more });

describe('a thread whose turns are read afterwards', () => {
  it('[threads.rest] requests that follow at once find all of it: the model its history, the client its turns', async () => {
    const { t, threadId } = await longThread();
    const before = t.last.input;
    t.answers([says('third')]);
    const [resumed, started, read, turns] = await Promise.all([
      resume(t),
      t.frontend.result('turn/start', { threadId, input: [{ type: 'text', text: 'third' }] }),
      t.frontend.result('thread/read', { threadId, includeTurns: true }),
      t.frontend.result('thread/turns/list', { threadId, sortDirection: 'asc' }),
    ]);
    expect([resumed.thread.turns, resumed.thread.preview.slice(0, 7)]).toEqual([[], 'first x']);
    await t.frontend.ended(started.turn.id);
    expect(JSON.stringify(t.last.input.slice(0, before.length))).toBe(JSON.stringify(before));
    expect(read.thread.turns.slice(0, 2).map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed']);
    expect(turns.data.length).toBeGreaterThanOrEqual(2);
  });

  it('[threads.rest-renamed] a thread that is renamed without being read keeps its turns, in a list and when it is read', async () => {
    const { t, threadId } = await longThread();
    await t.frontend.result('thread/name/set', { threadId, name: 'a name' });
    const { data } = await t.frontend.result('thread/list', {});
    expect(data.map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([[threadId, 'a name']]);
    const { thread } = await t.frontend.result('thread/read', { threadId, includeTurns: true });
    expect(thread.turns).toHaveLength(2);
  });

  it('[threads.rest-damaged] what is wrong in the middle is told and made good when it is read, before anything goes on', async () => {
    const { t, threadId, file } = await longThread();
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    // The output of the call is lost, as is what began the second turn's message.
    const kept = lines.filter((line) => !line.includes('"type":"result"'));
    expect(lines.length - kept.length).toBe(1);
    fs.writeFileSync(file, kept.join('\n').replace('"type":"history","turnId"', '"type":"history","turn'));
    await resume(t);
    await t.turn('third');
    const outputs = t.last.input.filter((item) => item.type === 'function_call_output');
    expect(outputs.map(({ output }) => output)).toEqual([expect.stringContaining('Its outcome is unknown')]);
    expect(t.warnings().filter((warning) => warning.includes('damaged lines'))).toHaveLength(1);
    // It is a part of the record from now on.
    await t.frontend.result('thread/archive', { threadId });
    expect(fs.readFileSync(file.replace(/sessions.*\//, 'archived_sessions/'), 'utf8')).toContain('Its outcome is unknown');
  });

  it('[threads.rest-fork] a fork of a thread that is just being read has all of it', async () => {
    const { t, threadId } = await longThread();
    const [, fork] = await Promise.all([resume(t), t.frontend.result('thread/fork', { threadId })]);
    expect(fork.thread.turns).toHaveLength(2);
  });
});
