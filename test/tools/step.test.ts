import { describe, expect, it } from 'vitest';
import { cardFor } from '../../src/model/card.ts';
import type { ResponseItem } from '../../src/protocol/response-item.ts';
import type { ModelBinding } from '../../src/session/ports.ts';
import type { ThreadSettings } from '../../src/session/settings.ts';
import { StepBuilder, type ToolSources } from '../../src/session/step-context.ts';
import type { ToolRuntime } from '../../src/tools/runtime.ts';
import { dynamic, fakeTool } from './support.ts';

const settings = { cwd: '/work', approvalPolicy: 'on-request', sandbox: { type: 'readOnly' }, model: 'm' } as unknown as ThreadSettings;
const bindingOf = (model: string, maxTools = 128): ModelBinding => ({
  client: {
    stream: () => {
      throw new Error('no model here');
    },
    close: () => {},
  },
  card: cardFor(model, undefined, { maxTools }),
  retries: { requestMaxRetries: 0, streamMaxRetries: 0 },
});

function steps(first: readonly ToolRuntime[], more: Partial<ToolSources> = {}) {
  let external = first;
  const history: ResponseItem[] = [];
  const warnings: string[] = [];
  const builtins = [
    fakeTool('own', { audience: 'reviewer' }),
    fakeTool('asks_user', { audience: 'root' }),
    fakeTool('shows', { requires: 'images' }),
  ];
  const sources: ToolSources = { builtins: () => builtins, external: () => external, hosted: () => NONE, strict: false, ...more };
  const builder = new StepBuilder(
    sources,
    (warning) => warnings.push(warning),
    () => history,
  );
  return {
    warnings,
    history,
    set: (tools: readonly ToolRuntime[]) => {
      external = tools;
    },
    step: (binding: ModelBinding) => builder.build('thread', 'turn', settings, binding),
  };
}
const NONE: never[] = [];
const names = (router: { plan: { listed: readonly ToolRuntime[] } }) => router.plan.listed.map((tool) => tool.name.name);
const answerOf = (route: { type: string; answer?: string }) => route.answer ?? route.type;

describe('steps', () => {
  it('[tools.step-shared] shares the tools of an unchanged step by reference; a change shows at the next step and the old step keeps its own', () => {
    const one = [fakeTool('one', dynamic)];
    const s = steps(one);
    const model = bindingOf('gpt-5.5');
    const before = s.step(model);
    expect(s.step(model).router).toBe(before.router);
    s.set([fakeTool('two', dynamic)]);
    const after = s.step(model);
    expect([names(before.router), names(after.router)]).toEqual([
      ['own', 'asks_user', 'shows', 'one'],
      ['own', 'asks_user', 'shows', 'two'],
    ]);
    expect(before.router.route({ name: 'one' }, 'function').type).toBe('found');
  });

  it('[tools.removed] tells the model of a tool that was there who took it away, in any form of its name, until it comes back', () => {
    const mcp = { source: { type: 'mcp' as const, server: 'x' }, external: true };
    const old = fakeTool('old', { ...dynamic, namespace: 'ns' });
    const s = steps([old, fakeTool('gone', mcp)]);
    const model = bindingOf('gpt-5.5');
    s.step(model);
    s.set([]);
    const { router } = s.step(model);
    const removed =
      'unsupported call: ns__old. The frontend removed this tool: it cannot be called any more, and nothing was run. Use what is offered now.';
    expect(answerOf(router.route({ namespace: 'ns', name: 'old' }, 'function'))).toBe(removed);
    expect(answerOf(router.route({ name: 'ns__old' }, 'function'))).toBe(removed);
    expect(answerOf(router.route({ name: 'gone' }, 'custom'))).toMatch(
      /^unsupported custom tool call: gone\. The MCP server x offers this tool no more: /,
    );
    expect(answerOf(router.route({ name: 'never' }, 'function'))).toMatch(/There is no tool of that name; nothing was run\./);
    s.set([old]);
    expect(s.step(model).router.route({ namespace: 'ns', name: 'old' }, 'function').type).toBe('found');
  });

  it('[tools.step-identity] trims by what the thread is and by what its model takes', () => {
    expect(names(steps([], { identity: { type: 'subAgent', depth: 1 } }).step(bindingOf('gpt-5.5')).router)).toEqual(['own', 'shows']);
    expect(names(steps([], { identity: { type: 'guardian' } }).step(bindingOf('gpt-5.5')).router)).toEqual(['own']);
    const blind = steps([]).step(bindingOf('gpt-oss-20b')).router;
    expect(names(blind)).toEqual(['own', 'asks_user']);
    expect(answerOf(blind.route({ name: 'shows' }, 'function'))).toMatch(/^unsupported call: shows/);
  });

  it('[tools.found-listed] lists what a plain search found from the next step, as long as the history holds the answer', () => {
    const s = steps(Array.from({ length: 100 }, (_, i) => fakeTool(`bulk_${i}`, { ...dynamic, namespace: 'bulk' })));
    const model = bindingOf('some-unlisted-model', 40);
    const first = s.step(model);
    expect([first.router.plan.search, names(first.router).includes('bulk_77')]).toEqual(['function', false]);
    expect(first.router.route({ namespace: 'bulk', name: 'bulk_77' }, 'function').type).toBe('found');
    s.history.push(
      { type: 'function_call', call_id: '1', name: 'tool_search', arguments: '{"query":"77"}' },
      { type: 'function_call_output', call_id: '1', output: 'Found:\n- bulk__bulk_77: Does bulk_77.' },
    );
    const second = s.step(model);
    expect([names(second.router).at(-1), second.router.plan.specs.length]).toEqual(['bulk_77', first.router.plan.specs.length]);
    expect(s.step(model).router).toBe(second.router);
    expect(second.router.registry).toBe(first.router.registry);
    s.history.length = 0;
    expect(names(s.step(model).router)).toEqual(names(first.router));
    expect(s.warnings).toEqual(['The model takes about 40 tools: 74 tools are found by search instead of being listed.']);
  });

  it('[tools.step-suggest] suggests only where it is switched on and something is deferred', () => {
    const letter = [fakeTool('send_letter', { ...dynamic, namespace: 'mail', exposure: 'deferred', description: 'Sends a letter' })];
    const ask = (more: Partial<ToolSources>, model: string) => steps(letter, more).step(bindingOf(model)).suggestion('send the letter');
    expect([ask({ suggest: true }, 'gpt-5.5'), ask({}, 'gpt-5.5'), ask({ suggest: true }, 'some-unlisted-model')]).toEqual([
      expect.stringContaining('- mail__send_letter: Sends a letter'),
      null,
      null,
    ]);
  });
});
