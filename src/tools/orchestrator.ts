// The journey of one call, its order written here once: route → validate → pre-tool hooks → policy → approval → gate → execute →
// post-tool hooks → bounded result. A gate that fails denies. Exactly one output comes out, whoever wins between finish and abort.
import { messageOf } from '../common/errors.ts';
import { newRandomId } from '../common/ids.ts';
import { logger } from '../common/log.ts';
import { flatName } from '../protocol/tool-spec.ts';
import { CallEvents } from './call-events.ts';
import type { ToolEvents } from './events.ts';
import type { ApprovalDecision, ApprovalGate } from './gates/approval.ts';
import { type HookedCall, type HookPort, hookView, rewritten } from './gates/hooks.ts';
import type { Claim, Ticket } from './gates/parallel.ts';
import { FatalToolError, failedOutput, ToolError, type ToolOutput, textOutput } from './result.ts';
import type { Route } from './router.ts';
import type { ApprovalNeed, StepFacts, ToolCall, ToolRuntime } from './runtime.ts';
import { declinedItem, failedItem } from './terminal-item.ts';
import { type CallTrace, CallTracer } from './trace.ts';

export interface OrchestratorPorts {
  approvals: ApprovalGate;
  hooks: HookPort;
  /** Receives the trace of every finished call. */
  onTrace(trace: CallTrace): void;
}

export interface CallContext {
  call: ToolCall;
  route: Route;
  step: StepFacts;
  events: ToolEvents;
  ticket: Ticket;
  signal: AbortSignal;
}

/** A gate's verdict: go on, or this is the output. */
type Passed<T> = { pass: true; value: T } | { pass: false; output: ToolOutput };

const pass = <T>(value: T): Passed<T> => ({ pass: true, value });
const stop = (output: ToolOutput): Passed<never> => ({ pass: false, output });

/** How a call is to stand in line; exclusive calls name what they touch once their arguments are known. */
export const claimOf = (runtime: ToolRuntime): Claim => (runtime.supportsParallel ? { type: 'shared' } : { type: 'exclusive' });

export class Orchestrator {
  readonly #ports: OrchestratorPorts;

  constructor(ports: OrchestratorPorts) {
    this.#ports = ports;
  }

