// How full the model's window is, and what is done about it: counting, compaction when it is near its limit, one try for one overflow.
import type { TokenUsage } from '../model/client.ts';
import type { TurnError } from '../protocol/turn.ts';
import { compact } from './compaction.ts';
import type { HistoryEntry } from './history.ts';
import type { EventSink, ModelSource } from './ports.ts';
import type { StepContext } from './step-context.ts';
import type { ThreadLog } from './thread-log.ts';
import type { ThreadState } from './thread-state.ts';
import { addUsage, estimateTokens } from './token-usage.ts';
import type { TurnContext } from './turn-context.ts';
import type { World } from './world.ts';

interface WindowPorts {
  sink: EventSink;
  models: ModelSource;
  world: World;
}

export class ContextWindow {
  readonly #state: ThreadState;
  readonly #log: ThreadLog;
  readonly #ports: WindowPorts;
  /** Tokens of the last request and its answer; 0 when the history was replaced since. */
  #tokens: number;
  /** The provider said that the history does not fit. */
  #overflowed = false;

  constructor(state: ThreadState, log: ThreadLog, ports: WindowPorts) {
    this.#state = state;
    this.#log = log;
    this.#ports = ports;
    this.#tokens = state.windowTokens;
  }

  /** Tokens used, and the size of the window. */
  standing(): { used: number; window: number } {
    const { settings, history } = this.#state;
    const { contextWindow } = this.#ports.models.bind(settings.modelProvider, settings.model).card;
    return { used: this.#tokens || estimateTokens(history.entries), window: contextWindow };
  }

  count(turnId: string, usage: TokenUsage | null, step: StepContext): void {
    if (!usage) return;
    this.#tokens = usage.totalTokens;
    this.#add(turnId, usage, step, {});
  }

  /** What a conversation beside the thread's cost: it counts, and fills no window of the thread. */
  countAside(turnId: string, usage: TokenUsage | null, step: StepContext): void {
    if (usage) this.#add(turnId, usage, step, { aside: true });
  }

  #add(turnId: string, usage: TokenUsage, step: StepContext, mark: { aside?: true }): void {
    const state = this.#state;
    state.usage = addUsage(state.usage, usage, step.binding.card.contextWindow);
    this.#log.append({ type: 'usage', usage: state.usage, ...mark });
    this.#ports.sink.thread(state.meta.id, 'thread/tokenUsage/updated', { threadId: state.meta.id, turnId, tokenUsage: state.usage });
  }

  async makeRoom(context: TurnContext, step: StepContext): Promise<void> {
    if (!this.#overflowed && this.#tokens <= step.binding.card.autoCompactTokenLimit) return;
    this.#overflowed = false; // one try for one overflow
    this.countAside(context.turn.id, await compact(context, step, 'auto'), step);
  }

  /** How a turn failed: an overflow is made good before the next one. */
  failedWith(error: TurnError): void {
    if (error.codexErrorInfo === 'contextWindowExceeded') this.#overflowed = true;
  }

  /** Turns are gone from the history: what was counted with them says nothing any more. */
  reverted(): void {
    this.#tokens = 0;
    this.#overflowed = false;
  }

  replace(entries: readonly HistoryEntry[]): void {
    this.#state.history.replace(entries);
    this.#tokens = 0;
    this.#ports.world.forget();
    this.#log.append({
      type: 'compacted',
      items: entries.map(({ origin, item, turnId, section }) => ({ origin, item, turnId, ...(section ? { section } : {}) })),
    });
  }
}
