// Tools and hooks of extensions in whole turns: the same gates, items and texts as for every other tool.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { extensionBench, IMPORT_ZOD } from './bench.ts';

const of = (namespace: string, name: string, args: unknown, id: string) => ({ ...call(name, args, id), namespace });

describe('tools of extensions', () => {
  it('[extension.tool] run with a schema of zod or plain JSON Schema, and give texts, values, content or errors', async () => {
    const module = `${IMPORT_ZOD}
      export default { name: 'kit', description: 'A kit.', tools: [
        { name: 'shout', description: 'Shouts.', readOnly: true, input: z.object({ text: z.string().min(2).transform((t) => t.toUpperCase()), times: z.number().default(2) }),
          run: ({ text, times }) => Array(times).fill(text).join(' ') },
        { name: 'facts', description: 'Tells where it runs.', readOnly: true, run: (_input, { cwd, callId, signal }) => ({ cwd, callId, aborted: signal.aborted }) },
        { name: 'show', description: 'Shows.', readOnly: true, input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
          run: ({ n }) => ({ content: [{ type: 'text', text: 'n is ' + n }], isError: n < 0 }) },
        { name: 'fail', description: 'Fails.', readOnly: true, run: () => { throw new Error('no luck'); } },
        { name: 'even', description: 'Wants even.', readOnly: true, input: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }), run: () => 'ok' },
        { name: 'odd', description: 'Gives a function.', readOnly: true, run: () => ({ content: [{ type: 'video' }] }) },
      ] };`;
    const t = await extensionBench({
      modules: { 'kit.mjs': module },
      script: [
        [
          of('kit', 'shout', { text: 'hey' }, 'a'),
          of('kit', 'shout', { text: 'h' }, 'b'),
          of('kit', 'facts', {}, 'c'),
          of('kit', 'show', { n: 1 }, 'd'),
        ],
        [of('kit', 'show', { n: -1 }, 'e'), of('kit', 'fail', {}, 'f'), of('kit', 'even', { n: 3 }, 'g'), of('kit', 'odd', {}, 'h')],
        { say: 'done' },
      ],
    }).start();
    expect((await t.turn('go')).status).toBe('completed');
    expect([t.notices(), await t.read('a')]).toEqual([[], 'HEY HEY']);
    expect(await t.read('b')).toMatch(/^invalid arguments: text: .*Expected: text: string \(required\), times: number/);
    expect(JSON.parse(await t.read('c'))).toEqual({ cwd: t.cwd, callId: 'c', aborted: false });
    expect([await t.read('d'), await t.read('e')]).toEqual(['n is 1', 'n is -1']);
    expect(await t.read('f')).toBe('fail failed: no luck');
    expect(await t.read('g')).toBe('invalid arguments: n: must be even. Nothing was run.');
    expect(await t.read('h')).toMatch(/^The result of odd was refused: content\[0\] is neither/);
    const items = t.items('dynamicToolCall').map(({ id, namespace, tool, status }) => [id, namespace, tool, status]);
    expect(items).toEqual([
      ['a', 'kit', 'shout', 'completed'],
      ['c', 'kit', 'facts', 'completed'],
      ['d', 'kit', 'show', 'completed'],
      ['e', 'kit', 'show', 'failed'],
      ['f', 'kit', 'fail', 'failed'],
      ['g', 'kit', 'even', 'failed'],
      ['h', 'kit', 'odd', 'failed'],
    ]);
  });

  it('[extension.approval] a tool with effects is asked about, a refusal runs nothing, and "never" forbids', async () => {
    const module = `import fs from 'node:fs';
      export default { name: 'pen', tools: [{ name: 'write', description: 'Writes.', input: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
        run: ({ file }, { cwd }) => { fs.writeFileSync(cwd + '/' + file, 'x'); return 'written'; } }] };`;
    const script = [
      of('pen', 'write', { file: 'one' }, 'a'),
      { say: 'ok' },
      of('pen', 'write', { file: 'two' }, 'b'),
      { say: 'ok' },
      of('pen', 'write', { file: 'three' }, 'c'),
      { say: 'ok' },
    ];
    const t = await extensionBench({ modules: { 'pen.mjs': module }, script }).start();
    const asked: string[] = [];
    t.answers.set('mcpServer/elicitation/request', ({ message, serverName }) => {
      asked.push(`${serverName}: ${message}`);
      return { action: asked.length === 1 ? 'accept' : 'decline', content: {} };
    });
    await t.turn('one');
    await t.turn('two');
    await t.turn('three', { approvalPolicy: 'never' });
    expect(asked).toEqual(Array(2).fill('pen: Allow the extension pen to run tool "write"?'));
    expect(['one', 'two', 'three'].map((file) => fs.existsSync(t.file(file)))).toEqual([true, false, false]);
    expect(await t.read('c')).toMatch(/needs an approval, but approval policy is never\. Nothing was run/);
  });

  it('[extension.hooks] fire beside command hooks, block and rewrite; failClosed blocks when one throws', async () => {
    const module = `export default { name: 'guard', hooks: {
        PreToolUse: [
          { matcher: '^Bash$', run: ({ tool_input }) => tool_input.command.includes('secret') ? { decision: 'block', reason: 'no secrets' } : undefined },
          { matcher: '^Bash$', run: ({ tool_input }) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: tool_input.command.replace('old', 'new') } } }) },
          { matcher: '^update_plan$', failClosed: true, run: () => { throw new Error('broken guard'); } },
        ],
        SessionStart: () => 'from the extension',
      } };`;
    const t = await extensionBench({
      modules: { 'guard.mjs': module },
      script: [
        [
          call('exec_command', { cmd: 'echo secret' }, 'a'),
          call('exec_command', { cmd: 'echo old' }, 'b'),
          call('update_plan', { plan: [] }, 'c'),
        ],
        { say: 'done' },
      ],
    }).start();
    await t.turn('go');
    expect(await t.read('a')).toBe('Command blocked by PreToolUse hook: no secrets. Command: echo secret');
    expect(await t.read('b')).toMatch(/new\n$/);
    expect(await t.read('c')).toMatch(/blocked by PreToolUse hook: the hook .* failed \(it threw: broken guard\)/);
    expect(t.all('hook/completed')[0].run).toMatchObject({
      source: 'plugin',
      sourcePath: t.module('guard.mjs'),
      entries: [{ kind: 'context', text: 'from the extension' }],
    });
    const { hooks } = (await t.result('hooks/list', { cwds: [t.cwd] })).data[0];
    expect(hooks.map((hook: any) => [hook.eventName, hook.command, hook.trustStatus])).toEqual(
      ['preToolUse', 'preToolUse', 'preToolUse', 'sessionStart'].map((event) => [event, 'extension guard', 'trusted']),
    );
  });

  it('[extension.interrupt] an interrupt tells a running tool to stop and does not wait for it', async () => {
    const module = `import fs from 'node:fs';
      export default { name: 'slow', tools: [{ name: 'wait', description: 'Waits.', readOnly: true, run: (_input, { signal, cwd }) =>
        new Promise(() => signal.addEventListener('abort', () => fs.writeFileSync(cwd + '/told', ''))) }] };`;
    const t = await extensionBench({ modules: { 'slow.mjs': module }, script: [of('slow', 'wait', {}, 'a'), { say: 'done' }] }).start();
    const id = await t.startTurn('go');
    await t.seen('item/started', ({ item }) => item.type === 'dynamicToolCall');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId: id });
    expect((await t.ended(id)).status).toBe('interrupted');
    await expect.poll(() => fs.existsSync(t.file('told')), { timeout: 10_000 }).toBe(true); // nothing more comes over the wire
    expect(t.items('dynamicToolCall').map(({ status }) => status)).toEqual(['failed']);
  });

  it('[extension.shared] threads share one start; a changed file is taken by the next thread, and onStop runs at the end', async () => {
    const module = (answer: string) => `import fs from 'node:fs';
      const log = (what) => fs.appendFileSync(import.meta.dirname + '/log', what + '\\n');
      export default { name: 'life', onStart: () => log('start ${answer}'), onStop: () => log('stop ${answer}'),
        tools: [{ name: 'say', description: 'Says.', readOnly: true, run: () => '${answer}' }] };`;
    const t = await extensionBench({
      modules: { 'life.mjs': module('first') },
      script: [of('life', 'say', {}, 'a'), { say: 'done' }],
    }).start();
    t.threadId = (await t.result('thread/start', { cwd: t.cwd })).thread.id;
    await t.turn('go');
    expect(await t.read('a')).toBe('first');
    fs.writeFileSync(t.module('life.mjs'), module('second'));
    t.threadId = (await t.result('thread/start', { cwd: t.cwd })).thread.id;
    await t.turn('go');
    expect(await t.read('a')).toBe('second');
    await t.daemon.shutdown();
    const log = fs.readFileSync(t.module('log'), 'utf8').trim().split('\n');
    expect(log.slice(0, 2)).toEqual(['start first', 'start second']);
    expect(log.slice(2).sort()).toEqual(['stop first', 'stop second']);
  });
});
