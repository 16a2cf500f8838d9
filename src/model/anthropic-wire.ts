// The request of Anthropic Messages: blocks instead of items, system text apart, thinking with its signature, cache marks.
import type { FunctionSpec } from '../protocol/tool-spec.ts';
import type { ModelRequest } from './client.ts';
import { type AssistantPart, conversationOf, splitLead, type UserPart, type Utterance, wrapDeveloper } from './conversation.ts';
import { type FlatTools, objectSchema } from './flat-tools.ts';

type Block = Record<string, unknown> & { type: string };
interface Message {
  role: 'user' | 'assistant';
  content: Block[];
}

/** Before the data of a thinking block that the provider keeps secret; a signature never holds a colon. */
export const REDACTED = 'redacted_thinking:';

const text = (value: string): Block => ({ type: 'text', text: value });

function imageBlock(url: string): Block {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline) return { type: 'image', source: { type: 'base64', media_type: inline[1], data: inline[2] } };
  return /^https?:/i.test(url) ? { type: 'image', source: { type: 'url', url } } : text('[an image of a form that cannot be sent]');
}

const userBlocks = (parts: readonly UserPart[]): Block[] =>
  parts.map((part) => (part.type === 'input_text' ? text(part.text) : imageBlock(part.image_url)));

function assistantBlock(part: AssistantPart): Block {
  if (part.type === 'text') return text(part.text);
  if (part.type === 'call') {
    return { type: 'tool_use', id: part.call.id, name: part.call.name, input: JSON.parse(part.call.arguments) as unknown };
  }
  const sealed = part.item.encrypted_content ?? '';
  if (sealed.startsWith(REDACTED)) return { type: 'redacted_thinking', data: sealed.slice(REDACTED.length) };
  return { type: 'thinking', thinking: part.item.summary.map((one) => one.text).join(''), signature: sealed };
}

function resultBlock(call: { id: string; output: readonly UserPart[] }): Block {
  const plain = call.output.every((part) => part.type === 'input_text');
  const content = plain
    ? call.output.map((part) => (part.type === 'input_text' ? part.text : '')).join('\n')
    : userBlocks(call.output).filter((block) => block.type !== 'text' || block.text !== '');
  return { type: 'tool_result', tool_use_id: call.id, content };
}

function messagesOf(utterances: readonly Utterance[]): Message[] {
  const messages: Message[] = [];
  const say = (role: Message['role'], blocks: Block[]) => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: blocks });
  };
  if (utterances[0]?.role === 'assistant') say('user', [text('(The conversation goes on.)')]);
  for (const one of utterances) {
    if (one.role === 'developer') say('user', [text(wrapDeveloper(one.text))]);
    else if (one.role === 'user') say('user', userBlocks(one.parts));
    else {
      say('assistant', withoutTrailingThought(one.parts).map(assistantBlock));
      say(
        'user',
        one.parts.flatMap((part) => (part.type === 'call' ? [resultBlock(part.call)] : [])),
      );
    }
  }
  // Models that think take no answer begun for them, so the last word must be the user's.
  if (messages.at(-1)?.role !== 'user') say('user', [text('Please go on.')]);
  return messages;
}

/** Thinking that led to nothing must not stand at the end of a message. */
function withoutTrailingThought(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  return parts.slice(0, parts.findLastIndex((part) => part.type !== 'reasoning') + 1);
}

/** The provider caches up to each mark; two in the messages, so that the next request still finds the one before. */
function markForCache(system: Block[], messages: readonly Message[]): void {
  const users = messages.filter((message) => message.role === 'user').slice(-2);
  for (const block of [system.at(-1), ...users.map((message) => message.content.at(-1))]) {
    if (block) block.cache_control = { type: 'ephemeral' };
  }
}

const functionTool = (spec: FunctionSpec): Record<string, unknown> => ({
  name: spec.name,
  description: spec.description,
  input_schema: objectSchema(spec.parameters),
});

/** A request that shows calls must list tools, also when none may be called now (as while summing up). */
function toolsOf(flat: FlatTools, messages: readonly Message[], parallel: boolean): Record<string, unknown> {
  if (flat.functions.length > 0) {
    const choice = parallel ? {} : { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
    return { tools: flat.functions.map(functionTool), ...choice };
  }
  const used = new Set(
    messages.flatMap((message) => message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name as string] : []))),
  );
  if (used.size === 0) return {};
  const tools = [...used].map((name) => ({ name, description: 'Not available now.', input_schema: { type: 'object', properties: {} } }));
  return { tools, tool_choice: { type: 'none' } };
}

const BUDGETS: Record<string, number> = { low: 4096, medium: 10_240, high: 24_576, xhigh: 32_768, max: 32_768 };
const ROOM_FOR_ANSWER = 8192;

/** The largest answer each family allows; a request must name one. */
function maxTokens(model: string): number {
  if (/claude-(?:opus-4-(?:[01](?:-|$)|\d{8})|opus-4$)/.test(model)) return 32_000;
  if (/claude-(?:3-7|(?:opus|sonnet|haiku)-[4-9]|[a-z]+-[5-9])/.test(model)) return 64_000;
  if (/claude-3-5/.test(model)) return 8192;
  return /claude-3-/.test(model) ? 4096 : 16_384;
}

/** From 4.6 on these models decide themselves how long to think, and are told only how hard. */
const isAdaptive = (model: string): boolean =>
  /claude-(?:(?:opus|sonnet|haiku)-(?:4-(?:[6-9]|\d{2})(?!\d)|[5-9](?!\d))|[a-z]+-[5-9](?!\d))/.test(model);

/** Between a call and its result the provider wants the thinking that led to the call; without it, it must not be asked to think. */
function thoughtIsMissing(messages: readonly Message[]): boolean {
  const asksOn = messages.at(-1)?.content.some((block) => block.type === 'tool_result') ?? false;
  return asksOn && !/thinking$/.test(messages.at(-2)?.content[0]?.type ?? '');
}

function thinkingOf(request: ModelRequest, messages: readonly Message[]): Record<string, unknown> {
  const model = request.model.toLowerCase();
  const limit = maxTokens(model);
  const effort = request.reasoning?.effort;
  if (effort === undefined || effort === 'none' || effort === 'minimal' || thoughtIsMissing(messages)) return { max_tokens: limit };
  if (isAdaptive(model)) {
    return { max_tokens: limit, thinking: { type: 'adaptive' }, output_config: { effort: effort === 'xhigh' ? 'max' : effort } };
  }
  const budget = BUDGETS[effort] ?? BUDGETS.medium;
  return { max_tokens: Math.max(limit, budget + ROOM_FOR_ANSWER), thinking: { type: 'enabled', budget_tokens: budget } };
}

const schemaText = (schema: unknown): string =>
  `Your final answer must be one JSON value that follows this JSON Schema, and nothing else around it:\n${JSON.stringify(schema)}`;

export function anthropicBody(request: ModelRequest, flat: FlatTools, origin: string): string {
  const { lead, rest } = splitLead(request.instructions, conversationOf(request.input, flat, origin));
  if (request.outputSchema !== undefined) lead.push(schemaText(request.outputSchema));
  const system = lead.filter((one) => one.trim() !== '').map(text);
  const messages = messagesOf(rest);
  markForCache(system, messages);
  return JSON.stringify({
    model: request.model,
    ...thinkingOf(request, messages),
    system: system.length > 0 ? system : undefined,
    ...toolsOf(flat, messages, request.parallelToolCalls),
    messages,
    stream: true,
  });
}
