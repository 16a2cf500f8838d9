// A thread as a client reads it, loaded or from a list.
import { PROTOCOL_VERSION } from '../common/version.ts';
import type { GitInfo, SessionSource, ThreadStatus, Thread as WireThread } from '../protocol/thread.ts';
import type { Turn as WireTurn } from '../protocol/turn.ts';

type ThreadSpawn = Extract<Extract<SessionSource, { subAgent: unknown }>['subAgent'], { thread_spawn: unknown }>['thread_spawn'];

export interface ThreadFacts {
  id: string;
  sessionId: string;
  createdAt: number;
  updatedAt: number;
  cwd: string;
  model: string | null;
  modelProvider: string;
  effort: string | null;
  preview: string;
  name: string | null;
  ephemeral: boolean;
  path: string | null;
  source: SessionSource;
  originator: string | null;
  forkedFromId: string | null;
  parentThreadId: string | null;
  gitInfo: GitInfo | null;
  external: boolean;
  /** Requests to the user that were lost with an earlier process. */
  lostQuestions?: readonly { turnId: string; method: string; itemId: string | null }[];
}

/** How a thread was made that works for another one; null for every other. */
export function spawnOf(source: SessionSource): ThreadSpawn | null {
  if (typeof source === 'string' || !('subAgent' in source)) return null;
  const { subAgent } = source;
  return typeof subAgent === 'object' && 'thread_spawn' in subAgent ? subAgent.thread_spawn : null;
}

function extraOf({ external, lostQuestions }: ThreadFacts): WireThread['extra'] {
  if (!external && !lostQuestions?.length) return null;
  return { ...(external ? { externalContent: true } : {}), ...(lostQuestions?.length ? { lostRequests: lostQuestions } : {}) };
}

export function wireThread(facts: ThreadFacts, status: ThreadStatus, turns: WireTurn[]): WireThread {
  const spawned = spawnOf(facts.source);
  return {
    id: facts.id,
    environments: [{ environmentId: 'local', cwd: facts.cwd, runtimeWorkspaceRoots: [facts.cwd] }],
    extra: extraOf(facts),
    sessionId: facts.sessionId,
    forkedFromId: facts.forkedFromId,
    attachedToThreadId: null,
    parentThreadId: facts.parentThreadId,
    preview: facts.preview,
    ephemeral: facts.ephemeral,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: 'paginated',
    modelProvider: facts.modelProvider,
    model: facts.model,
    reasoningEffort: facts.effort,
    createdAt: facts.createdAt,
    updatedAt: facts.updatedAt,
    recencyAt: facts.updatedAt,
    status,
    path: facts.path,
    cwd: facts.cwd,
    cliVersion: PROTOCOL_VERSION,
    originator: facts.originator,
    source: facts.source,
    canAcceptDirectInput: true,
    threadSource: null,
    agentNickname: spawned?.agent_nickname ?? null,
    agentRole: spawned?.agent_role ?? null,
    gitInfo: facts.gitInfo,
    name: facts.name,
    daybreakEnabled: null,
    turns,
  };
}

const PREVIEW_LIMIT = 500;
export const previewOf = (text: string): string => text.trim().slice(0, PREVIEW_LIMIT);
