// What a thread is made of, apart from what it is doing: its identity, its settings and everything that a rollout brings back.
import { nowSeconds } from '../common/clock.ts';
import type { MetaLine } from '../protocol/rollout.ts';
import type { GitInfo } from '../protocol/thread.ts';
import type { QueuedSubmission, ThreadGoal } from '../protocol/thread-queue-goal.ts';
import type { ThreadTokenUsage } from '../protocol/turn.ts';
import { type Identity, ROOT } from '../tools/exposure.ts';
import type { DynamicTool } from '../tools/sources/dynamic-specs.ts';
import { History } from './history.ts';
import type { RolloutOutline } from './rollout/outline.ts';
import type { LostQuestion, ReplayedThread } from './rollout/replay.ts';
import type { SkimmedThread } from './rollout/skim.ts';
import type { ThreadSettings } from './settings.ts';
import { previewOf, spawnOf, type ThreadFacts } from './thread-view.ts';
import type { TurnRecord } from './turn-record.ts';

export interface ThreadState {
  readonly meta: MetaLine;
  readonly ephemeral: boolean;
  /** Null for an ephemeral thread. */
  path: string | null;
  settings: ThreadSettings;
  readonly history: History;
  turns: TurnRecord[];
  /** Turns and history are still only in the record, and this is how many turns there are; null once they are read. */
  unread: { turns: number } | null;
  /** Replaced whole, never changed in place: plans are cached by its identity. */
  dynamicTools: readonly DynamicTool[];
  /** Where turns lie in the record, once somebody has looked. */
  outline: RolloutOutline | null;
  usage: ThreadTokenUsage | null;
  /** How full the model's window was when the thread was loaded. */
  readonly windowTokens: number;
  preview: string;
  name: string | null;
  gitInfo: GitInfo | null;
  external: boolean;
  updatedAt: number;
  /** Inputs that wait for their turn. Replaced whole, by the queue only. */
  queue: readonly QueuedSubmission[];
  /** Written by the goal keeper only, as is the number of turns that may still follow by themselves. */
  goal: ThreadGoal | null;
  goalTurnsLeft: number;
  /** Questions of an earlier process that ended before an answer came. Written once, at load. */
  lostQuestions: readonly LostQuestion[];
  /** What was wrong with the record; taken by the first client that resumes the thread. */
  loadWarnings: string[];
  /** AGENTS.md files that were read, outermost first. */
  instructionSources: string[];
}

export interface NewThread {
  meta: MetaLine;
  ephemeral: boolean;
  path: string | null;
  settings: ThreadSettings;
  dynamicTools: readonly DynamicTool[];
}

export function newState(given: NewThread): ThreadState {
  return {
    ...given,
    history: new History(),
    turns: [],
    unread: null,
    outline: null,
    usage: null,
    windowTokens: 0,
    preview: '',
    name: null,
    gitInfo: null,
    external: false,
    updatedAt: given.meta.createdAt,
    queue: [],
    goal: null,
    goalTurnsLeft: 0,
    lostQuestions: [],
    loadWarnings: [],
    instructionSources: [],
  };
}

const firstUserText = (turns: readonly TurnRecord[]): string => {
  for (const turn of turns) {
    for (const item of turn.items) {
      if (item.type !== 'userMessage') continue;
      const text = item.content.find((part) => part.type === 'text');
      if (text?.type === 'text') return text.text;
    }
  }
  return '';
};

/** What a thread is, by who made it. */
export function identityOf({ source }: MetaLine): Identity {
  const spawned = spawnOf(source);
  return spawned ? { type: 'subAgent', depth: spawned.depth } : ROOT;
}

/** How many turns a thread has, read or not. */
export const turnCount = ({ turns, unread }: ThreadState): number => unread?.turns ?? turns.length;

/** The state of a thread whose turns and history are not read yet. */
export function stateFromSkim(skim: SkimmedThread, meta: MetaLine, path: string, settings: ThreadSettings): ThreadState {
  const { replay, turns, preview } = skim;
  return { ...stateFromReplay(replay, meta, path, settings), history: new History(null), unread: { turns }, preview };
}

/** The state that a rollout holds, with the settings in force. */
export function stateFromReplay(
  replay: ReplayedThread & { outline?: RolloutOutline },
  meta: MetaLine,
  path: string,
  settings: ThreadSettings,
): ThreadState {
  return {
    meta,
    ephemeral: false,
    path,
    settings,
    history: new History(replay.history),
    turns: replay.turns,
    unread: null,
    outline: replay.outline ?? null,
    dynamicTools: replay.dynamicTools as DynamicTool[],
    usage: replay.usage,
    windowTokens: replay.windowTokens,
    preview: previewOf(firstUserText(replay.turns)),
    name: replay.name,
    gitInfo: replay.gitInfo as GitInfo | null,
    external: replay.external,
    updatedAt: replay.updatedAt ?? nowSeconds(),
    queue: replay.queue,
    goal: replay.goal,
    goalTurnsLeft: replay.goalTurnsLeft,
    lostQuestions: [],
    loadWarnings: [],
    instructionSources: [],
  };
}

export function factsOf(state: ThreadState): ThreadFacts {
  const { meta, settings } = state;
  return {
    id: meta.id,
    sessionId: meta.id,
    createdAt: meta.createdAt,
    updatedAt: state.updatedAt,
    cwd: settings.cwd,
    model: settings.model,
    modelProvider: settings.modelProvider,
    effort: settings.effort,
    preview: state.preview,
    name: state.name,
    ephemeral: state.ephemeral,
    path: state.path,
    source: meta.source,
    originator: meta.originator,
    forkedFromId: meta.forkedFromId,
    parentThreadId: meta.parentThreadId,
    gitInfo: state.gitInfo,
    external: state.external,
    lostQuestions: state.lostQuestions,
  };
}
