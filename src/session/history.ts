// The model's history of a thread: items in the Responses form with who put them there. Only ever extended, so that each request extends
// the one before; compaction and revert replace it whole. Invariant: before any sampling each call has exactly one output.
import { isToolCall, isToolOutput, type ResponseItem, type ToolCallItem, type ToolCallOutputItem } from '../protocol/response-item.ts';
import type { HistoryOrigin } from '../protocol/rollout.ts';

export interface HistoryEntry {
  readonly origin: HistoryOrigin;
  readonly turnId: string | null;
  readonly item: ResponseItem;
  /** The section of the world state that a context entry tells. */
  readonly section?: string;
}

/** A summary stands for a part of it. */
export const isCompacted = (entries: readonly HistoryEntry[]): boolean => entries.some(({ origin }) => origin === 'summary');

const callIdOf = (item: ResponseItem): string | null => ((isToolCall(item) || isToolOutput(item)) && item.call_id ? item.call_id : null);

/** The output of a call whose own output is missing: it was cut off, and nobody knows how far it came. */
export function unknownOutcome(call: ResponseItem): ToolCallOutputItem | null {
  const text =
    'aborted: the call was cut off before its result was recorded. Its outcome is unknown; it may have had effects. Check before you repeat it.';
  if (call.type === 'function_call' || call.type === 'local_shell_call')
    return { type: 'function_call_output', call_id: call.call_id ?? '', output: text };
  if (call.type === 'custom_tool_call') return { type: 'custom_tool_call_output', call_id: call.call_id, output: text };
  if (call.type === 'tool_search_call')
    return { type: 'tool_search_output', call_id: call.call_id, status: 'completed', execution: 'client', tools: [] };
  return null;
}

export class History {
  /** Written by append and replace only; null while they are still only in the record. */
  #own: HistoryEntry[] | null;
  /** Every call id that was ever in use here; a model that repeats one gets a new one. */
  readonly #callIds = new Set<string>();

  /** `null`: the entries are read later, and given to `replace`. */
  constructor(entries: readonly HistoryEntry[] | null = []) {
    this.#own = entries && [...entries];
    if (entries) this.#index();
  }

  get #entries(): HistoryEntry[] {
    if (!this.#own) throw new Error('the history of this thread is not read yet');
    return this.#own;
  }

  get entries(): readonly HistoryEntry[] {
    return this.#entries;
  }

  get length(): number {
    return this.#entries.length;
  }

  append(entry: HistoryEntry): void {
    this.#entries.push(entry);
    const id = callIdOf(entry.item);
    if (id) this.#callIds.add(id);
  }

  replace(entries: readonly HistoryEntry[]): void {
    this.#own = [...entries];
    this.#index();
  }

  hasCallId(id: string): boolean {
    return this.#callIds.has(id);
  }

  /**
   * A call from the entry `from` on that is the same in id, name and payload: a model that repeats itself, within an answer or after a cut
   * stream. Further back it is no repetition: some models number their calls anew in each answer.
   */
  sameCall(from: number, item: ResponseItem): boolean {
    const id = callIdOf(item);
    if (!id || !this.#callIds.has(id)) return false;
    return this.#entries
      .slice(from)
      .some((entry) => isToolCall(entry.item) && callIdOf(entry.item) === id && sameContent(entry.item, item));
  }

  /** Calls that no output answers, in order, each id once. */
  openCalls(): ToolCallItem[] {
    const answered = new Set(this.#entries.filter((entry) => isToolOutput(entry.item)).map((entry) => callIdOf(entry.item)));
    const open: ToolCallItem[] = [];
    for (const { item } of this.#entries) {
      if (!isToolCall(item) || answered.has(callIdOf(item))) continue;
      open.push(item);
      answered.add(callIdOf(item));
    }
    return open;
  }

  /**
   * What has to be added so that each call has exactly one output. Outputs without a call are dropped by `forModel`; they cannot be
   * removed here, since the history only grows.
   */
  missingOutputs(): ToolCallOutputItem[] {
    return this.openCalls()
      .map(unknownOutcome)
      .filter((output) => output !== null);
  }

  /** The input of a request: the entries, without outputs that have no call before them and without second outputs. */
  forModel(): ResponseItem[] {
    const open = new Map<string, number>();
    const items: ResponseItem[] = [];
    for (const { item } of this.#entries) {
      const id = callIdOf(item);
      if (isToolCall(item) && id) open.set(id, (open.get(id) ?? 0) + 1);
      else if (isToolOutput(item) && id) {
        const left = open.get(id) ?? 0;
        if (left === 0) continue;
        open.set(id, left - 1);
      }
      items.push(item);
    }
    return items;
  }

  #index(): void {
    for (const { item } of this.#entries) {
      const id = callIdOf(item);
      if (id) this.#callIds.add(id);
    }
  }
}

function sameContent(a: ResponseItem, b: ResponseItem): boolean {
  if (a.type !== b.type) return false;
  if (a.type === 'function_call' && b.type === 'function_call')
    return a.name === b.name && a.namespace === b.namespace && a.arguments === b.arguments;
  if (a.type === 'custom_tool_call' && b.type === 'custom_tool_call')
    return a.name === b.name && a.namespace === b.namespace && a.input === b.input;
  if (a.type === 'tool_search_call' && b.type === 'tool_search_call') return JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
  if (a.type === 'local_shell_call' && b.type === 'local_shell_call') return JSON.stringify(a.action) === JSON.stringify(b.action);
  return false;
}
