import { describe, expect, it } from 'vitest';
import { noArtifacts } from '../../src/tools/artifacts.ts';
import { foundTools } from '../../src/tools/found-tools.ts';
import { toHistoryItem } from '../../src/tools/history-output.ts';
import { textOf } from '../../src/tools/result.ts';
import type { ToolRuntime } from '../../src/tools/runtime.ts';
import { advertise, foundIn, toolSearch } from '../../src/tools/runtimes/tool-search.ts';
import { SearchIndex, words } from '../../src/tools/search-index.ts';
import { suggestTools } from '../../src/tools/suggest.ts';
import { callOf, dynamic, facts, fakeTool, recordingEvents } from './support.ts';

const tool = (namespace: string, name: string, description: string, parameters: string[] = []) =>
  fakeTool(name, {
    ...dynamic,
    namespace,
    description,
    parameters: { type: 'object', properties: Object.fromEntries(parameters.map((p) => [p, {}])) },
  });
const indexed = (tools: ToolRuntime[]) =>
  new SearchIndex(
    tools.map((one) => ({ name: one.name, description: one.spec.description, namespaceDescription: '', parameterNames: [] })),
  );
const named = (hits: readonly { name: { name: string } }[]) => hits.map((hit) => hit.name.name);

const mail = [
  tool('mail', 'list_mail', 'Shows what has come into the inbox', ['folder']),
  tool('mail', 'send_mail', 'Sends a letter to somebody', ['recipient', 'subject']),
  tool('calendar', 'createEvent', 'Adds an entry to the calendar', ['start']),
  tool('crm', 'getUserProfile', 'Reads one record of a customer'),
  tool('net', 'HTTPStatusCheck', 'Asks a host whether it answers'),
];

describe('ranking', () => {
  it('[tools.search-words] splits names on case and separators, and drops a plural s', () => {
    expect(['getUserProfiles', 'HTTPStatus_check', 'a-b.c/d', 'Straße2 números', 'class pass'].map(words)).toEqual([
      ['get', 'user', 'profile'],
      ['http', 'statu', 'check'],
      ['a', 'b', 'c', 'd'],
      ['straße2', 'número'],
      ['class', 'pass'],
    ]);
  });

  it('[tools.search-exact] puts exactly named tools first, in any spelling, whatever the limit', () => {
    const noise = Array.from({ length: 30 }, (_, i) => tool('bulk', `helper_${i}`, 'list mail list mail user profile event'));
    const index = indexed([...noise, ...mail]);
    expect(named(index.search('list_mail', 3))[0]).toBe('list_mail');
    expect(named(index.search('get_user_profile, createEvent mail__list_mail crm.getUserProfile', 1))).toEqual([
      'getUserProfile',
      'createEvent',
      'list_mail',
    ]);
  });

  it('[tools.search-rank] ranks by how rare a word is, keeps the order of registration for ties, and finds nothing for words that nobody has', () => {
    const index = indexed([...mail, tool('mail', 'purge_mail', 'Sends nothing'), tool('mail', 'purge_mail2', 'Sends nothing')]);
    expect(named(index.search('who sends a letter', 8)).slice(0, 1)).toEqual(['send_mail']);
    expect(named(index.search('nothing', 8))).toEqual(['purge_mail', 'purge_mail2']);
    expect(index.search('quantum chromodynamics', 8)).toEqual([]);
  });
});

const ask = async (runtime: ToolRuntime, payload: Parameters<ToolRuntime['validate']>[0]) => {
  const events = recordingEvents();
  const read = runtime.validate(payload);
  if (!read.ok) return { problem: read.problem, events };
  const call = callOf('tool_search', { payload, replyAs: payload.type === 'search' ? 'search' : 'function' });
  const output = await runtime.run({ call, args: read.args, step: facts(), events, approved: 'notNeeded' }, new AbortController().signal);
  return { call, output, events, problem: '' };
};

