// Reading threads: one, a list, pages of turns and items. Nothing here loads a thread or subscribes to it.
import { invalidParams } from '../../common/errors.ts';
import type { Thread as WireThread } from '../../protocol/thread.ts';
import type { ThreadListParams } from '../../protocol/thread-history.ts';
import type { Thread } from '../../session/thread.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { type Listed, matchesQuery, pageOfThreads, positionOf, type SortKey, type ThreadQuery } from '../../session/thread-query.ts';
import { factsOf, turnCount } from '../../session/thread-state.ts';
import { listedOf, type StoredThread } from '../../session/thread-store.ts';
import { type TurnRecord, wireTurn } from '../../session/turn-record.ts';
import type { HandlersFor } from '../handler.ts';
import {
  cursorOf,
  encodePosition,
  encodeTurnaround,
  entriesOf,
  itemsPage,
  limitOf,
  type Page,
  pageOf,
  readPosition,
  turnsPage,
} from './pages.ts';
import { storedView, summaryView, turnsOf } from './stored-view.ts';

const keyOf = (key: ThreadListParams['sortKey']): SortKey => (key === 'updated_at' || key === 'recency_at' ? 'updatedAt' : 'createdAt');

const listOf = (value: readonly string[] | null | undefined): readonly string[] | null => (value?.length ? value : null);

function queryOf(params: ThreadListParams): ThreadQuery {
  return {
    archived: params.archived ?? false,
    sortKey: keyOf(params.sortKey),
    descending: (params.sortDirection ?? 'desc') === 'desc',
    after: params.cursor ? readPosition(params.cursor) : null,
    limit: limitOf(params.limit),
    cwds: params.cwd ? [params.cwd].flat() : null,
    providers: listOf(params.modelProviders),
    kinds: params.sourceKinds?.length ? params.sourceKinds : null,
    originators: listOf(params.originators),
    parentThreadId: params.parentThreadId ?? null,
    included: params.includedThreadIds ?? null,
    excluded: listOf(params.excludedThreadIds),
    term: params.searchTerm || null,
  };
}

type Entry = Listed & { view(): WireThread };

const loadedEntry = (thread: Thread): Entry => ({ ...factsOf(thread.state), view: () => thread.view() });
const storedEntry = (thread: StoredThread): Entry => ({ ...listedOf(thread), view: () => summaryView(thread) });

/** A page of the stored threads without those that are loaded here: these are shown as they are now, not as their files say. */
async function storedEntries(threads: ThreadManager, query: ThreadQuery): Promise<{ entries: Entry[]; more: boolean }> {
  const entries: Entry[] = [];
  let after = query.after;
  for (;;) {
    const { page, more } = await threads.store.page({ ...query, after });
    for (const thread of page) if (!threads.find(thread.threadId)) entries.push(storedEntry(thread));
    const last = page.at(-1);
    if (!more || !last || entries.length > query.limit) return { entries, more };
    after = positionOf(listedOf(last), query.sortKey);
  }
}

async function listPage(threads: ThreadManager, query: ThreadQuery): Promise<Page<WireThread>> {
  const shown = threads.loaded.filter(({ state }) => !query.archived && !state.ephemeral && turnCount(state) > 0);
  const loaded = shown.map(loadedEntry).filter((thread) => matchesQuery(thread, query));
  const stored = await storedEntries(threads, query);
  const { page, more } = pageOfThreads([...loaded, ...stored.entries], query);
  const first = page.at(0);
  const last = page.at(-1);
  return {
    data: page.map((thread) => thread.view()),
    nextCursor: (more || stored.more) && last ? encodePosition(positionOf(last, query.sortKey)) : null,
    backwardsCursor: first ? encodeTurnaround(positionOf(first, query.sortKey), query.descending) : null,
  };
}

type Methods = 'thread/read' | 'thread/list' | 'thread/loaded/list' | 'thread/turns/list' | 'thread/items/list' | 'thread/items/read';

export function threadHistoryHandlers(threads: ThreadManager): HandlersFor<Methods> {
  return {
    'thread/read': async ({ threadId, includeTurns }) => {
      const found = await threads.read(threadId);
      const views = (turns: readonly TurnRecord[]) => turns.map((turn) => wireTurn(turn, 'full'));
      if ('loaded' in found) return { thread: found.loaded.view(includeTurns ? views(found.loaded.state.turns) : []), readState: null };
      const stored = includeTurns ? await threads.records.turns(found.stored) : null;
      const turns = stored ? views(await stored.load(stored.ids)) : [];
      return { thread: await storedView(threads, found.stored, turns), readState: null };
    },
    'thread/list': async (params) => ({ ...(await listPage(threads, queryOf(params))), readStates: {} }),
    'thread/loaded/list': (params) => {
      const ids = threads.loaded.map((thread) => thread.id);
      const { data, nextCursor } = pageOf(ids, (id) => id, params);
      return { data, nextCursor };
    },
    'thread/turns/list': async (params) => turnsPage(await turnsOf(threads, params.threadId), params),
    'thread/items/read': async ({ threadId, turnId, itemIds }) => {
      const [turn] = await (await turnsOf(threads, threadId)).load([turnId]);
      if (!turn) throw invalidParams(`params.turnId: turn not found: ${turnId}`);
      const entries = new Map(entriesOf(turn).map((entry) => [entry.item.id, entry]));
      return { data: itemIds.flatMap((id) => entries.get(id) ?? []) };
    },
    'thread/items/list': async (params) => {
      const source = await turnsOf(threads, params.threadId);
      if (params.turnId && !source.ids.includes(params.turnId)) throw invalidParams(`params.turnId: turn not found: ${params.turnId}`);
      return itemsPage(source, { ...params, cursor: cursorOf(params.cursor) });
    },
  };
}
