import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerWithDefaults } from '../../src/model/provider.ts';
import { ScriptedClient } from '../../src/model/scripted.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import { facts, request, run } from './sse-server.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'scripted-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

let files = 0;
const play = (script: unknown, name = `s${++files}.json`) => {
  const file = path.join(dir, name);
  writeFileSync(file, typeof script === 'string' ? script : JSON.stringify(script));
  return {
    file,
    client: new ScriptedClient(providerWithDefaults({ id: 's', wireApi: 'scripted', script: file, streamIdleTimeoutMs: 150 })),
  };
};
const user = (text: string): ResponseItem => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const said = (outcome: Awaited<ReturnType<typeof run>>) =>
  outcome.events.flatMap((event) => (event.type === 'textDelta' ? [event.delta] : [])).join('');

describe('playing', () => {
  it('[model.scripted.parts] every part becomes the events a provider would stream', async () => {
    const item = { type: 'message', role: 'assistant', id: 'raw', content: [] };
    const { client } = play([
      [
        { think: 'Hm.' },
        { say: 'Hello 12345🚀', phase: 'commentary' },
        { call: 'look', namespace: 'crm', args: { a: 1 }, id: 'c1' },
        { custom: 'apply_patch', input: 'patch' },
        { search: 'mail', limit: 2 },
        { item },
        { usage: { inputTokens: 7, outputTokens: 1 } },
      ],
    ]);
    const { events, error } = await run(client);
    expect(error).toBeUndefined();
    const message = {
      type: 'message',
      role: 'assistant',
      id: 'msg_s1_2',
      content: [{ type: 'output_text', text: 'Hello 12345🚀' }],
      phase: 'commentary',
    };
    const reasoning = { type: 'reasoning', id: 'rs_s1_1', summary: [{ type: 'summary_text', text: 'Hm.' }], issuer: 'scripted:s' };
    const call = { type: 'function_call', id: 'fc_s1_3', call_id: 'c1', name: 'look', namespace: 'crm', arguments: '{"a":1}' };
    const custom = { type: 'custom_tool_call', id: 'ctc_s1_4', call_id: 'call_s1_4', name: 'apply_patch', input: 'patch' };
    const search = {
      type: 'tool_search_call',
      id: 'tsc_s1_5',
      call_id: 'call_s1_5',
      execution: 'client',
      arguments: { query: 'mail', limit: 2 },
    };
    expect(events).toEqual([
      { type: 'created', responseId: 'resp_s1_0' },
      { type: 'itemAdded', index: 0, item: { ...reasoning, summary: [] } },
      { type: 'reasoningPartAdded', itemId: 'rs_s1_1', summaryIndex: 0 },
      { type: 'reasoningSummaryDelta', itemId: 'rs_s1_1', summaryIndex: 0, delta: 'Hm.' },
      { type: 'itemDone', index: 0, item: reasoning },
      { type: 'itemAdded', index: 1, item: { ...message, content: [] } },
      { type: 'textDelta', itemId: 'msg_s1_2', delta: 'Hello 12' },
      { type: 'textDelta', itemId: 'msg_s1_2', delta: '345🚀' },
      { type: 'itemDone', index: 1, item: message },
      { type: 'itemAdded', index: 2, item: { ...call, arguments: '' } },
      { type: 'argumentsDelta', itemId: 'fc_s1_3', delta: '{"a":1}' },
      { type: 'itemDone', index: 2, item: call },
      { type: 'itemAdded', index: 3, item: { ...custom, input: '' } },
      { type: 'argumentsDelta', itemId: 'ctc_s1_4', callId: 'call_s1_4', delta: 'patch' },
      { type: 'itemDone', index: 3, item: custom },
      { type: 'itemAdded', index: 4, item: search },
      { type: 'itemDone', index: 4, item: search },
      { type: 'itemAdded', index: 5, item },
      { type: 'itemDone', index: 5, item },
      {
        type: 'completed',
        responseId: 'resp_s1_6',
        usage: {
          inputTokens: 7,
          cachedInputTokens: 0,
          cacheWriteInputTokens: 0,
          outputTokens: 1,
          reasoningOutputTokens: 0,
          totalTokens: 8,
        },
      },
    ]);
  });

  it('[model.scripted.threads] each thread plays from the start; past the end it says so', async () => {
    const { client, file } = play('{"say":"one"}\n\n[{"say":"two"}]\n');
    const texts = [];
    for (const promptCacheKey of ['a', 'b', 'a', 'a', 'b']) texts.push(said(await run(client, request({ promptCacheKey }))));
    const end = `The script ${file} is at its end: all 2 replies have been played.`;
    expect(texts).toEqual(['one', 'one', 'two', end, 'two']);
  });

  it('[model.scripted.when] reactions answer the newest user text or tool output and leave the order alone', async () => {
    const { client } = play([
      { when: '/^exit \\d+$/', reply: [{ say: 'it failed' }] },
      { when: 'weather', reply: { say: 'sunny' } },
      [{ say: 'plain' }],
    ]);
    const call: ResponseItem = { type: 'function_call', call_id: 'c', name: 'x', arguments: '{}' };
    const output: ResponseItem = { type: 'function_call_output', call_id: 'c', output: 'exit 3' };
    const inputs = [
      [user('the weather?')],
      [user('the weather?'), call, output],
      [user('the weather?'), call, { ...output, output: 'fine' }],
      [user('weather')],
    ];
    const texts = [];
    for (const input of inputs) texts.push(said(await run(client, request({ input }))));
    expect(texts).toEqual(['sunny', 'it failed', 'plain', 'sunny']);
  });

  it('[model.scripted.faults] failures, cuts, hangs and aborts are those of a provider', async () => {
    const { client } = play([
      [{ fail: { kind: 'rateLimited', message: 'slow', retryAfterMs: 5 } }],
      [{ say: 'begun' }, { fail: { kind: 'overloaded', message: 'full' } }],
      [{ say: 'begun' }, { cut: true }],
      [{ hang: true }],
      [{ delayMs: 20 }, { say: 'late' }],
      [{ hang: true }],
    ]);
    const outcomes = [];
    for (let i = 0; i < 5; i++) outcomes.push(await run(client));
    expect(outcomes.map(({ error }) => facts(error))).toEqual([
      { kind: 'rateLimited', message: 'slow', retryable: true, httpStatus: 429, retryAfterMs: 5, midStream: false },
      { kind: 'overloaded', message: 'full', retryable: true, midStream: true },
      {
        kind: 'streamCut',
        message: 'stream disconnected before completion: the script cuts the stream here',
        retryable: true,
        midStream: true,
      },
      {
        kind: 'idleTimeout',
        message: 'stream disconnected before completion: nothing arrived for 150 ms',
        retryable: true,
        midStream: true,
      },
      undefined,
    ]);
    expect(outcomes.map(said)).toEqual(['', 'begun', 'begun', '', 'late']);
    const abort = new AbortController();
    const running = run(client, request(), abort.signal);
    setTimeout(() => abort.abort(), 20);
    expect((await running).error?.kind).toBe('aborted');
  });

  it('[model.scripted.default] without a script it explains how to configure a model', async () => {
    const client = new ScriptedClient(providerWithDefaults({ id: 's', wireApi: 'scripted' }));
    expect(said(await run(client))).toMatch(/config\.toml.*model_provider.*\[model_providers\.<id>\]/);
  });
});

