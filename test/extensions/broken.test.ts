// Broken extensions: each gives one clear notice and is left out; the daemon and the turn go on.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ExtensionThread } from '../../src/tools/sources/extension-thread.ts';
import { call } from '../spine/client.ts';
import { extensionBench } from './bench.ts';

const tool = (name: string, run: string) => `{ name: '${name}', description: 'Does it.', readOnly: true, run: ${run} }`;
const LIMITS = { startMs: 1_500, stopMs: 500, pingMs: 500, heapMb: 64 };

describe('broken extensions', () => {
  it('[extension.broken] each kind of fault is told once and leaves out that extension alone', async () => {
    const modules = {
      'syntax.mjs': 'export default {',
      'throws.mjs': "throw new Error('at import');",
      'start.mjs': "export default { name: 'start', onStart: async () => { throw new Error('at start'); } };",
      'nothing.mjs': 'export const x = 1;',
      'noname.mjs': 'export default { tools: [] };',
      'norun.mjs': "export default { name: 'norun', tools: [{ name: 'x', description: 'y' }] };",
      'event.mjs': "export default { name: 'event', hooks: { PreTool: () => {} } };",
      'many.mjs': `export default { name: 'many', tools: Array.from({ length: 65 }, (_, i) => ({ name: 't' + i, description: 'd', run: () => '' })) };`,
      'large.mjs': "export default { name: 'large', tools: [{ name: 'x', description: 'd'.repeat(300000), run: () => '' }] };",
      'wordy.mjs': "export default { name: 'wordy', description: 'd'.repeat(2000), tools: [] };",
      'reserved.mjs': "export default { name: 'functions', tools: [] };",
      'twice.mjs': `export default { name: 'twice', tools: [${tool('x', "() => ''")}, ${tool('x', "() => ''")}] };`,
      'exits.mjs': 'process.exit(3);',
      'good.mjs': `export default { name: 'good', tools: [${tool('ok', "() => 'fine'")}] };`,
    };
    const t = extensionBench({
      modules,
      script: [{ ...call('ok', {}, 'a'), namespace: 'good' }, { say: 'done' }],
    });
    fs.rmSync(t.module('noname.mjs'));
    await t.start();
    expect((await t.turn('go')).status).toBe('completed');
    expect(await t.read('a')).toBe('fine');
    t.threadId = (await t.result('thread/start', { cwd: t.cwd })).thread.id;
    const notices = Object.fromEntries(
      t.notices().map((text) => /^Extension left out: ([\w.]+): (.*)$/s.exec(text)?.slice(1) ?? [text, '']),
    );
    expect(t.notices().length).toBe(Object.keys(modules).length - 1);
    expect(notices).toEqual({
      'syntax.mjs': expect.stringMatching(/Unexpected end of input/),
      'throws.mjs': 'at import',
      'start.mjs': 'at start',
      'nothing.mjs': 'the module has no default export made by defineExtension({ … })',
      'noname.mjs': 'there is no such file',
      'norun.mjs': 'the tool x: run: expected a function',
      'event.mjs': expect.stringMatching(/^hooks: there is no event "PreTool"; events are PreToolUse, /),
      'many.mjs': 'it registers 65 tools; at most 64 are taken',
      'large.mjs': expect.stringMatching(/^its tools take \d+ bytes of description and schema; at most 262144 are taken$/),
      'wordy.mjs': 'description: at most 1024 bytes',
      'reserved.mjs': 'the namespace functions is reserved; choose another name, or set namespace',
      'twice.mjs': 'it has two tools of the name x',
      'exits.mjs': 'its thread ended with code 3',
    });
  });

  it('[extension.clash] a plain name that belongs to a built-in tool is refused with a warning', async () => {
    const t = await extensionBench({
      modules: {
        'clash.mjs': `export default { name: 'clash', namespace: false, tools: [${tool('exec_command', "() => 'taken'")}, ${tool('own', "() => 'mine'")}] };`,
      },
      script: [[call('own', {}, 'a'), call('exec_command', { cmd: 'echo real' }, 'b')], { say: 'done' }],
    }).start();
    await t.turn('go');
    expect([await t.read('a'), (await t.read('b')).endsWith('real\n')]).toEqual(['mine', true]);
    expect(t.all('warning').map(({ message }) => message)).toEqual([
      'The tool exec_command of the extension clash was left out: the name belongs to a built-in tool already.',
    ]);
  });

  it('[extension.dies] a crash in the middle of a call answers the call, and the tools are gone at the next step', async () => {
    const crash = tool('crash', "() => new Promise(() => setTimeout(() => { throw new Error('later'); }, 20))");
    const t = await extensionBench({
      modules: { 'frail.mjs': `export default { name: 'frail', tools: [${crash}] };` },
      script: [{ ...call('crash', {}, 'a'), namespace: 'frail' }, { ...call('crash', {}, 'b'), namespace: 'frail' }, { say: 'done' }],
    }).start();
    expect((await t.turn('go')).status).toBe('completed');
    expect(await t.read('a')).toMatch(/^crash was cut off: the extension frail ended \(it failed: later\)/);
    expect(await t.read('b')).toMatch(/^unsupported call: frail__crash/);
    expect(t.notices()).toEqual([expect.stringMatching(/^Extension ended: frail\.mjs: it failed: later\. Its tools are gone/)]);
  });

  it('[extension.project] a project names extensions only when it is trusted, and the client of a thread never', async () => {
    const module = (name: string) =>
      `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(name)}, ''); export default { name: 'p' };`;
    const t = extensionBench({ modules: {} });
    fs.mkdirSync(t.file('.harnessd'), { recursive: true });
    fs.writeFileSync(t.file('.harnessd/config.toml'), 'extensions = ["./ext.mjs"]\n');
    fs.writeFileSync(t.file('.harnessd/ext.mjs'), module(t.file('ran')));
    await t.start();
    t.threadId = (await t.result('thread/start', { cwd: t.cwd, config: { extensions: [t.file('.harnessd/ext.mjs')] } })).thread.id;
    expect(fs.existsSync(t.file('ran'))).toBe(false);
    fs.appendFileSync(t.module('config.toml'), `\n[projects.${JSON.stringify(t.cwd)}]\ntrust_level = "trusted"\n`);
    await t.result('thread/start', { cwd: t.cwd });
    expect([fs.existsSync(t.file('ran')), t.notices()]).toEqual([true, []]);
  });
});

