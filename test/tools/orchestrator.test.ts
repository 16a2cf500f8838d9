import { describe, expect, it } from 'vitest';
import { Deferred } from '../../src/common/deferred.ts';
import type { FrontendOutcome, FrontendPort } from '../../src/tools/events.ts';
import { ApprovalGate } from '../../src/tools/gates/approval.ts';
import { ApprovalStore } from '../../src/tools/gates/approval-store.ts';
import { ParallelGate } from '../../src/tools/gates/parallel.ts';
import { Orchestrator } from '../../src/tools/orchestrator.ts';
import { failedOutput, textOf, textOutput } from '../../src/tools/result.ts';
import type { ToolRuntime } from '../../src/tools/runtime.ts';
import { failedItem } from '../../src/tools/terminal-item.ts';
import type { CallTrace } from '../../src/tools/trace.ts';
import { callOf, facts, fakeTool, NO_HOOKS, recordingEvents } from './support.ts';

type Decision = 'accept' | 'acceptForSession' | 'decline' | 'cancel';

/** A frontend that gives these answers in turn and keeps the questions. */
function frontendOf(answers: Decision[]) {
  const asked: { itemId?: string; reason?: string | null; availableDecisions?: unknown }[] = [];
  const port: FrontendPort = {
    open: (_method, params) => {
      asked.push(params as (typeof asked)[number]);
      const decision = answers.shift();
      return { outcome: Promise.resolve({ type: 'answered', value: { decision } } as unknown as FrontendOutcome<never>), cancel: () => {} };
    },
  };
  return { asked, port };
}

function setUp(answers: Decision[] = []) {
  const frontend = frontendOf(answers);
  const store = new ApprovalStore();
  const traces: CallTrace[] = [];
  const orchestrator = new Orchestrator({
    approvals: new ApprovalGate(store, frontend.port, async () => null),
    hooks: NO_HOOKS,
    onTrace: (trace) => traces.push(trace),
  });
  const events = recordingEvents();
  const gate = new ParallelGate();
  const run = (runtime: ToolRuntime, signal = new AbortController().signal, call = callOf(runtime.name.name)) =>
    orchestrator.run({
      call,
      route: { type: 'found', runtime, name: runtime.name },
      step: facts(),
      events,
      ticket: gate.take({ type: 'shared' }),
      signal,
    });
  return { ...frontend, store, traces, events, gate, run };
}

const item = (id: string) => ({
  type: 'dynamicToolCall' as const,
  id,
  namespace: null,
  tool: 'x',
  arguments: {},
  status: 'inProgress' as const,
  contentItems: null,
  success: null,
  durationMs: null,
});
const started: Partial<ToolRuntime> = {
  begin: (call, _args, _step, events) => {
    events.startItem(item(call.itemId), { abandoned: (current) => failedItem(current) });
  },
};
const jitter = (most: number) =>
  new Promise<void>((resolve) => (most < 1 ? queueMicrotask(resolve) : setTimeout(resolve, Math.random() * most)));

