// Items of a model's response as thread items: what a client sees of messages, reasoning and hosted searches while they stream.

import { newId } from '../common/ids.ts';
import type { ModelEvent } from '../model/client.ts';
import type { MessagePhase, ThreadItem, WebSearchAction } from '../protocol/item.ts';
import type { MessageItem, ReasoningItem, ResponseItem, WebSearchCallItem } from '../protocol/response-item.ts';
import type { ItemHandle } from '../tools/events.ts';
import type { ItemLedger } from './item-ledger.ts';
import { type PlanPiece, PlanSplitter } from './proposed-plan.ts';

type AgentMessage = Extract<ThreadItem, { type: 'agentMessage' }>;
type Reasoning = Extract<ThreadItem, { type: 'reasoning' }>;

const PHASES: ReadonlySet<string> = new Set<MessagePhase>(['commentary', 'partial_answer', 'final_answer']);
const phaseOf = (item: MessageItem): MessagePhase | null => (item.phase && PHASES.has(item.phase) ? (item.phase as MessagePhase) : null);

export const messageText = (item: MessageItem): string =>
  item.content.map((part) => (part.type === 'output_text' || part.type === 'input_text' ? part.text : '')).join('');

const emptyMessage = (id: string, phase: MessagePhase | null): AgentMessage => ({
  type: 'agentMessage',
  id,
  text: '',
  phase,
  memoryCitation: null,
  moderation: null,
  delivery: null,
  questions: null,
});

const ACTIONS: Record<string, WebSearchAction['type']> = { search: 'search', open_page: 'openPage', find_in_page: 'findInPage' };

function searchItem(id: string, item: WebSearchCallItem): ThreadItem {
  const given = item.action;
  const type = given ? (ACTIONS[given.type] ?? 'other') : 'other';
  const action: WebSearchAction =
    type === 'search'
      ? { type, query: given?.query ?? null, queries: given?.queries ?? null }
      : type === 'openPage'
        ? { type, url: given?.url ?? null }
        : type === 'findInPage'
          ? { type, url: given?.url ?? null, pattern: given?.pattern ?? null }
          : { type: 'other' };
  const query = given?.query ?? given?.queries?.join(', ') ?? given?.url ?? given?.pattern ?? '';
  return { type: 'webSearch', id, query, action: given ? action : null, results: null };
}

export interface Shown {
  /** A proposed plan in a message is an item of its own. */
  plans: boolean;
  reasoning: 'all' | 'summary' | 'nothing';
}

/** A plan inside a message. */
interface LivePlan {
  handle: ItemHandle;
  text: string;
}

/** Live text of an open item; parts are joined only when someone looks. */
interface Live {
  handle: ItemHandle;
  /** As the model wrote it. */
  written: string;
  /** As it is shown: what is shown as an item of its own is not in it. */
  text: string;
  splitter: PlanSplitter | null;
  plan: LivePlan | null;
  summary: string[];
  content: string[];
}

/** Follows one response. Invariant: what it opened it completes at the item's own end; the ledger closes the rest. */
export class ResponseItems {
  readonly #ledger: ItemLedger;
  readonly #shown: Shown;
  /** By the model's item id. */
  readonly #live = new Map<string, Live>();

  constructor(ledger: ItemLedger, shown: Shown) {
    this.#ledger = ledger;
    this.#shown = shown;
  }

