// Runs the hooks of one event side by side and gives their answers in the order of the hooks, whichever was done first. Every run is
// reported twice: when it starts and when it has ended, however it ended.
import { assertNever } from '../common/assert-never.ts';
import { boundOutput } from '../common/bound-text.ts';
import { monotonicMs, nowSeconds } from '../common/clock.ts';
import { messageOf } from '../common/errors.ts';
import type { HookOutputEntry, HookRunStatus, HookRunSummary } from '../protocol/hook.ts';
import { type HookAnswer, type Reading, readPrinted, readReturned } from './answer.ts';
import type { CommandPort } from './command.ts';
import type { Hook, HookInput } from './hook.ts';
import { factsOf, spelled } from './hook-event.ts';

/** Told about each run. Contract: never throws. */
export interface HookReport {
  started(run: HookRunSummary): void;
  completed(run: HookRunSummary): void;
  /** The hook failed. */
  failed(hook: Hook, problem: string): void;
}

export interface HookCall {
  readonly input: HookInput;
  readonly cwd: string;
  readonly values: Readonly<Record<string, string>>;
  /** Makes the ids of the runs unique: the id of a tool call, or a number. */
  readonly mark: string;
}

export type HookOutcome = { type: 'answered'; answer: HookAnswer } | { type: 'failed'; problem: string } | { type: 'cancelled' };

export interface HookResult {
  readonly hook: Hook;
  readonly runId: string;
  readonly outcome: HookOutcome;
}

const CONTEXT_TOKENS = 2_500;
const MAX_TEXT = 16_000;

export class HookRunner {
  readonly #commands: CommandPort;
  readonly #report: HookReport;
  readonly #lifetime: AbortSignal;

  /** @param lifetime ends the hooks that nobody waits for */
  constructor(commands: CommandPort, report: HookReport, lifetime: AbortSignal) {
    this.#commands = commands;
    this.#report = report;
    this.#lifetime = lifetime;
  }

  /** Resolves when all have ended that are waited for. Never rejects. */
  async run(hooks: readonly Hook[], call: HookCall, signal: AbortSignal): Promise<HookResult[]> {
    const runs = hooks.map((hook) => ({ hook, result: this.#one(hook, call, hook.async ? this.#lifetime : signal) }));
    return Promise.all(runs.filter(({ hook }) => !hook.async).map(({ result }) => result));
  }

  async #one(hook: Hook, call: HookCall, signal: AbortSignal): Promise<HookResult> {
    const began = monotonicMs();
    const running = summaryOf(hook, call);
    this.#report.started(running);
    const outcome = await this.#outcome(hook, call, signal);
    const { status, entries } = shown(outcome);
    this.#report.completed({
      ...running,
      status,
      entries,
      completedAt: nowSeconds(),
      durationMs: Math.round(monotonicMs() - began),
    });
    if (outcome.type === 'failed') this.#report.failed(hook, outcome.problem);
    return { hook, runId: running.id, outcome };
  }

  async #outcome(hook: Hook, call: HookCall, signal: AbortSignal): Promise<HookOutcome> {
    if (hook.fault !== null) return { type: 'failed', problem: hook.fault };
    if (signal.aborted) return { type: 'cancelled' };
    try {
      const outcome = hook.handler.type === 'command' ? await this.#command(hook, call, signal) : await callFunction(hook, call, signal);
      return outcome.type === 'answered' ? { type: 'answered', answer: bounded(outcome.answer, hook) } : outcome;
    } catch (error) {
      return { type: 'failed', problem: `it failed unexpectedly: ${messageOf(error)}` };
    }
  }

  async #command(hook: Hook, { input, cwd, values }: HookCall, signal: AbortSignal): Promise<HookOutcome> {
    if (hook.handler.type !== 'command') return { type: 'failed', problem: 'it is no command' };
    const { timeoutMs } = hook;
    const request = { command: hook.handler.command, cwd, values, timeoutMs, input: `${JSON.stringify(input)}\n` };
    const result = await this.#commands.run(request, signal);
    switch (result.type) {
      case 'exited':
        return outcomeOf(readPrinted(hook.event, result));
      case 'signalled':
        return { type: 'failed', problem: `it was ended by ${result.signal}` };
      case 'timedOut':
        return { type: 'failed', problem: timedOut(timeoutMs) };
      case 'failedToStart':
        return { type: 'failed', problem: `it could not be started: ${result.reason}` };
      case 'cancelled':
        return { type: 'cancelled' };
      default:
        return assertNever(result, 'result of a hook');
    }
  }
}

