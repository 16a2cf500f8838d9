// Output items while they grow, for wires that name no items of their own: they get their ids and places here, and the same events
// as a provider that does.
import { newRandomId } from '../common/ids.ts';
import type { ModelEvent } from './client.ts';
import type { FlatTools } from './flat-tools.ts';
import { FreeformInputReader } from './freeform-input.ts';
import { markReasoning } from './reasoning-origin.ts';

const id = (kind: string): string => `${kind}_${newRandomId().replaceAll('-', '')}`;

export class StreamedText {
  readonly #index: number;
  readonly #id = id('msg');
  #text = '';

  constructor(index: number, out: ModelEvent[]) {
    this.#index = index;
    out.push({ type: 'itemAdded', index, item: { type: 'message', role: 'assistant', id: this.#id, content: [] } });
  }

  add(delta: string, out: ModelEvent[]): void {
    if (!delta) return;
    this.#text += delta;
    out.push({ type: 'textDelta', itemId: this.#id, delta });
  }

  finish(out: ModelEvent[]): void {
    const content = this.#text ? [{ type: 'output_text' as const, text: this.#text }] : [];
    out.push({ type: 'itemDone', index: this.#index, item: { type: 'message', role: 'assistant', id: this.#id, content } });
  }
}

export class StreamedReasoning {
  readonly #index: number;
  readonly #origin: string;
  readonly #id = id('rs');
  #text = '';
  /** What the provider wants to see again to trust the text. */
  #seal: string | undefined;

  constructor(index: number, origin: string, out: ModelEvent[]) {
    this.#index = index;
    this.#origin = origin;
    out.push({ type: 'itemAdded', index, item: markReasoning({ type: 'reasoning', id: this.#id, summary: [] }, origin) });
  }

  add(delta: string, out: ModelEvent[]): void {
    if (!delta) return;
    if (!this.#text) out.push({ type: 'reasoningPartAdded', itemId: this.#id, summaryIndex: 0 });
    this.#text += delta;
    out.push({ type: 'reasoningSummaryDelta', itemId: this.#id, summaryIndex: 0, delta });
  }

  seal(more: string): void {
    this.#seal = (this.#seal ?? '') + more;
  }

  finish(out: ModelEvent[]): void {
    const summary = this.#text ? [{ type: 'summary_text' as const, text: this.#text }] : [];
    const sealed = this.#seal === undefined ? {} : { encrypted_content: this.#seal };
    const item = markReasoning({ type: 'reasoning', id: this.#id, summary, ...sealed }, this.#origin);
    out.push({ type: 'itemDone', index: this.#index, item });
  }
}

export class StreamedCall {
  readonly callId: string;
  readonly #name: string;
  readonly #index: number;
  readonly #flat: FlatTools;
  readonly #id = id('fc');
  readonly #input: FreeformInputReader | undefined;
  #arguments = '';

  constructor(index: number, call: { callId: string; name: string }, flat: FlatTools, out: ModelEvent[]) {
    this.callId = call.callId;
    this.#name = call.name;
    this.#index = index;
    this.#flat = flat;
    this.#input = flat.isFreeform(call.name) ? new FreeformInputReader() : undefined;
    const item = flat.itemOf({ id: this.#id, ...call, arguments: '', begun: true });
    out.push({ type: 'itemAdded', index, item });
  }

  get arguments(): string {
    return this.#arguments;
  }

  add(fragment: string, out: ModelEvent[]): void {
    if (!fragment) return;
    this.#arguments += fragment;
    const delta = this.#input ? this.#input.feed(fragment) : fragment;
    if (delta) out.push({ type: 'argumentsDelta', itemId: this.#id, callId: this.callId, delta });
  }

  finish(out: ModelEvent[]): void {
    const item = this.#flat.itemOf({ id: this.#id, callId: this.callId, name: this.#name, arguments: this.#arguments || '{}' });
    out.push({ type: 'itemDone', index: this.#index, item });
  }
}

/** An id that no other call of the answer has; providers forget them, or repeat them. */
export function freshCallId(given: unknown, used: Set<string>): string {
  const wanted = typeof given === 'string' && given !== '' && !used.has(given) ? given : id('call');
  used.add(wanted);
  return wanted;
}
