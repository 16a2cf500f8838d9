import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelClient, ModelEvent } from '../../src/model/client.ts';
import { createModelClient } from '../../src/model/factory.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import type { ToolSpec } from '../../src/protocol/tool-spec.ts';
import { answers, facts, providerAt, request, run, SseServer, streams } from './sse-server.ts';

let server: SseServer;
let client: ModelClient;
beforeAll(async () => {
  server = await SseServer.start();
  client = createModelClient(providerAt(server, { wireApi: 'chat', apiKey: () => 'sk-chat-1' }));
});
afterAll(async () => {
  client.close();
  await server.close();
});

const chunk = (delta: Record<string, unknown>, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const DONE = 'data: [DONE]\n\n';
const usage = `data: ${JSON.stringify({ id: 'c1', choices: [], usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37, prompt_tokens_details: { cached_tokens: 12 } } })}\n\n`;
const counted = {
  inputTokens: 30,
  cachedInputTokens: 12,
  cacheWriteInputTokens: 0,
  outputTokens: 7,
  reasoningOutputTokens: 0,
  totalTokens: 37,
};

const spec = (name: string) => ({ type: 'function' as const, name, description: name, parameters: { type: 'object', properties: {} } });
const tools: ToolSpec[] = [
  spec('look'),
  { type: 'namespace', name: 'crm', description: 'Records', tools: [spec('find')] },
  { type: 'freeform', name: 'apply_patch', description: 'Patches', grammar: { syntax: 'lark', definition: 'start: "x"' } },
  { type: 'hosted', name: 'web_search' },
];

/** Ids are made up by the adapter: replaced by their kind and order of appearance. */
function steady(events: readonly ModelEvent[]): unknown {
  const known = new Map<string, string>();
  return JSON.parse(
    JSON.stringify(events).replace(/\b(msg|rs|fc|call)_[0-9a-f]{32}\b/g, (id, kind: string) => {
      if (!known.has(id)) known.set(id, `${kind}#${known.size}`);
      return known.get(id) ?? id;
    }),
  );
}
const doneItems = (events: readonly ModelEvent[]) =>
  (steady(events) as ModelEvent[]).flatMap((event) =>
    event.type === 'itemDone' ? [event.item as unknown as Record<string, unknown>] : [],
  );

describe('events', () => {
  it('[model.chat.events] reasoning, text, interleaved calls and usage become items in order', async () => {
    server.replies.push(
      streams(
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'I ' }),
        chunk({ reasoning_content: 'see.' }),
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }),
        call(0, 'call_a', 'look', ''),
        call(1, 'call_b', 'crm__find', '{"q"'),
        call(2, 'call_c', 'apply_patch', '{"input":"*** '),
        call(0, undefined, undefined, '{}'),
        call(1, undefined, undefined, ':1}'),
        call(2, undefined, undefined, 'Begin"}'),
        chunk({}, 'tool_calls'),
        usage,
        DONE,
      ),
    );
    const { events, error } = await run(client, request({ tools }));
    expect(error).toBeUndefined();
    const reasoning = { type: 'reasoning', id: 'rs#0', summary: [{ type: 'summary_text', text: 'I see.' }], issuer: 'chat:m' };
    const message = { type: 'message', role: 'assistant', id: 'msg#1', content: [{ type: 'output_text', text: 'Hello' }] };
    const look = { type: 'function_call', id: 'fc#2', call_id: 'call_a', name: 'look', arguments: '{}' };
    const find = { type: 'function_call', id: 'fc#3', call_id: 'call_b', name: 'find', namespace: 'crm', arguments: '{"q":1}' };
    const patch = { type: 'custom_tool_call', id: 'fc#4', call_id: 'call_c', name: 'apply_patch', input: '*** Begin' };
    expect(steady(events)).toEqual([
      { type: 'created', responseId: 'c1' },
      { type: 'itemAdded', index: 0, item: { ...reasoning, summary: [] } },
      { type: 'reasoningPartAdded', itemId: 'rs#0', summaryIndex: 0 },
      { type: 'reasoningSummaryDelta', itemId: 'rs#0', summaryIndex: 0, delta: 'I ' },
      { type: 'reasoningSummaryDelta', itemId: 'rs#0', summaryIndex: 0, delta: 'see.' },
      { type: 'itemDone', index: 0, item: reasoning },
      { type: 'itemAdded', index: 1, item: { ...message, content: [] } },
      { type: 'textDelta', itemId: 'msg#1', delta: 'Hel' },
      { type: 'textDelta', itemId: 'msg#1', delta: 'lo' },
      { type: 'itemDone', index: 1, item: message },
      { type: 'itemAdded', index: 2, item: { ...look, arguments: '' } },
      { type: 'itemAdded', index: 3, item: { ...find, arguments: '' } },
      { type: 'argumentsDelta', itemId: 'fc#3', callId: 'call_b', delta: '{"q"' },
      { type: 'itemAdded', index: 4, item: { ...patch, input: '' } },
      { type: 'argumentsDelta', itemId: 'fc#4', callId: 'call_c', delta: '*** ' },
      { type: 'argumentsDelta', itemId: 'fc#2', callId: 'call_a', delta: '{}' },
      { type: 'argumentsDelta', itemId: 'fc#3', callId: 'call_b', delta: ':1}' },
      { type: 'argumentsDelta', itemId: 'fc#4', callId: 'call_c', delta: 'Begin' },
      { type: 'itemDone', index: 2, item: look },
      { type: 'itemDone', index: 3, item: find },
      { type: 'itemDone', index: 4, item: patch },
      { type: 'completed', responseId: 'c1', usage: counted },
    ]);
  });

  it('[model.chat.dialects] whole calls under one index, missing ids, objects as arguments, typed content, no [DONE]', async () => {
    server.replies.push(
      streams(
        chunk({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
            { type: 'text', text: 'Hi' },
          ],
        }),
        call(0, 'a', 'look', '{}'),
        call(0, 'b', 'look', '{"n":2}'),
        chunk({ tool_calls: [{ id: '', function: { name: 'nobody', arguments: { x: 1 } }, index: 5 }] }),
        call(6, 'a', 'look', '{}'),
        chunk({}, 'stop'),
      ),
    );
    const { events, error } = await run(client, request({ tools }));
    expect(error).toBeUndefined();
    expect(doneItems(events).map((item) => [item.type, item.call_id ?? '', item.name ?? '', item.arguments ?? ''])).toEqual([
      ['reasoning', '', '', ''],
      ['message', '', '', ''],
      ['function_call', 'a', 'look', '{}'],
      ['function_call', 'b', 'look', '{"n":2}'],
      ['function_call', 'call#5', 'nobody', '{"x":1}'],
      ['function_call', 'call#7', 'look', '{}'],
    ]);
    expect(events.at(-1)).toEqual({ type: 'completed', responseId: 'c1', usage: null });
  });

  it('[model.chat.half] without a reason to finish nothing is complete; a limit keeps the text and drops the call', async () => {
    server.replies.push(
      streams(chunk({ content: 'so far' }), call(0, 'a', 'look', '{"cmd":"x"}')),
      streams(chunk({ content: 'so far' }), call(0, 'a', 'look', '{"cmd":"x"}'), chunk({}, 'length'), DONE),
      streams(chunk({ content: 'so far' }), `data: ${JSON.stringify({ error: { message: 'Gone', code: 502 } })}\n\n`),
    );
    const outcomes = [await run(client), await run(client), await run(client)];
    expect(
      outcomes.map(({ events, error }) => [doneItems(events).map((item) => item.type), error?.kind, error?.retryable, error?.message]),
    ).toEqual([
      [['message'], 'streamCut', true, 'stream disconnected before completion: the stream ended without its final event'],
      [['message'], 'incomplete', false, 'Incomplete response returned, reason: max_output_tokens'],
      [[], 'serverError', true, 'Gone'],
    ]);
  });

  it('[model.chat.errors] HTTP errors have the same kinds as on every wire', async () => {
    server.replies.push(answers(429, { error: { message: 'slow down' } }, { 'retry-after': '1' }));
    expect(facts((await run(client)).error)).toEqual({
      kind: 'rateLimited',
      message: `unexpected status 429 Too Many Requests: slow down, url: ${server.base}/chat/completions`,
      retryable: true,
      httpStatus: 429,
      retryAfterMs: 1000,
      midStream: false,
    });
  });
});

