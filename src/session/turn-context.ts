// What the loop, the sampling and the tools of one turn share: slices of the thread, not the thread.
import type { ResponseItem, ToolCallOutputItem } from '../protocol/response-item.ts';
import type { HistoryOrigin } from '../protocol/rollout.ts';
import type { TurnError } from '../protocol/turn.ts';
import type { ArtifactPort } from '../tools/artifacts.ts';
import type { Orchestrator } from '../tools/orchestrator.ts';
import type { History, HistoryEntry } from './history.ts';
import type { ItemLedger } from './item-ledger.ts';
import type { ThreadHooks } from './thread-hooks.ts';
import type { Turn } from './turn.ts';

export interface TurnContext {
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly history: History;
  readonly ledger: ItemLedger;
  readonly orchestrator: Orchestrator;
  readonly hooks: ThreadHooks;
  /** What the thread is as an agent of another; null for one that works for nobody. */
  readonly agent: { id: string; kind: string } | null;
  readonly artifacts: ArtifactPort;
  /** Shared by a thread and its sub-agents; the key of the prompt cache. */
  readonly sessionId: string;
  /** Appends to history and to the rollout. */
  record(origin: HistoryOrigin, item: ResponseItem, section?: string): void;
  /** A hook refused what the user said: no trace of it comes back after a crash. */
  refuseInput(id: string): void;
  /** Compaction: the history begins anew with these. */
  replaceHistory(entries: readonly HistoryEntry[]): void;
  /** Keeps the output of a call that has ended; `record` puts it into history when its turn comes. */
  keepResult(item: ToolCallOutputItem): void;
  /** Resolves when all that was recorded is with the operating system. Never rejects. */
  flush(): Promise<void>;
  markExternal(): void;
  tellRetry(error: TurnError): void;
}
