// What the frontend owns: its dynamic tools and its answers, whatever they look like.
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

const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false };
const lookup = { type: 'function', name: 'lookup', description: 'Looks up.', inputSchema };
const text = (value: string, success = true) => ({ contentItems: [{ type: 'inputText', text: value }], success });

describe('dynamic tools', () => {
  it('[frontend.dynamic] a call reaches the frontend with valid arguments and its answer completes the item', async () => {
    const t = await frontend({ script: [call('lookup', { q: 'x' }, 'call_1'), { say: 'done' }] }).start({ dynamicTools: [lookup] });
    let asked: unknown;
    t.answers.set('item/tool/call', (params) => {
      asked = params;
      return text('found');
    });
    const turn = await t.turn('go');
    expect(turn.status).toBe('completed');
    expect(asked).toEqual({
      threadId: t.threadId,
      turnId: turn.id,
      callId: 'call_1',
      namespace: null,
      tool: 'lookup',
      arguments: { q: 'x' },
    });
    expect(t.items('dynamicToolCall')[0]).toMatchObject({
      id: 'call_1',
      status: 'completed',
      success: true,
      contentItems: [{ type: 'inputText', text: 'found' }],
    });
    expect(t.all('serverRequest/resolved')).toHaveLength(1);
  });

  it('[frontend.arguments] arguments that do not fit never reach the frontend', async () => {
    const t = await frontend({
      script: [[call('lookup', {}), call('lookup', { q: 1 }), call('lookup', { q: 'x', more: 1 })], { say: 'done' }],
    }).start({ dynamicTools: [lookup] });
    t.answers.set('item/tool/call', () => text('found'));
    expect((await t.turn('go')).status).toBe('completed');
    expect(t.methods()).not.toContain('item/tool/call');
  });

  it.each([
    ['an empty object', {}],
    ['null', null],
    ['a text', 'yes'],
    ['an unknown part', { contentItems: [{ type: 'text', text: 'x' }], success: true }],
    ['an error', { __error: { code: -32000, message: 'broke' } }],
    ['an unknown method', { __error: { code: -32601, message: 'no' } }],
  ])('[frontend.odd-answers] %s as an answer fails the call, never the turn', async (_, answer) => {
    const t = await frontend({ script: [call('lookup', { q: 'x' }), { say: 'done' }] }).start({ dynamicTools: [lookup] });
    t.answers.set('item/tool/call', () => answer);
    expect((await t.turn('go')).status).toBe('completed');
    expect(t.items('dynamicToolCall').map((item) => item.status)).toEqual(['failed']);
  });

  it('[frontend.silence] a frontend that never answers: the interrupt settles the call, a late answer changes nothing', async () => {
    const t = await frontend({ script: [call('lookup', { q: 'x' }), { say: 'next' }] }).start({ dynamicTools: [lookup] });
    const turnId = await t.startTurn('go');
    await t.seen('item/tool/call');
    const request = t.link.received.find((message) => message.method === 'item/tool/call');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    expect((await t.ended(turnId)).status).toBe('interrupted');
    t.link.send({ id: request?.id, result: text('late') });
    expect((await t.turn('again')).status).toBe('completed');
    expect(t.items('dynamicToolCall').map((item) => [item.status, item.contentItems])).toEqual([['failed', []]]);
  });

  it('[frontend.refused-specs] a tool that takes a built-in name is refused at thread/start, by name', async () => {
    const t = frontend();
    await t.result('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } });
    const answer = await t.request('thread/start', { cwd: t.cwd, dynamicTools: [{ ...lookup, name: 'exec_command' }] });
    expect(answer.error).toEqual({ code: -32602, message: 'dynamic tool name belongs to a built-in tool: exec_command' });
  });
});

describe('approvals', () => {
  const script = [call('exec_command', { cmd: 'touch made' }), { say: 'done' }];

  it.each([
    ['decline', { decision: 'decline' }, 'completed'],
    ['cancel', { decision: 'cancel' }, 'interrupted'],
    ['a word nobody offered', { decision: 'sure' }, 'completed'],
    ['nothing', {}, 'completed'],
    ['an error', { __error: { code: -32000, message: 'closed' } }, 'completed'],
    ['an unknown method', { __error: { code: -32601, message: 'no' } }, 'completed'],
  ])('[approval.denies] %s runs nothing and ends the item as declined', async (_, answer, status) => {
    const t = await frontend({ script }).start({ approvalPolicy: 'untrusted' });
    t.answers.set('item/commandExecution/requestApproval', () => answer);
    expect((await t.turn('go')).status).toBe(status);
    expect(t.items('commandExecution').map((item) => [item.status, item.exitCode])).toEqual([['declined', null]]);
    expect(t.all('serverRequest/resolved')).toHaveLength(1);
  });

  it('[approval.releases] one approval for the session releases the identical calls that wait, each with its notice', async () => {
    const same = call('exec_command', { cmd: 'echo x >> log' });
    const t = await frontend({ script: [[same, same, same], { say: 'done' }] }).start({ approvalPolicy: 'untrusted' });
    const turnId = await t.startTurn('go');
    const asks = () => t.link.received.filter((message) => message.method === 'item/commandExecution/requestApproval');
    await t.link.until(() => asks().length === 3, 'three requests');
    t.link.send({ id: asks()[1].id, result: { decision: 'acceptForSession' } });
    expect((await t.ended(turnId)).status).toBe('completed');
    expect(
      t
        .all('serverRequest/resolved')
        .map(({ requestId }) => requestId)
        .sort(),
    ).toEqual(
      asks()
        .map(({ id }) => id)
        .sort(),
    );
    expect(t.items('commandExecution').map((item) => item.status)).toEqual(['completed', 'completed', 'completed']);
  });

  it('[approval.leaves] a frontend that leaves while it is asked: nothing runs, and the daemon ends with status 0', async () => {
    const t = await frontend({ script }).start({ approvalPolicy: 'untrusted' });
    await t.startTurn('go');
    await t.seen('item/commandExecution/requestApproval');
    await t.leave();
    expect(t.exitCode).toBe(0);
    expect(t.items('commandExecution').map((item) => item.status)).toEqual(['declined']);
  });

  it('[approval.other-thread] what waits in one thread does not hold another', async () => {
    const t = await frontend({ script }).start({ approvalPolicy: 'untrusted' });
    await t.startTurn('go');
    await t.seen('item/commandExecution/requestApproval');
    const other = (await t.result('thread/start', { cwd: t.cwd, approvalPolicy: 'never' })).thread.id;
    const { turn } = await t.result('turn/start', { threadId: other, input: [{ type: 'text', text: 'go' }] });
    expect((await t.ended(turn.id)).status).toBe('completed');
  });
});
