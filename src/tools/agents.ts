// Sub-agents as tools know them: threads of their own that work for the thread that made them. The session layer implements the port.
import type { CollabAgentState, CollabAgentStatus } from '../protocol/item.ts';
import type { ReasoningEffort } from '../protocol/primitives.ts';

export interface AgentState {
  readonly status: CollabAgentStatus;
  /** The last message of one that completed, or the error of one that failed. */
  readonly message: string | null;
}

/** Nothing more comes of it by itself. */
export const isAtRest = ({ status }: AgentState): boolean => status !== 'pendingInit' && status !== 'running';

export const shownState = ({ status, message }: AgentState): CollabAgentState => ({ status, message });

const PLAIN: Record<CollabAgentStatus, string> = {
  pendingInit: 'pending_init',
  running: 'running',
  interrupted: 'interrupted',
  completed: 'completed',
  errored: 'errored',
  shutdown: 'shutdown',
  notFound: 'not_found',
};

/** As the model reads it: a word, or the word with what there is to say. */
export function stateForModel({ status, message }: AgentState): unknown {
  return status === 'completed' || status === 'errored' ? { [status]: message } : PLAIN[status];
}

export interface SpawnRequest {
  message: string;
  model: string | null;
  effort: ReasoningEffort | null;
  /** The agent begins with the conversation so far. */
  forkContext: boolean;
}

export interface SpawnedAgent {
  agentId: string;
  nickname: string;
  model: string;
  effort: ReasoningEffort | null;
}

/**
 * The agents of one thread. Contract: methods reject with a ToolError that says what to do instead. An agent works on when the call that
 * asked for it has ended; an interrupt of the thread ends its work.
 */
export interface AgentPort {
  spawn(request: SpawnRequest, turnId: string, signal: AbortSignal): Promise<SpawnedAgent>;
  /** Gives it more to do, after what it does now or, with `interrupt`, in place of it. Resolves with the id of the submission. */
  send(agentId: string, message: string, interrupt: boolean): Promise<string>;
  state(agentId: string): AgentState;
  /** Resolves when at least one of them is at rest, at the timeout, or when the signal aborts; with those that are at rest. */
  wait(agentIds: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<ReadonlyMap<string, AgentState>>;
  /** Loads one that was closed, or that an earlier daemon had. */
  resume(agentId: string): Promise<AgentState>;
  /** Ends its work and puts it away. Resolves with its state before. */
  close(agentId: string): Promise<AgentState>;
}
