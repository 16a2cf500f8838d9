import { expect, it } from 'vitest';
import { cardFor } from '../../src/model/card.ts';
import { FlatTools } from '../../src/model/flat-tools.ts';
import { responsesBody, toFlatten } from '../../src/model/responses-wire.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import { buildPlan } from '../../src/tools/plan.ts';
import { readCallItem, ToolRouter } from '../../src/tools/router.ts';
import { dynamic, fakeTool, PLAIN, registryOf } from './support.ts';

const long = 'n'.repeat(128);
const registry = registryOf([
  fakeTool('open', dynamic),
  fakeTool('open', { ...dynamic, namespace: 'files' }),
  fakeTool(long, dynamic),
  fakeTool(`${long.slice(0, 127)}m`, dynamic),
  fakeTool(long, { ...dynamic, namespace: 'files' }),
  fakeTool('files__open', dynamic),
]);
const plan = buildPlan(registry, { abilities: PLAIN, hosted: [] });
const { supports } = cardFor('some-unlisted-model');
const request = (input: ResponseItem[]) => ({ model: 'm', input, tools: plan.specs, parallelToolCalls: true });

it('[tools.flat-names] offers every tool under one name of at most 64 plain characters to a model without namespaces, and each call finds its own', () => {
  const flat = new FlatTools(toFlatten(plan.specs, supports));
  const body = JSON.parse(responsesBody(request([]), { supports, flat, origin: 'o' })) as { tools: { type: string; name: string }[] };
  const names = body.tools.map((tool) => tool.name);
  expect([names.length, new Set(names).size, names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))]).toEqual([6, 6, true]);
  const router = new ToolRouter(registry, plan);
  const routed = names.map((name) => {
    const { name: called, replyAs } = readCallItem(flat.itemOf({ callId: 'c', name, arguments: '{}' }));
    const route = router.route(called, replyAs);
    return route.type === 'found' ? route.runtime : null;
  });
  expect(new Set(routed)).toEqual(new Set(registry.runtimes));
});

it('[tools.flat-history] shows a call of the history under the name that the tool is offered by', () => {
  const flat = new FlatTools(toFlatten(plan.specs, supports));
  const calls: ResponseItem[] = [
    { type: 'function_call', call_id: '1', name: long, namespace: 'files', arguments: '{}' },
    { type: 'function_call', call_id: '2', name: long, arguments: '{}' },
    { type: 'function_call', call_id: '3', name: 'open', arguments: '{}' },
  ];
  const body = JSON.parse(responsesBody(request(calls), { supports, flat, origin: 'o' })) as {
    tools: { name: string }[];
    input: { name: string; namespace?: string }[];
  };
  const offered = new Set(body.tools.map((tool) => tool.name));
  expect(body.input.map(({ name, namespace }) => [offered.has(name), namespace])).toEqual([
    [true, undefined],
    [true, undefined],
    [true, undefined],
  ]);
});
