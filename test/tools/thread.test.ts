// The tool system as a thread has it: a daemon in this process, a scripted model, and what the rollout keeps of it.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import { call, type FrontendOptions, TestFrontend } from '../spine/client.ts';

const open: TestFrontend[] = [];
const frontend = (options?: FrontendOptions): TestFrontend => {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false };
const tool = (name: string, more: Record<string, unknown> = {}) => ({
  type: 'function',
  name,
  description: `Does ${name}.`,
  inputSchema: schema,
  ...more,
});
const space = (name: string, tools: unknown[]) => ({ type: 'namespace', name, description: `Tools of ${name}.`, tools });
const reply = (text: string) => ({ contentItems: [{ type: 'inputText', text }], success: true });

/** What the model has read and said, from the record on disk. */
async function historyOf(t: TestFrontend): Promise<ResponseItem[]> {
  const { thread } = await t.result('thread/read', { threadId: t.threadId });
  const lines = fs
    .readFileSync(thread.path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.filter((line) => line.type === 'history' || line.type === 'result').map((line) => line.item);
}

const outputs = async (t: TestFrontend): Promise<string[]> =>
  (await historyOf(t)).flatMap((item) => (item.type === 'function_call_output' && typeof item.output === 'string' ? [item.output] : []));
const developerTexts = async (t: TestFrontend): Promise<string[]> =>
  (await historyOf(t)).flatMap((item) =>
    item.type === 'message' && item.role === 'developer' ? item.content.map((part) => ('text' in part ? part.text : '')) : [],
  );
const warnings = (t: TestFrontend): string[] => t.all('warning').map(({ message }) => message);

describe('built-ins of a thread', () => {
  it('[tools.update-plan] tells the client the plan and keeps it in history by its call', async () => {
    const plan = [
      { step: 'read', status: 'completed' },
      { step: 'write', status: 'in_progress' },
    ];
    const t = await frontend({ script: [call('update_plan', { plan }, 'p'), { say: 'done' }] }).start();
    await t.turn('go');
    expect(t.all('turn/plan/updated').map((update) => update.plan)).toEqual([
      [
        { step: 'read', status: 'completed' },
        { step: 'write', status: 'inProgress' },
      ],
    ]);
    expect((await historyOf(t)).find((item) => item.type === 'function_call')).toMatchObject({
      name: 'update_plan',
      arguments: JSON.stringify({ plan }),
    });
    expect(await outputs(t)).toEqual(['Plan updated']);
  });

  it('[tools.current-time] tells the time with its zone where it is switched on', async () => {
    const t = await frontend({ script: [call('current_time', {}), { say: 'done' }], config: 'tools = { current_time = true }' }).start();
    await t.turn('go');
    const [text] = await outputs(t);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \(.+, local \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)$/);
    expect(Math.abs(Date.parse(text.slice(0, 24)) - Date.now())).toBeLessThan(60_000);
  });

  it('[tools.context] tells the tokens that are left, and begins a new window, where these are switched on', async () => {
    const t = await frontend({
      script: [
        [{ ...call('get_context_remaining', {}) }, { usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1000 } }],
        call('get_context_remaining', {}),
        call('new_context', {}),
        { say: 'fresh' },
      ] as never,
      config: 'features = { token_budget = true }',
    }).start();
    await t.turn('go');
    expect((await outputs(t))[1]).toBe('271000 of 272000 tokens are left (1000 used).');
    expect(t.items('contextCompaction').length).toBe(1);
    expect(t.items('agentMessage').map((item) => item.text)).toEqual(['fresh']);
  });

  it('[tools.trace-switch] traces into a file of the thread where that is switched on, and nowhere else', async () => {
    const script = [call('update_plan', { plan: [] }, 'p'), call('nothing_here', {}, 'n'), { say: 'done' }];
    const on = await frontend({ script, config: 'features = { trace = true }' }).start();
    await on.turn('go');
    const off = await frontend({ script }).start();
    await off.turn('go');
    await Promise.all([on.leave(), off.leave()]);
    const lines = fs
      .readFileSync(path.join(on.home, 'traces', `${on.threadId}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ callId, tool: name, success, category }) => [callId, name, success, category])).toEqual([
      ['p', 'update_plan', true, undefined],
      ['n', 'nothing_here', false, 'not_found'],
    ]);
    expect(Object.keys(lines[0].waits).sort()).toEqual(['approvalMs', 'gateMs', 'hooksMs', 'readyMs']);
    expect(fs.existsSync(path.join(off.home, 'traces'))).toBe(false);
  });
});

describe('tools that change', () => {
  it('[tools.removed-mid-thread] answers a call of a tool that the frontend took away with just that', async () => {
    const t = frontend({ script: [call('old', { q: 'x' }), { say: 'one' }, call('old', { q: 'y' }), { say: 'two' }] });
    t.answers.set('item/tool/call', () => reply('ran'));
    await t.start({ dynamicTools: [tool('old')] });
    await t.turn('first');
    await t.result('thread/resume', { threadId: t.threadId, excludeTurns: true, dynamicTools: [tool('fresh')] });
    await t.turn('second');
    expect((await outputs(t))[1]).toMatch(
      /^unsupported call: old\. The frontend removed this tool: it cannot be called any more, and nothing was run\./,
    );
    expect(warnings(t)).toEqual(['The model called a tool that does not exist: old.']);
    expect(t.items('dynamicToolCall').length).toBe(1);
  });

  it('[tools.added-mid-thread] offers tools that a settings update brought from the next step on', async () => {
    const t = frontend({ script: [call('late', { q: 'x' }), { say: 'one' }, call('late', { q: 'y' }), { say: 'two' }] });
    t.answers.set('item/tool/call', () => reply('ran'));
    await t.start();
    await t.turn('first');
    await t.result('thread/settings/update', { threadId: t.threadId, dynamicTools: [tool('late')] });
    await t.turn('second');
    expect(await outputs(t)).toEqual([expect.stringMatching(/^unsupported call: late\. There is no tool of that name/), 'ran']);
  });

  it('[tools.odd-schema] takes a dynamic tool with an odd schema, checks calls against it as it came, and names the one that nobody can take', async () => {
    const odd = {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    };
    const t = frontend({
      script: [[call('odd', { b: 'x' }, '1'), call('odd', { a: 1 }, '2'), call('hopeless', {}, '3')], { say: 'done' }] as never,
    });
    t.answers.set('item/tool/call', () => reply('ran'));
    await t.start({
      dynamicTools: [tool('odd', { inputSchema: odd }), tool('hopeless', { inputSchema: { type: 'object', $ref: '#/$defs/gone' } })],
    });
    await t.turn('go');
    const history = await historyOf(t);
    const [good, bad, hopeless] = ['1', '2', '3'].map((id) => {
      const item = history.find((one) => one.type === 'function_call_output' && one.call_id === id);
      return item?.type === 'function_call_output' && typeof item.output === 'string' ? item.output : '';
    });
    expect([good, bad.startsWith('invalid arguments:'), hopeless.startsWith('unsupported call: hopeless.')]).toEqual(['ran', true, true]);
    expect(warnings(t)[0]).toBe(
      'The tool hopeless of the frontend (a dynamic tool) was left out: its input schema refers to "#/$defs/gone", which leads nowhere.',
    );
  });
});

describe('search in a thread', () => {
  const crowd = [
    space(
      'bulk',
      Array.from({ length: 60 }, (_, i) => tool(`bulk_${i}`)),
    ),
    space('mail', [tool('send_mail', { deferLoading: true, description: 'Sends a letter to somebody.' })]),
  ];

  it('[tools.search-emulated] searches by a plain function where the provider has no search of its own, and lists what it found', async () => {
    const t = frontend({
      script: [
        call('tool_search', { query: 'send a letter', limit: 1 }),
        { call: 'send_mail', namespace: 'mail', args: { q: 'hi' } },
        call('tool_search', { query: 'chromodynamics' }),
        { say: 'done' },
      ],
      config: 'model = "small"\n[models.small]\ntool_search = false\nmax_tools = 40\n',
    });
    t.answers.set('item/tool/call', ({ namespace, tool: name }) => reply(`${namespace}/${name} ran`));
    await t.start({ dynamicTools: crowd });
    await t.turn('go');
    const [found, ran, nothing] = await outputs(t);
    expect(found).toBe(
      'Found one tool. From your next step on you can call it like any other:\n- mail__send_mail: Sends a letter to somebody.',
    );
    expect(ran).toBe('mail/send_mail ran');
    expect(nothing).toMatch(
      /^Nothing was found for "chromodynamics"\. Try other words for what the tool should do\. Sources:\n- bulk: Tools of bulk\.\n- mail: Tools of mail\.$/,
    );
    expect(warnings(t)).toEqual([
      expect.stringMatching(/^The model takes about 40 tools: \d+ tools are found by search instead of being listed\.$/),
      'The model searched for tools with "send a letter": 1 found.',
      'The model searched for tools with "chromodynamics": none was found.',
    ]);
  });

  it('[tools.search-note] says beside an empty answer in the provider’s form what there is to search', async () => {
    const t = await frontend({ script: [{ search: 'chromodynamics' }, { say: 'done' }] }).start({ dynamicTools: crowd });
    await t.turn('go');
    const history = await historyOf(t);
    const at = history.findIndex((item) => item.type === 'tool_search_output');
    expect(history[at]).toMatchObject({ tools: [] });
    expect((await developerTexts(t)).at(-1)).toEqual(
      expect.stringMatching(
        /^Nothing was found for "chromodynamics"\. Try other words for what the tool should do\. Sources:\n- mail: Tools of mail\.\n- multi_agent_v1: /,
      ),
    );
  });

  it('[tools.suggest-switch] names fitting tools before the user message where that is switched on', async () => {
    const note = /<tool_suggestions>[\s\S]*- mail__send_mail: Sends a letter to somebody\./;
    const said = async (config: string) => {
      const t = await frontend({ script: [{ say: 'done' }], config }).start({ dynamicTools: crowd });
      await t.turn('please send a letter to Ada');
      const history = await historyOf(t);
      const roles = history.map((item) =>
        item.type === 'message' && item.content.some((part) => 'text' in part && note.test(part.text))
          ? 'note'
          : item.type === 'message'
            ? item.role
            : item.type,
      );
      return roles.slice(roles.indexOf('note')).slice(0, 2);
    };
    expect([await said('tools = { suggest = true }'), (await said('')).includes('note')]).toEqual([['note', 'user'], false]);
  });
});