describe('the end of a call', () => {
  it('[tools.once] comes exactly once in 1 000 races between finishing and aborting', async () => {
    const s = setUp();
    const race = async (i: number): Promise<string> => {
      const abort = new AbortController();
      const manners = i % 4;
      const runtime = fakeTool(`t${i}`, {
        ...started,
        waitsForCleanup: manners % 2 === 0,
        run: async ({ call, events }, signal) => {
          await Promise.race([
            jitter(manners < 2 ? 0 : 2),
            new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
          ]);
          if (signal.aborted && manners % 2 === 0) return failedOutput('cancelled', 'aborted by user after 0.0 s');
          events.itemOf(call.itemId)?.complete({ ...item(call.itemId), status: 'completed' });
          return textOutput('done');
        },
      });
      const running = s.run(runtime, abort.signal, callOf(runtime.name.name, { callId: `c${i}`, itemId: `c${i}` }));
      void jitter(i % 3 === 0 ? 0 : 2).then(() => abort.abort());
      const output = await running;
      return output.category ?? 'success';
    };
    const ends = await Promise.all(Array.from({ length: 1_000 }, (_, i) => race(i)));
    await jitter(5);
    expect(ends.filter((end) => end !== 'success' && end !== 'cancelled')).toEqual([]);
    expect(new Set(ends).size).toBe(2);
    expect(s.traces.length).toBe(1_000);
    const starts = s.events.log.filter((entry) => entry.startsWith('started')).map((entry) => entry.split(' ')[1]);
    const completions = s.events.log.filter((entry) => entry.startsWith('completed')).map((entry) => entry.split(' ')[1]);
    expect(completions.sort()).toEqual(starts.sort());
  });

  it('[tools.late-silent] lets a tool that goes on after the abort show nothing any more', async () => {
    const s = setUp();
    const abort = new AbortController();
    const began = new Deferred<void>();
    const goOn = new Deferred<void>();
    const late = new Deferred<boolean>();
    const runtime = fakeTool('late', {
      run: async ({ call, events }) => {
        began.resolve();
        await goOn.promise;
        const handle = events.startItem(item(call.itemId), { abandoned: (current) => current });
        events.warning('late');
        events.planUpdated(null, []);
        events.mcpProgress(call.itemId, 'late');
        late.resolve(handle.complete(item(call.itemId)));
        return textOutput('late');
      },
    });
    const running = s.run(runtime, abort.signal);
    await began.promise;
    abort.abort();
    const output = await running;
    goOn.resolve();
    expect(await late.promise).toBe(false);
    expect([output.category, textOf(output).replace(/[\d.]+/, 'N'), s.events.log, s.events.warnings]).toEqual([
      'cancelled',
      'aborted by user after N s',
      [],
      [],
    ]);
  });

  it('[tools.ready-first] waits for readiness before it takes a place, and splits its waits in the trace', async () => {
    const s = setUp();
    const order: string[] = [];
    const blocker = s.gate.take({ type: 'exclusive' });
    await blocker.enter(new AbortController().signal);
    const ready = new Deferred<void>();
    const runtime = fakeTool('slow', {
      waitUntilReady: async () => {
        order.push('ready?');
        await ready.promise;
        order.push('ready');
      },
      run: async () => {
        order.push('run');
        return textOutput('ran');
      },
    });
    const running = s.run(runtime);
    await jitter(3);
    expect(order).toEqual(['ready?']);
    ready.resolve();
    await jitter(3);
    expect(order).toEqual(['ready?', 'ready']);
    blocker.leave();
    await running;
    expect(order).toEqual(['ready?', 'ready', 'run']);
    const [trace] = s.traces;
    expect([trace.waits.readyMs > 0, trace.waits.gateMs > 0, trace.waits.approvalMs, Object.keys(trace.marks)]).toEqual([
      true,
      true,
      0,
      ['provider_item_received', 'domain_call_built', 'runtime_resolved', 'execution_started', 'result_normalized'],
    ]);
  });

  it('[tools.attempt-shown] shows the client a call of a tool that does not exist, and one whose arguments do not fit', async () => {
    const s = setUp();
    await s.run(fakeTool('picky', { validate: () => ({ ok: false, problem: 'cmd is missing' }) }));
    expect(s.events.warnings).toEqual(['The model called picky with arguments that do not fit: cmd is missing']);
  });
});

