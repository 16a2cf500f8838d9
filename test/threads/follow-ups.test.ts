// What a thread does by itself: queued inputs, goals, and being let go when nobody listens.
import { afterEach, describe, expect, it } from 'vitest';
import { call, type FrontendOptions, TestFrontend } from '../spine/client.ts';
import type { Wire } from '../wire/linked.ts';

const open: TestFrontend[] = [];
const frontend = (options?: FrontendOptions): TestFrontend => {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

const ends = (t: TestFrontend): number => t.all('turn/completed').length;
const until = (t: TestFrontend, test: () => boolean, what: string): Promise<unknown> => t.link.until(test, what);
const inputs = (t: TestFrontend): unknown[] =>
  t
    .all('item/completed')
    .filter(({ item }) => item.type === 'userMessage')
    .map(({ item }) => item.content[0].text);
const text = (words: string) => [{ type: 'text', text: words }];

describe('the queue', () => {
  it('[queue.order] queued inputs become turns of their own, one after another, in their order', async () => {
    const t = await frontend({
      script: [call('exec_command', { cmd: 'sleep 0.4' }, 'c1'), { say: 'a' }, { say: 'b' }, { say: 'c' }],
    }).start();
    const { threadId } = t;
    await t.startTurn('first');
    const add = (words: string) => t.result('thread/queue/add', { threadId, clientUserMessageId: words, input: text(words) });
    const [one, two, three] = [await add('one'), await add('two'), await add('three')].map(({ queuedSubmission }) => queuedSubmission.id);
    await t.result('thread/queue/reorder', { threadId, queuedSubmissionIds: [two, three, one] });
    expect(await t.result('thread/queue/delete', { threadId, queuedSubmissionId: three })).toEqual({ deleted: true });
    await t.result('thread/queue/update', { threadId, queuedSubmissionId: one, input: text('one, changed') });
    const { data } = await t.result('thread/queue/list', { threadId });
    expect(data.map((entry: any) => [entry.clientUserMessageId, entry.input[0].text])).toEqual([
      ['two', 'two'],
      ['one', 'one, changed'],
    ]);
    await until(t, () => ends(t) === 3, 'the end of three turns');
    expect(inputs(t)).toEqual(['first', 'two', 'one, changed']);
    expect((await t.result('thread/queue/list', { threadId })).data).toEqual([]);
  });

  it('[queue.held] an interrupt holds what waits; queue/start goes on; odd ids are refused', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 2' }, 'c1'), { say: 'b' }] }).start();
    const { threadId } = t;
    const turnId = await t.startTurn('first');
    const { queuedSubmission } = await t.result('thread/queue/add', { threadId, clientUserMessageId: 'q', input: text('later') });
    expect((await t.request('thread/queue/start', { threadId })).error.message).toMatch(/active turn/);
    await t.result('turn/interrupt', { threadId, turnId });
    await t.ended(turnId);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(ends(t)).toBe(1);
    expect((await t.request('thread/queue/start', { threadId, queuedSubmissionId: 'nope' })).error.message).toMatch(/nope/);
    const { turn } = await t.result('thread/queue/start', { threadId, queuedSubmissionId: queuedSubmission.id });
    expect((await t.ended(turn.id)).status).toBe('completed');
    expect(inputs(t)).toEqual(['first', 'later']);
  });
});

describe('goals', () => {
  it('[goal.complete] turns follow until the model says that the goal is reached', async () => {
    const t = await frontend({
      script: [{ say: 'a step' }, call('update_goal', { status: 'complete' }, 'c1'), { say: 'reached' }, { say: 'not asked' }],
    }).start();
    const { threadId } = t;
    expect((await t.request('thread/goal/set', { threadId, objective: ' ' })).error.message).toMatch(/params\.objective/);
    expect((await t.result('thread/goal/set', { threadId, objective: 'Do it' })).goal).toMatchObject({
      objective: 'Do it',
      status: 'active',
    });
    await until(t, () => t.all('thread/goal/updated').some(({ goal }) => goal.status === 'complete') && ends(t) === 2, 'the goal');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([ends(t), (await t.result('thread/goal/get', { threadId })).goal.status, inputs(t)]).toEqual([2, 'complete', []]);
    expect(await t.result('thread/goal/clear', { threadId })).toEqual({ cleared: true });
    expect(await t.result('thread/goal/clear', { threadId })).toEqual({ cleared: false });
  });

  it('[goal.bounded] a goal that is never reached is paused after a bounded number of turns, and says so', async () => {
    const t = await frontend({ script: Array.from({ length: 40 }, () => ({ say: 'on' })) }).start();
    await t.result('thread/goal/set', { threadId: t.threadId, objective: 'Never' });
    await until(t, () => t.all('thread/goal/updated').some(({ goal }) => goal.status === 'paused'), 'the pause');
    expect([ends(t), t.all('warning').map(({ message }) => message)]).toEqual([20, [expect.stringMatching(/paused after 20 turns/)]]);
  });

  it('[goal.interrupted] an interrupt pauses it', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 20' }, 'c1'), { say: 'x' }] }).start();
    await t.result('thread/goal/set', { threadId: t.threadId, objective: 'Go' });
    await until(t, () => t.all('item/started').length > 0, 'the command');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId: '' });
    await until(t, () => ends(t) === 1, 'the end');
    expect((await t.result('thread/goal/get', { threadId: t.threadId })).goal.status).toBe('paused');
  });
});

describe('a thread that nobody listens to', () => {
  it('[threads.unload] is let go after its delay, told as closed, and can be resumed; one with a listener stays', async () => {
    const t = await frontend({ config: 'thread_unload_delay_secs = 0', script: [{ say: 'a' }, { say: 'b' }] }).start();
    const { threadId } = t;
    await t.turn('hi');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await t.result('thread/loaded/list', {})).data).toEqual([threadId]);
    await t.result('thread/unsubscribe', { threadId });
    const closed = (message: Wire) => message.method === 'thread/closed';
    await until(t, () => t.link.received.some(closed), 'thread/closed');
    expect((await t.result('thread/loaded/list', {})).data).toEqual([]);
    expect((await t.result('thread/read', { threadId })).thread.status).toEqual({ type: 'notLoaded' });
    await t.result('thread/resume', { threadId, excludeTurns: true });
    expect((await t.turn('again')).status).toBe('completed');
  });
});

describe('turns that take no input', () => {
  it('[review.not-steerable] a review refuses input with the data that says why', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 20' }, 'c1'), { say: 'x' }] }).start();
    const { threadId } = t;
    const { turn } = await t.result('review/start', { threadId, target: { type: 'custom', instructions: 'Look' } });
    await until(t, () => t.all('item/started').some(({ item }) => item.type === 'commandExecution'), 'the command');
    for (const [method, more] of [
      ['turn/steer', { expectedTurnId: turn.id }],
      ['turn/start', {}],
    ] as const) {
      const { error } = await t.request(method, { threadId, input: text('hey'), ...more });
      expect([error.message, error.data.codexErrorInfo]).toEqual([
        'cannot steer a review turn',
        { activeTurnNotSteerable: { turnKind: 'review' } },
      ]);
    }
    await t.result('turn/interrupt', { threadId, turnId: turn.id });
    expect((await t.ended(turn.id)).status).toBe('interrupted');
  });
});
