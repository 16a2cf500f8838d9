// Histories of any shape, as the two message wires see them: what strict servers demand must hold whatever happened before.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anthropicBody } from '../../src/model/anthropic-wire.ts';
import { chatBody } from '../../src/model/chat-wire.ts';
import { FlatTools, wireName } from '../../src/model/flat-tools.ts';
import type { InputImage, InputText, ResponseItem } from '../../src/protocol/response-item.ts';
import { request } from './sse-server.ts';

type Item = ResponseItem;
const id = fc.constantFrom('a', 'b', 'c.1', '');
const words = fc.constantFrom('', ' ', 'one', 'two "q"');
const seen: (InputText | InputImage)[] = [
  { type: 'input_text', text: 'seen' },
  { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
];
const output = fc.oneof(words, fc.constant(seen)) as fc.Arbitrary<string | (InputText | InputImage)[]>;
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'developer' as const, 'assistant' as const), text: words }).map(
    ({ role, text }): Item => ({
      type: 'message',
      role,
      content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
    }),
  ),
  fc.constantFrom<Item>(
    { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'S', issuer: 'chat:m' } as Item,
    {
      type: 'reasoning',
      summary: [],
      encrypted_content: 'S',
      issuer: 'anthropic:m',
    } as Item,
  ),
  fc
    .record({
      call_id: id,
      name: fc.constantFrom('look', '', 'a b', 'x'.repeat(90)),
      namespace: fc.option(fc.constant('crm'), { nil: undefined }),
      arguments: fc.constantFrom('', '{}', '{"a":1}', '{"a', '[1]', '3'),
    })
    .map((call): Item => ({ type: 'function_call', ...call })),
  fc.record({ call_id: id, input: words }).map((call): Item => ({ type: 'custom_tool_call', name: 'apply_patch', ...call })),
  fc.record({ call_id: id, output }).map((result): Item => ({ type: 'function_call_output', ...result })),
  fc.record({ call_id: id, output }).map((result): Item => ({ type: 'custom_tool_call_output', ...result })),
  fc.constantFrom<Item>(
    { type: 'tool_search_call', call_id: 'a', arguments: { query: 'x' } },
    { type: 'tool_search_output', call_id: 'a', status: 'completed', execution: 'client', tools: [] },
    { type: 'web_search_call' },
    { type: 'other:x', raw: {} },
  ),
);
const history = fc.array(anyItem, { maxLength: 25 });
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const flat = new FlatTools([]);

it('[model.chat.pairing] Chat Completions: each call has its result right behind it, ids are unique, arguments are JSON', () => {
  fc.assert(
    fc.property(history, (input) => {
      const { messages } = JSON.parse(chatBody(request({ input }), flat, 'chat:m'));
      const open: string[] = [];
      for (const message of messages) {
        if (message.role === 'tool') {
          expect(message.tool_call_id).toBe(open.shift());
          expect(typeof message.content).toBe('string');
          continue;
        }
        expect(open).toEqual([]);
        if (message.role !== 'assistant') expect(message.content.length).toBeGreaterThan(0);
        else expect(message.tool_calls?.length || message.content?.length).toBeTruthy();
        for (const call of message.tool_calls ?? []) {
          open.push(call.id);
          expect(call.id && NAME.test(call.function.name)).toBeTruthy();
          expect(JSON.parse(call.function.arguments)).toBeTypeOf('object');
        }
        expect(new Set(open).size).toBe(open.length);
      }
      expect(open).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it('[model.anthropic.pairing] Anthropic Messages: roles alternate from user to user, results come first and match, no text is empty', () => {
  fc.assert(
    fc.property(history, (input) => {
      const body = JSON.parse(anthropicBody(request({ input, reasoning: { effort: 'low' } }), flat, 'anthropic:m'));
      expect(body.messages.map((message: { role: string }) => message.role)).toEqual(
        body.messages.map((_: unknown, i: number) => (i % 2 ? 'assistant' : 'user')),
      );
      expect(body.messages.length % 2).toBe(1);
      let before: string[] = [];
      for (const { role, content } of body.messages) {
        expect(content.length).toBeGreaterThan(0);
        for (const block of content) if (block.type === 'text') expect(block.text.trim()).not.toBe('');
        const results = content.filter((block: { type: string }) => block.type === 'tool_result');
        expect(results.map((block: { tool_use_id: string }) => block.tool_use_id)).toEqual(role === 'user' ? before : []);
        expect(content.slice(0, results.length)).toEqual(results);
        const uses = content.filter((block: { type: string }) => block.type === 'tool_use');
        before = uses.map((block: { id: string }) => block.id);
        expect(new Set(before).size).toBe(before.length);
        for (const use of uses) expect(NAME.test(use.id) && NAME.test(use.name) && typeof use.input === 'object').toBe(true);
        if (role === 'assistant') expect(content.at(-1).type).not.toMatch(/thinking/);
        if (uses.length > 0) expect(body.tools.length).toBeGreaterThan(0);
      }
      if (body.thinking) expect(body.max_tokens).toBeGreaterThan(body.thinking.budget_tokens);
    }),
    { numRuns: 300 },
  );
});

it('[model.flat.names] clean names stay, others get a stable hash, clashing ones stay apart and lead back', () => {
  expect([wireName({ namespace: 'crm', name: 'lookup' }), wireName({ name: 'a b' }), wireName({ name: 'x'.repeat(70) })]).toEqual([
    'crm__lookup',
    'a_b_21bb750f',
    `${'x'.repeat(55)}_ff31581e`,
  ]);
  const spec = (name: string) => ({ type: 'function' as const, name, description: name, parameters: true });
  const tools = new FlatTools([
    { type: 'namespace', name: 'a', description: '', tools: [spec('b__c')] },
    { type: 'namespace', name: 'a__b', description: '', tools: [spec('c')] },
    spec('a__b__c'),
  ]);
  const names = tools.functions.map((one) => one.name);
  expect([names[0], new Set(names).size]).toEqual(['a__b__c', 3]);
  expect(names.map((name) => tools.itemOf({ callId: '1', name, arguments: '{}' }))).toEqual([
    { type: 'function_call', call_id: '1', name: 'b__c', namespace: 'a', arguments: '{}' },
    { type: 'function_call', call_id: '1', name: 'c', namespace: 'a__b', arguments: '{}' },
    { type: 'function_call', call_id: '1', name: 'a__b__c', arguments: '{}' },
  ]);
});
