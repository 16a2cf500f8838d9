// Model history in the Responses item form, the richest of the forms providers speak. Every other adapter translates from it.
// The shapes follow OpenAI's public Responses API; unknown item types are kept as they came.
import * as z from 'zod';

export interface InputText {
  type: 'input_text';
  text: string;
}
export interface InputImage {
  type: 'input_image';
  image_url: string;
  detail?: string;
}
export interface OutputText {
  type: 'output_text';
  text: string;
  annotations?: unknown[];
}
export type MessageContent = InputText | InputImage | OutputText | { type: 'refusal'; refusal: string };

export interface MessageItem {
  type: 'message';
  role: 'user' | 'assistant' | 'developer' | 'system';
  content: MessageContent[];
  id?: string;
  status?: string;
  phase?: string | null;
}
export interface ReasoningItem {
  type: 'reasoning';
  id?: string;
  summary: { type: 'summary_text'; text: string }[];
  content?: { type: 'reasoning_text' | 'text'; text: string }[] | null;
  encrypted_content?: string | null;
  status?: string;
}
export interface FunctionCallItem {
  type: 'function_call';
  id?: string;
  call_id: string;
  name: string;
  namespace?: string;
  /** The raw text the model wrote; meant to be a JSON object. */
  arguments: string;
  status?: string;
}
export interface CustomToolCallItem {
  type: 'custom_tool_call';
  id?: string;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
  status?: string;
}
export interface ToolSearchCallItem {
  type: 'tool_search_call';
  id?: string;
  call_id: string | null;
  execution?: string;
  status?: string;
  arguments: unknown;
}
export interface LocalShellCallItem {
  type: 'local_shell_call';
  id?: string;
  call_id?: string | null;
  status?: string;
  action: { type: string; command?: string[]; working_directory?: string | null; timeout_ms?: number | null };
}
export interface WebSearchCallItem {
  type: 'web_search_call';
  id?: string;
  status?: string;
  action?: { type: string; query?: string; queries?: string[]; url?: string; pattern?: string } | null;
}

/** What a tool gives back: one text, or several parts in order. */
export type ToolOutputBody = string | (InputText | InputImage)[];

export interface FunctionCallOutputItem {
  type: 'function_call_output';
  id?: string;
  call_id: string;
  output: ToolOutputBody;
}
export interface CustomToolCallOutputItem {
  type: 'custom_tool_call_output';
  id?: string;
  call_id: string;
  output: ToolOutputBody;
}
export interface ToolSearchOutputItem {
  type: 'tool_search_output';
  id?: string;
  call_id: string | null;
  status: string;
  execution: string;
  /** Provider-form tool specs, each function marked `defer_loading: true`. */
  tools: unknown[];
}

export type ToolCallItem = FunctionCallItem | CustomToolCallItem | ToolSearchCallItem | LocalShellCallItem;
export type ToolCallOutputItem = FunctionCallOutputItem | CustomToolCallOutputItem | ToolSearchOutputItem;

/** An item of a type that this version does not know; replayed unchanged. */
export interface OtherItem {
  type: `other:${string}`;
  raw: Record<string, unknown>;
}

export type ResponseItem = MessageItem | ReasoningItem | ToolCallItem | ToolCallOutputItem | WebSearchCallItem | OtherItem;

export const isToolCall = (item: ResponseItem): item is ToolCallItem =>
  item.type === 'function_call' || item.type === 'custom_tool_call' || item.type === 'tool_search_call' || item.type === 'local_shell_call';

export const isToolOutput = (item: ResponseItem): item is ToolCallOutputItem =>
  item.type === 'function_call_output' || item.type === 'custom_tool_call_output' || item.type === 'tool_search_output';

const contentPart = () => z.looseObject({ type: z.string() });
const output = () => z.union([z.string(), z.array(contentPart())]);

const shapes: Record<string, () => z.ZodType> = {
  message: () =>
    z.looseObject({
      type: z.literal('message'),
      role: z.enum(['user', 'assistant', 'developer', 'system']),
      content: z.array(contentPart()),
    }),
  reasoning: () => z.looseObject({ type: z.literal('reasoning'), summary: z.array(z.looseObject({ type: z.string(), text: z.string() })) }),
  function_call: () =>
    z.looseObject({ type: z.literal('function_call'), call_id: z.string().optional(), name: z.string(), arguments: z.string() }),
  custom_tool_call: () =>
    z.looseObject({ type: z.literal('custom_tool_call'), call_id: z.string().optional(), name: z.string(), input: z.string() }),
  tool_search_call: () => z.looseObject({ type: z.literal('tool_search_call'), arguments: z.unknown() }),
  local_shell_call: () => z.looseObject({ type: z.literal('local_shell_call'), action: z.looseObject({ type: z.string() }) }),
  web_search_call: () => z.looseObject({ type: z.literal('web_search_call') }),
  function_call_output: () => z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: output() }),
  custom_tool_call_output: () => z.looseObject({ type: z.literal('custom_tool_call_output'), call_id: z.string(), output: output() }),
  tool_search_output: () => z.looseObject({ type: z.literal('tool_search_output'), tools: z.array(z.unknown()) }),
};
const built = new Map<string, z.ZodType>();

export type ItemReading = { ok: true; item: ResponseItem } | { ok: false; problem: string };

/**
 * Reads one item that came from outside (a provider, a client, a stored file). A known type of the wrong shape is a problem with
 * the field named; an unknown type is kept whole.
 */
export function readResponseItem(value: unknown): ItemReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, problem: 'expected an object' };
  const type = (value as { type?: unknown }).type;
  if (typeof type !== 'string') return { ok: false, problem: 'type: expected a string' };
  const shape = shapes[type];
  if (!shape) {
    if (type.startsWith('other:') && 'raw' in value) return { ok: true, item: value as OtherItem };
    return { ok: true, item: { type: `other:${type}`, raw: value as Record<string, unknown> } };
  }
  let schema = built.get(type);
  if (!schema) built.set(type, (schema = shape()));
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, item: parsed.data as ResponseItem };
  const issue = parsed.error.issues[0];
  return { ok: false, problem: `${issue.path.join('.') || type}: ${issue.message}` };
}

/** The form a provider of the Responses API takes. */
export const toProviderItem = (item: ResponseItem): Record<string, unknown> =>
  'raw' in item ? item.raw : (item as unknown as Record<string, unknown>);