describe('form', () => {
  const parts = 'say, think, call, custom, search, delayMs, usage, fail, cut, hang, item';
  const table: [string, string, string, (file: string) => string][] = [
    [
      'unknown key',
      'a.json',
      '[\n [{"say":"x"}],\n\n [{"say":"x"},\n {"sya":"y"}]]',
      (f) => `script ${f}, line 4, reply 2, part 2: unknown key "sya"; a part has one of: ${parts}`,
    ],
    ['wrong type', 'b.jsonl', '{"say":"x"}\n[{"say":1}]', (f) => `script ${f}, line 2, reply 2, part 1: "say" must be a string, not 1`],
    ['two parts in one', 'c.json', '[{"say":"x","cut":true}]', (f) => `script ${f}, line 1, reply 1: "say" and "cut" cannot be one part`],
    [
      'stray key',
      'd.json',
      '[[{"call":"x","arguments":{}}]]',
      (f) => `script ${f}, line 1, reply 1, part 1: unknown key "arguments" beside "call"; known: args, id, namespace`,
    ],
    [
      'bad failure',
      'e.json',
      '[{"fail":{"kind":"boom","message":"x"}}]',
      (f) =>
        `script ${f}, line 1, reply 1: "kind" is "boom"; known: unauthorized, forbidden, notFound, badRequest, rateLimited, quotaExceeded, contextWindowExceeded, overloaded, serverError, connection, streamCut, idleTimeout, incomplete, policy, protocol, other`,
    ],
    [
      'bad item',
      'f.json',
      '[{"item":{"type":"message","role":"nobody","content":[]}}]',
      (f) =>
        `script ${f}, line 1, reply 1: "item" is not a response item: role: Invalid option: expected one of "user"|"assistant"|"developer"|"system"`,
    ],
    [
      'bad regex',
      'g.json',
      '[{"when":"/(/","reply":[]}]',
      (f) => `script ${f}, line 1, reply 1: "when" is not a regular expression: Invalid regular expression: /(/: Unterminated group`,
    ],
    ['no reply', 'h.json', '["x"]', (f) => `script ${f}, line 1, reply 1: a reply must be a list of parts, not "x"`],
  ];
  for (const [label, name, script, wanted] of table) {
    it(`[model.scripted.form] ${label}`, async () => {
      const { client, file } = play(script, name);
      const { error } = await run(client);
      expect([error?.kind, error?.message]).toEqual(['badRequest', wanted(file)]);
    });
  }

  it('[model.scripted.form-json] broken JSON names its line; a missing file is named; a corrected file is read', async () => {
    const { client, file } = play('[\n[{"say":"x"}],\n[{"say": oops}]\n]');
    expect((await run(client)).error?.message).toMatch(`script ${file}, line 3: not JSON:`);
    writeFileSync(file, '[{"say":"fixed"}]');
    expect(said(await run(client))).toBe('fixed');
    const lost = new ScriptedClient(providerWithDefaults({ id: 's', wireApi: 'scripted', script: path.join(dir, 'none.json') }));
    expect((await run(lost)).error?.message).toBe(`script ${path.join(dir, 'none.json')} cannot be read: ENOENT`);
  });
});
