// The calls of one response: each starts when its item is complete, the results go back in call order. One scheduler serves one step.
import { messageOf } from '../common/errors.ts';
import type { ToolCallOutputItem } from '../protocol/response-item.ts';
import type { ArtifactPort } from './artifacts.ts';
import type { ToolEvents } from './events.ts';
import type { ParallelGate } from './gates/parallel.ts';
import { toHistoryItem } from './history-output.ts';
import { claimOf, type Orchestrator } from './orchestrator.ts';
import { FatalToolError, failedOutput, type ToolOutput } from './result.ts';
import type { ToolRouter } from './router.ts';
import type { StepFacts, ToolCall } from './runtime.ts';

export interface SchedulerOptions {
  orchestrator: Orchestrator;
  router: ToolRouter;
  gate: ParallelGate;
  step: StepFacts;
  events: ToolEvents;
  artifacts: ArtifactPort;
  signal: AbortSignal;
  /** Runs before a call does: its item is on disk first. */
  beforeCall(): Promise<void>;
  /** Runs when a call has ended, in the order of the ends. */
  afterCall(finished: FinishedCall): void;
  /** A call asked for the end of the turn (the user cancelled it). */
  interrupt(): void;
}

export interface FinishedCall {
  call: ToolCall;
  output: ToolOutput;
  item: ToolCallOutputItem;
  /** The result came from outside the daemon's trust. */
  external: boolean;
}

export class CallScheduler {
  readonly #options: SchedulerOptions;
  /** In call order; never reordered. */
  readonly #calls: Promise<FinishedCall>[] = [];
  /** The first that came; written by `#failed` only. */
  #fatal: FatalToolError | null = null;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Why the turn has to end once the results are recorded; null as long as the harness is whole. */
  get fatal(): FatalToolError | null {
    return this.#fatal;
  }

  get size(): number {
    return this.#calls.length;
  }

  /** Starts a call now. Its place in line is taken before anything is awaited, so that line order is call order. */
  start(call: ToolCall): void {
    const { router, gate } = this.#options;
    const route = router.route(call.name, call.replyAs);
    const ticket = gate.take(route.type === 'found' ? claimOf(route.runtime) : { type: 'shared' });
    const finished = this.#run(call, route, ticket);
    finished.catch(() => {}); // seen by whoever awaits the results
    this.#calls.push(finished);
  }

  async #run(call: ToolCall, route: ReturnType<ToolRouter['route']>, ticket: ReturnType<ParallelGate['take']>): Promise<FinishedCall> {
    const { orchestrator, step, events, signal, artifacts } = this.#options;
    const named = route.type === 'found' ? { ...call, name: route.name } : call;
    await this.#options.beforeCall();
    const output = await orchestrator
      .run({ call: named, route, step, events, ticket, signal })
      .catch((error: unknown) => this.#failed(error));
    if (output.interruptTurn) this.#options.interrupt();
    const item = await toHistoryItem(named, output, step.historyTokenLimit, artifacts);
    const finished = {
      call: named,
      output,
      item,
      external: route.type === 'found' && route.runtime.external && output.category !== 'invalid_arguments',
    };
    this.#options.afterCall(finished);
    return finished;
  }

  /** The harness broke under a call: the call has its one output like any other, and the step ends with the error. */
  #failed(error: unknown): ToolOutput {
    this.#fatal ??= error instanceof FatalToolError ? error : new FatalToolError(messageOf(error));
    return failedOutput('tool_error', `The call failed inside the harness: ${messageOf(error)} It may have had effects.`, {
      uncertainOutcome: true,
    });
  }

  /** All results in call order, when every call has ended. */
  async results(): Promise<FinishedCall[]> {
    await Promise.allSettled(this.#calls); // a turn whose harness broke does not end beside calls that still run
    return Promise.all(this.#calls);
  }
}