describe('requests', () => {
  const image = 'data:image/png;base64,AAAA';
  const input: ResponseItem[] = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'DEV' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'env' }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: image, detail: 'original' },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'mine' }], issuer: 'chat:m' } as ResponseItem,
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'foreign' }], encrypted_content: 'ENC' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
    { type: 'function_call', call_id: 'c1', name: 'find', namespace: 'crm', arguments: '{"q":1}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'a"b' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'patched' },
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'MID' }] },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'seen' },
        { type: 'input_image', image_url: image },
      ],
    },
  ];

  it('[model.chat.body] messages, tools and settings in the form of this wire', async () => {
    server.replies.push(streams(chunk({ content: 'ok' }, 'stop'), DONE));
    await run(
      client,
      request({
        model: 'local',
        instructions: 'BASE',
        input,
        tools,
        parallelToolCalls: false,
        reasoning: { effort: 'low' },
        outputSchema: { type: 'object' },
      }),
    );
    const seen = server.requests.at(-1)!;
    expect([seen.url, seen.headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer sk-chat-1']);
    expect(seen.body).toEqual({
      model: 'local',
      messages: [
        { role: 'system', content: 'BASE\n\nDEV' },
        { role: 'user', content: 'env' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'mine',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'crm__find', arguments: '{"q":1}' } },
            { id: 'c2', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"a\\"b"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen\n[1 image: see the next user message]' },
        { role: 'tool', tool_call_id: 'c2', content: 'patched' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Image output of crm__find (c1):' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
        { role: 'user', content: '<developer_message>\nMID\n</developer_message>' },
      ],
      tools: [
        { type: 'function', function: { name: 'look', description: 'look', parameters: { type: 'object', properties: {} } } },
        { type: 'function', function: { name: 'crm__find', description: 'find', parameters: { type: 'object', properties: {} } } },
        {
          type: 'function',
          function: {
            name: 'apply_patch',
            description: 'Patches\n\nThe text in `input` follows this lark grammar:\nstart: "x"',
            parameters: {
              type: 'object',
              properties: { input: { type: 'string', description: 'The whole text for apply_patch' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        },
      ],
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'codex_output_schema', strict: true, schema: { type: 'object' } } },
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});
