// The tool system by itself, measured on the sources: what a step pays for its tools, a search for its hits, a call for its gates.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

const sized = (what, sizes) =>
  Object.fromEntries(sizes.map(([name, count, most]) => [name, { what: what(count), unit: 'ms', ...(most ? { most } : {}) }]));

export const FIGURES = {
  ...sized(
    (count) => `tools of an unchanged step, ${count} tools`,
    [
      ['step10Ms', '10', 1],
      ['step100Ms', '100', 1],
      ['step1000Ms', '1 000', 1],
      ['step10000Ms', '10 000', 1],
    ],
  ),
  ...sized(
    (count) => `tools of a step after a change, ${count} tools`,
    [
      ['plan10Ms', '10'],
      ['plan100Ms', '100'],
      ['plan1000Ms', '1 000'],
      ['plan10000Ms', '10 000'],
    ],
  ),
  indexMs: { what: 'search index of 10 000 tools, built once', unit: 'ms' },
  searchMs: { what: 'search over 10 000 tools', unit: 'ms', most: 5 },
  suggestMs: { what: 'suggestions for a message, 10 000 tools', unit: 'ms' },
  gatesMs: { what: 'all gates of a call with nothing to do', unit: 'ms', most: 0.3 },
};

const ENTRY = `export { StepBuilder } from './src/session/step-context.ts';
export { cardFor } from './src/model/card.ts';
export { indexOf } from './src/tools/runtimes/tool-search.ts';
export { suggestTools } from './src/tools/suggest.ts';
export { Orchestrator } from './src/tools/orchestrator.ts';
export { ApprovalGate } from './src/tools/gates/approval.ts';
export { ApprovalStore } from './src/tools/gates/approval-store.ts';
export { ParallelGate } from './src/tools/gates/parallel.ts';
export { readFunctionPayload } from './src/tools/gates/validate.ts';
export { CallScheduler } from './src/tools/scheduler.ts';
export { noArtifacts } from './src/tools/artifacts.ts';`;

/** The sources are TypeScript, which node 20 does not run: bundled to a passing file first. */
async function sources() {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-bench-tools-'));
  const outfile = path.join(scratch, 'parts.cjs');
  const stdin = { contents: ENTRY, resolveDir: root, loader: 'ts' };
  try {
    await esbuild.build({ stdin, outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error' });
    return createRequire(import.meta.url)(outfile);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function timed(rounds, work) {
  const took = [];
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    work(i);
    took.push(performance.now() - began);
  }
  return median(took);
}

const WORDS =
  'list send read archive invoice ticket customer calendar event order refund report file folder user team chart query index cache'.split(
    ' ',
  );
const word = (i, k) => WORDS[(i * 7 + k * 13 + ((i * k) >> 3)) % WORDS.length];

function toolsOf(count, { readFunctionPayload }) {
  return Array.from({ length: count }, (_, i) => {
    const name = `${word(i, 1)}_${word(i, 2)}_${i}`;
    const properties = { [word(i, 3)]: { type: 'string', description: 'What it is about' }, limit: { type: 'integer', minimum: 1 } };
    const parameters = { type: 'object', properties, required: [word(i, 3)] };
    const namespace = `server_${i % 25}`;
    return {
      name: { namespace, name },
      spec: {
        type: 'function',
        name,
        description: `Lets you ${word(i, 4)} the ${word(i, 5)} of a ${word(i, 6)}, number ${i}`,
        parameters,
        strict: false,
      },
      namespaceDescription: `Tools of ${namespace}`,
      exposure: 'deferred',
      source: { type: 'mcp', server: namespace },
      supportsParallel: true,
      waitsForCleanup: false,
      external: true,
      validate: (payload) => readFunctionPayload(name, payload, parameters),
      run: async () => ({ success: true, content: [{ type: 'text', text: 'done' }] }),
    };
  });
}

const SETTINGS = { cwd: '/', approvalPolicy: 'on-request', sandbox: { type: 'readOnly' }, model: 'gpt-5.5' };
const NONE = [];

function stepsOver(list, { StepBuilder, cardFor }) {
  const state = { list };
  const builder = new StepBuilder({ builtins: () => NONE, external: () => state.list, hosted: () => NONE, strict: false }, () => {});
  const binding = { client: null, card: cardFor('gpt-5.5'), retries: {} };
  return { state, step: () => builder.build('thread', 'turn', SETTINGS, binding) };
}

function stepFigures(parts) {
  const figures = {};
  for (const count of [10, 100, 1_000, 10_000]) {
    const tools = toolsOf(count, parts);
    const { state, step } = stepsOver(tools, parts);
    step();
    figures[`step${count}Ms`] = timed(200, step);
    // One tool has come or gone: the others are the same objects, as their sources keep them.
    const shorter = tools.slice(0, -1);
    figures[`plan${count}Ms`] = timed(count > 1_000 ? 11 : 41, (i) => {
      state.list = i % 2 === 0 ? [...shorter] : [...tools];
      step();
    });
  }
  return figures;
}

function searchFigures(parts) {
  const tools = toolsOf(10_000, parts);
  const indexMs = timed(3, () => parts.indexOf([...tools]));
  const index = parts.indexOf(tools);
  const queries = [
    'send an invoice to the customer',
    'list_send_17',
    'calendar event report',
    'archive folder of the team',
    'nothing of the kind',
  ];
  const message = 'Could you look into the invoice of that customer, archive the ticket and send me a report about the order by tomorrow?';
  return {
    indexMs,
    searchMs: timed(100, (i) => index.search(queries[i % queries.length], 8)),
    suggestMs: timed(40, () => parts.suggestTools(tools, message)),
  };
}

/** A call that needs no approval, hits no hook and returns at once, from the scheduler to its history item. */
async function gateFigures(parts, count = 2_000) {
  const tools = toolsOf(100, parts);
  const { router, facts } = stepsOver(tools, parts).step();
  const pass = { type: 'continue', context: NONE };
  const hooks = {
    preToolUse: async () => pass,
    permissionRequest: async () => ({ type: 'ask' }),
    postToolUse: async () => ({ type: 'keep', context: NONE }),
  };
  const approvals = new parts.ApprovalGate(
    new parts.ApprovalStore(),
    {
      open: () => {
        throw new Error('nobody is asked');
      },
    },
    async () => null,
  );
  const orchestrator = new parts.Orchestrator({ approvals, hooks, onTrace: () => {} });
  const took = [];
  for (let i = 0; i < count; i++) {
    const scheduler = new parts.CallScheduler({
      orchestrator,
      router,
      gate: new parts.ParallelGate(),
      step: facts,
      events: { itemOf: () => undefined, warning: () => {} },
      artifacts: parts.noArtifacts,
      signal: new AbortController().signal,
      beforeCall: async () => {},
      afterCall: () => {},
      interrupt: () => {},
    });
    const { name, spec } = tools[i % tools.length];
    const text = JSON.stringify({ [spec.parameters.required[0]]: 'x' });
    const began = performance.now();
    scheduler.start({ callId: `c${i}`, itemId: `c${i}`, name, payload: { type: 'function', arguments: text }, replyAs: 'function' });
    const [{ output }] = await scheduler.results();
    took.push(performance.now() - began);
    if (!output.success) throw new Error(`a call failed: ${JSON.stringify(output)}`);
  }
  return { gatesMs: median(took) };
}

export async function tools() {
  const parts = await sources();
  return { ...stepFigures(parts), ...searchFigures(parts), ...(await gateFigures(parts)) };
}
