import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../src/model/client.ts';
import { ResponsesClient } from '../../src/model/responses.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import type { ToolSpec } from '../../src/protocol/tool-spec.ts';
import { providerAt, request, run, SseServer, sse, streams } from './sse-server.ts';

let server: SseServer;
let client: ResponsesClient;
beforeAll(async () => {
  server = await SseServer.start();
  client = new ResponsesClient(providerAt(server, { apiKey: () => 'sk-test-1234' }));
});
afterAll(async () => {
  client.close();
  await server.close();
});

const created = sse({ type: 'response.created', response: { id: 'r1' } });
const usage = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 30 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 48,
};
const completed = sse({ type: 'response.completed', response: { id: 'r1', usage } });
const message = (text: string) => ({ type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text }] });
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', namespace: 'crm', arguments: '{"a":1}' };
const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: 'x' };
const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'ENC' };
const text = 'naïve ✓ 漢字 🚀';

const wire = [
  created,
  ': keep-alive\n\n',
  sse({ type: 'response.brand_new', what: 1 }),
  'data: {not json\n\n',
  'data: null\n\n',
  sse({ type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [] } }),
  sse({ type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 }),
  sse({ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Hm.' }),
  sse({ type: 'response.reasoning_text.delta', item_id: 'rs_1', content_index: 0, delta: 'raw' }),
  sse({ type: 'response.output_item.done', output_index: 0, item: thought }),
  sse({ type: 'response.output_item.added', output_index: 1, item: { ...message(''), content: [] } }).replaceAll('\n', '\r\n'),
  sse({ type: 'response.output_text.delta', item_id: 'msg_1', delta: text }).replace('data: ', 'data:'),
  sse({ type: 'response.output_item.done', output_index: 1, item: message(text) }),
  sse({ type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } }),
  sse({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"a":1}' }),
  sse({ type: 'response.output_item.done', output_index: 2, item: call }),
  sse({ type: 'response.custom_tool_call_input.delta', item_id: 'ctc_1', call_id: 'call_2', delta: 'x' }),
  sse({ type: 'response.output_item.done', output_index: 3, item: custom }),
  completed,
];
const item = (value: unknown) => value as ResponseItem;
const marked = { ...thought, issuer: 'responses:m' };
const expected: ModelEvent[] = [
  { type: 'created', responseId: 'r1' },
  { type: 'itemAdded', index: 0, item: item({ ...marked, summary: [] }) },
  { type: 'reasoningPartAdded', itemId: 'rs_1', summaryIndex: 0 },
  { type: 'reasoningSummaryDelta', itemId: 'rs_1', summaryIndex: 0, delta: 'Hm.' },
  { type: 'reasoningTextDelta', itemId: 'rs_1', contentIndex: 0, delta: 'raw' },
  { type: 'itemDone', index: 0, item: item(marked) },
  { type: 'itemAdded', index: 1, item: item({ ...message(''), content: [] }) },
  { type: 'textDelta', itemId: 'msg_1', delta: text },
  { type: 'itemDone', index: 1, item: item(message(text)) },
  { type: 'itemAdded', index: 2, item: item({ ...call, arguments: '' }) },
  { type: 'argumentsDelta', itemId: 'fc_1', delta: '{"a":1}' },
  { type: 'itemDone', index: 2, item: item(call) },
  { type: 'argumentsDelta', itemId: 'ctc_1', callId: 'call_2', delta: 'x' },
  { type: 'itemDone', index: 3, item: item(custom) },
  {
    type: 'completed',
    responseId: 'r1',
    usage: { inputTokens: 40, cachedInputTokens: 30, cacheWriteInputTokens: 0, outputTokens: 8, reasoningOutputTokens: 3, totalTokens: 48 },
  },
];

describe('events', () => {
  it('[model.responses.events] every kind of event is read; comments, unknown events and broken lines change nothing', async () => {
    server.replies.push(streams(...wire));
    expect(await run(client)).toEqual({ events: expected, error: undefined });
  });

  it('[model.responses.cuts] bytes cut anywhere give the same events', async () => {
    const bytes = Buffer.from(wire.join(''));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 }), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        server.replies.push(async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (let i = 1; i < places.length; i++) {
            response.write(bytes.subarray(places[i - 1], places[i]));
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        });
        expect(await run(client)).toEqual({ events: expected, error: undefined });
      }),
      { numRuns: 40 },
    );
  });

  it('[model.responses.tolerant] half-right items are delivered, unreadable ones are left out', async () => {
    const done = (value: unknown) => sse({ type: 'response.output_item.done', item: value });
    server.replies.push(
      streams(
        done({ type: 'function_call', id: 'f', name: 'x', arguments: { a: 1 } }),
        done({ type: 'function_call', id: 'g', call_id: null, arguments: '{}' }),
        done({ type: 'message', id: 'm', content: 'plain' }),
        done({ type: 'reasoning', id: 'r', summary: null }),
        done('text'),
        done({ type: 'local_shell_call', id: 'l' }),
        done({ type: 'hologram', id: 'h' }),
        sse({ type: 'response.completed', response: { usage: null } }),
      ),
    );
    const { events, error } = await run(client);
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { type: 'itemDone', index: 0, item: { type: 'function_call', id: 'f', name: 'x', arguments: '{"a":1}' } },
      { type: 'itemDone', index: 1, item: { type: 'function_call', id: 'g', name: '', arguments: '{}' } },
      {
        type: 'itemDone',
        index: 2,
        item: { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'plain' }] },
      },
      { type: 'itemDone', index: 3, item: { type: 'reasoning', id: 'r', summary: [], issuer: 'responses:m' } },
      { type: 'itemDone', index: 5, item: { type: 'local_shell_call', id: 'l', action: { type: 'unknown' } } },
      { type: 'itemDone', index: 6, item: { type: 'other:hologram', raw: { type: 'hologram', id: 'h' } } },
      { type: 'completed', responseId: '', usage: null },
    ]);
  });

  it('[model.responses.limits] rate-limit headers come first, as they are', async () => {
    server.replies.push((response) => {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-ratelimit-remaining-tokens': '7',
        'x-codex-plan': 'a',
        'x-other': 'b',
      });
      response.end(completed);
    });
    expect((await run(client)).events[0]).toEqual({
      type: 'rateLimits',
      headers: { 'x-ratelimit-remaining-tokens': '7', 'x-codex-plan': 'a' },
    });
  });
});

