// What a fork takes over from the thread that it comes from.
import { invalidRequest } from '../common/errors.ts';
import type { ResponseItem } from '../protocol/response-item.ts';
import { History, type HistoryEntry } from './history.ts';
import { detached } from './rollout/blobs.ts';
import { inSlices } from './rollout/slices.ts';
import type { Thread } from './thread.ts';
import type { ThreadState } from './thread-state.ts';

/** The turns of a thread that a fork takes over: the ended ones up to a turn, or before one. Throws an RpcError for a turn that is not among them. */
export function cutTurns(
  turns: ThreadState['turns'],
  { lastTurnId, beforeTurnId }: { lastTurnId?: string | null; beforeTurnId?: string | null },
): ThreadState['turns'] {
  const ended = turns.filter((turn) => turn.status !== 'inProgress');
  const id = lastTurnId ?? beforeTurnId;
  if (!id) return ended;
  const at = ended.findIndex((turn) => turn.id === id);
  if (at < 0) throw invalidRequest(`turn not found: ${id}`);
  return ended.slice(0, lastTurnId ? at + 1 : at);
}

/** Fills a new thread with the turns of another one and the history that belongs to them. */
export async function fillFork(
  thread: Thread,
  source: ThreadState,
  turns: ThreadState['turns'],
  entries: readonly HistoryEntry[],
): Promise<void> {
  const { state, log } = thread;
  state.name = source.name;
  state.preview = source.preview;
  state.usage = source.usage;
  await inSlices(entries, ({ origin, item, turnId, section }) => log.history(origin, detached(item), turnId, section));
  await inSlices(turns, (turn) => copyTurn(thread, turn));
  for (const item of state.history.missingOutputs()) log.history('tool', item, null);
  if (turns.length || state.name) log.summary();
  // What is answered for is there.
  await log.flush();
}

/** Begins a thread with what was said in another one. */
export function fillContext({ log }: Thread, entries: readonly HistoryEntry[]): void {
  // Calls that still run are that thread's business.
  const open = new Set<ResponseItem>(new History(entries).openCalls());
  for (const [i, { origin, item, section }] of entries.entries()) {
    // Reasoning belongs to the call behind it.
    const next = entries.at(i + 1)?.item;
    if (open.has(item) || (item.type === 'reasoning' && next && open.has(next))) continue;
    log.history(origin, detached(item), null, section);
  }
}

function copyTurn(thread: Thread, turn: ThreadState['turns'][number]): void {
  const items = turn.items.map(detached);
  thread.state.turns.push({ ...turn, items, open: new Map() });
  thread.log.append({ type: 'turnStarted', turnId: turn.id, startedAt: turn.startedAt ?? 0 });
  for (const item of items) thread.log.append({ type: 'item', turnId: turn.id, item });
  thread.log.append({
    type: 'turnCompleted',
    turnId: turn.id,
    status: turn.status,
    error: turn.error,
    completedAt: turn.completedAt ?? 0,
    durationMs: turn.durationMs ?? 0,
  });
}