const timedOut = (timeoutMs: number): string => `it gave no answer within ${timeoutMs / 1000} s and was ended`;

const outcomeOf = (reading: Reading): HookOutcome =>
  reading.ok ? { type: 'answered', answer: reading.answer } : { type: 'failed', problem: reading.problem };

/** A function cannot be ended from outside: after its time, or an interrupt, it is left behind. */
async function callFunction(hook: Hook, { input }: HookCall, signal: AbortSignal): Promise<HookOutcome> {
  const { handler, timeoutMs } = hook;
  if (handler.type !== 'function') return { type: 'failed', problem: 'it is no function' };
  const ended = new AbortController();
  const over = new Promise<HookOutcome>((resolve) => {
    const timer = setTimeout(() => resolve({ type: 'failed', problem: timedOut(timeoutMs) }), Math.min(timeoutMs, 2 ** 31 - 1));
    const onAbort = () => resolve({ type: 'cancelled' });
    signal.addEventListener('abort', onAbort, { once: true });
    ended.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  });
  const work = (async (): Promise<HookOutcome> => {
    try {
      return outcomeOf(readReturned(hook.event, await handler.run(input, ended.signal)));
    } catch (error) {
      return { type: 'failed', problem: `it threw: ${messageOf(error)}` };
    }
  })();
  try {
    return await Promise.race([work, over]);
  } finally {
    ended.abort();
  }
}

const limited = (text: string): string => boundOutput(text, MAX_TEXT / 4).text;

/** What goes to the model and to the client is bounded, whatever a hook prints. */
function bounded(answer: HookAnswer, hook: Hook): HookAnswer {
  const { verdict, context, message, replacement } = answer;
  return {
    ...answer,
    verdict: 'reason' in verdict ? { ...verdict, reason: limited(verdict.reason) } : verdict,
    context: context === null ? null : boundOutput(context, hook.contextLimit ?? CONTEXT_TOKENS).text,
    message: message === null ? null : limited(message),
    ...(replacement === undefined ? {} : { replacement: limited(replacement) }),
  };
}

function shown(outcome: HookOutcome): { status: HookRunStatus; entries: HookOutputEntry[] } {
  switch (outcome.type) {
    case 'failed':
      return { status: 'failed', entries: [{ kind: 'error', text: outcome.problem }] };
    case 'cancelled':
      return { status: 'stopped', entries: [{ kind: 'stop', text: 'the turn was interrupted' }] };
    case 'answered':
      return shownAnswer(outcome.answer);
    default:
      return assertNever(outcome, 'outcome of a hook');
  }
}

function shownAnswer({ verdict, context, message }: HookAnswer): { status: HookRunStatus; entries: HookOutputEntry[] } {
  const entries: HookOutputEntry[] = [];
  if (message !== null) entries.push({ kind: 'warning', text: message });
  if (verdict.type === 'block') entries.push({ kind: 'feedback', text: verdict.reason });
  if (verdict.type === 'stop') entries.push({ kind: 'stop', text: verdict.reason });
  if (context !== null) entries.push({ kind: 'context', text: context });
  const status = verdict.type === 'block' ? 'blocked' : verdict.type === 'stop' ? 'stopped' : 'completed';
  return { status, entries };
}

function summaryOf(hook: Hook, { mark }: HookCall): HookRunSummary {
  const { wire, scope } = factsOf(hook.event);
  return {
    id: `${spelled(hook.event, '-')}:${hook.order}:${hook.origin.path}:${mark}`,
    eventName: wire,
    handlerType: 'command',
    executionMode: hook.async ? 'async' : 'sync',
    scope,
    sourcePath: hook.origin.path,
    source: hook.origin.source,
    displayOrder: hook.order,
    status: 'running',
    statusMessage: hook.statusMessage,
    startedAt: nowSeconds(),
    completedAt: null,
    durationMs: null,
    entries: [],
  };
}