const look = { type: 'function', name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } } as const;
const tools: ToolSpec[] = [
  look,
  { type: 'freeform', name: 'apply_patch', description: 'Patches', grammar: { syntax: 'lark', definition: 'start: "x"' } },
  { type: 'namespace', name: 'crm', description: 'Records', tools: [{ ...look, deferLoading: true }] },
  { type: 'toolSearch', description: 'Searches', parameters: { type: 'object' } },
  { type: 'hosted', name: 'web_search', options: { external_web_access: true } },
];
const sentTools = [
  { type: 'function', name: 'look', description: 'Looks', strict: false, parameters: look.parameters },
  { type: 'custom', name: 'apply_patch', description: 'Patches', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
  {
    type: 'namespace',
    name: 'crm',
    description: 'Records',
    tools: [{ type: 'function', name: 'look', description: 'Looks', strict: false, defer_loading: true, parameters: look.parameters }],
  },
  { type: 'tool_search', execution: 'client', description: 'Searches', parameters: { type: 'object' } },
  { type: 'web_search', external_web_access: true },
];

describe('requests', () => {
  it('[model.responses.body] the body carries every setting, in a stable order, and nothing undefined', async () => {
    const before = server.requests.length;
    server.replies.push(streams(completed), streams(completed));
    const full = request({
      instructions: 'BASE',
      tools,
      reasoning: { effort: 'medium', summary: 'auto' },
      verbosity: 'low',
      serviceTier: 'flex',
      outputSchema: { type: 'object' },
      promptCacheKey: 'thread-1',
      metadata: { a: 'b' },
      headers: { 'session-id': 's1' },
    });
    await run(client, full);
    await run(client, request());
    const [first, second] = server.requests.slice(before);
    expect([first.url, first.headers.authorization, first.headers['session-id'], first.headers.accept]).toEqual([
      '/v1/responses',
      'Bearer sk-test-1234',
      's1',
      'text/event-stream',
    ]);
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }];
    expect(JSON.stringify(first.body)).toBe(
      JSON.stringify({
        model: 'gpt-5.5',
        instructions: 'BASE',
        input,
        tools: sentTools,
        tool_choice: 'auto',
        parallel_tool_calls: true,
        reasoning: { effort: 'medium', summary: 'auto' },
        store: false,
        stream: true,
        include: ['reasoning.encrypted_content'],
        service_tier: 'flex',
        prompt_cache_key: 'thread-1',
        text: { verbosity: 'low', format: { type: 'json_schema', strict: true, name: 'codex_output_schema', schema: { type: 'object' } } },
        client_metadata: { a: 'b' },
      }),
    );
    expect(Object.keys(second.body)).toEqual([
      'model',
      'input',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'store',
      'stream',
      'include',
    ]);
  });

  it('[model.responses.reasoning] own reasoning goes back verbatim, foreign reasoning does not', async () => {
    server.replies.push(streams(completed));
    const input = [
      item(marked),
      item({ ...thought, issuer: 'anthropic:m' }),
      item({ ...thought, issuer: 'responses:other' }),
      item(thought),
    ];
    await run(client, request({ input }));
    expect(server.requests.at(-1)?.body.input).toEqual([thought, thought]);
  });

  it('[model.responses.flat] a model without namespaces and freeform tools gets functions, and its calls find their way back', async () => {
    server.replies.push(
      streams(
        sse({
          type: 'response.output_item.added',
          output_index: 0,
          item: { ...custom, type: 'function_call', input: undefined, id: 'f1', arguments: '' },
        }),
        sse({ type: 'response.function_call_arguments.delta', item_id: 'f1', delta: '{"input": "a\\' }),
        sse({ type: 'response.function_call_arguments.delta', item_id: 'f1', delta: 'nb"}' }),
        sse({
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', id: 'f1', call_id: 'c1', name: 'apply_patch', arguments: '{"input": "a\\nb"}' },
        }),
        sse({
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'function_call', id: 'f2', call_id: 'c2', name: 'crm__look', arguments: '{}' },
        }),
        completed,
      ),
    );
    const history: ResponseItem[] = [
      { type: 'custom_tool_call', id: 'ctc', call_id: 'c0', name: 'apply_patch', input: 'p"' },
      { type: 'custom_tool_call_output', call_id: 'c0', output: 'ok' },
      { type: 'function_call', id: 'fc', call_id: 'c9', name: 'look', namespace: 'crm', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c9', output: 'found' },
    ];
    const { events } = await run(client, request({ model: 'mock-model', tools, input: history }));
    expect(events.slice(0, -1)).toEqual([
      { type: 'itemAdded', index: 0, item: { type: 'custom_tool_call', id: 'f1', call_id: 'call_2', name: 'apply_patch', input: '' } },
      { type: 'argumentsDelta', itemId: 'f1', delta: 'a' },
      { type: 'argumentsDelta', itemId: 'f1', delta: '\nb' },
      { type: 'itemDone', index: 0, item: { type: 'custom_tool_call', id: 'f1', call_id: 'c1', name: 'apply_patch', input: 'a\nb' } },
      {
        type: 'itemDone',
        index: 1,
        item: { type: 'function_call', id: 'f2', call_id: 'c2', name: 'look', namespace: 'crm', arguments: '{}' },
      },
    ]);
    const { body } = server.requests.at(-1)!;
    expect(body.tools.map((tool: { type: string; name?: string }) => `${tool.type} ${tool.name ?? ''}`)).toEqual([
      'function look',
      'function apply_patch',
      'function crm__look',
      'function tool_search',
      'web_search ',
    ]);
    expect(body.input).toEqual([
      { type: 'function_call', call_id: 'c0', name: 'apply_patch', arguments: '{"input":"p\\""}' },
      { type: 'function_call_output', call_id: 'c0', output: 'ok' },
      { type: 'function_call', id: 'fc', call_id: 'c9', name: 'crm__look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c9', output: 'found' },
    ]);
  });

  it('[model.http.keepalive] connections are used again; one that the provider dropped meanwhile costs no failure', async () => {
    const own = new ResponsesClient(providerAt(server));
    try {
      const before = server.requests.length;
      server.replies.push(streams(completed), streams(completed), streams(completed));
      await run(own);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await run(own);
      await new Promise((resolve) => setTimeout(resolve, 50));
      server.dropConnections();
      expect((await run(own)).error).toBeUndefined();
      const [a, b, c] = server.requests.slice(before).map((seen) => seen.port);
      expect([a === b, b === c]).toEqual([true, false]);
    } finally {
      own.close();
    }
  });
});