describe('the thread of an extension', () => {
  const started = async (source: string, gone: string[] = []) => {
    const t = extensionBench({ modules: { '_e.mjs': source } });
    const thread = new ExtensionThread(t.module('_e.mjs'), (problem) => gone.push(problem), LIMITS);
    return { thread, manifest: thread.start().catch((error: Error) => error.message) };
  };
  const facts = { callId: 'c', threadId: 't', turnId: 'u', cwd: '/', model: 'm' };
  const never = new AbortController().signal;

  it('[extension.hang] a start that never ends, by waiting or by a loop, is ended in time', async () => {
    for (const source of [
      'await new Promise(() => {});',
      'for (;;);',
      "export default { name: 'x', onStart: () => new Promise(() => {}) };",
    ]) {
      const { manifest } = await started(source);
      expect(await manifest).toBe('it did not start within 1.5 s (a promise or a loop that never ends?)');
    }
  });

  it('[extension.loop] a tool in an endless loop times out, and its extension is ended', async () => {
    const gone: string[] = [];
    const { thread, manifest } = await started(`export default { name: 'x', tools: [${tool('spin', '() => { for (;;); }')}] };`, gone);
    await manifest;
    expect(await thread.callTool(0, {}, facts, 300, never)).toEqual({ type: 'timedOut' });
    const other = await thread.callTool(0, {}, facts, 60_000, never);
    expect([other, gone, thread.alive]).toEqual([
      { type: 'gone', problem: 'it does not answer any more (a loop that never ends?)' },
      ['it does not answer any more (a loop that never ends?)'],
      false,
    ]);
  });

  it('[extension.patience] a tool that only ignores its signal keeps its extension', async () => {
    const gone: string[] = [];
    const source = `export default { name: 'x', tools: [${tool('deaf', '() => new Promise(() => {})')}, ${tool('ok', "() => 'ok'")}] };`;
    const { thread, manifest } = await started(source, gone);
    await manifest;
    expect(await thread.callTool(0, {}, facts, 100, never)).toEqual({ type: 'timedOut' });
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(await thread.callTool(1, {}, facts, 5_000, never)).toEqual({ type: 'replied', reply: { ok: true, value: 'ok' } });
    await thread.stop();
    expect(gone).toEqual([]);
  });

  it('[extension.leak] timers and a hanging onStop do not keep it alive', async () => {
    const { thread, manifest } = await started(
      "setInterval(() => {}, 1000); export default { name: 'x', onStop: () => new Promise(() => {}) };",
    );
    await manifest;
    await thread.stop();
    expect(thread.alive).toBe(false);
  });

  it('[extension.memory] one that takes all memory is ended, not the daemon', async () => {
    const gone: string[] = [];
    const { thread, manifest } = await started(
      `export default { name: 'x', tools: [${tool('eat', '() => { const a = []; for (;;) a.push(Array(1e5).fill(a)); }')}] };`,
      gone,
    );
    await manifest;
    expect(await thread.callTool(0, {}, facts, 60_000, never)).toMatchObject({ type: 'gone', problem: expect.stringMatching(/memory/) });
    expect(gone).toHaveLength(1);
  });

  it('[extension.unclonable] a result that cannot cross is an error of the call', async () => {
    const { thread, manifest } = await started(`export default { name: 'x', tools: [${tool('f', '() => ({ f: () => {} })')}] };`);
    await manifest;
    expect(await thread.callTool(0, {}, facts, 5_000, never)).toMatchObject({
      type: 'replied',
      reply: { ok: false, problem: expect.stringMatching(/^its result cannot be passed on/) },
    });
    await thread.stop();
  });
});
