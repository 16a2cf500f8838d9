// Pages over turns and items: cursors name the entry to go on from, so that a page is right although entries were added meanwhile.
import { invalidParams } from '../../common/errors.ts';
import type { ThreadItem } from '../../protocol/item.ts';
import type { SortDirection } from '../../protocol/primitives.ts';
import type { ThreadItemEntry } from '../../protocol/thread.ts';
import type { TurnItemsView, Turn as WireTurn } from '../../protocol/turn.ts';
import type { Position } from '../../session/thread-query.ts';
import { type TurnRecord, wireTurn } from '../../session/turn-record.ts';

const DEFAULT_PAGE = 25;
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

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

const notACursor = () => invalidParams('params.cursor: not a cursor of this list; use the nextCursor of an earlier page');
const gone = () => invalidParams('params.cursor: the entry that it names is gone; begin again without a cursor');

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A cursor that names the key of the entry before a page. */
const encodeCursor = (after: string): string => encode({ after });

/** A cursor for a page that begins with an entry, whatever its direction. */
export const cursorAt = (key: string): string => encode({ at: key });

function decodeCursor(cursor: string): { key: string; after: boolean } {
  const value = decode(cursor);
  if (isRecord(value) && typeof value.after === 'string') return { key: value.after, after: true };
  if (isRecord(value) && typeof value.at === 'string') return { key: value.at, after: false };
  throw notACursor();
}

/** A cursor into a list that only grows, by how many entries came before. */
export const cursorBehind = (count: number): string => encode({ behind: count });

export function countBefore(cursor: string | null | undefined): number {
  if (!cursor) return 0;
  const value = decode(cursor);
  if (isRecord(value) && Number.isSafeInteger(value.behind) && (value.behind as number) >= 0) return value.behind as number;
  throw notACursor();
}

/** For a page in the opposite direction that begins where this one does: with all that have the time of its first thread. */
export const encodeTurnaround = (first: Position, descending: boolean): string =>
  encodePosition({ at: first.at, id: descending ? '' : '~' });

/** A cursor that names a place in a list of threads. */
export const encodePosition = ({ at, id }: Position): string => encode({ at, id });

export function readPosition(cursor: string): Position {
  const value = decode(cursor);
  if (isRecord(value) && typeof value.at === 'number' && typeof value.id === 'string') return { at: value.at, id: value.id };
  throw notACursor();
}

export const limitOf = (limit: number | null | undefined): number => Math.min(MAX_PAGE, Math.max(1, limit ?? DEFAULT_PAGE));

/** A page of `entries`, which are given in the order asked for. */
export function pageOf<T>(entries: readonly T[], keyOf: (entry: T) => string, request: PageRequest): Page<T> {
  const limit = limitOf(request.limit);
  let start = 0;
  if (request.cursor) {
    const { key, after } = decodeCursor(request.cursor);
    const at = entries.findIndex((entry) => keyOf(entry) === key);
    if (at < 0) throw gone();
    start = after ? at + 1 : at;
  }
  const data = entries.slice(start, start + limit);
  const more = start + limit < entries.length;
  const last = data.at(-1);
  return {
    data,
    nextCursor: more && last !== undefined ? encodeCursor(keyOf(last)) : null,
    // With the opposite direction: this entry again, and what has come since.
    backwardsCursor: data.length > 0 ? cursorAt(keyOf(data[0])) : null,
  };
}

const ordered = <T>(entries: readonly T[], direction: SortDirection): readonly T[] =>
  direction === 'asc' ? entries : [...entries].reverse();

/** The turns of a thread, in memory or on disk. */
export interface TurnSource {
  readonly ids: readonly string[];
  /** In the order of the ids. */
  load(ids: readonly string[]): Promise<readonly TurnRecord[]>;
}

export function loadedTurns(turns: readonly TurnRecord[]): TurnSource {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  return { ids: [...byId.keys()], load: async (ids) => ids.map((id) => byId.get(id)).filter((turn) => turn !== undefined) };
}

export async function turnsPage(source: TurnSource, request: PageRequest & { itemsView?: TurnItemsView | null }): Promise<Page<WireTurn>> {
  const page = pageOf(ordered(source.ids, request.sortDirection ?? 'desc'), (id) => id, request);
  const turns = await source.load(page.data);
  return { ...page, data: turns.map((turn) => wireTurn(turn, request.itemsView ?? 'summary')) };
}

const entryOf = (turnId: string, item: ThreadItem): ThreadItemEntry => ({
  turnId,
  item,
  startedAtMs: item.startedAtMs ?? null,
  completedAtMs: item.completedAtMs ?? null,
});

export const entriesOf = (turn: TurnRecord): ThreadItemEntry[] =>
  [...turn.items, ...turn.open.values()].map((item) => entryOf(turn.id, item));

/** A cursor into the items of a thread: the item that the page begins after. A client may also name the item itself. */
export function cursorOf(cursor: string | { itemId: string } | null | undefined): ItemCursor | null {
  if (!cursor) return null;
  if (typeof cursor !== 'string') return { turnId: null, itemId: cursor.itemId, inclusive: false };
  const value = decode(cursor);
  if (isRecord(value) && typeof value.turnId === 'string' && typeof value.itemId === 'string')
    return { turnId: value.turnId, itemId: value.itemId, inclusive: value.at === true };
  throw notACursor();
}

interface ItemCursor {
  /** Null when only the item is known. */
  turnId: string | null;
  itemId: string;
  /** The page begins with the item, not behind it. */
  inclusive: boolean;
}

interface ItemsRequest extends Omit<PageRequest, 'cursor'> {
  turnId?: string | null;
  cursor: ItemCursor | null;
}

const encodeItem = ({ turnId, item }: ThreadItemEntry): string => encode({ turnId, itemId: item.id });

/** Turns that are read at once while a page of items is filled. */
const TURNS_AT_ONCE = 16;

/** A page of items: as many turns are read as it takes to fill it. */
export async function itemsPage(source: TurnSource, request: ItemsRequest): Promise<Page<ThreadItemEntry>> {
  const { cursor } = request;
  const limit = limitOf(request.limit);
  const direction = request.sortDirection ?? 'asc';
  let ids = ordered(request.turnId ? [request.turnId] : source.ids, direction);
  if (cursor?.turnId) {
    const at = ids.indexOf(cursor.turnId);
    if (at < 0) throw gone();
    ids = ids.slice(at);
  }
  const found: ThreadItemEntry[] = [];
  let begun = cursor === null;
  for (let next = 0; next < ids.length && found.length <= limit; next += TURNS_AT_ONCE) {
    for (const turn of await source.load(ids.slice(next, next + TURNS_AT_ONCE))) {
      for (const entry of ordered(entriesOf(turn), direction)) {
        if (begun) found.push(entry);
        else {
          begun = entry.item.id === cursor?.itemId;
          if (begun && cursor?.inclusive) found.push(entry);
        }
      }
      if (!begun && cursor?.turnId) throw gone();
    }
  }
  if (!begun) throw gone();
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return {
    data,
    nextCursor: found.length > limit && last ? encodeItem(last) : null,
    backwardsCursor: data.length > 0 ? encode({ turnId: data[0].turnId, itemId: data[0].item.id, at: true }) : null,
  };
}
