// Threads that are not loaded, as a client reads them.
import { unknownThread } from '../../common/errors.ts';
import type { GitInfo, Thread as WireThread } from '../../protocol/thread.ts';
import type { Turn as WireTurn } from '../../protocol/turn.ts';
import type { StoredFile } from '../../session/rollout/paths.ts';
import type { ReplayedThread } from '../../session/rollout/replay.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import type { StoredThread } from '../../session/thread-store.ts';
import { wireThread } from '../../session/thread-view.ts';

export function summaryView(
  thread: StoredThread,
  more: { gitInfo?: GitInfo | null; external?: boolean; turns?: WireTurn[] } = {},
): WireThread {
  const { meta } = thread;
  const facts = {
    id: meta.id,
    sessionId: meta.id,
    createdAt: meta.createdAt,
    updatedAt: thread.updatedAt,
    cwd: thread.cwd,
    model: thread.model,
    modelProvider: thread.modelProvider,
    effort: null,
    preview: thread.preview,
    name: thread.name,
    ephemeral: false,
    path: thread.file,
    source: meta.source,
    originator: meta.originator,
    forkedFromId: meta.forkedFromId,
    parentThreadId: meta.parentThreadId,
    gitInfo: more.gitInfo ?? null,
    external: more.external ?? false,
  };
  return wireThread(facts, { type: 'notLoaded' }, more.turns ?? []);
}

/** The view of one stored thread. */
export async function storedView(
  threads: ThreadManager,
  stored: StoredFile,
  replay?: ReplayedThread,
  turns: WireTurn[] = [],
): Promise<WireThread> {
  const summary = await threads.store.summaryOf(stored);
  if (!summary) throw unknownThread(stored.threadId);
  return summaryView(summary, { gitInfo: (replay?.gitInfo as GitInfo | null) ?? null, external: replay?.external ?? false, turns });
}
