// What is known of a turn after the fact: its items in the order in which they completed, and how it ended.
import type { ThreadItem } from '../protocol/item.ts';
import type { TurnError, TurnItemsView, TurnStatus, Turn as WireTurn } from '../protocol/turn.ts';

export interface TurnRecord {
  readonly id: string;
  status: TurnStatus;
  error: TurnError | null;
  /** Seconds since 1970; null before the turn began to run. */
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
  /** Completed items, in the order of their completion. */
  readonly items: ThreadItem[];
  /** Items that have begun and not ended, by id. */
  readonly open: Map<string, ThreadItem>;
}

export const newTurnRecord = (id: string): TurnRecord => ({
  id,
  status: 'inProgress',
  error: null,
  startedAt: null,
  completedAt: null,
  durationMs: null,
  items: [],
  open: new Map(),
});

const deferred = new WeakSet<TurnRecord>();

/** Its items are read when somebody looks at them. */
export const isDeferred = (record: TurnRecord): boolean => deferred.has(record);

/** Leaves the items of a turn where they are until someone looks at them; they are kept no longer than whoever looked keeps them. */
export function deferItems(record: TurnRecord, read: () => ThreadItem[]): void {
  let kept: WeakRef<ThreadItem[]> | undefined;
  deferred.add(record);
  Object.defineProperty(record, 'items', {
    configurable: true,
    enumerable: true,
    get: () => {
      let items = kept?.deref();
      if (!items) {
        items = read();
        kept = new WeakRef(items);
      }
      return items;
    },
  });
}

const lastMessage = (items: readonly ThreadItem[]) => items.filter((item) => item.type === 'agentMessage').slice(-1);

/** What the model said last in a turn. */
export const lastText = (record: TurnRecord): string | null => lastMessage(record.items).at(0)?.text ?? null;

const firstInput = (items: readonly ThreadItem[]): ThreadItem[] => {
  const first = items.find((item) => item.type === 'userMessage');
  return first ? [first] : [];
};

function itemsFor(record: TurnRecord, view: TurnItemsView): ThreadItem[] {
  if (view === 'notLoaded') return [];
  if (view === 'summary') return [...firstInput(record.items), ...lastMessage(record.items)];
  return [...record.items, ...record.open.values()];
}

/** A turn as a client reads it. */
export function wireTurn(record: TurnRecord, view: TurnItemsView): WireTurn {
  return {
    id: record.id,
    rootTurnId: record.id,
    items: itemsFor(record, view),
    itemsView: view,
    status: record.status,
    error: record.error,
    startedAt: record.startedAt,
    completedAt: record.completedAt,
    durationMs: record.durationMs,
  };
}

/** The form of turn/completed: only the last agent message, as clients parse a closed union there. */
export function completedTurn(record: TurnRecord): WireTurn {
  const items = lastMessage(record.items);
  return { ...wireTurn(record, 'notLoaded'), items, itemsView: items.length ? 'summary' : 'notLoaded' };
}