  /** Text of messages that were cut off before their end, in order. */
  partialTexts(): string[] {
    return [...this.#live.values()]
      .filter((live) => live.handle.current.type === 'agentMessage' && !live.handle.completed && live.written !== '')
      .map((live) => live.written);
  }

  added(item: ResponseItem): void {
    if (item.type === 'message' && item.role === 'assistant') this.#openMessage(item.id ?? '', phaseOf(item));
    else if (item.type === 'reasoning') {
      if (this.#shown.reasoning !== 'nothing') this.#openReasoning(item.id ?? '');
    } else if (item.type === 'web_search_call') this.#open(item.id ?? '', (id) => searchItem(id, item));
  }

  delta(event: Extract<ModelEvent, { type: 'textDelta' | 'reasoningPartAdded' | 'reasoningSummaryDelta' | 'reasoningTextDelta' }>): void {
    const { reasoning } = this.#shown;
    if (event.type !== 'textDelta' && reasoning === 'nothing') return;
    if (event.type === 'reasoningTextDelta' && reasoning !== 'all') return;
    switch (event.type) {
      case 'textDelta': {
        const live = this.#live.get(event.itemId) ?? this.#openMessage(event.itemId, null);
        live.written += event.delta;
        if (live.splitter) this.#show(live, live.splitter.push(event.delta));
        else this.#say(live, event.delta);
        return;
      }
      case 'reasoningPartAdded': {
        const live = this.#live.get(event.itemId) ?? this.#openReasoning(event.itemId);
        live.summary[event.summaryIndex] ??= '';
        this.#ledger.reasoningPart(live.handle.id, event.summaryIndex);
        return;
      }
      case 'reasoningSummaryDelta': {
        const live = this.#live.get(event.itemId) ?? this.#openReasoning(event.itemId);
        live.summary[event.summaryIndex] = (live.summary[event.summaryIndex] ?? '') + event.delta;
        this.#ledger.reasoningSummary(live.handle.id, event.summaryIndex, event.delta);
        return;
      }
      case 'reasoningTextDelta': {
        const live = this.#live.get(event.itemId) ?? this.#openReasoning(event.itemId);
        live.content[event.contentIndex] = (live.content[event.contentIndex] ?? '') + event.delta;
        this.#ledger.reasoningText(live.handle.id, event.contentIndex, event.delta);
        return;
      }
    }
  }

  done(item: ResponseItem): void {
    if (item.type === 'message' && item.role === 'assistant') {
      const live = this.#live.get(item.id ?? '') ?? this.#openMessage(item.id ?? '', phaseOf(item));
      live.handle.complete({ ...emptyMessage(live.handle.id, phaseOf(item)), text: this.#finished(live, messageText(item)) });
    } else if (item.type === 'reasoning') {
      this.#reasoningDone(item);
    } else if (item.type === 'web_search_call') {
      const live = this.#live.get(item.id ?? '') ?? this.#open(item.id ?? '', (id) => searchItem(id, item));
      live.handle.complete(searchItem(live.handle.id, item));
    }
  }

  /** The text of a message that is complete; `whole` is all of it, whether it came in pieces or not. */
  #finished(live: Live, whole: string): string {
    if (!live.splitter) return whole;
    if (live.written === '') this.#show(live, live.splitter.push(whole));
    this.#show(live, live.splitter.finish());
    return live.text;
  }

  #say(live: Live, text: string): void {
    live.text += text;
    this.#ledger.messageDelta(live.handle.id, text);
  }

  #show(live: Live, pieces: readonly PlanPiece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'message') this.#say(live, piece.text);
      else if (piece.type === 'planBegins') live.plan = this.#openPlan(live);
      else if (piece.type === 'plan') this.#planText(live.plan, piece.text);
      else this.#endPlan(live);
    }
  }

  #openPlan({ splitter }: Live): LivePlan {
    const plan: LivePlan = { handle: null as never, text: '' };
    const item = { type: 'plan' as const, id: newId(), text: '' };
    plan.handle = this.#ledger.startItem(item, {
      abandoned: (current) => ({ ...current, text: plan.text + (splitter?.held ?? '') }) as ThreadItem,
    });
    return plan;
  }

  #planText(plan: LivePlan | null, text: string): void {
    if (!plan) return;
    plan.text += text;
    this.#ledger.planDelta(plan.handle.id, text);
  }

  #endPlan(live: Live): void {
    const { plan } = live;
    live.plan = null;
    plan?.handle.complete({ type: 'plan', id: plan.handle.id, text: plan.text });
  }

  #reasoningDone(item: ReasoningItem): void {
    if (this.#shown.reasoning === 'nothing') return;
    const live = this.#live.get(item.id ?? '') ?? this.#openReasoning(item.id ?? '');
    const done: Reasoning = {
      type: 'reasoning',
      id: live.handle.id,
      summary: item.summary.map((part) => part.text),
      content: this.#shown.reasoning === 'all' ? (item.content ?? []).map((part) => part.text) : [],
    };
    live.handle.complete(done);
  }

  #openMessage(modelId: string, phase: MessagePhase | null): Live {
    return this.#open(modelId, (id) => emptyMessage(id, phase));
  }

  #openReasoning(modelId: string): Live {
    return this.#open(modelId, (id) => ({ type: 'reasoning', id, summary: [], content: [] }));
  }

  #open(modelId: string, make: (id: string) => ThreadItem): Live {
    const known = this.#live.get(modelId);
    if (known && !known.handle.completed) return known;
    const id = modelId === '' || this.#ledger.has(modelId) ? newId() : modelId;
    const splitter = this.#shown.plans ? new PlanSplitter() : null;
    const live: Live = { handle: null as never, written: '', text: '', splitter, plan: null, summary: [], content: [] };
    live.handle = this.#ledger.startItem(make(id), { abandoned: (current) => withLiveText(current, live) });
    this.#live.set(modelId, live);
    return live;
  }
}

function withLiveText(item: ThreadItem, live: Live): ThreadItem {
  if (item.type === 'agentMessage') return { ...item, text: live.text + (live.plan ? '' : (live.splitter?.held ?? '')) };
  if (item.type === 'reasoning')
    return { ...item, summary: [...live.summary].map((part) => part ?? ''), content: [...live.content].map((part) => part ?? '') };
  return item;
}
