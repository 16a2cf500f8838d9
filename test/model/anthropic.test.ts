import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelClient, ModelEvent } from '../../src/model/client.ts';
import { createModelClient } from '../../src/model/factory.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import type { ToolSpec } from '../../src/protocol/tool-spec.ts';
import { answers, facts, providerAt, request, run, SseServer, sse, streams } from './sse-server.ts';

let server: SseServer;
let client: ModelClient;
beforeAll(async () => {
  server = await SseServer.start();
  client = createModelClient(providerAt(server, { wireApi: 'anthropic', apiKey: () => 'sk-ant-12' }));
});
afterAll(async () => {
  client.close();
  await server.close();
});

const start = sse({
  type: 'message_start',
  message: { id: 'm1', usage: { input_tokens: 30, cache_read_input_tokens: 12, cache_creation_input_tokens: 5, output_tokens: 1 } },
});
const block = (index: number, content_block: Record<string, unknown>, ...deltas: Record<string, unknown>[]) =>
  sse({ type: 'content_block_start', index, content_block }) +
  deltas.map((delta) => sse({ type: 'content_block_delta', index, delta })).join('') +
  sse({ type: 'content_block_stop', index });
const json = (...pieces: string[]) => pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
const end = (stop_reason: string) =>
  sse({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } }) + sse({ type: 'message_stop' });

const spec = (name: string) => ({ type: 'function' as const, name, description: name, parameters: { type: 'object', properties: {} } });
const tools: ToolSpec[] = [
  spec('look'),
  { type: 'namespace', name: 'crm', description: 'Records', tools: [spec('find')] },
  { type: 'freeform', name: 'apply_patch', description: 'Patches', grammar: { syntax: 'lark', definition: 'start: "x"' } },
];
const doneItems = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => {
    if (event.type !== 'itemDone') return [];
    const { id: _, ...item } = event.item as unknown as Record<string, unknown>;
    return [item];
  });
const thought = {
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Look at it.' }],
  encrypted_content: 'sig+/=',
  issuer: 'anthropic:m',
};
const hidden = { type: 'reasoning', summary: [], encrypted_content: 'redacted_thinking:DATA', issuer: 'anthropic:m' };

describe('events', () => {
  it('[model.anthropic.events] blocks become items, thinking keeps its signature, cached tokens count as input', async () => {
    server.replies.push(
      streams(
        start,
        sse({ type: 'ping' }),
        block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Look ' },
          { type: 'thinking_delta', thinking: 'at it.' },
          { type: 'signature_delta', signature: 'sig+/=' },
        ),
        block(1, { type: 'redacted_thinking', data: 'DATA' }),
        block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hel' }, { type: 'text_delta', text: 'lo' }),
        block(3, { type: 'tool_use', id: 'toolu_1', name: 'crm__find', input: {} }, ...json('', '{"q"', ':1}')),
        block(4, { type: 'tool_use', id: 'toolu_2', name: 'apply_patch', input: {} }, ...json('{"input":"a', 'b"}')),
        block(5, { type: 'tool_use', id: 'toolu_3', name: 'look', input: { whole: true } }),
        block(6, { type: 'server_tool_use', id: 'x' }),
        end('tool_use'),
      ),
    );
    const { events, error } = await run(client, request({ tools }));
    expect(error).toBeUndefined();
    expect(doneItems(events)).toEqual([
      thought,
      hidden,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'find', namespace: 'crm', arguments: '{"q":1}' },
      { type: 'custom_tool_call', call_id: 'toolu_2', name: 'apply_patch', input: 'ab' },
      { type: 'function_call', call_id: 'toolu_3', name: 'look', arguments: '{"whole":true}' },
    ]);
    const deltas = events.flatMap((event) => ('delta' in event ? [[event.type, event.delta]] : []));
    expect(deltas).toEqual([
      ['reasoningSummaryDelta', 'Look '],
      ['reasoningSummaryDelta', 'at it.'],
      ['textDelta', 'Hel'],
      ['textDelta', 'lo'],
      ['argumentsDelta', '{"q"'],
      ['argumentsDelta', ':1}'],
      ['argumentsDelta', 'a'],
      ['argumentsDelta', 'b'],
      ['argumentsDelta', '{"whole":true}'],
    ]);
    expect(events.at(-1)).toEqual({
      type: 'completed',
      responseId: 'm1',
      usage: {
        inputTokens: 47,
        cachedInputTokens: 12,
        cacheWriteInputTokens: 5,
        outputTokens: 7,
        reasoningOutputTokens: 0,
        totalTokens: 54,
      },
    });
  });

  it('[model.anthropic.ends] cuts, limits, refusals and error events are failures; half a call is not delivered', async () => {
    const half = block(0, { type: 'tool_use', id: 't', name: 'look', input: {} }, ...json('{"cmd":"x'));
    server.replies.push(
      streams(start, half),
      streams(start, half, end('max_tokens')),
      streams(start, half, end('tool_use')),
      streams(start, end('refusal')),
      streams(start, sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })),
    );
    const outcomes = [];
    for (let i = 0; i < 5; i++) outcomes.push(await run(client));
    expect(outcomes.map(({ events, error }) => [doneItems(events).length, error?.kind, error?.retryable, error?.midStream])).toEqual([
      [0, 'streamCut', true, true],
      [0, 'incomplete', false, true],
      [1, undefined, undefined, undefined],
      [0, 'policy', false, true],
      [0, 'overloaded', true, true],
    ]);
  });

  const errors: [number, string, string, Record<string, unknown>][] = [
    [401, 'authentication_error', 'invalid x-api-key', { kind: 'unauthorized', retryable: false }],
    [404, 'not_found_error', 'model: x', { kind: 'notFound', retryable: false }],
    [429, 'rate_limit_error', 'slow', { kind: 'rateLimited', retryable: true }],
    [529, 'overloaded_error', 'Overloaded', { kind: 'overloaded', retryable: true }],
    [500, 'api_error', 'Internal', { kind: 'serverError', retryable: true }],
    [400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', { kind: 'contextWindowExceeded', retryable: false }],
    [400, 'invalid_request_error', 'Your credit balance is too low', { kind: 'quotaExceeded', retryable: false }],
    [400, 'invalid_request_error', 'messages: odd', { kind: 'badRequest', retryable: false }],
  ];
  for (const [status, type, message, wanted] of errors) {
    it(`[model.anthropic.errors] ${status} ${type} ${message}`, async () => {
      server.replies.push(answers(status, { type: 'error', error: { type, message } }));
      expect(facts((await run(client)).error)).toMatchObject({ ...wanted, httpStatus: status });
    });
  }
});

