// Hard cases of agents: agents of agents, clients that come and go, ends that nobody waited for, and the limit.
import { describe, expect, it } from 'vitest';
import { sse, streams } from '../model/sse-server.ts';
import { tick } from '../wire/linked.ts';
import {
  agentCall,
  agentIds,
  asked,
  asking,
  calling,
  DEEP,
  following,
  guest,
  type Item,
  later,
  loaded,
  never,
  news,
  ONE,
  outputsIn,
  PLAN,
  SOON,
  says,
  spawn,
  spawnAndWait,
  Team,
  wait,
} from './team.ts';

describe('agents of agents', () => {
  it('[agents.deep-interrupt] an interrupt ends all below, also where what is between has ended', async () => {
    const t = await Team.open(
      {
        root: following(
          () => [spawn('TASK one')],
          (ids) => [wait(ids)],
          () => ({ after: never, items: [] }),
        ),
        one: (step) => (step === 1 ? [spawn('TASK two')] : [says('one is done')]),
        two: () => ({ after: never, items: [] }),
      },
      { config: DEEP },
    );
    const turnId = await t.frontend.startTurn('ROOT go');
    await asked(t, 'root', 3);
    const [two] = agentIds(t.last('one'));
    await t.frontend.result('turn/interrupt', { threadId: t.frontend.threadId, turnId });
    const end = await t.frontend.seen('turn/completed', ({ threadId }) => threadId === two);
    expect(end.params.turn.status).toBe('interrupted');
  });

  it('[agents.deep-ask] a client that resumes the root is asked by all below', async () => {
    const t = await Team.open(
      { root: spawnAndWait('one'), one: spawnAndWait('two'), two: (step) => (step === 1 ? [asking] : [says('two')]) },
      { config: DEEP, start: { sandbox: 'read-only', approvalPolicy: 'on-request' } },
    );
    await t.frontend.startTurn('ROOT go');
    await t.frontend.seen('item/commandExecution/requestApproval');
    const { link, ask } = await guest(t);
    await ask('thread/resume', { threadId: t.frontend.threadId, excludeTurns: true });
    await link.until(() => link.received.some(({ method }) => method === 'item/commandExecution/requestApproval'), 'the request');
  });
});

describe('agents and idle threads', () => {
  it('[agents.idle-deep] a parent is held by an agent of an agent at work', async () => {
    const t = await Team.open(
      {
        root: spawnAndWait('one'),
        one: (step) => (step === 1 ? [spawn('TASK two')] : [says('one')]),
        two: () => ({ after: never, items: [] }),
      },
      { config: SOON + DEEP },
    );
    await t.turn();
    const [one] = agentIds(t.last('root'));
    const [two] = agentIds(t.last('one'));
    for (const threadId of [two, one, t.frontend.threadId]) await t.frontend.result('thread/unsubscribe', { threadId });
    await tick(1_800);
    expect(await loaded(t)).toContain(two);
  });

  it('[agents.idle-heard] and by a client that listens to the agent alone, or a command that the agent left running', async () => {
    const heard = await Team.open({ root: spawnAndWait('one'), one: () => [says('one')] }, { config: SOON });
    const running = await Team.open(
      {
        root: spawnAndWait('one'),
        one: (step) => (step === 1 ? [calling('exec_command', { cmd: 'sleep 30', yield_time_ms: 300 })] : [says('left running')]),
      },
      { config: SOON },
    );
    for (const t of [heard, running]) await t.turn();
    const agentOf = (t: Team): string => agentIds(t.last('root'))[0];
    for (const t of [heard, running]) await t.frontend.result('thread/unsubscribe', { threadId: t.frontend.threadId });
    await running.frontend.result('thread/unsubscribe', { threadId: agentOf(running) });
    await tick(1_800);
    for (const t of [heard, running]) expect(await loaded(t)).toContain(agentOf(t));
  });

  it('[agents.news-kept] an end that came while the parent was idle is told when the parent is loaded again', async () => {
    const t = await Team.open(
      {
        root: (step) => (step === 1 ? [spawn('TASK one')] : [says('done')]),
        one: () => ({ after: tick(300), items: [says('the result')] }),
      },
      { config: SOON },
    );
    await t.turn();
    const [id] = agentIds(t.last('root'));
    await t.frontend.seen('turn/completed', ({ threadId }) => threadId === id);
    for (const threadId of [id, t.frontend.threadId]) await t.frontend.result('thread/unsubscribe', { threadId });
    await t.frontend.seen('thread/closed', ({ threadId }) => threadId === t.frontend.threadId);
    await t.frontend.result('thread/resume', { threadId: t.frontend.threadId });
    await t.turn('ROOT and?');
    expect(news(t.last('root'))).toEqual([expect.stringContaining('the result')]);
  });

  it('[agents.left] nobody listens to agents that went with their parent', async () => {
    const t = await Team.open({ root: spawnAndWait('one'), one: () => [says('one')] });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    await t.frontend.result('thread/archive', { threadId: t.frontend.threadId });
    const { link, ask } = await guest(t);
    await ask('thread/resume', { threadId: id, excludeTurns: true });
    const before = t.frontend.link.received.length;
    await ask('turn/start', { threadId: id, input: [{ type: 'text', text: 'TASK one' }] });
    await link.until(() => link.received.some(({ method }) => method === 'turn/completed'), 'the end');
    await tick(50);
    expect(t.frontend.link.received.slice(before).map(({ method }) => method)).not.toContain('turn/completed');
  });
});

