// Pages over turns and items: cursors name the entry to go on from, so that a page is right although entries were added meanwhile.
import { invalidParams } from '../../common/errors.ts';
import type { ThreadItem } from '../../protocol/item.ts';
import type { SortDirection } from '../../protocol/primitives.ts';
import type { ThreadItemEntry } from '../../protocol/thread.ts';
import type { TurnItemsView, Turn as WireTurn } from '../../protocol/turn.ts';
import { type TurnRecord, wireTurn } from '../../session/turn-record.ts';

export const DEFAULT_PAGE = 25;
const MAX_PAGE = 1000;

export interface PageRequest {
  cursor?: string | null;
  limit?: number | null;
  sortDirection?: SortDirection | null;
}

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}

interface Cursor {
  /** The key of the entry that the page begins after. */
  after: string;
}

export const encodeCursor = (after: string): string => Buffer.from(JSON.stringify({ after } satisfies Cursor)).toString('base64url');

export function decodeCursor(cursor: string): string {
  try {
    const value = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Cursor;
    if (typeof value.after === 'string') return value.after;
  } catch {}
  throw invalidParams('params.cursor: not a cursor of this list; use the nextCursor of an earlier page');
}

/** A page of `entries`, which are given in the order asked for. */
export function pageOf<T>(entries: readonly T[], keyOf: (entry: T) => string, request: PageRequest): Page<T> {
  const limit = Math.min(MAX_PAGE, Math.max(1, request.limit ?? DEFAULT_PAGE));
  let start = 0;
  if (request.cursor) {
    const after = decodeCursor(request.cursor);
    const at = entries.findIndex((entry) => keyOf(entry) === after);
    if (at < 0) throw invalidParams('params.cursor: the entry that it names is gone; begin again without a cursor');
    start = at + 1;
  }
  const data = entries.slice(start, start + limit);
  const more = start + limit < entries.length;
  const last = data.at(-1);
  return {
    data,
    nextCursor: more && last !== undefined ? encodeCursor(keyOf(last)) : null,
    backwardsCursor: start > 0 && data.length ? encodeCursor(keyOf(data[0])) : null,
  };
}

const ordered = <T>(entries: readonly T[], direction: SortDirection): readonly T[] =>
  direction === 'asc' ? entries : [...entries].reverse();

export function turnsPage(turns: readonly TurnRecord[], request: PageRequest & { itemsView?: TurnItemsView | null }): Page<WireTurn> {
  const page = pageOf(ordered(turns, request.sortDirection ?? 'desc'), (turn) => turn.id, request);
  return { ...page, data: page.data.map((turn) => wireTurn(turn, request.itemsView ?? 'summary')) };
}

const entryOf = (turnId: string, item: ThreadItem): ThreadItemEntry => ({
  turnId,
  item,
  startedAtMs: item.startedAtMs ?? null,
  completedAtMs: item.completedAtMs ?? null,
});

export function itemsPage(turns: readonly TurnRecord[], request: PageRequest & { turnId?: string | null }): Page<ThreadItemEntry> {
  const entries = turns
    .filter((turn) => !request.turnId || turn.id === request.turnId)
    .flatMap((turn) => [...turn.items, ...turn.open.values()].map((item) => entryOf(turn.id, item)));
  return pageOf(ordered(entries, request.sortDirection ?? 'asc'), (entry) => `${entry.turnId} ${entry.item.id}`, request);
}
