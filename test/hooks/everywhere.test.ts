// A guard sees every call, whatever the tool and whichever form the call came in.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { hookBench, refuse } from './bench.ts';

const PATCH = '*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch';
const local = { type: 'local_shell_call', call_id: 'i', status: 'completed', action: { type: 'exec', command: ['touch', 'made'] } };

/** Call, and the name under which hooks know it. */
const CALLS: [Record<string, unknown>, string][] = [
  [call('exec_command', { cmd: 'touch made' }, 'a'), 'Bash'],
  [call('write_stdin', { session_id: 1, chars: 'x' }, 'b'), 'write_stdin'],
  [call('shell_command', { command: 'touch made' }, 'c'), 'Bash'],
  [{ custom: 'apply_patch', input: PATCH, id: 'd' }, 'apply_patch'],
  [call('apply_patch', { input: PATCH }, 'e'), 'apply_patch'],
  [call('update_plan', { plan: [{ step: 'x', status: 'pending' }] }, 'f'), 'update_plan'],
  [call('view_image', { path: 'x.png' }, 'g'), 'view_image'],
  [call('read_artifact', { id: 'x' }, 'h'), 'read_artifact'],
  [{ item: local }, 'Bash'],
  [call('dyn', { q: 'x' }, 'j'), 'dyn'],
  [{ ...call('open', { q: 'x' }, 'k'), namespace: 'shop' }, 'shop__open'],
  [call('shop__open', { q: 'x' }, 'l'), 'shop__open'],
  [{ search: 'later', id: 'm' }, 'tool_search'],
];
const fn = (name: string, more = {}) => ({
  type: 'function',
  name,
  description: name,
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
  ...more,
});
const dynamicTools = [
  fn('dyn'),
  { type: 'namespace', name: 'shop', description: 'Shop', tools: [fn('open'), fn('later', { deferLoading: true })] },
];

describe('a guard', () => {
  it('[hooks.everywhere] blocks every tool in every form of call: nothing runs, and each call is answered once', async () => {
    const t = await hookBench({
      hooks: [{ event: 'PreToolUse', text: refuse('never') }],
      script: [CALLS.map(([one]) => one), { say: 'done' }],
    }).start({ dynamicTools });
    t.answers.set('item/tool/call', () => ({ contentItems: [], success: true }));
    expect((await t.turn('go')).error).toBe(null);
    expect(
      t
        .given('PreToolUse')
        .map(({ tool_name }) => tool_name)
        .sort(),
    ).toEqual(CALLS.map(([, name]) => name).sort());
    expect(t.runs('preToolUse')).toEqual(CALLS.map(() => ['blocked', [['feedback', 'never']]]));
    expect([fs.readdirSync(t.cwd), t.methods().includes('item/tool/call')]).toEqual([[], false]);
    expect(t.items().filter(({ status }) => status === 'completed')).toEqual([]);
    const { thread } = await t.result('thread/read', { threadId: t.threadId });
    const lines = fs
      .readFileSync(thread.path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const outputs = lines
      .map(({ type, item }) => (type === 'result' && item ? item : null))
      .filter((item) => item?.type.endsWith('_output'));
    expect(outputs.map((item) => item.call_id).sort()).toEqual('abcdefghijklm'.split(''));
    for (const item of outputs.filter(({ type }) => type !== 'tool_search_output'))
      expect(item.output).toMatch(/blocked by PreToolUse hook: never/);
  });
});
