// thread/search: threads in which something was said.
import { invalidParams } from '../../common/errors.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { positionOf, type ThreadQuery } from '../../session/thread-query.ts';
import { searchThreads } from '../../session/thread-search.ts';
import { listedOf } from '../../session/thread-store.ts';
import type { HandlersFor } from '../handler.ts';
import { encodePosition, limitOf, readPosition } from './pages.ts';
import { summaryView } from './stored-view.ts';

export function threadSearchHandlers(threads: ThreadManager): HandlersFor<'thread/search'> {
  return {
    'thread/search': async (params) => {
      const term = params.searchTerm.trim();
      if (term === '') throw invalidParams('params.searchTerm: expected what to look for, got an empty text');
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
        backwardsCursor: query.after ? place(first) : null,
      };
    },
  };
}
