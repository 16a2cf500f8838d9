// Sub-agents: threads that work for another one. They are made, given more, waited for, ended and brought back; nothing of them is lost,
// nothing waits for ever, and none does what its parent might not.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentCall, agentIds, calling, outputsIn, says, Team } from './team.ts';

const spawn = (message: string, more = {}) => agentCall('spawn_agent', { message, ...more });
const wait = (targets: string[], more = {}) => agentCall('wait_agent', { targets, timeout_ms: 20_000, ...more });
const spawnAndWait = (step: number, body: any) =>
  step === 1 ? [spawn('TASK one')] : step === 2 ? [wait(agentIds(body))] : [says('root done')];
const never = new Promise(() => {});

describe('agents', () => {
  it('[agents.life] works, is closed, comes back with what it knew, and its thread can be read like any other', async () => {
    const t = await Team.open({
      root: (step, body) => {
        const [id] = agentIds(body);
        const plan = [
          () => [spawn('TASK one')],
          () => [wait([id])],
          () => [agentCall('close_agent', { id })],
          () => [agentCall('send_input', { target: id, message: 'more' })],
          () => [wait([id])],
          () => [agentCall('close_agent', { id })],
          () => [agentCall('resume_agent', { id })],
        ];
        return plan[step - 1]?.() ?? [says('root done')];
      },
      one: (step) => [says(`result ${step}`)],
    });
    expect((await t.turn()).status).toBe('completed');
    const [id] = agentIds(t.last('root'));
    const outputs = outputsIn(t.last('root')).map((text) => JSON.parse(text));
    expect(outputs).toEqual([
      { agent_id: id, nickname: expect.any(String) },
      { status: { [id]: { completed: 'result 1' } }, timed_out: false },
      { previous_status: { completed: 'result 1' } },
      { submission_id: expect.any(String) },
      { status: { [id]: { completed: 'result 2' } }, timed_out: false },
      { previous_status: { completed: 'result 2' } },
      { status: { completed: 'result 2' } },
    ]);
    const spoken = t.last('one').input.flatMap((item: any) => (item.type === 'message' ? item.content.map(({ text }: any) => text) : []));
    expect(spoken.filter((text: string) => ['TASK one', 'result 1', 'more'].includes(text))).toEqual(['TASK one', 'result 1', 'more']);
    expect(t.items().map(({ tool, status }) => [tool, status])).toEqual(
      ['spawnAgent', 'wait', 'closeAgent', 'sendInput', 'wait', 'closeAgent', 'resumeAgent'].map((tool) => [tool, 'completed']),
    );
    const { thread } = await t.frontend.result('thread/read', { threadId: id, includeTurns: true });
    expect([thread.parentThreadId, thread.turns.length, thread.cwd]).toEqual([t.frontend.threadId, 2, t.frontend.cwd]);
    expect(thread.agentNickname).toBe(outputs[0].nickname);
    const listed = async (params: object) => (await t.frontend.result('thread/list', params)).data.map((one: any) => one.id);
    expect(await listed({})).not.toContain(id);
    expect(await listed({ parentThreadId: t.frontend.threadId, sourceKinds: ['subAgentThreadSpawn'] })).toEqual([id]);
  });

  it('[agents.restart] a later daemon brings an agent back to the thread that it worked for, and to no other', async () => {
    const t = await Team.open({ root: spawnAndWait, one: () => [says('result')] });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    const { threadId } = t.frontend;
    await t.frontend.result('thread/archive', { threadId });
    expect((await t.frontend.result('thread/loaded/list', {})).data).toEqual([]);
    await t.frontend.result('thread/unarchive', { threadId });
    await t.frontend.result('thread/resume', { threadId });
    const other = (await t.frontend.result('thread/start', { cwd: t.frontend.cwd, model: 'gpt-5.5', modelProvider: 'local' })).thread.id;
    const ask = async (asker: string): Promise<string[]> => {
      const before = t.bodies.length;
      t.frontend.threadId = asker;
      const server = t.server.replies;
      const reply = server[0];
      let step = 0;
      const scripted: any = async (response: any, seen: any) => {
        server.push(reply);
        const { streams, sse } = await import('../model/sse-server.ts');
        const items = step++ === 0 ? [agentCall('resume_agent', { id })] : [says('fine')];
        t.bodies.push({ who: 'asked', body: seen.body });
        return streams(
          ...items.map((item) => sse({ type: 'response.output_item.done', output_index: 0, item })),
          sse({ type: 'response.completed', response: { id: 'r' } }),
        )(response, seen);
      };
      server.unshift(scripted, scripted);
      await t.turn('bring it back');
      return outputsIn(t.bodies.slice(before).findLast(({ who }) => who === 'asked')?.body as any).slice(-1);
    };
    expect(await ask(threadId)).toEqual([JSON.stringify({ status: { completed: 'result' } })]);
    expect((await ask(other))[0]).toContain(`There is no agent ${id} of this thread`);
  });

  it('[agents.limit] no more than the configuration allows are there at once; the model is told what to do', async () => {
    const t = await Team.open(
      {
        root: (step, body) => {
          if (step === 1) return [spawn('TASK one'), spawn('TASK two')];
          if (step === 2) return [agentCall('close_agent', { id: agentIds(body)[0] })];
          return step === 3 ? [spawn('TASK two')] : [says('done')];
        },
        one: () => ({ after: never, items: [] }),
        two: () => [says('two')],
      },
      { config: '[agents]\nmax_threads = 1\n' },
    );
    await t.turn();
    const outputs = outputsIn(t.last('root'));
    expect(outputs[1]).toContain('There are 1 agents, and 1 is the most. No agent was made. Close one');
    expect([outputs[2], JSON.parse(outputs[3]).agent_id]).toEqual(['{"previous_status":"running"}', expect.any(String)]);
    expect(
      t
        .items('spawnAgent')
        .map(({ status }) => status)
        .sort(),
    ).toEqual(['completed', 'completed', 'failed']);
  });

  it('[agents.depth] an agent has agents of its own only as deep as the configuration says', async () => {
    const offered = async (config: string) => {
      const t = await Team.open({ root: spawnAndWait, one: () => [says('result')] }, { config, start: { model: 'unlisted' } });
      await t.turn();
      return t.offered('one').some((name) => /spawn_agent/.test(name));
    };
    expect([await offered(''), await offered('[agents]\nmax_depth = 2\n')]).toEqual([false, true]);
  });

  it('[agents.off] without the feature there are none', async () => {
    const t = await Team.open(
      { root: () => [spawn('TASK one')] },
      { config: '[features]\nmulti_agent = false\n', start: { model: 'unlisted' } },
    );
    t.server.replies.splice(1); // the second answer never comes
    const turnId = await t.frontend.startTurn('ROOT go');
    await t.frontend.seen('warning');
    await t.frontend.result('turn/interrupt', { threadId: t.frontend.threadId, turnId });
    await t.frontend.ended(turnId);
    expect(t.offered('root').some((name) => /agent/.test(name))).toBe(false);
  });

  it('[agents.wait] a wait ends at its limit with nothing, and at once for an agent that is none', async () => {
    const t = await Team.open({
      root: (step, body) => {
        if (step === 1) return [spawn('TASK one')];
        if (step === 2) return [wait(agentIds(body), { timeout_ms: 1 }), wait(['no-agent'])];
        return step === 3 ? [agentCall('send_input', { target: 'no-agent', message: 'x' })] : [says('done')];
      },
      one: () => ({ after: never, items: [] }),
    });
    await t.turn();
    const outputs = outputsIn(t.last('root'));
    expect(outputs.slice(1, 3)).toEqual(['{"status":{},"timed_out":true}', '{"status":{"no-agent":"not_found"},"timed_out":false}']);
    expect(outputs[3]).toContain('There is no agent no-agent of this thread. Nothing was done.');
  });

  it('[agents.news] an end that nobody waited for is told once; one that was waited for is not told again', async () => {
    const t = await Team.open({
      root: (step, body) => {
        if (step === 1) return [spawn('TASK one'), spawn('TASK two')];
        return step === 2 ? [wait([agentIds(body)[0]])] : [says(`root ${step}`)];
      },
      one: () => [says('one is done')],
      two: () => ({ error: 'two is broken' }),
    });
    await t.turn();
    const ends = t.frontend.all('turn/completed').length;
    await t.frontend.link.until(() => t.frontend.all('turn/completed').length >= Math.max(3, ends), 'the ends of all');
    await t.turn('ROOT and?');
    await t.turn('ROOT and?');
    const news = t.last('root').input.flatMap((item: any) => (item.role === 'user' ? item.content.map(({ text }: any) => text) : []));
    const told = news.filter((text: string) => text.startsWith('<subagent_notification>'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/"status":\{"errored":"[^"]*two is broken/);
  });

  it('[agents.rights] works under the rights of its parent; what it must ask for names both threads', async () => {
    const t = await Team.open(
      {
        root: spawnAndWait,
        one: (step) =>
          step === 1 ? [calling('exec_command', { cmd: 'touch made', sandbox_permissions: 'require_escalated' })] : [says('result')],
      },
      { start: { sandbox: 'read-only', approvalPolicy: 'on-request' } },
    );
    t.frontend.answers.set('item/commandExecution/requestApproval', () => ({ decision: 'decline' }));
    await t.turn();
    const asked = t.frontend.link.received.find(({ method }) => method === 'item/commandExecution/requestApproval')?.params as any;
    const [id] = agentIds(t.last('root'));
    expect([asked.threadId, asked.rootThreadId]).toEqual([id, t.frontend.threadId]);
    expect(fs.existsSync(path.join(t.frontend.cwd, 'made'))).toBe(false);
  });

  it('[agents.context] with fork_context it begins with the conversation so far, without the call that makes it', async () => {
    const t = await Team.open({
      root: (step, body) => {
        if (step === 1) return [says('the secret is 42')];
        return step === 2 ? [spawn('TASK one', { fork_context: true })] : step === 3 ? [wait(agentIds(body))] : [says('done')];
      },
    });
    // With the conversation of the root the agent looks like it to this model.
    await t.turn('ROOT remember');
    const answered = t.bodies.length;
    await t.turn('ROOT use it');
    const forked = t.bodies
      .slice(answered)
      .find(({ body }) => JSON.stringify(body.input).includes('TASK one') && !outputsIn(body).some((o) => o.includes('agent_id')))?.body;
    const texts = JSON.stringify(forked?.input);
    expect([texts.includes('the secret is 42'), texts.includes('TASK one')]).toEqual([true, true]);
    const open = new Map<string, number>();
    for (const item of forked?.input ?? []) {
      if (item.type === 'function_call') open.set(item.call_id, 1);
      if (item.type === 'function_call_output') open.set(item.call_id, (open.get(item.call_id) ?? 0) - 1);
    }
    expect([...open.values()].every((count) => count === 0)).toBe(true);
    expect(texts).not.toContain('spawn_agent');
  });

  it('[agents.plan-mode] an agent of a thread in Plan mode is told to change nothing', async () => {
    const t = await Team.open({ root: spawnAndWait, one: () => [says('result')] });
    const mode = { mode: 'plan', settings: { model: 'gpt-5.5', reasoning_effort: null, developer_instructions: null } };
    await t.frontend.turn('ROOT go', { collaborationMode: mode });
    expect(JSON.stringify(t.last('one').input)).toContain('is in Plan mode: read and search as much as you need, and change nothing.');
  });

  it('[agents.settings] takes another model where it is told to; one that cannot be is told, and nothing is made', async () => {
    const t = await Team.open({
      root: (step, body) => {
        if (step === 1)
          return [spawn('TASK one', { model: 'gpt-5.4', reasoning_effort: 'low' }), spawn('TASK two', { reasoning_effort: 'enormous' })];
        return step === 2 ? [wait(agentIds(body))] : [says('done')];
      },
      one: () => [says('one')],
    });
    await t.turn();
    expect([t.last('one').model, t.last('one').reasoning?.effort]).toEqual(['gpt-5.4', 'low']);
    expect(outputsIn(t.last('root'))[1]).toMatch(/No agent was made: .*enormous/);
    expect(t.bodies.some(({ who }) => who === 'two')).toBe(false);
  });

  it('[agents.put-away] go with the thread that they work for, their work ended', async () => {
    const t = await Team.open({
      root: (step) => (step === 1 ? [spawn('TASK one')] : [says('done')]),
      one: () => ({ after: never, items: [] }),
    });
    await t.turn();
    const [id] = agentIds(t.last('root'));
    await t.frontend.result('thread/archive', { threadId: t.frontend.threadId });
    expect((await t.frontend.result('thread/loaded/list', {})).data).toEqual([]);
    await t.frontend.seen('thread/closed', ({ threadId }) => threadId === id);
    const { thread } = await t.frontend.result('thread/read', { threadId: id, includeTurns: true });
    expect(thread.turns.map(({ status }: any) => status)).toEqual(['interrupted']);
  });

  it('[agents.hooks] SubagentStart tells the agent something, SubagentStop sends it on; Stop is for the root', async () => {
    const log = (name: string) => `echo ${name} >> "$HOME/hooks.log"`;
    const hook = (event: string, command: string) =>
      `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${JSON.stringify(command)}\n`;
    const again = `if [ ! -e "$HOME/again" ]; then touch "$HOME/again"; echo '{"decision":"block","reason":"check it once more"}'; fi`;
    const config = [
      hook('SubagentStart', `echo '{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"be brief"}}'`),
      hook('SubagentStop', `${log('subagentStop')}; ${again}`),
      hook('Stop', log('stop')),
    ].join('');
    const t = await Team.open({ root: spawnAndWait, one: (step) => [says(`result ${step}`)] }, { config });
    await t.turn();
    const texts = JSON.stringify(t.last('one').input);
    expect([texts.includes('be brief'), texts.includes('check it once more')]).toEqual([true, true]);
    expect(outputsIn(t.last('root')).at(-1)).toContain('result 2');
    expect(
      fs
        .readFileSync(path.join(path.dirname(t.frontend.home), 'hooks.log'), 'utf8')
        .trim()
        .split('\n'),
    ).toEqual(['subagentStop', 'subagentStop', 'stop']);
  });
});
