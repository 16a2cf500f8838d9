// Decodes the events of the Responses API. Deltas make up nearly all of a stream, so they are read by hand; whole items, which are
// few, go through the schemas.
import type { ResponseItem } from '../protocol/response-item.ts';
import { ModelError, type ModelEvent, type TokenUsage } from './client.ts';
import type { FlatTools } from './flat-tools.ts';
import { FreeformInputReader } from './freeform-input.ts';
import type { StreamDecoder } from './http-stream.ts';
import { incompleteError, readFault, streamError } from './model-errors.ts';
import { markReasoning } from './reasoning-origin.ts';
import { readOutputItem } from './tolerant-item.ts';

/** An event as parsed; every member may be missing or of another type. */
interface RawEvent {
  type?: unknown;
  item_id?: unknown;
  output_index?: unknown;
  summary_index?: unknown;
  content_index?: unknown;
  call_id?: unknown;
  delta?: unknown;
  item?: unknown;
  response?: unknown;
}

const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

export interface DecoderOptions {
  /** Blanked in error texts. */
  secrets: readonly string[];
  /** The mark for reasoning items. */
  origin: string;
  /** Leads calls of flattened tools back. */
  flat: FlatTools;
}

export class ResponsesDecoder implements StreamDecoder {
  readonly #options: DecoderOptions;
  /** From `response.created`; the final event of some servers lacks the id. */
  #responseId = '';
  /** The place of the next item when the provider does not number them: how many are done. */
  #done = 0;
  /** By item id: freeform calls that stream as function arguments. */
  readonly #inputs = new Map<string, FreeformInputReader>();

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  onEvent(data: string, name: string | undefined, out: ModelEvent[]): boolean {
    let event: RawEvent;
    try {
      event = JSON.parse(data) as RawEvent;
    } catch {
      return false;
    }
    if (typeof event !== 'object' || event === null) return false;
    return this.#read(typeof event.type === 'string' ? event.type : (name ?? ''), event, out);
  }

  /** This wire always says when it is done. */
  onEnd(): boolean {
    return false;
  }

  #read(type: string, event: RawEvent, out: ModelEvent[]): boolean {
    switch (type) {
      case 'response.output_text.delta':
        if (event.delta) out.push({ type: 'textDelta', itemId: str(event.item_id), delta: str(event.delta) });
        return false;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#arguments(event, out);
        return false;
      case 'response.reasoning_summary_text.delta':
        out.push({
          type: 'reasoningSummaryDelta',
          itemId: str(event.item_id),
          summaryIndex: num(event.summary_index),
          delta: str(event.delta),
        });
        return false;
      case 'response.reasoning_text.delta':
        out.push({
          type: 'reasoningTextDelta',
          itemId: str(event.item_id),
          contentIndex: num(event.content_index),
          delta: str(event.delta),
        });
        return false;
      case 'response.reasoning_summary_part.added':
        out.push({ type: 'reasoningPartAdded', itemId: str(event.item_id), summaryIndex: num(event.summary_index) });
        return false;
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#item(type === 'response.output_item.done' ? 'itemDone' : 'itemAdded', event, out);
        return false;
      default:
        return this.#control(type, event, out);
    }
  }

  #item(type: 'itemAdded' | 'itemDone', event: RawEvent, out: ModelEvent[]): void {
    const item = readOutputItem(event.item);
    const index = typeof event.output_index === 'number' ? event.output_index : this.#done;
    if (type === 'itemDone') this.#done++;
    if (item) out.push({ type, index, item: this.#ours(item, type === 'itemAdded') });
  }

  /** The item as the daemon knows it: reasoning marked, calls of flattened tools under their own name and form. */
  #ours(item: ResponseItem, begun: boolean): ResponseItem {
    if (item.type === 'reasoning') return markReasoning(item, this.#options.origin);
    const { flat } = this.#options;
    if (item.type !== 'function_call' || item.namespace !== undefined || !flat.offers(item.name)) return item;
    if (begun && item.id !== undefined && flat.isFreeform(item.name)) this.#inputs.set(item.id, new FreeformInputReader());
    return flat.itemOf({ id: item.id, callId: item.call_id, name: item.name, arguments: item.arguments, begun });
  }

  #arguments(event: RawEvent, out: ModelEvent[]): void {
    const itemId = str(event.item_id);
    const reader = this.#inputs.size > 0 ? this.#inputs.get(itemId) : undefined;
    const delta = reader ? reader.feed(str(event.delta)) : str(event.delta);
    if (!delta) return;
    if (typeof event.call_id === 'string') out.push({ type: 'argumentsDelta', itemId, callId: event.call_id, delta });
    else out.push({ type: 'argumentsDelta', itemId, delta });
  }

  /** The events of the response as a whole. True at its proper end; a failure throws. */
  #control(type: string, event: RawEvent, out: ModelEvent[]): boolean {
    const { response } = event;
    switch (type) {
      case 'response.created':
        this.#responseId = str(member(response, 'id'));
        out.push({ type: 'created', responseId: this.#responseId });
        return false;
      case 'response.completed':
      case 'response.done':
        out.push({
          type: 'completed',
          responseId: str(member(response, 'id')) || this.#responseId,
          usage: readUsage(member(response, 'usage')),
        });
        return true;
      case 'response.incomplete':
        throw incompleteError(str(member(member(response, 'incomplete_details'), 'reason')) || 'unknown');
      case 'response.failed':
        throw streamError(readFault(response), this.#options.secrets);
      case 'response.cancelled':
        throw new ModelError('other', 'the provider cancelled the response', { midStream: true, retryable: true });
      case 'error':
        throw streamError(readFault(event), this.#options.secrets);
      default:
        return false;
    }
  }
}

function readUsage(usage: unknown): TokenUsage | null {
  if (typeof usage !== 'object' || usage === null) return null;
  const inputTokens = num(member(usage, 'input_tokens'));
  const outputTokens = num(member(usage, 'output_tokens'));
  const inputDetails = member(usage, 'input_tokens_details');
  return {
    inputTokens,
    cachedInputTokens: num(member(inputDetails, 'cached_tokens')),
    cacheWriteInputTokens: num(member(inputDetails, 'cache_write_tokens')),
    outputTokens,
    reasoningOutputTokens: num(member(member(usage, 'output_tokens_details'), 'reasoning_tokens')),
    totalTokens: num(member(usage, 'total_tokens')) || inputTokens + outputTokens,
  };
}
