// Threads as a client reads them, loaded or not.
import { unknownThread } from '../../common/errors.ts';
import type { Thread as WireThread } from '../../protocol/thread.ts';
import type { Turn as WireTurn } from '../../protocol/turn.ts';
import type { StoredFile } from '../../session/rollout/paths.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import type { StoredThread } from '../../session/thread-store.ts';
import { wireThread } from '../../session/thread-view.ts';
import { loadedTurns, type TurnSource } from './pages.ts';

export function summaryView(thread: StoredThread, turns: WireTurn[] = []): WireThread {
  const { meta, updatedAt, cwd, model, modelProvider, preview, name, gitInfo, external } = thread;
  const facts = {
    id: meta.id,
    sessionId: meta.id,
    createdAt: meta.createdAt,
    updatedAt,
    cwd,
    model,
    modelProvider,
    effort: null,
    preview,
    name,
    ephemeral: false,
    path: thread.file,
    source: meta.source,
    originator: meta.originator,
    forkedFromId: meta.forkedFromId,
    parentThreadId: meta.parentThreadId,
    gitInfo,
    external,
  };
  return wireThread(facts, { type: 'notLoaded' }, turns);
}

/** The view of one stored thread. */
export async function storedView(threads: ThreadManager, stored: StoredFile, turns: WireTurn[] = []): Promise<WireThread> {
  const summary = await threads.store.summaryOf(stored);
  if (!summary) throw unknownThread(stored.threadId);
  return summaryView(summary, turns);
}

/** The turns of a thread: those in memory, or those in its file, which are read as they are asked for. */
export async function turnsOf(threads: ThreadManager, threadId: string): Promise<TurnSource> {
  const found = await threads.read(threadId);
  if ('loaded' in found) return loadedTurns(found.loaded.state.turns);
  return threads.records.turns(found.stored);
}