describe('a second run after a denial by the sandbox', () => {
  /** A tool whose first run is stopped by the sandbox. */
  function stopped(
    more: { need?: 'needsApproval' | 'skip' | 'forbidden'; offers?: boolean; second?: () => Promise<ReturnType<typeof textOutput>> } = {},
  ) {
    const runs: unknown[] = [];
    const settled: string[] = [];
    const runtime = fakeTool('cmd', {
      ...started,
      validate: () => ({ ok: true, args: 'narrow' }),
      approvalNeed: (_call, args) => {
        if (args === 'narrow' || more.need === 'skip') return { type: 'skip' };
        if (more.need === 'forbidden') return { type: 'forbidden', reason: 'A rule forbids it.' };
        return {
          type: 'needsApproval',
          keys: ['wide'],
          ask: { kind: 'command', command: 'c', script: 'c', cwd: '/', reason: 'Run it again?', commandActions: [], scope: 'wide' },
        };
      },
      run: async ({ call, args, approved, events }) => {
        runs.push([args, approved]);
        const ok = args === 'wide';
        events.itemOf(call.itemId)?.complete({ ...item(call.itemId), status: ok ? 'completed' : 'failed' });
        if (!ok) return failedOutput('sandbox_denied', 'FIRST');
        return more.second ? more.second() : textOutput('SECOND');
      },
      rerun: { wider: () => (more.offers === false ? null : 'wide'), begin: started.begin as never },
      settled: (call) => settled.push(call.itemId),
    });
    return { runtime, runs, settled };
  }

  it('[tools.rerun] runs once more, with an item of its own, when its own request is accepted; the model reads both runs', async () => {
    const s = setUp(['accept']);
    const tool = stopped();
    const output = await s.run(tool.runtime);
    expect(tool.runs).toEqual([
      ['narrow', 'notNeeded'],
      ['wide', 'once'],
    ]);
    const second = s.asked[0].itemId;
    expect(s.events.log).toEqual(['started call_cmd', 'completed call_cmd failed', `started ${second}`, `completed ${second} completed`]);
    expect([output.success, textOf(output)]).toEqual([
      true,
      'FIRST\n\nThe user let it run once more, outside the sandbox. That run:\nSECOND',
    ]);
    expect(tool.settled).toEqual([second, 'call_cmd']);
    expect([second !== 'call_cmd', s.asked.length, s.asked[0].reason]).toEqual([true, 1, 'Run it again?']);
  });

  it('[tools.rerun-refused] does not run again when it is declined, forbidden, or would pass unasked', async () => {
    const declined = setUp(['decline']);
    const first = stopped();
    const output = await declined.run(first.runtime);
    expect([first.runs.length, output.category, textOf(output)]).toEqual([
      1,
      'denied_by_user',
      expect.stringMatching(/^FIRST\n\nIt did not run a second time, outside the sandbox\. The user declined this call/),
    ]);
    expect(declined.events.log.at(-1)).toMatch(/^completed .* failed$/);
    for (const need of ['skip', 'forbidden'] as const) {
      const s = setUp([]);
      const tool = stopped({ need });
      const text = textOf(await s.run(tool.runtime));
      expect([tool.runs.length, s.asked.length, text.startsWith('FIRST')]).toEqual([1, 0, true]);
    }
  });

  it('[tools.rerun-exactly] takes no earlier approval, and no hook, for leave to run again', async () => {
    const s = setUp(['decline']);
    s.store.approve(['wide']);
    const tool = stopped();
    await s.run(tool.runtime);
    expect([tool.runs.length, s.asked.length, s.asked[0].availableDecisions]).toEqual([1, 1, ['accept', 'decline', 'cancel']]);
  });

  it('[tools.rerun-not-offered] is not offered where the tool offers none, after an abort, or a second time', async () => {
    const none = setUp();
    const tool = stopped({ offers: false });
    expect([textOf(await none.run(tool.runtime)), none.asked.length]).toEqual(['FIRST', 0]);
    const twice = setUp(['accept', 'accept']);
    const denied = stopped({ second: async () => failedOutput('sandbox_denied', 'SECOND') });
    const output = await twice.run(denied.runtime);
    expect([denied.runs.length, twice.asked.length, output.category]).toEqual([2, 1, 'sandbox_denied']);
  });

  it('[tools.rerun-cancel] ends the turn when the user cancels instead of answering', async () => {
    const s = setUp(['cancel']);
    const output = await s.run(stopped().runtime);
    expect([output.interruptTurn, output.category]).toEqual([true, 'denied_by_user']);
  });
});
