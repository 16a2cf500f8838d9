// What one call may tell the client, until it has ended. A tool that goes on after an abort speaks into the void: nothing of it shows
// behind the end of its call. What outlives its call by right (the output and the end of a command left running) still passes.

import type { ThreadItem } from '../protocol/item.ts';
import type { ItemHandle, StartOptions, ToolEvents } from './events.ts';

/** An item that nobody sees. */
const unseen = (item: ThreadItem): ItemHandle => ({
  id: item.id,
  current: item,
  completed: true,
  outlives: false,
  revise: () => {},
  complete: () => false,
});

export class CallEvents implements ToolEvents {
  readonly #events: ToolEvents;
  /** Set once, by `end`. */
  #ended = false;

  constructor(events: ToolEvents) {
    this.#events = events;
  }

  end(): void {
    this.#ended = true;
  }

  startItem(item: ThreadItem, options: StartOptions): ItemHandle {
    return this.#ended ? (this.#events.itemOf(item.id) ?? unseen(item)) : this.#events.startItem(item, options);
  }

  itemOf(itemId: string): ItemHandle | undefined {
    return this.#events.itemOf(itemId);
  }

  commandOutput(itemId: string, delta: string): void {
    this.#events.commandOutput(itemId, delta);
  }

  terminalInteraction(itemId: string, processId: string, stdin: string): void {
    this.#events.terminalInteraction(itemId, processId, stdin);
  }

  patchUpdated(...told: Parameters<ToolEvents['patchUpdated']>): void {
    if (!this.#ended) this.#events.patchUpdated(...told);
  }

  fileOutput(...told: Parameters<ToolEvents['fileOutput']>): void {
    if (!this.#ended) this.#events.fileOutput(...told);
  }

  planUpdated(...told: Parameters<ToolEvents['planUpdated']>): void {
    if (!this.#ended) this.#events.planUpdated(...told);
  }

  diffUpdated(...told: Parameters<ToolEvents['diffUpdated']>): void {
    if (!this.#ended) this.#events.diffUpdated(...told);
  }

  mcpProgress(...told: Parameters<ToolEvents['mcpProgress']>): void {
    if (!this.#ended) this.#events.mcpProgress(...told);
  }

  warning(message: string): void {
    if (!this.#ended) this.#events.warning(message);
  }
}
