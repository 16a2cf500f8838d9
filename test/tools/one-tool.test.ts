// One tool through every source: what the model reads must not depend on where a tool comes from. A source joins by a row of SOURCES.
import { expect, it } from 'vitest';
import { noArtifacts } from '../../src/tools/artifacts.ts';
import type { FrontendOutcome, FrontendPort } from '../../src/tools/events.ts';
import { ApprovalGate } from '../../src/tools/gates/approval.ts';
import { ApprovalStore } from '../../src/tools/gates/approval-store.ts';
import { ParallelGate } from '../../src/tools/gates/parallel.ts';
import { readFunctionPayload } from '../../src/tools/gates/validate.ts';
import { Orchestrator } from '../../src/tools/orchestrator.ts';
import { buildPlan } from '../../src/tools/plan.ts';
import { failedOutput, textOutput } from '../../src/tools/result.ts';
import { ToolRouter } from '../../src/tools/router.ts';
import type { ToolRuntime } from '../../src/tools/runtime.ts';
import { CallScheduler } from '../../src/tools/scheduler.ts';
import { dynamicRuntime } from '../../src/tools/sources/dynamic.ts';
import { ABLE, facts, NO_HOOKS, recordingEvents, registryOf } from './support.ts';

/** The tool: it answers how long a word is, and fails for an empty one. */
const NAME = 'word_length';
const DESCRIPTION = 'Tells how many letters a word has.';
const SCHEMA = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false };
const answerTo = ({ word }: { word: string }): { text: string; success: boolean } =>
  word === '' ? { text: 'an empty word has no letters', success: false } : { text: `${word.length} letters`, success: true };

function builtin(): ToolRuntime {
  return {
    name: { name: NAME },
    spec: { type: 'function', name: NAME, description: DESCRIPTION, parameters: SCHEMA, strict: false },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    validate: (payload) => readFunctionPayload(NAME, payload, SCHEMA),
    run: async ({ args }) => {
      const { text, success } = answerTo(args as { word: string });
      return success ? textOutput(text) : failedOutput('tool_error', text);
    },
  };
}

function dynamic(): ToolRuntime {
  const frontend: FrontendPort = {
    open: (_method, params) => {
      const { text, success } = answerTo((params as { arguments: { word: string } }).arguments);
      const value = { contentItems: [{ type: 'inputText', text }], success };
      return { outcome: Promise.resolve({ type: 'answered', value } as unknown as FrontendOutcome<never>), cancel: () => {} };
    },
  };
  return dynamicRuntime({ name: NAME, description: DESCRIPTION, inputSchema: SCHEMA, deferLoading: false }, frontend) as ToolRuntime;
}

interface Source {
  source: string;
  make: () => ToolRuntime | Promise<ToolRuntime>;
  external: boolean;
}

const SOURCES: Source[] = [
  { source: 'built-in', make: builtin, external: false },
  { source: 'dynamic', make: dynamic, external: true },
];

async function callsOf(runtime: ToolRuntime) {
  const events = recordingEvents();
  const registry = registryOf([runtime]);
  const plan = buildPlan(registry, { abilities: ABLE, hosted: [] });
  const nobody: FrontendPort = {
    open: () => {
      throw new Error('nobody is asked');
    },
  };
  const scheduler = new CallScheduler({
    orchestrator: new Orchestrator({
      approvals: new ApprovalGate(new ApprovalStore(), nobody, async () => null),
      hooks: NO_HOOKS,
      onTrace: () => {},
    }),
    router: new ToolRouter(registry, plan),
    gate: new ParallelGate(),
    step: facts(),
    events,
    artifacts: noArtifacts,
    signal: new AbortController().signal,
    beforeCall: async () => {},
    afterCall: () => {},
    interrupt: () => {},
  });
  const texts = ['{"word":"tide"}', '{"word":""}', '{"word":5}', '{"letters":"x"}', 'tide', ''];
  for (const [i, text] of texts.entries())
    scheduler.start({
      callId: `c${i}`,
      itemId: `c${i}`,
      name: { name: NAME },
      payload: { type: 'function', arguments: text },
      replyAs: 'function',
    });
  const finished = await scheduler.results();
  return {
    specs: plan.specs,
    results: finished.map(({ output: { success, category, content } }) => ({ success, category, content })),
    history: finished.map(({ item }) => item),
    marks: finished.map(({ external }) => external),
  };
}

it.each(SOURCES)(
  '[tools.one-tool] reads the same to the model, and ends the same in history, from every source: $source',
  async ({ make, external }) => {
    const [wanted, seen] = [await callsOf(builtin()), await callsOf(await make())];
    expect({ specs: seen.specs, results: seen.results, history: seen.history }).toEqual({
      specs: wanted.specs,
      results: wanted.results,
      history: wanted.history,
    });
    // Only where the tool really ran does something from outside enter the thread.
    expect(seen.marks).toEqual([external, external, false, false, false, false]);
    expect(seen.results.map(({ success, category }) => [success, category])).toEqual([
      [true, undefined],
      [false, 'tool_error'],
      ...Array.from({ length: 4 }, () => [false, 'invalid_arguments']),
    ]);
  },
);