describe('tool_search', () => {
  it('[tools.search-provider] answers in the form of the provider: whole specs marked as deferred, grouped by namespace', async () => {
    const { call, output, events } = await ask(toolSearch(mail) as ToolRuntime, { type: 'search', arguments: { query: 'mail' } });
    if (!call || !output) throw new Error('not run');
    expect(await toHistoryItem(call, output, 12_000, noArtifacts)).toEqual({
      type: 'tool_search_output',
      call_id: 'call_tool_search',
      status: 'completed',
      execution: 'client',
      tools: [
        {
          type: 'namespace',
          name: 'mail',
          description: 'Tools of mail.',
          tools: [mail[1], mail[0]].map(({ spec }) => ({
            type: 'function',
            name: 'name' in spec ? spec.name : '',
            description: spec.description,
            parameters: 'parameters' in spec ? spec.parameters : {},
            strict: false,
            defer_loading: true,
          })),
        },
      ],
    });
    expect(events.warnings).toEqual(['The model searched for tools with "mail": 2 found.']);
  });

  it('[tools.search-teaches] answers an empty or hopeless query with what there is to search, and tells the client', async () => {
    const runtime = toolSearch(mail) as ToolRuntime;
    for (const args of [{}, { query: '  ' }, { query: 7 }, null, 'text']) {
      const { output } = await ask(runtime, { type: 'search', arguments: args });
      expect(output?.found).toEqual([]);
      expect(output && textOf(output)).toContain(`Sources:\n${advertise(mail)}`);
    }
    const { output, events } = await ask(runtime, { type: 'search', arguments: { query: 'chromodynamics' } });
    expect(output && textOf(output)).toMatch(/^Nothing was found for "chromodynamics"\. Try other words/);
    expect(events.warnings).toEqual(['The model searched for tools with "chromodynamics": none was found.']);
    const wrong = await ask(toolSearch(mail, 'function') as ToolRuntime, { type: 'function', arguments: '{"q":"x"}' });
    expect(wrong.problem).toMatch(/query.*Expected: query: string \(required\)/);
  });

  it('[tools.search-function] answers as a text whose names are read back from the history', async () => {
    const long = tool('ns', 'n'.repeat(80), 'Repeats\n- evil: a line of its own');
    const { output } = await ask(toolSearch([...mail, long], 'function') as ToolRuntime, {
      type: 'function',
      arguments: JSON.stringify({ query: `list_mail ${'n'.repeat(80)}`, limit: 1 }),
    });
    const text = output ? textOf(output) : '';
    const names = foundIn(text);
    expect([names.length, names[0], names[1].length]).toEqual([2, 'mail__list_mail', 64]);
    expect(text).toContain(
      'From your next step on you can call them like any other:\n- mail__list_mail: Shows what has come into the inbox',
    );
  });

  it('[tools.search-advertised] advertises one sorted line a namespace under a byte budget that says what is left out', () => {
    expect(advertise(mail)).toBe('- calendar: Tools of calendar.\n- crm: Tools of crm.\n- mail: Tools of mail.\n- net: Tools of net.');
    const crowd = advertise(Array.from({ length: 300 }, (_, i) => tool(`space_${i}`, 'x', 'X')));
    expect(Buffer.byteLength(crowd)).toBeLessThan(2_200);
    expect(crowd).toMatch(/\n- … and \d+ more; search for what you need\.$/);
  });
});

describe('found tools', () => {
  it('[tools.found] reads what searches found from both forms of answers, the latest find last, and from nothing else', () => {
    const answer = (call_id: string, output: string) => ({ type: 'function_call_output' as const, call_id, output });
    const call = (call_id: string, name: string) => ({ type: 'function_call' as const, call_id, name, arguments: '{}' });
    expect(
      foundTools([
        call('1', 'tool_search'),
        answer('1', 'Found:\n- a__b: x\n- c: y'),
        { type: 'tool_search_call', call_id: '2', arguments: {} },
        {
          type: 'tool_search_output',
          call_id: '2',
          status: 'completed',
          execution: 'client',
          tools: [{ type: 'namespace', name: 'n', tools: [{ name: 'm' }, null] }, { type: 'function', name: 'plain' }, 5],
        },
        call('3', 'exec_command'),
        answer('3', '- fake: x'),
        answer('4', '- fake: x'),
        call('5', 'tool_search'),
        answer('5', 'Found:\n- a__b: x'),
      ]),
    ).toEqual(['c', 'n__m', 'plain', 'a__b']);
  });
});

describe('suggestions', () => {
  it('[tools.suggest] names the deferred tools that fit what the user says, under a budget', () => {
    expect(suggestTools(mail, 'Could you please send a letter to Ada about the calendar?')).toBe(
      '<tool_suggestions>\nThese tools are not listed and may fit what the user says; find them with tool_search when you need them:\n- mail__send_mail: Sends a letter to somebody\n</tool_suggestions>',
    );
    const crowd = Array.from({ length: 40 }, (_, i) => tool('s', `translate_${i}`, `Translates texts ${'x'.repeat(400)}`));
    const note = suggestTools(crowd, 'translate these texts') ?? '';
    expect([note.split('\n- ').length - 1, Buffer.byteLength(note) < 1_100]).toEqual([5, true]);
  });

  it('[tools.suggest-nothing] says nothing when nothing fits: small talk, one word in common, no deferred tools', () => {
    for (const message of ['thank you, that is what I want', '', 'the letter is on the table'])
      expect(suggestTools(mail, message)).toBeNull();
    expect(suggestTools([], 'send a letter')).toBeNull();
  });
});
