import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../src/protocol/tool-spec.ts';
import { type Identity, isOfferedTo } from '../../src/tools/exposure.ts';
import { buildPlan, type PlanOptions, withFound } from '../../src/tools/plan.ts';
import { ToolConflictError, ToolRegistry } from '../../src/tools/registry.ts';
import { FatalToolError } from '../../src/tools/result.ts';
import type { Exposure, ToolRuntime } from '../../src/tools/runtime.ts';
import { toolSearch } from '../../src/tools/runtimes/tool-search.ts';
import { ABLE, dynamic, fakeTool, PLAIN, registryOf } from './support.ts';

const searchTool: PlanOptions['searchTool'] = (deferred, form) => toolSearch(deferred, form) as ToolRuntime;
const namesOf = (specs: readonly ToolSpec[]): string[] =>
  specs.flatMap((spec) =>
    spec.type === 'namespace' ? spec.tools.map((tool) => `${spec.name}/${tool.name}`) : 'name' in spec ? [spec.name] : [spec.type],
  );
const names = (tools: readonly ToolRuntime[]): string[] => tools.map((tool) => tool.name.name);
const many = (count: number, more: Parameters<typeof fakeTool>[1] = {}) =>
  Array.from({ length: count }, (_, i) => fakeTool(`bulk_${i}`, { ...dynamic, namespace: 'bulk', ...more }));

describe('exposure', () => {
  const exposures: Exposure[] = ['direct', 'deferred', 'directModelOnly', 'deferredModelOnly', 'codeModeOnly', 'hidden'];
  const registry = registryOf(exposures.map((exposure) => fakeTool(exposure, { exposure, namespace: 'all', source: { type: 'dynamic' } })));

  it('[tools.exposure] gives each of the six values its surfaces: listed, found by search, callable from code; all of them run', () => {
    const plan = buildPlan(registry, { abilities: ABLE, hosted: [], searchTool });
    expect({ listed: namesOf(plan.specs), deferred: names(plan.deferred), inCode: names(plan.inCode), search: plan.search }).toEqual({
      listed: ['all/direct', 'all/directModelOnly', 'toolSearch'],
      deferred: ['deferred', 'deferredModelOnly'],
      inCode: ['direct', 'deferred', 'codeModeOnly'],
      search: 'provider',
    });
    expect(exposures.map((name) => registry.find({ namespace: 'all', name })?.name.name)).toEqual(exposures);
  });

  it('[tools.exposure-fallback] lists what is deferred where the model cannot search or knows no namespaces', () => {
    for (const abilities of [PLAIN, { ...ABLE, toolSearch: false }, { ...ABLE, namespaces: false }]) {
      const plan = buildPlan(registry, { abilities, hosted: [], searchTool });
      expect({ listed: namesOf(plan.specs), search: plan.search, warnings: plan.warnings }).toEqual({
        listed: ['all/direct', 'all/directModelOnly', 'all/deferred', 'all/deferredModelOnly'],
        search: 'none',
        warnings: [],
      });
    }
  });

  const root: Identity = { type: 'root' };
  const sub = (depth: number): Identity => ({ type: 'subAgent', depth });
  const guardian: Identity = { type: 'guardian' };
  it.each([
    ['worker', [true, true, true, false]],
    ['reviewer', [true, true, true, true]],
    ['root', [true, false, false, false]],
    ['spawner', [true, true, false, false]],
    [undefined, [true, true, true, false]],
  ] as const)('[tools.identity] keeps from a thread what is not meant for it: audience %s', (audience, wanted) => {
    const seen = [root, sub(1), sub(2), guardian].map((identity) => isOfferedTo({ audience }, { identity, maxDepth: 2, images: true }));
    expect(seen).toEqual(wanted);
  });

  it('[tools.requires] leaves out what the model cannot take', () => {
    expect([true, false].map((images) => isOfferedTo({ requires: 'images' }, { identity: root, maxDepth: 1, images }))).toEqual([
      true,
      false,
    ]);
  });
});

