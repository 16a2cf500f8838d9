// Calls whose arguments still come, shown by their tools meanwhile. A preview has the ids of the call that follows; the ids are set aside
// for it here. Only ids that are new to the thread are previewed: a repeated call may turn out to have run already.
import { newRandomId } from '../common/ids.ts';
import type { ModelEvent } from '../model/client.ts';
import { isToolCall, type ResponseItem, type ToolCallItem } from '../protocol/response-item.ts';
import type { ToolEvents } from '../tools/events.ts';
import { readCallItem, type ToolRouter } from '../tools/router.ts';
import type { ArgumentPreview, StepFacts } from '../tools/runtime.ts';

export interface PreviewedCall {
  readonly callId: string;
  readonly itemId: string;
  readonly preview: ArgumentPreview;
}

export interface PreviewPorts {
  readonly events: ToolEvents;
  readonly router: ToolRouter;
  readonly step: StepFacts;
  /** The id belongs to a call in the history. */
  isCall(callId: string): boolean;
  /** The id belongs to an item of the turn. */
  isItem(itemId: string): boolean;
}

export class CallPreviews {
  readonly #ports: PreviewPorts;
  /** By the model's item id, from the beginning of a call to its end. */
  readonly #open = new Map<string, PreviewedCall>();

  constructor(ports: PreviewPorts) {
    this.#ports = ports;
  }

  added(item: ResponseItem): void {
    if (!isToolCall(item) || !item.id || !item.call_id || this.#ports.isCall(item.call_id) || this.reserves(item.call_id)) return;
    const { name, replyAs } = readCallItem(item);
    const route = this.#ports.router.route(name, replyAs);
    if (route.type !== 'found' || !route.runtime.streamArguments) return;
    const callId = item.call_id;
    const itemId = this.#ports.isItem(callId) ? newRandomId() : callId;
    const preview = route.runtime.streamArguments({ callId, itemId, replyAs }, this.#ports.step, this.#ports.events);
    this.#open.set(item.id, { callId, itemId, preview });
  }

  delta(event: Extract<ModelEvent, { type: 'argumentsDelta' }>): void {
    this.#open.get(event.itemId)?.preview.push(event.delta);
  }

  reserves(callId: string): boolean {
    for (const open of this.#open.values()) if (open.callId === callId) return true;
    return false;
  }

  /** Hands over the preview of a call that is complete; whoever takes it ends it. */
  take(item: ToolCallItem): PreviewedCall | undefined {
    const open = item.id ? this.#open.get(item.id) : undefined;
    if (item.id) this.#open.delete(item.id);
    return open;
  }

  /** The stream has ended: calls that are not complete never will be. */
  cut(): void {
    for (const { preview } of this.#open.values()) preview.end('cut');
    this.#open.clear();
  }
}
