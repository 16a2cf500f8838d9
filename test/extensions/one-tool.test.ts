// One tool through every source: what model, client and hooks see of it does not depend on who brought it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { McpPool } from '../../src/mcp/pool.ts';
import { openTransport } from '../../src/mcp/transport-port.ts';
import { mcpProcesses } from '../../src/server/mcp-process.ts';
import { offerTools } from '../../src/server/mcp-tools.ts';
import type { FrontendPort } from '../../src/tools/events.ts';
import { ApprovalGate } from '../../src/tools/gates/approval.ts';
import { ApprovalStore } from '../../src/tools/gates/approval-store.ts';
import { type HookPort, noHooks } from '../../src/tools/gates/hooks.ts';
import { ParallelGate } from '../../src/tools/gates/parallel.ts';
import { readFunctionPayload } from '../../src/tools/gates/validate.ts';
import { Orchestrator } from '../../src/tools/orchestrator.ts';
import { ToolError, type ToolOutput, textOf, textOutput } from '../../src/tools/result.ts';
import type { ToolRuntime } from '../../src/tools/runtime.ts';
import { dynamicRuntime } from '../../src/tools/sources/dynamic.ts';
import { extensionTools } from '../../src/tools/sources/extension.ts';
import { ExtensionThread } from '../../src/tools/sources/extension-thread.ts';
import { failedItem } from '../../src/tools/terminal-item.ts';
import { callOf, facts, fakeTool, recordingEvents } from '../tools/support.ts';

const SCHEMA = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
const DESCRIPTION = 'Weighs a word.';
const weigh = (word: string) => `${word} weighs ${word.length}`;
const EXTENSION = `export default { name: 'kit', tools: [{
  name: 'weigh', description: ${JSON.stringify(DESCRIPTION)}, input: ${JSON.stringify(SCHEMA)}, readOnly: true,
  run: ({ word }) => {
    if (word === 'fail') throw new Error('no scales');
    return word === 'wait' ? new Promise(() => {}) : word + ' weighs ' + word.length;
  },
}] };`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-one-tool-'));
const runner = new LocalProcessRunner();
const pool = new McpPool(openTransport({ processes: mcpProcesses(runner) }));
let thread: ExtensionThread;
/** By source. */
const tools = new Map<string, ToolRuntime>();

const builtin = (): ToolRuntime =>
  fakeTool('weigh', {
    description: DESCRIPTION,
    parameters: SCHEMA,
    validate: (payload) => readFunctionPayload('weigh', payload, SCHEMA),
    begin: (call, _args, _step, events) => {
      const shown = { namespace: null, tool: 'weigh', arguments: {}, contentItems: null, success: null, durationMs: null };
      events.startItem(
        { type: 'dynamicToolCall', id: call.itemId, status: 'inProgress', ...shown },
        { abandoned: (item) => failedItem(item) },
      );
    },
    run: async ({ args, call, events }, signal) => {
      const { word } = args as { word: string };
      if (word === 'fail') throw new ToolError('tool_error', 'weigh failed: no scales');
      if (word === 'wait') await new Promise((_, reject) => signal.addEventListener('abort', reject));
      const handle = events.itemOf(call.itemId);
      handle?.complete({ ...(handle.current as object), status: 'completed' } as typeof handle.current);
      return textOutput(weigh(word));
    },
  });

/** A frontend that runs the tool, as an editor would. */
const frontend = {
  open: (method: string, params: { arguments: { word: string } }) => {
    if (method !== 'item/tool/call') throw new Error(`nobody is to be asked: ${method}`);
    const { word } = params.arguments;
    const text = word === 'fail' ? 'weigh failed: no scales' : weigh(word);
    let cancel = (_reason: string) => {};
    const outcome =
      word === 'wait'
        ? new Promise((resolve) => {
            cancel = (reason) => resolve({ type: 'cancelled', reason });
          })
        : Promise.resolve({ type: 'answered', value: { contentItems: [{ type: 'inputText', text }], success: word !== 'fail' } });
    return { outcome, cancel: (reason: string) => cancel(reason) };
  },
} as unknown as FrontendPort;

async function mcp(): Promise<ToolRuntime> {
  const argv = [process.execPath, path.join(import.meta.dirname, 'weigh-server.mjs')];
  const transport = { type: 'stdio' as const, argv, cwd: folder, env: { PATH: process.env.PATH ?? '' } };
  const { server } = pool.acquire({ name: 'scales', transport, startupTimeoutMs: 10_000 }, folder);
  await server.up(new AbortController().signal);
  const plan = { name: 'scales', table: {}, toolTimeoutMs: 10_000 } as unknown as Parameters<typeof offerTools>[0];
  const remember = { holds: () => false, forServer: () => null };
  const abilities = { canDefer: false, namespaces: true };
  return offerTools(plan, server.catalogue as never, { server, frontend, remember, abilities }).runtimes[0];
}