  /** Resolves with the one output of the call; rejects only with FatalToolError. */
  async run(given: CallContext): Promise<ToolOutput> {
    const tracer = new CallTracer();
    tracer.mark('domain_call_built');
    const events = new CallEvents(given.events);
    const context = { ...given, events };
    let output: ToolOutput;
    const told: string[] = [];
    try {
      output = await this.#journey(context, tracer, told);
    } catch (error) {
      if (error instanceof FatalToolError) throw error;
      output = outputOfError(error, context);
    } finally {
      events.end();
      context.ticket.leave();
      if (context.route.type === 'found') context.route.runtime.settled?.(context.call);
      closeItem(context);
    }
    if (told.length > 0) output = { ...output, hookContext: told };
    this.#ports.onTrace(
      tracer.finish({ turnId: context.step.turnId, callId: context.call.callId, tool: flatName(context.call.name) }, output),
    );
    return output;
  }

  /** `told` collects what hooks tell the model beside the output, whatever becomes of the call. */
  async #journey(context: CallContext, tracer: CallTracer, told: string[]): Promise<ToolOutput> {
    const { route, call, step, events, signal, ticket } = context;
    // 1 route
    if (route.type === 'unknown') {
      events.warning(`The model called a tool that does not exist: ${flatName(route.name) || '(empty name)'}.`);
      return failedOutput('not_found', route.answer);
    }
    const { runtime } = route;
    tracer.mark('runtime_resolved');
    // 2 validate, with the pre-tool hooks between two validations
    const validated = await this.#validate(context, runtime, tracer, told);
    if (!validated.pass) return validated.output;
    const args = validated.value;
    if (!runtime.supportsParallel) ticket.claim({ type: 'exclusive', resources: runtime.resources?.(args) });
    if (runtime.gateFirst && !(await tracer.wait('gateMs', () => ticket.enter(signal)))) return abortedOutput(tracer);
    await runtime.begin?.(call, args, step, events);
    // 3 policy, 4 approval
    const approved = await this.#approve(context, runtime, args, tracer);
    if (!approved.pass) return approved.output;
    // 5 readiness takes no slot; the gate keeps call order
    if (runtime.waitUntilReady) await tracer.wait('readyMs', () => runtime.waitUntilReady?.(signal) ?? Promise.resolve());
    if (!runtime.gateFirst && !(await tracer.wait('gateMs', () => ticket.enter(signal)))) return abortedOutput(tracer);
    if (signal.aborted) return abortedOutput(tracer);
    const first = await tracer.handler(() => runOrAbort(context, runtime, args, approved.value, tracer));
    const output = await this.#again(context, runtime, args, first, tracer);
    // 6 post-tool hooks
    return this.#afterHooks(context, hooked(context, runtime, args), output, tracer, told);
  }

  async #validate(context: CallContext, runtime: ToolRuntime, tracer: CallTracer, told: string[]): Promise<Passed<unknown>> {
    const { call, signal, events } = context;
    const first = runtime.validate(call.payload);
    if (!first.ok) {
      events.warning(`The model called ${flatName(runtime.name)} with arguments that do not fit: ${first.problem}`);
      return stop(failedOutput('invalid_arguments', first.problem));
    }
    const decision = await tracer.wait('hooksMs', () => this.#ports.hooks.preToolUse(hooked(context, runtime, first.args), signal));
    told.push(...decision.context);
    if (signal.aborted) return stop(abortedOutput(tracer));
    switch (decision.type) {
      case 'continue':
        return pass(first.args);
      case 'block':
        decline(events, call); // a preview may have opened it
        return stop(failedOutput('blocked_by_hook', decision.reason));
      case 'rewrite': {
        const second = runtime.validate(rewritten(runtime, first.args, decision.input));
        if (second.ok) return pass(second.args);
        decline(events, call);
        return stop(
          failedOutput(
            'blocked_by_hook',
            `A hook rewrote the input of ${flatName(runtime.name)} into one that does not fit its schema: ${second.problem}. Nothing was run.`,
          ),
        );
      }
    }
  }

  async #approve(
    context: CallContext,
    runtime: ToolRuntime,
    args: unknown,
    tracer: CallTracer,
    scope: 'call' | 'thisRun' = 'call',
  ): Promise<Passed<'notNeeded' | 'once' | 'session' | 'amendment'>> {
    const { call, step, events, signal } = context;
    let need: ApprovalNeed;
    try {
      need = (await runtime.approvalNeed?.(call, args, step)) ?? { type: 'skip' };
    } catch (error) {
      if (error instanceof ToolError || error instanceof FatalToolError) throw error;
      logger().error({ tool: flatName(runtime.name), error: messageOf(error) }, 'the policy gate failed, so it denies');
      need = { type: 'forbidden', reason: `The policy for this call could not be evaluated, so it is refused: ${messageOf(error)}` };
    }
    if (need.type === 'skip' && scope === 'call') return pass('notNeeded');
    if (need.type === 'skip') need = { type: 'forbidden', reason: 'Nobody was asked for it.' };
    if (need.type === 'forbidden') {
      decline(events, call);
      return stop(failedOutput('denied_by_policy', need.reason));
    }
    const { keys, ask } = scope === 'call' ? need : { keys: [], ask: need.ask };
    if (this.#ports.approvals.covered(keys)) return pass('session');
    const hook = await tracer.wait('hooksMs', () => this.#ports.hooks.permissionRequest(hooked(context, runtime, args), signal));
    let decision: ApprovalDecision;
    // What a hook allows in general is no leave for a second run.
    if (hook.type === 'allow' && scope === 'call') decision = { type: 'approved', how: 'once' };
    else if (hook.type === 'deny') decision = { type: 'denied', category: 'blocked_by_hook', text: hook.reason, interruptTurn: false };
    else decision = await tracer.wait('approvalMs', () => this.#ports.approvals.ask({ itemId: call.itemId, keys, ask }, step, signal));
    if (signal.aborted) {
      decline(events, call);
      return stop(abortedOutput(tracer));
    }
    if (decision.type === 'approved') return pass(decision.how);
    decline(events, call);
    return stop(failedOutput(decision.category, decision.text, { interruptTurn: decision.interruptTurn }));
  }

  async #afterHooks(context: CallContext, call: HookedCall, output: ToolOutput, tracer: CallTracer, told: string[]): Promise<ToolOutput> {
    // What a cancelled call printed is read as well: a guard of results has its say on it.
    const decision = await tracer.wait('hooksMs', () => this.#ports.hooks.postToolUse(call, output, context.signal));
    told.push(...decision.context);
    if (decision.type === 'keep') return output;
    // Whatever else leads to the original would give it away.
    return { ...output, content: [{ type: 'text', text: decision.text }], artifact: undefined, found: undefined };
  }

  /**
   * A second run, one level wider, after the sandbox stopped the first. At most once and never in silence: it has an item of its own and
   * goes through policy and approval as if it were new, where only an answer to just this question lets it pass.
   */
  async #again(context: CallContext, runtime: ToolRuntime, args: unknown, first: ToolOutput, tracer: CallTracer): Promise<ToolOutput> {
    const { rerun } = runtime;
    const wider = first.category === 'sandbox_denied' && !context.signal.aborted ? rerun?.wider(context.call, args, context.step) : null;
    if (!rerun || wider === null || wider === undefined) return first;
    const second = { ...context, call: { ...context.call, itemId: newRandomId() } };
    try {
      await rerun.begin(second.call, wider, context.step, context.events);
      const approved = await this.#approve(second, runtime, wider, tracer, 'thisRun');
      if (!approved.pass) return notAgain(first, approved.output);
      return bothRuns(first, await tracer.handler(() => runOrAbort(second, runtime, wider, approved.value, tracer)));
    } catch (error) {
      if (error instanceof FatalToolError) throw error;
      return bothRuns(first, outputOfError(error, second));
    } finally {
      runtime.settled?.(second.call);
      closeItem(second);
    }
  }
}

/** The last resort: an item that the runtime left open although its call has ended is closed as failed. */
function closeItem({ events, call }: CallContext): void {
  const handle = events.itemOf(call.itemId);
  if (handle && !handle.completed && !handle.outlives) handle.complete(failedItem(handle.current));
}

const line = (text: string) => ({ type: 'text' as const, text });

const notAgain = (first: ToolOutput, refused: ToolOutput): ToolOutput => ({
  ...first,
  category: refused.category,
  interruptTurn: refused.interruptTurn,
  content: [...first.content, line('\n\nIt did not run a second time, outside the sandbox. '), ...refused.content],
});

const bothRuns = (first: ToolOutput, second: ToolOutput): ToolOutput => ({
  ...second,
  content: [...first.content, line('\n\nThe user let it run once more, outside the sandbox. That run:\n'), ...second.content],
});

const hooked = ({ step, call }: CallContext, runtime: ToolRuntime, args: unknown): HookedCall => ({
  threadId: step.threadId,
  turnId: step.turnId,
  callId: call.callId,
  ...hookView(runtime, args),
  cwd: step.cwd,
});

function decline(events: ToolEvents, call: ToolCall): void {
  const handle = events.itemOf(call.itemId);
  handle?.complete(declinedItem(handle.current));
}

const abortedOutput = (tracer: CallTracer): ToolOutput =>
  failedOutput('cancelled', `aborted by user after ${(tracer.elapsedMs / 1000).toFixed(1)} s`, { uncertainOutcome: true });

function outputOfError(error: unknown, context: CallContext): ToolOutput {
  if (error instanceof ToolError) {
    return failedOutput(error.category, error.message, { retryable: error.retryable, uncertainOutcome: error.uncertainOutcome });
  }
  logger().error({ tool: flatName(context.call.name), error: messageOf(error) }, 'a tool failed unexpectedly');
  return failedOutput('tool_error', `${flatName(context.call.name)} failed unexpectedly: ${messageOf(error)}. It may have had effects.`, {
    uncertainOutcome: true,
  });
}

/** Runs the handler; an abort ends the wait at once unless the tool declares that its cleanup is to be awaited. */
function runOrAbort(
  context: CallContext,
  runtime: ToolRuntime,
  args: unknown,
  approved: 'notNeeded' | 'once' | 'session' | 'amendment',
  tracer: CallTracer,
): Promise<ToolOutput> {
  const { call, step, events, signal } = context;
  const work = runtime.run({ call, args, step, events, approved }, signal);
  if (runtime.waitsForCleanup)
    return work.then((output) => (signal.aborted && output.category !== 'cancelled' ? markFinished(output) : output));
  return new Promise<ToolOutput>((resolve, reject) => {
    const onAbort = () => resolve(abortedOutput(tracer));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A call that was done when the interrupt came keeps its result. */
const markFinished = (output: ToolOutput): ToolOutput =>
  output.content.length ? output : textOutput('The call finished before the interrupt.');
