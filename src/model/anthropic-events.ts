// Decodes the event stream of Anthropic Messages: one content block becomes one item.

import { REDACTED } from './anthropic-wire.ts';
import { ModelError, type ModelEvent, type TokenUsage } from './client.ts';
import type { FlatTools } from './flat-tools.ts';
import type { StreamDecoder } from './http-stream.ts';
import { incompleteError, readFault, streamError } from './model-errors.ts';
import { freshCallId, StreamedCall, StreamedReasoning, StreamedText } from './streamed-item.ts';

type OpenBlock =
  | { type: 'text'; item: StreamedText }
  | { type: 'thinking'; item: StreamedReasoning }
  | { type: 'call'; item: StreamedCall; whole: string };

const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

export class AnthropicDecoder implements StreamDecoder {
  readonly #flat: FlatTools;
  readonly #origin: string;
  readonly #secrets: readonly string[];
  #responseId = '';
  #index = 0;
  /** Blocks that grow, by the provider's index. */
  readonly #open = new Map<number, OpenBlock>();
  /** Closed calls whose arguments are no JSON: cut off by the output limit, unless the end of the answer says otherwise. */
  #doubtful: StreamedCall[] = [];
  readonly #callIds = new Set<string>();
  /** Undefined until the provider counted anything. */
  #usage: Record<'input' | 'read' | 'written' | 'output', number> | undefined;

  constructor(options: { flat: FlatTools; origin: string; secrets: readonly string[] }) {
    this.#flat = options.flat;
    this.#origin = options.origin;
    this.#secrets = options.secrets;
  }

  onEvent(data: string, name: string | undefined, out: ModelEvent[]): boolean {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      return false;
    }
    const index = num(member(event, 'index'));
    switch (member(event, 'type') ?? name) {
      case 'content_block_delta':
        this.#delta(this.#open.get(index), member(event, 'delta'), out);
        return false;
      case 'content_block_start':
        this.#start(index, member(event, 'content_block'), out);
        return false;
      case 'content_block_stop':
        this.#stop(index, out);
        return false;
      case 'message_start':
        this.#responseId = str(member(member(event, 'message'), 'id'));
        this.#count(member(member(event, 'message'), 'usage'));
        out.push({ type: 'created', responseId: this.#responseId });
        return false;
      case 'message_delta':
        this.#count(member(event, 'usage'));
        this.#stopReason(str(member(member(event, 'delta'), 'stop_reason')), out);
        return false;
      case 'message_stop':
        this.#settle(out);
        out.push({ type: 'completed', responseId: this.#responseId, usage: this.#total() });
        return true;
      case 'error':
        throw streamError(readFault(event), this.#secrets);
      default:
        return false;
    }
  }

  /** This wire always says when it is done. */
  onEnd(): boolean {
    return false;
  }

  #start(index: number, block: unknown, out: ModelEvent[]): void {
    switch (member(block, 'type')) {
      case 'text': {
        const item = new StreamedText(this.#index++, out);
        item.add(str(member(block, 'text')), out);
        this.#open.set(index, { type: 'text', item });
        return;
      }
      case 'thinking':
      case 'redacted_thinking': {
        const item = new StreamedReasoning(this.#index++, this.#origin, out);
        item.add(str(member(block, 'thinking')), out);
        const data = member(block, 'data');
        if (typeof data === 'string') item.seal(REDACTED + data);
        else item.seal(str(member(block, 'signature')));
        this.#open.set(index, { type: 'thinking', item });
        return;
      }
      case 'tool_use': {
        const callId = freshCallId(member(block, 'id'), this.#callIds);
        const item = new StreamedCall(this.#index++, { callId, name: str(member(block, 'name')) }, this.#flat, out);
        const input = member(block, 'input');
        const whole = typeof input === 'object' && input !== null && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
        this.#open.set(index, { type: 'call', item, whole });
        return;
      }
      default:
    }
  }

  #delta(open: OpenBlock | undefined, delta: unknown, out: ModelEvent[]): void {
    if (open?.type === 'text') open.item.add(str(member(delta, 'text')), out);
    else if (open?.type === 'call') open.item.add(str(member(delta, 'partial_json')), out);
    else if (open?.type === 'thinking') {
      if (member(delta, 'type') === 'signature_delta') open.item.seal(str(member(delta, 'signature')));
      else open.item.add(str(member(delta, 'thinking')), out);
    }
  }

  #stop(index: number, out: ModelEvent[]): void {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (!open) return;
    if (open.type !== 'call') {
      open.item.finish(out);
      return;
    }
    if (open.item.arguments === '') open.item.add(open.whole, out);
    if (isWhole(open.item.arguments)) open.item.finish(out);
    else this.#doubtful.push(open.item);
  }

  #stopReason(reason: string, out: ModelEvent[]): void {
    switch (reason) {
      case 'max_tokens':
        throw incompleteError('max_output_tokens');
      case 'model_context_window_exceeded':
        throw new ModelError('contextWindowExceeded', 'the answer ran into the end of the context window', { midStream: true });
      case 'refusal':
        throw new ModelError('policy', 'the model refused to answer', { midStream: true });
      case '':
        return;
      default:
        this.#settle(out);
    }
  }

  /** Not cut by a limit, so the model itself wrote them wrong: the layers above answer that. */
  #settle(out: ModelEvent[]): void {
    for (const call of this.#doubtful) call.finish(out);
    this.#doubtful = [];
  }

  /** Counts are totals so far; a later event repeats only some. */
  #count(usage: unknown): void {
    if (typeof usage !== 'object' || usage === null) return;
    const before = this.#usage;
    const latest = (name: string, old: number | undefined): number => {
      const value = member(usage, name);
      return typeof value === 'number' ? value : (old ?? 0);
    };
    this.#usage = {
      input: latest('input_tokens', before?.input),
      read: latest('cache_read_input_tokens', before?.read),
      written: latest('cache_creation_input_tokens', before?.written),
      output: latest('output_tokens', before?.output),
    };
  }

  /** The provider counts cached tokens apart; here they are part of the input. */
  #total(): TokenUsage | null {
    if (!this.#usage) return null;
    const { input, read, written, output } = this.#usage;
    const inputTokens = input + read + written;
    return {
      inputTokens,
      cachedInputTokens: read,
      cacheWriteInputTokens: written,
      outputTokens: output,
      reasoningOutputTokens: 0,
      totalTokens: inputTokens + output,
    };
  }
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text || '{}');
    return true;
  } catch {
    return false;
  }
}
