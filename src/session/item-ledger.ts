// The items of one turn: started once, completed once, recorded and told in that order. It is what tools know as ToolEvents. At the end of
// a turn everything that is still open gets its terminal form, so no started item stays open.
import { nowMs } from '../common/clock.ts';
import type { FileUpdateChange, ThreadItem } from '../protocol/item.ts';
import type { NotificationParams, ServerNotificationMethod } from '../protocol/methods.ts';
import type { TurnPlanStep } from '../protocol/turn.ts';
import type { ItemHandle, StartOptions, ToolEvents } from '../tools/events.ts';
import type { EventSink } from './ports.ts';
import type { RolloutSink } from './rollout/writer.ts';
import type { TurnRecord } from './turn-record.ts';

/** Items that stand for work: their start is on disk before the work, so that a crash can show them. */
export const WORK: ReadonlySet<string> = new Set<ThreadItem['type']>([
  'commandExecution',
  'fileChange',
  'mcpToolCall',
  'dynamicToolCall',
  'collabAgentToolCall',
]);

interface OpenItem extends ItemHandle {
  readonly options: StartOptions;
}

export class ItemLedger implements ToolEvents {
  readonly #threadId: string;
  readonly #record: TurnRecord;
  readonly #sink: EventSink;
  readonly #rollout: RolloutSink;
  /** Every item of the turn by id, open or completed. */
  readonly #items = new Map<string, OpenItem>();

  constructor(threadId: string, record: TurnRecord, sink: EventSink, rollout: RolloutSink) {
    this.#threadId = threadId;
    this.#record = record;
    this.#sink = sink;
    this.#rollout = rollout;
  }

  startItem(given: ThreadItem, options: StartOptions): ItemHandle {
    const known = this.#items.get(given.id);
    if (known) return known;
    const startedAtMs = nowMs();
    const item = { ...given, startedAtMs, completedAtMs: null };
    const handle = this.#handle(item, options);
    this.#items.set(item.id, handle);
    this.#record.open.set(item.id, item);
    if (WORK.has(item.type)) this.#rollout.append({ type: 'itemStarted', turnId: this.#record.id, item });
    this.#tell('item/started', { item, startedAtMs });
    return handle;
  }

  #handle(first: ThreadItem, options: StartOptions): OpenItem {
    let current = first;
    let completed = false;
    const complete = (item: ThreadItem): boolean => {
      if (completed) return false;
      completed = true;
      current = { ...item, startedAtMs: first.startedAtMs, completedAtMs: nowMs() };
      this.#finish(current);
      return true;
    };
    return {
      id: first.id,
      options,
      outlives: false,
      get current() {
        return current;
      },
      get completed() {
        return completed;
      },
      revise: (item) => {
        if (!completed) current = item;
      },
      complete,
    };
  }

  #finish(item: ThreadItem): void {
    this.#record.open.delete(item.id);
    this.#record.items.push(item);
    this.#rollout.append({ type: 'item', turnId: this.#record.id, item });
    this.#tell('item/completed', { item, contentTokenCount: null, completedAtMs: item.completedAtMs ?? nowMs() });
  }

  /** An item that begins and ends at once. */
  addItem(item: ThreadItem): void {
    this.startItem(item, { abandoned: (current) => current }).complete(item);
  }

  itemOf(itemId: string): ItemHandle | undefined {
    return this.#items.get(itemId);
  }

  has(itemId: string): boolean {
    return this.#items.has(itemId);
  }

  /** Gives every open item its terminal form; `keepOutliving` leaves what may run on after a turn. */
  closeOpen(options: { keepOutliving: boolean }): void {
    for (const handle of this.#items.values()) {
      if (handle.completed || (options.keepOutliving && handle.outlives)) continue;
      handle.complete(handle.options.abandoned(handle.current));
    }
  }

  /** Ends messages and reasoning whose stream has ended before they did. */
  closeStreaming(): void {
    for (const handle of this.#items.values()) {
      if (handle.completed || WORK.has(handle.current.type)) continue;
      handle.complete(handle.options.abandoned(handle.current));
    }
  }

  commandOutput(itemId: string, delta: string): void {
    this.#tell('item/commandExecution/outputDelta', { itemId, delta });
  }

  terminalInteraction(itemId: string, processId: string, stdin: string): void {
    this.#tell('item/commandExecution/terminalInteraction', { itemId, processId, stdin });
  }

  patchUpdated(itemId: string, changes: unknown[]): void {
    this.#tell('item/fileChange/patchUpdated', { itemId, changes: changes as FileUpdateChange[] });
  }

  fileOutput(itemId: string, delta: string): void {
    this.#tell('item/fileChange/outputDelta', { itemId, delta });
  }

  planUpdated(explanation: string | null, plan: TurnPlanStep[]): void {
    this.#tell('turn/plan/updated', { explanation, plan });
  }

  diffUpdated(diff: string): void {
    this.#tell('turn/diff/updated', { diff });
  }

  mcpProgress(itemId: string, message: string): void {
    this.#tell('item/mcpToolCall/progress', { itemId, message });
  }

  warning(message: string): void {
    this.#sink.thread(this.#threadId, 'warning', { threadId: this.#threadId, message });
  }

  messageDelta(itemId: string, delta: string): void {
    this.#tell('item/agentMessage/delta', { itemId, delta });
  }

  planDelta(itemId: string, delta: string): void {
    this.#tell('item/plan/delta', { itemId, delta });
  }

  reasoningPart(itemId: string, summaryIndex: number): void {
    this.#tell('item/reasoning/summaryPartAdded', { itemId, summaryIndex });
  }

  reasoningSummary(itemId: string, summaryIndex: number, delta: string): void {
    this.#tell('item/reasoning/summaryTextDelta', { itemId, delta, summaryIndex });
  }

  reasoningText(itemId: string, contentIndex: number, delta: string): void {
    this.#tell('item/reasoning/textDelta', { itemId, delta, contentIndex });
  }

  #tell<M extends ServerNotificationMethod>(method: M, params: Omit<NotificationParams<M>, 'threadId' | 'turnId'>): void {
    this.#sink.thread(this.#threadId, method, { threadId: this.#threadId, turnId: this.#record.id, ...params } as NotificationParams<M>);
  }
}
