// What a thread does by itself when a turn has ended: first the inputs that wait, then the goal. Never beside a running turn.
import type { MessageItem } from '../protocol/response-item.ts';
import type { QueuedSubmission } from '../protocol/thread-queue-goal.ts';
import type { TurnError } from '../protocol/turn.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { updateGoal } from '../tools/runtimes/update-goal.ts';
import { GoalKeeper } from './goal.ts';
import type { EventSink } from './ports.ts';
import { InputQueue, type Submission } from './queue.ts';
import type { ToolSources } from './step-context.ts';
import type { ThreadLog } from './thread-log.ts';
import type { ThreadState } from './thread-state.ts';
import type { TurnEnd } from './turn.ts';
import type { UserMessage } from './user-input.ts';

export interface FollowUpPorts {
  state: ThreadState;
  log: ThreadLog;
  sink: EventSink;
  activeTurnId(): string | null;
  /** Starts a turn and its work. */
  startTurn(message: UserMessage): void;
  /** Starts a turn that begins with these words to the model, unseen by the client. */
  startOwnTurn(words: MessageItem): void;
}

const usedTokens = (state: ThreadState): number => {
  const total = state.usage?.total;
  return total ? total.totalTokens - total.cachedInputTokens : 0;
};

export class FollowUps {
  readonly queue: InputQueue;
  readonly goal: GoalKeeper;
  readonly #ports: FollowUpPorts;
  /** Tokens that were used before the running turn. */
  #tokensBefore: number;
  /** The goal was active when the running turn began, so the turn counts towards it whatever it declares. */
  #counts = false;

  constructor(ports: FollowUpPorts) {
    const { state, log, sink } = ports;
    const threadId = state.meta.id;
    this.#ports = ports;
    this.#tokensBefore = usedTokens(state);
    this.queue = new InputQueue(state, log, () => sink.thread(threadId, 'thread/queue/changed', { threadId }));
    this.goal = new GoalKeeper(state, log, {
      updated: (goal, turnId) => sink.thread(threadId, 'thread/goal/updated', { threadId, goal, turnId }),
      cleared: () => sink.thread(threadId, 'thread/goal/cleared', { threadId }),
      warning: (message) => sink.thread(threadId, 'warning', { threadId, message }),
    });
    // What an earlier process left waiting is not started unasked.
    this.queue.hold();
  }

  /** Lets an input wait; `run` starts it when nothing runs. */
  enqueue(submission: Submission): { entry: QueuedSubmission; run: () => void } {
    this.queue.letGo();
    return { entry: this.queue.add(submission), run: () => this.next() };
  }

  /** A turn begins that the user asked for: what waits may follow it. */
  userTurnBegins(): void {
    this.#counts = this.goal.active;
    this.queue.letGo();
  }

  turnEnded(end: TurnEnd, error: TurnError | null, turn: { id: string; durationMs: number | null }): void {
    const tokens = usedTokens(this.#ports.state);
    const seconds = Math.round((turn.durationMs ?? 0) / 1000);
    if (this.#counts || this.goal.active)
      this.goal.turnEnded(end, error, { turnId: turn.id, tokens: tokens - this.#tokensBefore, seconds });
    this.#tokensBefore = tokens;
    this.#counts = false;
    if (end !== 'completed') this.queue.hold();
    this.next();
  }

  /** Starts what is next, if nothing runs and something may start. */
  next(): void {
    if (this.#ports.activeTurnId() !== null) return;
    if (this.queue.ready) this.#ports.startTurn(this.queue.take());
    else if (this.#ports.state.queue.length === 0) {
      const words = this.goal.nextTurn();
      if (!words) return;
      this.#counts = true;
      this.#ports.startOwnTurn(words);
    }
  }

  /** The tools of the thread, with the one for the goal while there is a goal. Lists keep their identity. */
  withGoalTool(sources: ToolSources): ToolSources {
    const own = updateGoal((status) => this.goal.declare(status, this.#ports.activeTurnId() ?? '')) as ToolRuntime;
    let given: readonly ToolRuntime[] | null = null;
    let extended: readonly ToolRuntime[] = [];
    return {
      ...sources,
      builtins: (abilities) => {
        const all = sources.builtins(abilities);
        if (!this.goal.active) return all;
        if (all !== given) {
          given = all;
          extended = [...all, own];
        }
        return extended;
      },
    };
  }
}
