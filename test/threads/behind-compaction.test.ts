// Back behind a compaction: a fork or a revert to a turn before it holds what was said then, and no word of what came later.
import { describe, expect, it } from 'vitest';
import { Asked, calling, says } from '../context/asked.ts';

const conversation = (t: Asked): unknown[] =>
  t.last.input.filter(
    (item) => item.type !== 'message' || !/^<(environment_context|user_instructions|permissions)/.test(item.content[0]?.text ?? ''),
  );
const spoken = (t: Asked): string[] =>
  t.last.input.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }: any) => text) : [item.type]));

async function compactedThread(): Promise<{ t: Asked; turnIds: string[]; before: unknown[] }> {
  const t = await Asked.open();
  const turnIds = [
    (await t.turn('first', {}, [calling('update_plan', { plan: [{ step: 's', status: 'pending' }] })], [says('answer 1')])).id,
  ];
  turnIds.push((await t.turn('second', {}, [says('answer 2')])).id);
  const before = conversation(t).slice(0, -1); // up to the words of the second turn
  t.answers([says('the summary of both')]);
  await t.frontend.result('thread/compact/start', { threadId: t.frontend.threadId });
  await t.frontend.seen('item/completed', ({ item }) => item.type === 'contextCompaction');
  await t.frontend.seen('thread/status/changed', ({ status }) => status.type === 'idle');
  turnIds.push((await t.turn('third', {}, [says('answer 3')])).id);
  expect(spoken(t).join()).toContain('the summary of both');
  return { t, turnIds, before };
}

describe('behind a compaction', () => {
  it('[threads.revert-compacted] a revert brings back what was said before it, now and after a restart', async () => {
    const { t, turnIds, before } = await compactedThread();
    const { threadId } = t.frontend;
    await t.frontend.result('thread/revert', { threadId, beforeTurnId: turnIds[1] });
    await t.turn('another second', {}, [says('answer 4')]);
    const sent = conversation(t);
    expect(sent.slice(0, before.length)).toEqual(before);
    for (const text of ['the summary of both', 'answer 2', 'third']) expect(spoken(t).join()).not.toContain(text);

    await t.frontend.result('thread/archive', { threadId });
    await t.frontend.result('thread/unarchive', { threadId });
    await t.frontend.result('thread/resume', { threadId });
    await t.turn('and on');
    expect(conversation(t).slice(0, sent.length)).toEqual(sent);
  });

  it('[threads.fork-compacted] a fork at a turn before it has the exact history of then; one of all of it has the summary', async () => {
    const { t, turnIds, before } = await compactedThread();
    const source = t.frontend.threadId;
    const forkAt = async (more: Record<string, unknown>, loaded: boolean) => {
      if (!loaded) {
        await t.frontend.result('thread/archive', { threadId: source });
        await t.frontend.result('thread/unarchive', { threadId: source });
      }
      t.frontend.threadId = (await t.frontend.result('thread/fork', { threadId: source, ...more })).thread.id;
      await t.turn('in the fork');
      return { sent: conversation(t), text: spoken(t).join() };
    };
    for (const loaded of [true, false]) {
      const early = await forkAt({ lastTurnId: turnIds[0] }, loaded);
      expect(early.sent.slice(0, before.length)).toEqual(before);
      expect(early.text).not.toContain('summary');
      const whole = await forkAt({}, loaded);
      expect([whole.text.includes('the summary of both'), whole.text.includes('answer 3')]).toEqual([true, true]);
    }
  });

  it('[threads.revert-kept] what was brought in without a turn stays; a turn after the compaction is taken back with the summary kept', async () => {
    const { t, turnIds } = await compactedThread();
    const { threadId } = t.frontend;
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'brought in' }] };
    await t.frontend.result('thread/inject_items', { threadId, items: [item] });
    await t.frontend.result('thread/revert', { threadId, beforeTurnId: turnIds[2] });
    await t.turn('another third');
    expect([spoken(t).includes('brought in'), spoken(t).join().includes('the summary of both'), spoken(t).includes('third')]).toEqual([
      true,
      true,
      false,
    ]);
    await t.frontend.result('thread/revert', { threadId, beforeTurnId: turnIds[0] });
    await t.turn('all anew');
    expect([spoken(t).includes('brought in'), spoken(t).join().includes('summary'), spoken(t).includes('first')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('[threads.agenda] what a stored thread works towards and what waits in it can be read; what needs it loaded says so', async () => {
    const { t } = await compactedThread();
    const { threadId } = t.frontend;
    await t.frontend.result('thread/goal/set', { threadId, objective: 'be done', status: 'paused' });
    await t.frontend.result('thread/archive', { threadId });
    await t.frontend.result('thread/unarchive', { threadId });
    expect((await t.frontend.result('thread/goal/get', { threadId })).goal).toMatchObject({ objective: 'be done', status: 'paused' });
    expect((await t.frontend.result('thread/queue/list', { threadId })).data).toEqual([]);
    const { error } = await t.frontend.request('thread/goal/set', { threadId, objective: 'more' });
    expect(error).toMatchObject({
      code: -32600,
      message: `unknown thread: ${threadId} is stored and not loaded; load it with thread/resume`,
    });
  });
});
