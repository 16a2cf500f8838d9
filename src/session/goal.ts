// The goal of a thread: while it is active, turns follow one another by themselves. Bounded in every direction: by turns, by tokens, and by
// the first turn that does not complete.
import { nowSeconds } from '../common/clock.ts';
import { invalidParams } from '../common/errors.ts';
import type { MessageItem } from '../protocol/response-item.ts';
import type { ThreadGoal, ThreadGoalStatus } from '../protocol/thread-queue-goal.ts';
import type { TurnError } from '../protocol/turn.ts';
import { inputMessage } from './input-message.ts';
import type { ThreadLog } from './thread-log.ts';
import type { ThreadState } from './thread-state.ts';
import type { TurnEnd } from './turn.ts';

/** Turns that follow by themselves before someone has to say that they may go on. */
export const GOAL_TURNS = 20;
const MAX_OBJECTIVE_CHARS = 8_000;

export interface GoalEvents {
  updated(goal: ThreadGoal, turnId: string | null): void;
  cleared(): void;
  warning(message: string): void;
}

export interface GoalChange {
  objective?: string | null;
  status?: ThreadGoalStatus | null;
  tokenBudget?: number | null;
}

/** What a turn used. */
export interface TurnCost {
  turnId: string;
  tokens: number;
  seconds: number;
}

function checked(change: GoalChange): GoalChange {
  if (change.objective !== undefined && change.objective !== null) {
    const length = change.objective.trim().length;
    if (length === 0) throw invalidParams('params.objective: expected what is to be reached, got an empty text');
    if (length > MAX_OBJECTIVE_CHARS) throw invalidParams(`params.objective: at most ${MAX_OBJECTIVE_CHARS} characters, got ${length}`);
  }
  if (typeof change.tokenBudget === 'number' && change.tokenBudget < 1)
    throw invalidParams(`params.tokenBudget: expected a number of tokens above 0, got ${change.tokenBudget}`);
  return change;
}

export class GoalKeeper {
  readonly #state: ThreadState;
  readonly #log: ThreadLog;
  readonly #events: GoalEvents;

  constructor(state: ThreadState, log: ThreadLog, events: GoalEvents) {
    this.#state = state;
    this.#log = log;
    this.#events = events;
  }

  get active(): boolean {
    return this.#state.goal?.status === 'active';
  }

  set(given: GoalChange): ThreadGoal {
    const change = checked(given);
    const before = this.#state.goal;
    const objective = change.objective?.trim() ?? before?.objective;
    if (objective === undefined) throw invalidParams('params.objective: missing; this thread has no goal yet');
    const now = nowSeconds();
    const same = before && before.objective === objective;
    const goal: ThreadGoal = {
      threadId: this.#state.meta.id,
      objective,
      status: change.status ?? 'active',
      tokenBudget: change.tokenBudget ?? before?.tokenBudget ?? null,
      tokensUsed: same ? before.tokensUsed : 0,
      timeUsedSeconds: same ? before.timeUsedSeconds : 0,
      createdAt: same ? before.createdAt : now,
      updatedAt: now,
    };
    this.#state.goalTurnsLeft = GOAL_TURNS;
    this.#replace(goal, null);
    return goal;
  }

  clear(): boolean {
    if (!this.#state.goal) return false;
    this.#state.goal = null;
    this.#log.append({ type: 'goal', goal: null, turnsLeft: 0 });
    this.#events.cleared();
    return true;
  }

  /** The model says how it stands. */
  declare(status: 'complete' | 'blocked', turnId: string): void {
    if (this.#state.goal) this.#replace({ ...this.#state.goal, status, updatedAt: nowSeconds() }, turnId);
  }

  /** Counts a turn that has ended while the goal was active, and decides whether it still is. */
  turnEnded(end: TurnEnd, error: TurnError | null, cost: TurnCost): void {
    const goal = this.#state.goal;
    if (!goal || cost.turnId === '') return;
    const used = { tokensUsed: goal.tokensUsed + cost.tokens, timeUsedSeconds: goal.timeUsedSeconds + cost.seconds };
    const counted = { ...goal, ...used, updatedAt: nowSeconds() };
    this.#replace({ ...counted, status: goal.status === 'active' ? statusAfter(counted, end, error) : goal.status }, cost.turnId);
  }

  /** The words that begin the next turn by itself; null when none may follow. */
  nextTurn(): MessageItem | null {
    const goal = this.#state.goal;
    if (goal?.status !== 'active') return null;
    if (this.#state.goalTurnsLeft <= 0) {
      this.#replace({ ...goal, status: 'paused', updatedAt: nowSeconds() }, null);
      this.#events.warning(`The goal was paused after ${GOAL_TURNS} turns by itself. Set it active again to let it go on.`);
      return null;
    }
    this.#state.goalTurnsLeft--;
    return inputMessage('user', reminder(goal, GOAL_TURNS - this.#state.goalTurnsLeft));
  }

  #replace(goal: ThreadGoal, turnId: string | null): void {
    this.#state.goal = goal;
    this.#log.append({ type: 'goal', goal, turnsLeft: this.#state.goalTurnsLeft });
    this.#events.updated(goal, turnId);
  }
}

function statusAfter(goal: ThreadGoal, end: TurnEnd, error: TurnError | null): ThreadGoalStatus {
  if (end === 'interrupted') return 'paused';
  if (end === 'failed') return error?.codexErrorInfo === 'usageLimitExceeded' ? 'usageLimited' : 'blocked';
  if (typeof goal.tokenBudget === 'number' && goal.tokensUsed >= goal.tokenBudget) return 'budgetLimited';
  return 'active';
}

const reminder = (goal: ThreadGoal, turn: number): string => `<thread_goal>
The user set a goal for this thread, and you work towards it turn by turn without being asked again:
${goal.objective}

This is turn ${turn} of at most ${GOAL_TURNS}; ${goal.tokensUsed}${goal.tokenBudget ? ` of ${goal.tokenBudget}` : ''} tokens are used. Take the next step now. When the goal is reached and you have checked it, call update_goal with status "complete". When you cannot go on without the user, say what you need and call update_goal with status "blocked".
</thread_goal>`;