describe('what a parent is told', () => {
  it('[agents.news-user] of an agent that the user ended', async () => {
    const t = await Team.open({
      root: (step) => (step === 1 ? [spawn('TASK one')] : [says('done')]),
      one: () => ({ after: never, items: [] }),
    });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    await asked(t, 'one');
    await t.frontend.result('turn/interrupt', { threadId: id, turnId: '' });
    await t.frontend.seen('turn/completed', ({ threadId }) => threadId === id);
    await t.turn('ROOT and?');
    expect(news(t.last('root'))).toEqual([expect.stringContaining('interrupted')]);
  });

  it('[agents.news-command] of its result, although the user ran a command in it meanwhile', async () => {
    const t = await Team.open({
      root: (step) => (step === 1 ? [spawn('TASK one')] : [says('done')]),
      one: () => ({ after: tick(200), items: [says('the result')] }),
    });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    await t.frontend.seen('turn/completed', ({ threadId }) => threadId === id);
    const before = t.frontend.all('turn/completed').length;
    await t.frontend.result('thread/shellCommand', { threadId: id, command: 'true' });
    await t.frontend.link.until(() => t.frontend.all('turn/completed').length > before, 'the end of the command');
    await t.turn('ROOT and?');
    expect(news(t.last('root'))).toEqual([expect.stringContaining('the result')]);
  });

  it('[agents.reverted] of nothing that turns made which are gone: their agents are gone, too', async () => {
    const t = await Team.open({
      root: (step) => (step === 1 ? [spawn('TASK one')] : [says('done')]),
      one: () => ({ after: tick(500), items: [says('the result')] }),
    });
    const { id: turnId } = await t.turn();
    const [id] = agentIds(t.last('root'));
    await t.frontend.result('thread/revert', { threadId: t.frontend.threadId, beforeTurnId: turnId });
    await t.frontend.seen('thread/closed', ({ threadId }) => threadId === id);
    await t.turn('ROOT again');
    expect(news(t.last('root'))).toEqual([]);
  });

  it('[agents.wait-later] how agents ended that went with their parent, when it is loaded again and waits for them', async () => {
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one'), spawn('TASK two')],
        ([one]) => [wait([one])],
        () => [says('first')],
        ([one, two]) => [wait([one]), wait([two])],
      ),
      one: () => [says('the result')],
      two: () => ({ after: never, items: [] }),
    });
    await t.turn();
    const { threadId } = t.frontend;
    await t.frontend.result('thread/archive', { threadId });
    await t.frontend.result('thread/unarchive', { threadId });
    await t.frontend.result('thread/resume', { threadId });
    await t.turn('ROOT and?');
    const [one, two] = agentIds(t.last('root'));
    expect(
      outputsIn(t.last('root'))
        .slice(-2)
        .map((text) => JSON.parse(text).status),
    ).toEqual([{ [one]: { completed: 'the result' } }, { [two]: 'interrupted' }]);
  });

  it('[agents.failed-back] how an agent failed that is brought back', async () => {
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one')],
        (ids) => [wait(ids)],
        ([id]) => [agentCall('close_agent', { id })],
        ([id]) => [agentCall('resume_agent', { id })],
      ),
      one: () => ({ error: 'broken' }),
    });
    await t.turn();
    expect(outputsIn(t.last('root')).at(-1)).toMatch(/errored.*broken/);
  });

  it('[agents.wait-interrupted] that a wait was ended, not that its time was over', async () => {
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one')],
        (ids) => [wait(ids), wait(ids)],
      ),
      one: () => ({ after: never, items: [] }),
    });
    const turnId = await t.frontend.startTurn('ROOT go');
    await t.frontend.seen('item/started', ({ item }) => item.tool === 'wait');
    await t.frontend.result('turn/interrupt', { threadId: t.frontend.threadId, turnId });
    await t.frontend.ended(turnId);
    await t.turn('ROOT again');
    const calls = t.last('root').input.filter(({ type }: Item) => type === 'function_call');
    const outputs = outputsIn(t.last('root'));
    expect([outputs.length, outputs.join().includes('timed_out')]).toEqual([calls.length, false]);
    expect(t.frontend.all('item/completed').length).toBe(t.frontend.all('item/started').length);
  });

  it('[agents.refusals] why an agent cannot be used, in words that say what to do', async () => {
    const archived = later();
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one')],
        (ids) => [wait(ids)],
        ([id]) => ({
          after: archived.promise,
          items: [agentCall('resume_agent', { id }), agentCall('send_input', { target: id, message: 'x' })],
        }),
      ),
      one: () => [says('one')],
    });
    const turn = t.turn();
    await asked(t, 'root', 3);
    await t.frontend.result('thread/archive', { threadId: agentIds(t.last('root'))[0] });
    archived.now();
    await turn;
    for (const output of outputsIn(t.last('root')).slice(2)) expect(output).toMatch(/^Nothing was done: thread .* is archived/);
  });
});

