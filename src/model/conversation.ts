// The history regrouped for wires that speak in messages: who said what, and each call right beside its one output. Such providers
// refuse a request whose calls and outputs do not pair, so the pairing is made here whatever the history looks like.
import type {
  InputImage,
  InputText,
  MessageItem,
  ReasoningItem,
  ResponseItem,
  ToolCallItem,
  ToolCallOutputItem,
} from '../protocol/response-item.ts';
import { isToolCall, isToolOutput } from '../protocol/response-item.ts';
import { type FlatTools, freeformArguments, TOOL_SEARCH_NAME } from './flat-tools.ts';
import { issuerOf } from './reasoning-origin.ts';

export type UserPart = InputText | InputImage;

export interface WireCall {
  /** Unique in the request and made of letters, digits, `_` and `-`. */
  id: string;
  name: string;
  /** Text of a JSON object. */
  arguments: string;
  output: UserPart[];
}

export type AssistantPart = { type: 'text'; text: string } | { type: 'reasoning'; item: ReasoningItem } | { type: 'call'; call: WireCall };

export type Utterance =
  | { role: 'developer'; text: string }
  | { role: 'user'; parts: UserPart[] }
  /** Never empty: it holds a text or a call. The outputs of its calls follow it. */
  | { role: 'assistant'; parts: AssistantPart[] };

const NO_OUTPUT = 'No output was recorded for this call.';

/** Reasoning is kept only where `origin` issued it. Outputs without a call, and items that such wires cannot express, are left out. */
export function conversationOf(input: readonly ResponseItem[], flat: FlatTools, origin: string): Utterance[] {
  return new Conversation(input, flat, origin).utterances;
}

class Conversation {
  readonly utterances: Utterance[] = [];
  readonly #flat: FlatTools;
  /** call_id → outputs that no call has taken yet, oldest first. */
  readonly #outputs = new Map<string, ToolCallOutputItem[]>();
  readonly #usedIds = new Set<string>();
  /** What the model said in one go. */
  #group: AssistantPart[] = [];
  /** An output stood behind the group: what the model says next is another answer. */
  #answered = false;

  constructor(input: readonly ResponseItem[], flat: FlatTools, origin: string) {
    this.#flat = flat;
    for (const item of input) {
      if (!isToolOutput(item)) continue;
      const key = item.call_id ?? '';
      const waiting = this.#outputs.get(key);
      if (waiting) waiting.push(item);
      else this.#outputs.set(key, [item]);
    }
    for (const item of input) {
      if (isToolOutput(item)) this.#answered = true;
      else if (isToolCall(item)) this.#say({ type: 'call', call: this.#call(item) });
      else if (item.type === 'reasoning') {
        if (issuerOf(item) === origin) this.#say({ type: 'reasoning', item });
      } else if (item.type === 'message') this.#message(item);
    }
    this.#close();
  }

  #say(part: AssistantPart): void {
    if (this.#answered) this.#close();
    this.#group.push(part);
  }

  #close(): void {
    const parts = this.#group;
    this.#group = [];
    this.#answered = false;
    if (parts.some((part) => part.type !== 'reasoning')) this.utterances.push({ role: 'assistant', parts });
  }

  #message(item: MessageItem): void {
    if (item.role === 'assistant') {
      const text = textOf(item);
      if (text.trim() !== '') this.#say({ type: 'text', text });
      return;
    }
    this.#close();
    if (item.role !== 'user') {
      const text = textOf(item);
      if (text) this.utterances.push({ role: 'developer', text });
      return;
    }
    const parts = userParts(item.content);
    if (parts.length > 0) this.utterances.push({ role: 'user', parts });
  }

  #call(item: ToolCallItem): WireCall {
    const taken = this.#outputs.get(item.call_id ?? '')?.shift();
    const output = taken === undefined ? [] : outputParts(taken);
    const call = {
      id: this.#uniqueId(item.call_id ?? ''),
      output: taken === undefined ? [{ type: 'input_text', text: NO_OUTPUT } as const] : output,
    };
    switch (item.type) {
      case 'function_call':
        return { ...call, name: this.#flat.nameOf(item), arguments: objectText(item.arguments) };
      case 'custom_tool_call':
        return { ...call, name: this.#flat.nameOf(item), arguments: freeformArguments(item.input) };
      case 'tool_search_call':
        return { ...call, name: TOOL_SEARCH_NAME, arguments: objectText(JSON.stringify(item.arguments ?? {})) };
      case 'local_shell_call':
        return { ...call, name: 'local_shell', arguments: objectText(JSON.stringify(item.action)) };
    }
  }

  /** Some models number their calls anew in each answer. The same history gives the same ids, so prompt caches hold. */
  #uniqueId(callId: string): string {
    const safe = callId.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 56) || 'call';
    let id = safe;
    for (let n = 2; this.#usedIds.has(id); n++) id = `${safe}_${n}`;
    this.#usedIds.add(id);
    return id;
  }
}

function textOf(item: MessageItem): string {
  const texts = item.content.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : 'text' in part ? [part.text] : []));
  return texts.join('\n');
}

function userParts(content: readonly { type: string }[]): UserPart[] {
  return content.flatMap((part): UserPart[] => {
    if (part.type === 'input_image') return [part as InputImage];
    const { text } = part as { text?: unknown };
    return typeof text === 'string' && text.trim() !== '' ? [{ type: 'input_text', text }] : [];
  });
}

function outputParts(item: ToolCallOutputItem): UserPart[] {
  if (item.type === 'tool_search_output') return [{ type: 'input_text', text: JSON.stringify(item.tools) }];
  return typeof item.output === 'string' ? [{ type: 'input_text', text: item.output }] : userParts(item.output);
}

/** Arguments that the model broke are shown to it as what they were. */
export function objectText(text: string): string {
  if (text.trim() === '') return '{}';
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Shown below.
  }
  return JSON.stringify({ malformed_arguments: text });
}

/** What stands before the conversation: instructions and the developer messages up to the first other one. */
export function splitLead(
  instructions: string | undefined,
  utterances: readonly Utterance[],
): { lead: string[]; rest: readonly Utterance[] } {
  const end = utterances.findIndex((one) => one.role !== 'developer');
  const lead = utterances.slice(0, end < 0 ? utterances.length : end).flatMap((one) => (one.role === 'developer' ? [one.text] : []));
  return { lead: instructions ? [instructions, ...lead] : lead, rest: end < 0 ? [] : utterances.slice(end) };
}

/** A developer message in mid-conversation, for wires and templates that take such a role only at the start. */
export const wrapDeveloper = (text: string): string => `<developer_message>\n${text}\n</developer_message>`;
