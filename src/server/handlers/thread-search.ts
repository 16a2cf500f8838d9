// thread/search: threads in which something was said, and thread/searchOccurrences: where in one.
import { setImmediate as others } from 'node:timers/promises';
import { invalidParams } from '../../common/errors.ts';
import type { ThreadSearchOccurrence } from '../../protocol/thread-history.ts';
import { inSlices } from '../../session/rollout/slices.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { positionOf, type ThreadQuery } from '../../session/thread-query.ts';
import { placesOf, searchThreads, snippetAt, spokenText } from '../../session/thread-search.ts';
import { listedOf } from '../../session/thread-store.ts';
import type { TurnRecord } from '../../session/turn-record.ts';
import type { HandlersFor } from '../handler.ts';
import { countBefore, cursorAt, cursorBehind, encodePosition, encodeTurnaround, limitOf, readPosition } from './pages.ts';
import { summaryView, turnsOf } from './stored-view.ts';

/** Throws an RpcError for a term that is none. */
function termOf(searchTerm: string): string {
  const term = searchTerm.trim();
  if (term === '') throw invalidParams('params.searchTerm: expected what to look for, got an empty text');
  return term;
}

/** Turns that are read at once. */
const TURNS_AT_ONCE = 32;

/** The occurrences in one turn, in the order in which they were said. */
function occurrencesIn(turn: TurnRecord, term: string): ThreadSearchOccurrence[] {
  return turn.items.flatMap((item) => {
    const text = spokenText(item);
    return (text === null ? [] : placesOf(text, term)).map(({ at, length }) => {
      const { snippet, start, end } = snippetAt(text ?? '', at, length);
      return { itemId: item.id, turnId: turn.id, turnCursor: cursorAt(turn.id), snippet, snippetMatchRange: { start, end } };
    });
  });
}

export function threadSearchHandlers(threads: ThreadManager): HandlersFor<'thread/search' | 'thread/searchOccurrences'> {
  return {
    'thread/search': async (params) => {
      const term = termOf(params.searchTerm);
      const query: ThreadQuery = {
        archived: params.archived ?? false,
        sortKey: params.sortKey === 'created_at' ? 'createdAt' : 'updatedAt',
        descending: (params.sortDirection ?? 'desc') === 'desc',
        after: params.cursor ? readPosition(params.cursor) : null,
        limit: limitOf(params.limit),
        cwds: null,
        providers: null,
        kinds: params.sourceKinds?.length ? params.sourceKinds : null,
        originators: null,
        parentThreadId: null,
        included: null,
        excluded: null,
        term: null,
      };
      // What loaded threads have not written yet is in their files first.
      await Promise.all(threads.loaded.map((thread) => thread.log.flush()));
      const { hits, more } = await searchThreads(threads.store, term, query);
      const last = hits.at(-1);
      const first = hits.at(0);
      const place = (hit: typeof last) => (hit ? encodePosition(positionOf(listedOf(hit.thread), query.sortKey)) : null);
      return {
        data: hits.map(({ thread, snippet }) => ({ snippet, thread: threads.find(thread.threadId)?.view() ?? summaryView(thread) })),
        nextCursor: more ? place(last) : null,
        backwardsCursor: first ? encodeTurnaround(positionOf(listedOf(first.thread), query.sortKey), query.descending) : null,
      };
    },
    'thread/searchOccurrences': async ({ threadId, searchTerm, cursor, limit }) => {
      const term = termOf(searchTerm);
      const skipped = countBefore(cursor);
      const wanted = skipped + limitOf(limit);
      const source = await turnsOf(threads, threadId);
      const found: ThreadSearchOccurrence[] = [];
      for (let next = 0; next < source.ids.length && found.length <= wanted; next += TURNS_AT_ONCE) {
        const turns = await source.load(source.ids.slice(next, next + TURNS_AT_ONCE));
        found.push(...(await inSlices(turns, (turn) => occurrencesIn(turn, term))).flat());
        await others();
      }
      return { data: found.slice(skipped, wanted), nextCursor: found.length > wanted ? cursorBehind(wanted) : null };
    },
  };
}
