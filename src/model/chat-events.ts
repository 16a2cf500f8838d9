// Decodes Chat Completions chunks. A call counts as complete only when the answer says how it finished: pieces of several calls come
// interleaved, and half a call must never run.
import type { ModelEvent, TokenUsage } from './client.ts';
import type { FlatTools } from './flat-tools.ts';
import type { StreamDecoder } from './http-stream.ts';
import { incompleteError, readFault, streamError } from './model-errors.ts';
import { freshCallId, StreamedCall, StreamedReasoning, StreamedText } from './streamed-item.ts';

interface Chunk {
  id?: unknown;
  error?: unknown;
  usage?: unknown;
  choices?: { delta?: Delta; finish_reason?: unknown }[];
}
interface Delta {
  content?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
}
interface CallDelta {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown };
}

/** A call as its pieces come: nothing is told before its name is known. */
interface OpenCall {
  place: number;
  givenId: string;
  early: string;
  call: StreamedCall | undefined;
}

type Speech = { type: 'text'; item: StreamedText } | { type: 'reasoning'; item: StreamedReasoning };

const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

export class ChatDecoder implements StreamDecoder {
  readonly #flat: FlatTools;
  readonly #origin: string;
  readonly #secrets: readonly string[];
  #responseId: string | undefined;
  /** Place of the next item. */
  #index = 0;
  /** The text or reasoning that grows; closed when another kind of thing comes. */
  #speech: Speech | undefined;
  #calls: OpenCall[] = [];
  readonly #callIds = new Set<string>();
  /** Set by the chunk that ends the answer; usage may still follow. */
  #finished: string | undefined;
  #usage: TokenUsage | null = null;

  constructor(options: { flat: FlatTools; origin: string; secrets: readonly string[] }) {
    this.#flat = options.flat;
    this.#origin = options.origin;
    this.#secrets = options.secrets;
  }

  onEvent(data: string, _name: string | undefined, out: ModelEvent[]): boolean {
    if (data.trim() === '[DONE]') {
      // A server that never gives a reason still says here that it is through.
      if (this.#finished === undefined) this.#finish('stop', out);
      this.#complete(out);
      return true;
    }
    let chunk: Chunk | null;
    try {
      chunk = JSON.parse(data) as Chunk | null;
    } catch {
      return false;
    }
    if (typeof chunk !== 'object' || chunk === null) return false;
    if (chunk.error) throw streamError(readFault(chunk), this.#secrets);
    if (this.#responseId === undefined) {
      this.#responseId = str(chunk.id);
      out.push({ type: 'created', responseId: this.#responseId });
    }
    if (chunk.usage) this.#usage = readUsage(chunk.usage);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!choice || this.#finished !== undefined) return false;
    if (choice.delta) this.#delta(choice.delta, out);
    if (typeof choice.finish_reason === 'string' && choice.finish_reason) this.#finish(choice.finish_reason, out);
    return false;
  }

  /** Not every server sends [DONE]; one that gave its reason to finish is through. */
  onEnd(out: ModelEvent[]): boolean {
    if (this.#finished === undefined) return false;
    this.#complete(out);
    return true;
  }

  #complete(out: ModelEvent[]): void {
    out.push({ type: 'completed', responseId: this.#responseId ?? '', usage: this.#usage });
  }

  #finish(reason: string, out: ModelEvent[]): void {
    this.#finished = reason;
    this.#closeSpeech(out);
    if (reason === 'length') throw incompleteError('max_output_tokens');
    if (reason === 'content_filter') throw incompleteError('content_filter');
    if (reason === 'error') throw streamError({ message: 'the provider ended the answer with an error' });
    for (const { call } of this.#calls) call?.finish(out);
    this.#calls = [];
  }

  #delta(delta: Delta, out: ModelEvent[]): void {
    this.#reason(str(delta.reasoning_content) || str(delta.reasoning), out);
    if (Array.isArray(delta.content)) for (const part of delta.content) this.#part(part, out);
    else this.#text(str(delta.content), out);
    this.#text(str(delta.refusal), out);
    if (Array.isArray(delta.tool_calls)) for (const one of delta.tool_calls) this.#callDelta(one as CallDelta, out);
  }

  /** Some servers send content as typed parts, thinking among them. */
  #part(part: unknown, out: ModelEvent[]): void {
    const thinking = member(part, 'thinking');
    if (Array.isArray(thinking)) for (const one of thinking) this.#reason(str(member(one, 'text')), out);
    else if (thinking !== undefined) this.#reason(str(thinking), out);
    else this.#text(str(member(part, 'text')), out);
  }

  #text(delta: string, out: ModelEvent[]): void {
    if (!delta) return;
    if (this.#speech?.type !== 'text') {
      this.#closeSpeech(out);
      this.#speech = { type: 'text', item: new StreamedText(this.#index++, out) };
    }
    this.#speech.item.add(delta, out);
  }

  #reason(delta: string, out: ModelEvent[]): void {
    if (!delta) return;
    if (this.#speech?.type !== 'reasoning') {
      this.#closeSpeech(out);
      this.#speech = { type: 'reasoning', item: new StreamedReasoning(this.#index++, this.#origin, out) };
    }
    this.#speech.item.add(delta, out);
  }

  #closeSpeech(out: ModelEvent[]): void {
    this.#speech?.item.finish(out);
    this.#speech = undefined;
  }

  #callDelta(delta: CallDelta, out: ModelEvent[]): void {
    if (typeof delta !== 'object' || delta === null) return;
    this.#closeSpeech(out);
    const id = str(delta.id);
    const name = str(delta.function?.name);
    const open = this.#openCall(delta, id, name);
    if (!open.call && name) {
      open.call = new StreamedCall(this.#index++, { callId: freshCallId(id || open.givenId, this.#callIds), name }, this.#flat, out);
      open.call.add(open.early, out);
    }
    const given = delta.function?.arguments;
    const fragment = typeof given === 'object' && given !== null ? JSON.stringify(given) : str(given);
    if (open.call) open.call.add(fragment, out);
    else open.early += fragment;
  }

  /** The call that a piece belongs to. Servers that send whole calls may give all of them the same index, or none. */
  #openCall(delta: CallDelta, id: string, name: string): OpenCall {
    const last = this.#calls.at(-1);
    const place = typeof delta.index === 'number' ? delta.index : undefined;
    const known = place === undefined ? last : this.#calls.findLast((call) => call.place === place);
    const another = id !== '' && name !== '' && known?.call !== undefined && known.givenId !== id;
    if (known && !another) {
      known.givenId ||= id;
      return known;
    }
    const opened: OpenCall = { place: place ?? this.#calls.length, givenId: id, early: '', call: undefined };
    this.#calls.push(opened);
    return opened;
  }
}

function readUsage(usage: unknown): TokenUsage {
  const inputTokens = num(member(usage, 'prompt_tokens'));
  const outputTokens = num(member(usage, 'completion_tokens'));
  const details = member(usage, 'prompt_tokens_details');
  return {
    inputTokens,
    cachedInputTokens: num(member(details, 'cached_tokens')) || num(member(usage, 'prompt_cache_hit_tokens')),
    cacheWriteInputTokens: num(member(details, 'cache_write_tokens')),
    outputTokens,
    reasoningOutputTokens: num(member(member(usage, 'completion_tokens_details'), 'reasoning_tokens')),
    totalTokens: num(member(usage, 'total_tokens')) || inputTokens + outputTokens,
  };
}