beforeAll(async () => {
  const file = path.join(folder, 'kit.mjs');
  fs.writeFileSync(file, EXTENSION);
  thread = new ExtensionThread(file, () => {});
  tools.set('built-in', builtin());
  tools.set('extension', extensionTools({ path: file, manifest: await thread.start(), thread })[0]);
  const spec = { name: 'weigh', description: DESCRIPTION, inputSchema: SCHEMA, deferLoading: false };
  tools.set('dynamic', dynamicRuntime(spec, frontend) as unknown as ToolRuntime);
  tools.set('mcp', await mcp());
});
afterAll(async () => {
  await thread.stop();
  await pool.closeAll();
  await runner.endAll(200);
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Told {
  names: readonly string[];
  input: unknown;
}

async function run(source: string, word: unknown, hooks: Partial<HookPort> = {}, abortAfterMs?: number) {
  const runtime = tools.get(source) as ToolRuntime;
  const told: Told[] = [];
  const seat: HookPort = {
    ...noHooks,
    ...hooks,
    preToolUse: (call, signal) => {
      told.push({ names: call.names, input: call.input });
      return (hooks.preToolUse ?? noHooks.preToolUse)(call, signal);
    },
  };
  const approvals = new ApprovalGate(new ApprovalStore(), frontend, async () => null);
  const orchestrator = new Orchestrator({ approvals, hooks: seat, onTrace: () => {} });
  const events = recordingEvents();
  const abort = new AbortController();
  if (abortAfterMs !== undefined) setTimeout(() => abort.abort(), abortAfterMs);
  const call = callOf('weigh', { name: runtime.name, payload: { type: 'function', arguments: JSON.stringify({ word }) } });
  const route = { type: 'found', runtime, name: runtime.name } as const;
  const ticket = new ParallelGate().take({ type: 'shared' });
  const output = await orchestrator.run({ call, route, step: facts(), events, ticket, signal: abort.signal });
  return { output, told, log: events.log, seen: { success: output.success, category: output.category, text: textOf(output) } };
}

const SOURCES = ['built-in', 'extension', 'dynamic', 'mcp'];
const started = 'started call_weigh';

describe.each(SOURCES)('one tool from %s', (source) => {
  it(`[extension.one-tool.spec] is listed with the description and schema it was given`, () => {
    const { spec } = tools.get(source) as ToolRuntime;
    expect(spec).toEqual({ type: 'function', name: 'weigh', description: DESCRIPTION, parameters: SCHEMA, strict: false });
  });

  it('[extension.one-tool.run] gives its result, in one item', async () => {
    const { seen, log } = await run(source, 'feather');
    expect(seen).toEqual({ success: true, category: undefined, text: 'feather weighs 7' });
    expect(log).toEqual([started, 'completed call_weigh completed']);
  });

  it('[extension.one-tool.invalid] is not run with arguments that do not fit', async () => {
    const { seen, log, told } = await run(source, 5);
    expect([seen.success, seen.category, log, told]).toEqual([false, 'invalid_arguments', [], []]);
    expect(seen.text).toMatch(/^invalid arguments: word: .*Expected: word: string \(required\)\. Got: \{"word":5\}$/);
  });

  it('[extension.one-tool.fail] fails with its own words', async () => {
    const { seen, log } = await run(source, 'fail');
    expect([seen.success, seen.category, seen.text.split('\n').at(-1)]).toEqual([false, 'tool_error', 'weigh failed: no scales']);
    expect(log).toEqual([started, 'completed call_weigh failed']);
  });

  it('[extension.one-tool.block] is stopped by a hook before anything is shown', async () => {
    const { seen, log, told } = await run(source, 'lead', {
      preToolUse: async () => ({ type: 'block', reason: 'too heavy', context: ['mind it'] }),
    });
    expect(seen).toEqual({ success: false, category: 'blocked_by_hook', text: 'too heavy' });
    const name = { 'built-in': 'weigh', extension: 'kit__weigh', dynamic: 'weigh', mcp: 'mcp__scales__weigh' }[source];
    expect([log, told]).toEqual([[], [{ names: [name], input: { word: 'lead' } }]]);
  });

  it('[extension.one-tool.rewrite] runs with the input of a hook, when that fits', async () => {
    const rewrite = (input: unknown): Partial<HookPort> => ({ preToolUse: async () => ({ type: 'rewrite', input, context: [] }) });
    expect((await run(source, 'lead', rewrite({ word: 'ash' }))).seen.text).toBe('ash weighs 3');
    const odd = await run(source, 'lead', rewrite({ word: 1 }));
    expect([odd.seen.category, odd.log]).toEqual(['blocked_by_hook', []]);
  });

  it('[extension.one-tool.replace] has its result replaced by a hook, beside context', async () => {
    const seat: Partial<HookPort> = { postToolUse: async () => ({ type: 'replace', text: 'hidden', context: ['why'] }) };
    const { output, seen } = await run(source, 'lead', seat);
    expect([seen.text, (output as ToolOutput).hookContext]).toEqual(['hidden', ['why']]);
  });

  it('[extension.one-tool.interrupt] ends at once when the turn is interrupted, with one end of its item', async () => {
    const { seen, log } = await run(source, 'wait', {}, 50);
    expect([seen.success, seen.category]).toEqual([false, 'cancelled']);
    expect(seen.text).toMatch(/^aborted by user after \d+\.\d s/);
    expect(log).toEqual([started, 'completed call_weigh failed']);
  });
});