describe('the number of agents', () => {
  it('[agents.limit-back] holds for those that are brought back, also at the same time', async () => {
    const t = await Team.open(
      {
        root: following(
          () => [spawn('TASK one')],
          ([id]) => [agentCall('close_agent', { id })],
          () => [spawn('TASK two')],
          ([, id]) => [agentCall('close_agent', { id })],
          (ids) => ids.map((id) => agentCall('resume_agent', { id })),
        ),
      },
      { config: ONE },
    );
    await t.turn();
    expect(await loaded(t)).toHaveLength(2);
  });

  it('[agents.limit-client] and for one that a client has opened', async () => {
    const opened = later();
    const t = await Team.open(
      {
        root: following(
          () => [spawn('TASK one')],
          (ids) => [wait(ids)],
          ([id]) => [agentCall('close_agent', { id })],
          ([id]) => ({ after: opened.promise, items: [agentCall('send_input', { target: id, message: 'x' }), spawn('TASK two')] }),
        ),
        one: () => [says('one')],
        two: () => [says('two')],
      },
      { config: ONE },
    );
    const turn = t.turn();
    await asked(t, 'root', 4);
    await t.frontend.result('thread/resume', { threadId: agentIds(t.last('root'))[0] });
    opened.now();
    await turn;
    expect(await loaded(t)).toHaveLength(2);
  });

  it('[agents.back-once] two calls that bring one agent back bring it back once', async () => {
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one')],
        (ids) => [wait(ids)],
        ([id]) => [agentCall('close_agent', { id })],
        ([target]) => ['a', 'b'].map((message) => agentCall('send_input', { target, message })),
        (ids) => [wait(ids)],
      ),
      one: () => [says('one')],
    });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    expect(t.frontend.all('thread/started').filter(({ thread }) => thread.id === id)).toHaveLength(2);
  });
});

describe('a plan', () => {
  it('[plan.cut] whose stream is cut shows all that came, what might have become a tag as well', async () => {
    const t = await Team.open({}, { config: '' });
    const message = { type: 'message', role: 'assistant', id: 'm1', content: [] };
    const begin = [
      sse({ type: 'response.created', response: { id: 'r' } }),
      sse({ type: 'response.output_item.added', output_index: 0, item: message }),
    ];
    const delta = (text: string) =>
      sse({ type: 'response.output_text.delta', item_id: 'm1', output_index: 0, content_index: 0, delta: text });
    t.server.replies.unshift(streams(...begin, delta('Before\n<propos')));
    await t.frontend.turn('plan', { collaborationMode: PLAN });
    t.server.replies.unshift(streams(...begin, delta('<proposed_plan>\nstep\n</prop')));
    await t.frontend.turn('plan', { collaborationMode: PLAN });
    expect(t.frontend.items('agentMessage').map(({ text }) => text)).toEqual(['Before\n<propos', '']);
    expect(t.frontend.items('plan').map(({ text }) => text)).toEqual(['step\n</prop']);
  });
});
