// Reading threads: one, a list, pages of turns and items. Nothing here loads a thread or subscribes to it.
import { invalidParams } from '../../common/errors.ts';
import type { SessionSource, Thread as WireThread } from '../../protocol/thread.ts';
import type { ThreadListParams, ThreadSourceKind } from '../../protocol/thread-history.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { type TurnRecord, wireTurn } from '../../session/turn-record.ts';
import type { HandlersFor } from '../handler.ts';
import { itemsPage, pageOf, turnsPage } from './pages.ts';
import { storedView, summaryView } from './stored-view.ts';

function kindOf(source: SessionSource): ThreadSourceKind {
  if (typeof source === 'string') return source;
  if ('custom' in source) return 'unknown';
  const { subAgent } = source;
  if (subAgent === 'review') return 'subAgentReview';
  if (subAgent === 'compact') return 'subAgentCompact';
  return typeof subAgent === 'object' && 'thread_spawn' in subAgent ? 'subAgentThreadSpawn' : 'subAgentOther';
}

/** What a list shows when it is not asked for certain kinds: threads that a person talks in. */
const isInteractive = (kind: ThreadSourceKind): boolean => !kind.startsWith('subAgent');

/** Threads with a turn: stored ones, with the loaded ones as they are now. */
async function allThreads(threads: ThreadManager, archived: boolean): Promise<WireThread[]> {
  const stored = (await threads.store.list()).filter((thread) => thread.archived === archived && thread.turns > 0);
  const views = new Map(stored.map((thread) => [thread.threadId, summaryView(thread)]));
  if (!archived) {
    for (const thread of threads.loaded) if (!thread.state.ephemeral && thread.state.turns.length > 0) views.set(thread.id, thread.view());
  }
  return [...views.values()];
}

function matches(thread: WireThread, params: ThreadListParams): boolean {
  const kind = kindOf(thread.source);
  if (params.sourceKinds?.length ? !params.sourceKinds.includes(kind) : !isInteractive(kind)) return false;
  if (params.modelProviders?.length && !params.modelProviders.includes(thread.modelProvider)) return false;
  if (params.cwd && ![params.cwd].flat().includes(thread.cwd)) return false;
  if (params.originators?.length && !params.originators.includes(thread.originator ?? '')) return false;
  if (params.parentThreadId && thread.parentThreadId !== params.parentThreadId) return false;
  if (params.includedThreadIds && !params.includedThreadIds.includes(thread.id)) return false;
  if (params.excludedThreadIds?.includes(thread.id)) return false;
  const term = params.searchTerm?.toLowerCase();
  return !term || thread.preview.toLowerCase().includes(term) || (thread.name ?? '').toLowerCase().includes(term);
}

/** Thread ids are made of their time, so they break ties within a second. */
function compareBy(key: ThreadListParams['sortKey']): (a: WireThread, b: WireThread) => number {
  const value = (thread: WireThread): number => (key === 'updated_at' || key === 'recency_at' ? thread.updatedAt : thread.createdAt);
  return (a, b) => value(a) - value(b) || (a.id < b.id ? -1 : 1);
}

async function recordsOf(threads: ThreadManager, threadId: string): Promise<readonly TurnRecord[]> {
  const found = await threads.read(threadId);
  return 'loaded' in found ? found.loaded.state.turns : found.replay.turns;
}

type Methods = 'thread/read' | 'thread/list' | 'thread/loaded/list' | 'thread/turns/list' | 'thread/items/list';

export function threadHistoryHandlers(threads: ThreadManager): HandlersFor<Methods> {
  return {
    'thread/read': async ({ threadId, includeTurns }) => {
      const found = await threads.read(threadId);
      const views = (turns: readonly TurnRecord[]) => (includeTurns ? turns.map((turn) => wireTurn(turn, 'full')) : []);
      if ('loaded' in found) return { thread: found.loaded.view(views(found.loaded.state.turns)), readState: null };
      return { thread: await storedView(threads, found.stored, found.replay, views(found.replay.turns)), readState: null };
    },
    'thread/list': async (params) => {
      const found = (await allThreads(threads, params.archived ?? false)).filter((thread) => matches(thread, params));
      found.sort(compareBy(params.sortKey));
      if ((params.sortDirection ?? 'desc') === 'desc') found.reverse();
      return { ...pageOf(found, (thread) => thread.id, params), readStates: {} };
    },
    'thread/loaded/list': (params) => {
      const { data, nextCursor } = pageOf(
        threads.loaded.map((thread) => thread.id),
        (id) => id,
        params,
      );
      return { data, nextCursor };
    },
    'thread/turns/list': async (params) => turnsPage(await recordsOf(threads, params.threadId), params),
    'thread/items/list': async (params) => {
      const records = await recordsOf(threads, params.threadId);
      if (params.turnId && !records.some((record) => record.id === params.turnId))
        throw invalidParams(`params.turnId: turn not found: ${params.turnId}`);
      return itemsPage(records, { ...params, cursor: typeof params.cursor === 'string' ? params.cursor : null });
    },
  };
}
