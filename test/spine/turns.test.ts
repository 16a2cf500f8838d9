// Turns as a frontend sees them: order of events, input, interrupts, steering, and what is left for the next turn.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { call, type FrontendOptions, TestFrontend } from './client.ts';

const open: TestFrontend[] = [];
const frontend = (options?: FrontendOptions): TestFrontend => {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

/** Every started item completed once, before its turn did. */
function expectClosed(t: TestFrontend): void {
  const started = t.all('item/started').map(({ item }) => item.id);
  const completed = t.all('item/completed').map(({ item }) => item.id);
  expect([...completed].sort()).toEqual([...started].sort());
  const lastItem = t.link.received.findLastIndex((message) => message.method === 'item/completed');
  expect(lastItem).toBeLessThan(t.link.received.findLastIndex((message) => message.method === 'turn/completed'));
}

describe('turns', () => {
  it('[turn.order] answers turn/start first, then tells status, turn, input, message, usage and end, in this order', async () => {
    const t = await frontend({
      script: [[{ say: 'Hello there.' }, { usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } }]],
    }).start();
    const from = t.link.received.length;
    const turn = await t.turn('hi');
    const story = t.link.received.slice(from).map((message) => message.method ?? 'answer');
    expect(story).toEqual([
      'answer',
      'thread/status/changed',
      'turn/started',
      'item/started',
      'item/completed',
      'item/started',
      'item/agentMessage/delta',
      'item/agentMessage/delta',
      'item/completed',
      'thread/tokenUsage/updated',
      'thread/status/changed',
      'turn/completed',
    ]);
    expect([turn.status, turn.error, turn.items.map((item: any) => item.text)]).toEqual(['completed', null, ['Hello there.']]);
    expect(t.all('thread/tokenUsage/updated')[0].tokenUsage.total).toMatchObject({ inputTokens: 7, outputTokens: 3, totalTokens: 10 });
    expectClosed(t);
  });

  it('[turn.command] runs a command that the user approved, and not before', async () => {
    const t = await frontend({
      script: [call('exec_command', { cmd: 'echo made > out.txt; echo told' }, 'call_1'), { say: 'done' }],
    }).start({ approvalPolicy: 'untrusted' });
    const file = path.join(t.cwd, 'out.txt');
    let existed: boolean | null = null;
    t.answers.set('item/commandExecution/requestApproval', () => {
      existed = fs.existsSync(file);
      return { decision: 'accept' };
    });
    expect((await t.turn('go')).status).toBe('completed');
    expect([existed, fs.readFileSync(file, 'utf8')]).toEqual([false, 'made\n']);
    const item = t.items('commandExecution')[0];
    expect([item.id, item.status, item.exitCode, item.aggregatedOutput]).toEqual(['call_1', 'completed', 0, 'told\n']);
    const deltas = t.all('item/commandExecution/outputDelta').map(({ delta }) => delta);
    expect(deltas.join('')).toBe('told\n');
    const order = t.methods().filter((method) => /requestApproval|resolved|item\//.test(method) && !/delta/i.test(method));
    expect(order.slice(2, 6)).toEqual([
      'item/started',
      'item/commandExecution/requestApproval',
      'serverRequest/resolved',
      'item/completed',
    ]);
    expectClosed(t);
  });

  it('[turn.interrupt-at-once] an interrupt works from the moment turn/start has answered', async () => {
    const t = await frontend({ script: [[{ hang: true }]] }).start();
    const turnId = await t.startTurn('go');
    expect(await t.result('turn/interrupt', { threadId: t.threadId, turnId })).toEqual({});
    expect((await t.ended(turnId)).status).toBe('interrupted');
    expect(t.all('turn/completed')).toHaveLength(1);
    expectClosed(t);
  });

  it('[turn.interrupt-text] partial text is kept: in the item and for the model', async () => {
    const script = [
      [{ item: { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'never whole' }] } }],
      { say: 'next' },
    ];
    const t = await frontend({ script: [[{ say: 'Some words of an answer.' }, { hang: true }], ...script] }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/agentMessage/delta');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    expect((await t.ended(turnId)).status).toBe('interrupted');
    expect(t.items('agentMessage').map((item) => item.text)).toEqual(['Some words of an answer.']);
    expectClosed(t);
  });

  it('[turn.interrupt-command] an interrupt ends the command with its processes, and the item keeps its output', async () => {
    const t = await frontend({
      script: [call('exec_command', { cmd: 'echo begun; sleep 77.7331', yield_time_ms: 30_000 }), { say: 'next' }],
    }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/commandExecution/outputDelta');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    expect((await t.ended(turnId)).status).toBe('interrupted');
    const item = t.items('commandExecution')[0];
    expect([item.status, item.aggregatedOutput]).toEqual(['failed', 'begun\n']);
    const alive = fs.readdirSync('/proc').some((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('77.7331');
      } catch {
        return false;
      }
    });
    expect(alive).toBe(false);
    expectClosed(t);
  });

  it('[turn.steer] input steered into a running turn is read after the running call, once', async () => {
    const t = await frontend({
      script: [call('exec_command', { cmd: 'sleep 0.4' }), { when: 'also this', reply: { say: 'both' } }, { say: 'only one' }],
    }).start();
    const turnId = await t.startTurn('first');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    expect(
      await t.result('turn/steer', { threadId: t.threadId, expectedTurnId: turnId, input: [{ type: 'text', text: 'also this' }] }),
    ).toEqual({ turnId });
    expect((await t.ended(turnId)).status).toBe('completed');
    expect(t.items('agentMessage').map((item) => item.text)).toEqual(['both']);
    expect(t.items('userMessage').map((item) => item.content[0].text)).toEqual(['first', 'also this']);
  });

  it('[turn.steer-refused] steering needs the active turn and some input', async () => {
    const t = await frontend().start();
    const input = [{ type: 'text', text: 'x' }];
    const idle = await t.request('turn/steer', { threadId: t.threadId, expectedTurnId: 'x', input });
    expect(idle.error).toMatchObject({ code: -32600, message: 'no active turn to steer' });
    const empty = await t.request('turn/steer', { threadId: t.threadId, expectedTurnId: 'x', input: [] });
    expect(empty.error).toMatchObject({ code: -32602, message: 'params.input: input must not be empty' });
    const missing = await t.request('turn/steer', { threadId: t.threadId, input });
    expect(missing.error).toMatchObject({ code: -32602, message: 'params.expectedTurnId: expected string, got nothing' });
  });

  it('[turn.joined] turn/start on a busy thread joins the active turn', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 0.4' }), { say: 'done' }] }).start();
    const first = await t.startTurn('first');
    expect(await t.startTurn('second')).toBe(first);
    await t.ended(first);
    expect([t.all('turn/started').length, t.all('turn/completed').length]).toEqual([1, 1]);
    expect(t.items('userMessage').map((item) => item.content[0].text)).toEqual(['first', 'second']);
  });

  it('[turn.model-fault] a failing model ends the turn with its reason, and the thread lives', async () => {
    const t = await frontend({
      script: [[{ fail: { kind: 'badRequest', message: 'the request was odd' } }], { say: 'fine now' }],
      provider: 'request_max_retries = 0',
    }).start();
    const turn = await t.turn('go');
    expect([turn.status, turn.error.codexErrorInfo]).toEqual(['failed', 'badRequest']);
    expect(turn.error.message).toContain('the request was odd');
    expect(t.all('error').map(({ willRetry }) => willRetry)).toEqual([false]);
    expect((await t.turn('again')).status).toBe('completed');
    expectClosed(t);
  });

  it('[turn.once-after-cut] a call that was complete when the stream broke runs once', async () => {
    const t = await frontend({
      script: [[call('exec_command', { cmd: 'echo x >> log' }, 'call_1'), { cut: true }], { say: 'recovered' }],
    }).start();
    expect((await t.turn('go')).status).toBe('completed');
    expect(fs.readFileSync(path.join(t.cwd, 'log'), 'utf8')).toBe('x\n');
    expect(t.all('error').map(({ willRetry }) => willRetry)).toEqual([true]);
  });

  it('[turn.garbage-calls] calls that make no sense are answered, shown as warnings, and the turn goes on', async () => {
    const t = await frontend({
      script: [[call('no_such_tool', {}), call('exec_command', { cmd: 5 }), call('exec_command', { cmd: 'echo fine' })], { say: 'done' }],
    }).start();
    expect((await t.turn('go')).status).toBe('completed');
    const warnings = t.all('warning').map(({ message }) => message);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('no_such_tool');
    expect(warnings[1]).toContain('cmd');
    expect(t.items('commandExecution').map((item) => item.aggregatedOutput)).toEqual(['fine\n']);
  });
});

describe('turns that follow at once', () => {
  it('[turn.follows] a turn that is started while another one ends waits for its end, and no input is lost', async () => {
    const t = await frontend({ script: [{ when: 'second', reply: { say: 'answer' } }, [{ hang: true }]] }).start();
    const first = await t.startTurn('first');
    const interrupt = t.result('turn/interrupt', { threadId: t.threadId, turnId: first });
    const second = await t.startTurn('second');
    await interrupt;
    expect(second).not.toBe(first);
    expect([(await t.ended(first)).status, (await t.ended(second)).status]).toEqual(['interrupted', 'completed']);
    const ends = t.link.received.filter((message) => message.method === 'turn/started' || message.method === 'turn/completed');
    expect(ends.map((message) => [message.method, (message.params as any).turn.id])).toEqual([
      ['turn/started', first],
      ['turn/completed', first],
      ['turn/started', second],
      ['turn/completed', second],
    ]);
  });
});
