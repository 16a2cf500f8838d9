// What a running tool may tell the client, as ports. The session implements them: it adds thread and turn, records, and sends.

import type { ThreadItem } from '../protocol/item.ts';
import type { ServerRequestMethod, ServerRequestParams, ServerRequestResult } from '../protocol/methods.ts';
import type { TurnPlanStep } from '../protocol/turn.ts';

/** A thread item that has begun. Invariant: completed exactly once; later attempts report false. */
export interface ItemHandle {
  readonly id: string;
  readonly current: ThreadItem;
  readonly completed: boolean;
  /** It may stay open when its call has ended (a command left running). */
  outlives: boolean;
  /** Replaces what an abandonment would show, without telling the client. */
  revise(item: ThreadItem): void;
  complete(item: ThreadItem): boolean;
}

export interface StartOptions {
  /** The terminal form if the turn ends first (interrupt, failure). */
  abandoned: (current: ThreadItem) => ThreadItem;
}

export interface ToolEvents {
  startItem(item: ThreadItem, options: StartOptions): ItemHandle;
  /** The handle of an item that this call opened before. */
  itemOf(itemId: string): ItemHandle | undefined;
  commandOutput(itemId: string, delta: string): void;
  terminalInteraction(itemId: string, processId: string, stdin: string): void;
  patchUpdated(itemId: string, changes: unknown[]): void;
  fileOutput(itemId: string, delta: string): void;
  planUpdated(explanation: string | null, plan: TurnPlanStep[]): void;
  diffUpdated(diff: string): void;
  mcpProgress(itemId: string, message: string): void;
  warning(message: string): void;
}

/** How a request to the frontend ended. The registry in the server settles each exactly once. */
export type FrontendOutcome<T> =
  | { type: 'answered'; value: T }
  | { type: 'malformed'; problem: string }
  | { type: 'clientError'; code: number; message: string }
  /** The frontend does not know the method: it cannot answer, which is no refusal. */
  | { type: 'unsupported'; message: string }
  | { type: 'cancelled'; reason: string };

export interface FrontendRequest<T> {
  readonly outcome: Promise<FrontendOutcome<T>>;
  /** Settles it as cancelled; does nothing when it is settled. */
  cancel(reason: string): void;
}

/** Requests to the frontend. Contract: `open` never throws; the outcome always settles (answer, interrupt, end of turn, disconnect). */
export interface FrontendPort {
  open<M extends ServerRequestMethod>(method: M, params: ServerRequestParams<M>): FrontendRequest<ServerRequestResult<M>>;
}
