// Prompt caches: each request of a session extends the one before, whatever changes between them.
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedSections, type Section, toldSections } from '../../src/session/context/sections.ts';
import type { HistoryEntry } from '../../src/session/history.ts';
import { Asked, type Body, calling, says } from './asked.ts';

/** The place where a request breaks off from the one before it; undefined when it only adds. */
function breakAt(before: Body, after: Body): string | undefined {
  const at = before.input.findIndex((item, i) => JSON.stringify(item) !== JSON.stringify(after.input[i]));
  return at < 0
    ? undefined
    : `input ${at}: ${JSON.stringify(before.input[at]).slice(0, 200)} became ${JSON.stringify(after.input[at])?.slice(0, 200)}`;
}

const lookup = (name: string) => ({
  type: 'function',
  name,
  description: `Looks ${name} up`,
  inputSchema: { type: 'object', properties: {} },
});
const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: Does ${name}\n---\n${body}\n`;

describe('prefix of the prompt', () => {
  it('[context.prefix] every request of a long session extends the one before; tools change only when they were changed', async () => {
    const t = await Asked.open({ config: 'model_auto_compact_token_limit = 100000' }, { dynamicTools: [lookup('a')] });
    const { frontend } = t;
    const other = path.join(frontend.cwd, 'other');
    fs.mkdirSync(path.join(other, '.git'), { recursive: true });
    fs.writeFileSync(path.join(other, 'AGENTS.md'), 'RULES OF OTHER');
    fs.mkdirSync(path.join(frontend.home, 'skills/fold'), { recursive: true });
    fs.writeFileSync(path.join(frontend.home, 'skills/fold/SKILL.md'), skill('fold', 'FOLD IT'));
    frontend.answers.set('item/tool/call', () => ({ success: true, contentItems: [{ type: 'inputText', text: 'found' }] }));
    await t.turn(
      'one',
      {},
      [calling('exec_command', { cmd: 'echo hi' }), calling('a', {})],
      [calling('no_such_tool', {})],
      [says('one done')],
    );
    await t.turn('two', { cwd: other, approvalPolicy: 'never' });
    await t.turn('use $fold', { collaborationMode: { mode: 'plan', settings: { model: 'gpt-5.5', reasoning_effort: 'low' } } });
    fs.writeFileSync(path.join(other, 'AGENTS.md'), 'NEW RULES OF OTHER');
    fs.rmSync(path.join(frontend.home, 'skills'), { recursive: true });
    await t.turn('four', { additionalContext: { page: { kind: 'untrusted', value: 'from the web' } } });
    t.fails(400, 'not now');
    expect((await frontend.turn('five')).status).toBe('failed');
    await t.turn('six', { sandboxPolicy: { type: 'readOnly' }, personality: 'friendly', effort: 'high' });
    expect(t.requests.slice(1).map((body, i) => breakAt(t.requests[i], body))).toEqual(t.requests.slice(1).map(() => undefined));
    // A mode brings its own: questions are listed where the user can be asked.
    const listed = t.requests.map(({ tools }) => JSON.stringify(tools.filter((tool: any) => tool.name !== 'request_user_input')));
    expect(new Set(listed).size).toBe(1);
    expect(new Set(t.requests.map(({ instructions, prompt_cache_key: key }) => `${instructions}${key}`)).size).toBe(1);
    await frontend.result('thread/settings/update', { threadId: frontend.threadId, dynamicTools: [lookup('b')] });
    await t.turn('seven');
    expect(breakAt(t.requests[t.requests.length - 2], t.last)).toBeUndefined();
    expect(JSON.stringify(t.last.tools)).toContain('Looks b up');
    const told = t.texts('user').filter((text) => text.includes('RULES OF OTHER'));
    expect(told).toEqual([
      `# AGENTS.md instructions for ${other}\n\nRULES OF OTHER`,
      `# AGENTS.md instructions for ${other}\n\nNEW RULES OF OTHER`,
    ]);
  });

  it('[context.prefix-restart] a new process goes on where the old one stopped, and tells nothing twice', async () => {
    const first = await Asked.open({}, { developerInstructions: 'DEV' });
    await first.turn('one', {}, [calling('exec_command', { cmd: 'true' })], [says('done')]);
    await first.frontend.leave();
    const second = await Asked.open({ home: first.frontend.home, cwd: first.frontend.cwd }, false);
    await second.frontend.result('initialize', { clientInfo: { name: 'test', version: '1' } });
    await second.frontend.result('thread/resume', { threadId: first.frontend.threadId });
    second.frontend.threadId = first.frontend.threadId;
    await second.turn('two');
    expect(breakAt(first.last, second.last)).toBeUndefined();
    expect(second.last.input.slice(first.last.input.length).map((item) => item.role ?? item.type)).toEqual(['assistant', 'user']);
    expect(JSON.stringify(second.last.tools)).toBe(JSON.stringify(first.last.tools));
  });

  it('[context.sections] whatever the sections become, telling only adds, and the last telling is what holds', () => {
    const text = fc.constantFrom(null, 'a', 'b', 'c');
    const states = fc.array(fc.record({ x: text, y: text, z: text }), { maxLength: 12 });
    fc.assert(
      fc.property(states, (worlds) => {
        const entries: HistoryEntry[] = [];
        for (const [turn, world] of worlds.entries()) {
          const sections = Object.entries(world).map(([key, value]): Section => ({ key, role: 'user', text: value, gone: `no ${key}` }));
          const before = [...entries];
          entries.push(...changedSections(sections, toldSections(entries), `${turn}`));
          expect(entries.slice(0, before.length)).toEqual(before);
          const told = toldSections(entries);
          for (const { key, text: now } of sections) if (now !== null || told.has(key)) expect(told.get(key)).toBe(now ?? `no ${key}`);
          expect(changedSections(sections, told, 'again')).toEqual([]);
        }
      }),
    );
  });
});
