// The trace of one call: five marks and the waits apart, so that "slow" can be told from "waiting".
import { monotonicMs } from '../common/clock.ts';

export type TraceMark = 'provider_item_received' | 'domain_call_built' | 'runtime_resolved' | 'execution_started' | 'result_normalized';
export type TraceWait = 'readyMs' | 'gateMs' | 'approvalMs' | 'hooksMs';

export interface CallTrace {
  readonly turnId: string;
  readonly callId: string;
  readonly tool: string;
  /** Milliseconds after the first mark. */
  readonly marks: Readonly<Partial<Record<TraceMark, number>>>;
  readonly waits: Readonly<Record<TraceWait, number>>;
  readonly handlerMs: number;
  readonly success: boolean;
  readonly category?: string;
}

export class CallTracer {
  readonly #start = monotonicMs();
  readonly #marks: Partial<Record<TraceMark, number>> = { provider_item_received: 0 };
  readonly #waits: Record<TraceWait, number> = { readyMs: 0, gateMs: 0, approvalMs: 0, hooksMs: 0 };
  #handlerMs = 0;

  mark(mark: TraceMark): void {
    this.#marks[mark] = monotonicMs() - this.#start;
  }

  /** Adds the time of a task to one kind of wait. */
  async wait<T>(kind: TraceWait, task: () => Promise<T>): Promise<T> {
    const began = monotonicMs();
    try {
      return await task();
    } finally {
      this.#waits[kind] += monotonicMs() - began;
    }
  }

  async handler<T>(task: () => Promise<T>): Promise<T> {
    this.mark('execution_started');
    const began = monotonicMs();
    try {
      return await task();
    } finally {
      this.#handlerMs += monotonicMs() - began;
    }
  }

  get elapsedMs(): number {
    return monotonicMs() - this.#start;
  }

  finish(call: { turnId: string; callId: string; tool: string }, outcome: { success: boolean; category?: string }): CallTrace {
    this.mark('result_normalized');
    const { success, category } = outcome;
    return { ...call, marks: this.#marks, waits: this.#waits, handlerMs: this.#handlerMs, success, ...(category ? { category } : {}) };
  }
}
