import '../wire/quiet.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isToolCall, isToolOutput, type ResponseItem, type ToolCallItem } from '../../src/protocol/response-item.ts';
import { History } from '../../src/session/history.ts';
import { noArtifacts } from '../../src/tools/artifacts.ts';
import { ApprovalGate } from '../../src/tools/gates/approval.ts';
import { ApprovalStore } from '../../src/tools/gates/approval-store.ts';
import { ParallelGate } from '../../src/tools/gates/parallel.ts';
import { Orchestrator } from '../../src/tools/orchestrator.ts';
import { buildPlan } from '../../src/tools/plan.ts';
import { FatalToolError, ToolError, textOutput } from '../../src/tools/result.ts';
import { readCallItem, ToolRouter } from '../../src/tools/router.ts';
import { CallScheduler } from '../../src/tools/scheduler.ts';
import { ABLE, facts, fakeTool, NO_HOOKS, recordingEvents, registryOf } from './support.ts';

const pause = (ms: number) => new Promise((resolve) => (ms === 0 ? queueMicrotask(() => resolve(undefined)) : setTimeout(resolve, ms)));
const ends = ['finish', 'refuse', 'throw', 'fatal', 'unknown', 'invalid'] as const;
type End = (typeof ends)[number];

const tools = ends
  .filter((end) => end !== 'unknown')
  .flatMap((end) =>
    [true, false].map((supportsParallel) =>
      fakeTool(`${end}_${supportsParallel ? 'shared' : 'alone'}`, {
        supportsParallel,
        waitsForCleanup: !supportsParallel,
        validate: (payload) => (end === 'invalid' ? { ok: false, problem: 'does not fit' } : { ok: true, args: payload }),
        run: async ({ call }, signal) => {
          await Promise.race([
            pause(call.callId.length % 3),
            new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
          ]);
          if (end === 'refuse') throw new ToolError('tool_error', 'refused');
          if (end === 'throw') throw new Error('broken');
          if (end === 'fatal') throw new FatalToolError('the contract broke');
          return textOutput('done');
        },
      }),
    ),
  );
const registry = registryOf(tools);
const router = new ToolRouter(registry, buildPlan(registry, { abilities: ABLE, hosted: [] }));

const call: fc.Arbitrary<{ end: End; shared: boolean; custom: boolean }> = fc.record({
  end: fc.constantFrom(...ends),
  shared: fc.boolean(),
  custom: fc.boolean(),
});

/** One step as the session runs it, cut short at some point: the process may die between any two records. */
async function step(
  history: History,
  calls: { end: End; shared: boolean; custom: boolean }[],
  plan: { abortAfter: number | null; diesAt: number },
) {
  const abort = new AbortController();
  let records = 0;
  const record = (item: ResponseItem) => {
    if (records++ < plan.diesAt) history.append({ origin: 'model', turnId: 't', item });
  };
  const scheduler = new CallScheduler({
    orchestrator: new Orchestrator({
      approvals: new ApprovalGate(
        new ApprovalStore(),
        {
          open: () => {
            throw new Error('nobody is asked');
          },
        },
        async () => null,
      ),
      hooks: NO_HOOKS,
      onTrace: () => {},
    }),
    router,
    gate: new ParallelGate(),
    step: facts(),
    events: recordingEvents(),
    artifacts: noArtifacts,
    signal: abort.signal,
    beforeCall: async () => {},
    afterCall: () => {},
    interrupt: () => abort.abort(),
  });
  for (const [i, { end, shared, custom }] of calls.entries()) {
    const name = `${end}_${shared ? 'shared' : 'alone'}`;
    const call_id = `call_${history.length}_${'x'.repeat(i)}`;
    const item: ToolCallItem = custom
      ? { type: 'custom_tool_call', call_id, name, input: '' }
      : { type: 'function_call', call_id, name, arguments: '{}' };
    record(item);
    scheduler.start({ callId: call_id, itemId: call_id, ...readCallItem(item) });
    if (plan.abortAfter === i) void pause(i % 2).then(() => abort.abort());
  }
  const finished = await scheduler.results();
  expect(finished.map(({ item }) => item.call_id)).toEqual(finished.map(({ call: one }) => one.callId));
  for (const { item } of finished) record(item);
  expect(scheduler.fatal instanceof FatalToolError).toBe(
    finished.some(({ output }) => output.content.some((part) => part.type === 'text' && part.text.includes('the contract broke'))),
  );
}

function expectPaired(items: readonly ResponseItem[]): void {
  const open = new Map<string, number>();
  for (const item of items) {
    if (isToolCall(item)) open.set(item.call_id ?? '', (open.get(item.call_id ?? '') ?? 0) + 1);
    if (isToolOutput(item)) {
      expect(open.get(item.call_id ?? ''), `output ${item.call_id} without a call before it`).toBeGreaterThan(0);
      open.set(item.call_id ?? '', (open.get(item.call_id ?? '') ?? 0) - 1);
    }
  }
  expect([...open.values()].every((count) => count === 0)).toBe(true);
}

it('[tools.pairing] pairs each call with exactly one output before any sampling, however calls finish, fail, are aborted, or the process dies', async () => {
  const plan = fc.record({ abortAfter: fc.option(fc.nat(4)), diesAt: fc.oneof(fc.constant(1_000), fc.nat(12)) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(call, { minLength: 1, maxLength: 5 }), plan), { minLength: 1, maxLength: 3 }),
      async (steps) => {
        let history = new History();
        for (const [calls, one] of steps) {
          await step(history, calls, one);
          // What a load does, and, when nothing was cut, does nothing.
          history = new History(history.entries);
          for (const item of history.missingOutputs()) history.append({ origin: 'tool', turnId: 't', item });
          expectPaired(history.forModel());
        }
      },
    ),
    { numRuns: 120 },
  );
});