describe('requests', () => {
  const cache = { cache_control: { type: 'ephemeral' } };
  const input: ResponseItem[] = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'DEV' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'env' }] },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ],
    },
    thought as unknown as ResponseItem,
    hidden as unknown as ResponseItem,
    { type: 'reasoning', summary: [], encrypted_content: 'ENC', issuer: 'responses:m' } as ResponseItem,
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
    { type: 'function_call', call_id: 'c.1', name: 'find', namespace: 'crm', arguments: '{"q":1}' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hurry' }] },
    {
      type: 'function_call_output',
      call_id: 'c.1',
      output: [
        { type: 'input_text', text: 'seen' },
        { type: 'input_image', image_url: 'https://x/y.png' },
      ],
    },
  ];

  it('[model.anthropic.body] blocks, tools, thinking and cache marks in the form of this wire', async () => {
    server.replies.push(streams(start, end('end_turn')));
    await run(
      client,
      request({
        model: 'claude-sonnet-4-5',
        instructions: 'BASE',
        input,
        tools: tools.slice(0, 1),
        parallelToolCalls: false,
        reasoning: { effort: 'low' },
      }),
    );
    const seen = server.requests.at(-1)!;
    expect([seen.url, seen.headers['x-api-key'], seen.headers['anthropic-version'], seen.headers.authorization]).toEqual([
      '/v1/messages',
      'sk-ant-12',
      '2023-06-01',
      undefined,
    ]);
    expect(seen.body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 64_000,
      thinking: { type: 'enabled', budget_tokens: 4096 },
      system: [
        { type: 'text', text: 'BASE' },
        { type: 'text', text: 'DEV', ...cache },
      ],
      tools: [{ name: 'look', description: 'look', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'env' },
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' }, ...cache },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Look at it.', signature: 'sig+/=' },
            { type: 'redacted_thinking', data: 'DATA' },
            { type: 'text', text: 'Looking.' },
            { type: 'tool_use', id: 'c_1', name: 'crm__find', input: { q: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c_1',
              content: [
                { type: 'text', text: 'seen' },
                { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
              ],
            },
            { type: 'text', text: 'hurry', ...cache },
          ],
        },
      ],
      stream: true,
    });
  });

  it('[model.anthropic.thinking] how hard to think goes out as the model takes it, and not at all after a call without a thought', async () => {
    const bare: ResponseItem[] = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ];
    const cases: [string, Partial<Parameters<typeof request>[0]>][] = [
      ['claude-opus-4-6', { reasoning: { effort: 'high' } }],
      ['claude-sonnet-4-20250514', { reasoning: { effort: 'medium' } }],
      ['claude-3-5-haiku-latest', {}],
      ['some-local-model', { reasoning: { effort: 'high' } }],
      ['claude-sonnet-4-5', { reasoning: { effort: 'high' }, input: bare }],
    ];
    const sent = [];
    for (const [model, more] of cases) {
      server.replies.push(streams(start, end('end_turn')));
      await run(client, request({ model, ...more }));
      const { max_tokens, thinking, output_config, tools: offered, tool_choice } = server.requests.at(-1)!.body;
      sent.push([max_tokens, thinking, output_config, offered, tool_choice]);
    }
    expect(sent).toEqual([
      [64_000, { type: 'adaptive' }, { effort: 'high' }, undefined, undefined],
      [64_000, { type: 'enabled', budget_tokens: 10_240 }, undefined, undefined, undefined],
      [8192, undefined, undefined, undefined, undefined],
      [32_768, { type: 'enabled', budget_tokens: 24_576 }, undefined, undefined, undefined],
      [
        64_000,
        undefined,
        undefined,
        [{ name: 'look', description: 'Not available now.', input_schema: { type: 'object', properties: {} } }],
        { type: 'none' },
      ],
    ]);
  });
});