describe('over the limit', () => {
  const own = fakeTool('own');

  it('[tools.limit-deferred] defers the excess with one warning where the provider searches', () => {
    const plan = buildPlan(registryOf([own, ...many(20)]), {
      abilities: { ...ABLE, maxTools: 11 },
      hosted: [{ type: 'hosted', name: 'web_search' }],
      searchTool,
    });
    expect({
      count: namesOf(plan.specs).length,
      first: namesOf(plan.specs)[0],
      deferred: names(plan.deferred).length,
      warnings: plan.warnings,
    }).toEqual({
      count: 11,
      first: 'own',
      deferred: 12,
      warnings: ['The model takes about 11 tools: 12 tools are found by search instead of being listed.'],
    });
  });

  it('[tools.limit-function] emulates the search as a plain function and keeps places for what it finds', () => {
    const base = buildPlan(registryOf([own, ...many(200, { exposure: 'deferred' })]), { abilities: PLAIN, hosted: [], searchTool });
    const spec = base.specs.find((one) => one.type === 'function' && one.name === 'tool_search');
    expect({
      search: base.search,
      listed: base.listed.length,
      deferred: base.deferred.length,
      places: base.placesForFound,
      spec: spec?.type,
    }).toEqual({
      search: 'function',
      listed: 95,
      deferred: 106,
      places: 32,
      spec: 'function',
    });
    const found = withFound(base, ['bulk__bulk_150', 'gone', 'bulk__bulk_120', 'bulk__bulk_0']);
    expect(names(found.listed).slice(95)).toEqual(['bulk_150', 'bulk_120']);
    expect(found.deferred).toBe(base.deferred);
    const all = withFound(
      base,
      Array.from({ length: 200 }, (_, i) => `bulk__bulk_${i}`),
    );
    expect({ listed: all.listed.length, first: all.listed[95].name.name, specs: namesOf(all.specs).length }).toEqual({
      listed: 127,
      first: 'bulk_168',
      specs: 128,
    });
    expect(withFound(base, [])).toBe(base);
  });

  it('[tools.limit-left-out] leaves the excess out with a warning that names it where nothing can be searched', () => {
    const plan = buildPlan(registryOf([own, ...many(9)]), { abilities: { ...PLAIN, maxTools: 4 }, hosted: [] });
    expect({ listed: names(plan.listed), warnings: plan.warnings }).toEqual({
      listed: ['own', 'bulk_0', 'bulk_1', 'bulk_2'],
      warnings: [
        'The model takes about 4 tools and nothing can be searched: 6 tools are left out (bulk__bulk_3, bulk__bulk_4, bulk__bulk_5, bulk__bulk_6, bulk__bulk_7, …).',
      ],
    });
  });

  it('[tools.shown-schema] shows a schema as providers take it, and an unchanged spec as the same object', () => {
    const odd = fakeTool('odd', { ...dynamic, parameters: { anyOf: [{ type: 'object', properties: { a: {} } }] } });
    const plan = buildPlan(registryOf([own, odd]), { abilities: ABLE, hosted: [] });
    expect(plan.specs[0]).toBe(own.spec);
    expect(plan.specs[1]).toEqual({ ...odd.spec, parameters: { type: 'object', properties: { a: {} } } });
    expect(buildPlan(registryOf([own, odd]), { abilities: ABLE, hosted: [] }).specs[1]).toBe(plan.specs[1]);
  });
});

describe('conflicts', () => {
  const warningsOf = (...tools: ToolRuntime[]) => registryOf(tools, { reserved: ['exec'] }).warnings;
  const mcp = (server: string) => ({ source: { type: 'mcp' as const, server }, external: true });

  it('[tools.conflict-trusted] throws for a built-in that is there twice', () => {
    expect(() => registryOf([fakeTool('a'), fakeTool('a')])).toThrow('tool registered twice: a');
  });

  it('[tools.conflict-warned] leaves out what comes from outside in conflict, with one warning that names both owners', () => {
    expect(warningsOf(fakeTool('a'), fakeTool('a', dynamic))).toEqual([
      'The tool a of the frontend (a dynamic tool) was left out: the name belongs to a built-in tool already.',
    ]);
    expect(warningsOf(fakeTool('exec', dynamic))).toEqual([
      'The tool exec of the frontend (a dynamic tool) was left out: the name is reserved for a built-in tool.',
    ]);
    expect(warningsOf(fakeTool('a', { ...mcp('x'), namespace: 'n' }), fakeTool('b', { ...dynamic, namespace: 'n' }))).toEqual([
      'The tool n__b of the frontend (a dynamic tool) was left out: the namespace n belongs to the MCP server x.',
    ]);
    expect(
      warningsOf(
        fakeTool('a', { ...mcp('x'), namespace: 'n' }),
        fakeTool('b', { ...mcp('x'), namespace: 'n', namespaceDescription: 'Other.' }),
      ),
    ).toEqual(['The tool n__b of the MCP server x was left out: it gives the namespace n another description.']);
    expect(
      warningsOf(fakeTool('a', { source: { type: 'extension', extension: 'e' }, namespace: 'n', namespaceDescription: 'x'.repeat(1025) })),
    ).toEqual(['The tool n__a of the extension e was left out: the description of its namespace has over 1024 bytes.']);
  });

  it('[tools.quarantine] leaves out the one tool whose name or schema no provider takes', () => {
    const registry = registryOf([
      fakeTool('calendar.update', dynamic),
      fakeTool('n'.repeat(129), dynamic),
      fakeTool('text', { ...dynamic, parameters: { type: 'string' } }),
      fakeTool('good', dynamic),
    ]);
    expect(names([...registry.runtimes])).toEqual(['good']);
    expect(registry.warnings.map((warning) => warning.replace(/n{129}/, 'n…'))).toEqual([
      'The tool calendar.update of the frontend (a dynamic tool) was left out: its name must match ^[a-zA-Z0-9_-]{1,128}$.',
      'The tool n… of the frontend (a dynamic tool) was left out: its name must match ^[a-zA-Z0-9_-]{1,128}$.',
      'The tool text of the frontend (a dynamic tool) was left out: its input schema is of type "string": the arguments of a call are always an object.',
    ]);
  });

  it('[tools.conflict-strict] makes a conflict fatal for the step in strict mode', () => {
    const strict = new ToolRegistry({ reserved: new Set(), strict: true });
    strict.add(fakeTool('a'));
    expect(() => strict.add(fakeTool('a', dynamic))).toThrow(ToolConflictError);
    expect(new ToolConflictError('x')).toBeInstanceOf(FatalToolError);
  });
});
