// Hooks in whole turns: real commands, a scripted model, and what client and model see of them.
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { hookBench, refuse, say, specific } from './bench.ts';

const exec = (cmd: string, id = 'c1') => call('exec_command', { cmd }, id);

/** What the model reads next, by way of a script that answers with it. */
const echoing = (first: Record<string, unknown>) => [first, { say: 'done' }];

/** The history of a thread as the model reads it, from its record on disk. */
async function history(t: ReturnType<typeof hookBench>): Promise<any[]> {
  const { thread } = await t.result('thread/read', { threadId: t.threadId });
  return fs
    .readFileSync(thread.path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => line.item && (line.type === 'history' || line.type === 'result'))
    .map((line) => line.item);
}
const outputOf = (items: any[], id = 'c1'): string => {
  const output = items.find((item) => item.call_id === id && item.type.endsWith('_output'))?.output;
  return typeof output === 'string' ? output : output.map((part: any) => part.text).join('');
};

describe('hooks in a turn', () => {
  it('[hooks.effects] run side by side; their effects come in the order of the hooks, whichever was first', async () => {
    const rewrite = (value: string) =>
      specific('PreToolUse', { updatedInput: { command: `echo ${value}` }, additionalContext: `about ${value}` });
    const t = await hookBench({
      hooks: [
        { event: 'PreToolUse', text: `sleep 0.5\n${rewrite('first')}` },
        { event: 'PreToolUse', text: rewrite('second') },
      ],
      script: echoing(exec('echo original')),
    }).start();
    await t.turn('go');
    const items = await history(t);
    expect(outputOf(items)).toMatch(/second\n$/);
    const told = items.filter((item) => item.role === 'developer' && /hook_context/.test(item.content[0].text));
    expect(told.map((item) => item.content[0].text)).toEqual([
      '<hook_context>\nabout first\n</hook_context>',
      '<hook_context>\nabout second\n</hook_context>',
    ]);
    // Behind the output, so that every provider takes it.
    expect(items.indexOf(told[0])).toBeGreaterThan(items.findIndex((item) => item.type === 'function_call_output'));
    expect(t.balanced).toBe(true);
  });

  it('[hooks.refusal.wins] one refusal stops the call, whatever the others say', async () => {
    const t = await hookBench({
      hooks: [
        { event: 'PreToolUse', text: refuse('not today') },
        { event: 'PreToolUse', text: specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: 'touch made' } }) },
      ],
      script: echoing(exec('touch made')),
    }).start();
    await t.turn('go');
    expect(outputOf(await history(t))).toBe('Command blocked by PreToolUse hook: not today. Command: touch made');
    expect([t.items('commandExecution'), fs.existsSync(t.file('made'))]).toEqual([[], false]);
  });

  it('[hooks.noise] megabytes on both streams, and a hook that never reads its input, are taken in bounded memory', async () => {
    const flood = 'yes x | head -c 6000000; yes e | head -c 6000000 >&2';
    const t = await hookBench({
      hooks: [
        { event: 'PreToolUse', text: `printf '{'; ${flood}` },
        { event: 'UserPromptSubmit', text: flood, reads: false },
      ],
      script: echoing(exec('echo ran')),
    }).start();
    const turn = await t.turn(`go ${'x'.repeat(200_000)}`);
    expect(turn.status).toBe('completed');
    expect(t.runs('preToolUse')).toEqual([['failed', [['error', 'it printed more than is read of a hook, so its answer is cut off']]]]);
    const [[status, entries]] = t.runs('userPromptSubmit');
    expect([status, entries.length, entries[0][0]]).toEqual(['completed', 1, 'context']);
    expect(entries[0][1].length).toBeLessThan(11_000);
    expect(outputOf(await history(t))).toMatch(/ran\n$/);
  });

  it('[hooks.failure.told] a failure is told once, with what follows from it', async () => {
    const t = await hookBench({
      hooks: [{ event: 'PreToolUse', text: 'exit 3' }],
      script: [exec('echo a', 'c1'), exec('echo b', 'c2'), { say: 'done' }],
    }).start();
    await t.turn('go');
    const [key] = (await t.result('hooks/list', { cwds: [t.cwd] })).data[0].hooks.map((hook: any) => hook.key);
    expect(t.warnings()).toEqual([
      `Hook failed: the PreToolUse hook ${key}: it exited with code 3. What it guards goes on; fail_closed = true would block it.`,
    ]);
    expect(t.runs('preToolUse').map(([status]) => status)).toEqual(['failed', 'failed']);
  });

  it('[hooks.fail-closed] a failing guard of results and of prompts withholds them', async () => {
    const closed = { handler: 'fail_closed = true', text: 'exit 1' };
    const t = await hookBench({ hooks: [{ event: 'PostToolUse', ...closed }], script: echoing(exec('echo secret')) }).start();
    await t.turn('go');
    expect(outputOf(await history(t))).toMatch(/^the hook .* failed \(it exited with code 1\), and it is set to block when it fails/);
    expect(t.items('commandExecution')[0].aggregatedOutput).toBe('secret\n');
    const u = await hookBench({ hooks: [{ event: 'UserPromptSubmit', ...closed }] }).start();
    const turn = await u.turn('go');
    expect([turn.status, u.items()]).toEqual(['completed', []]);
    expect(u.warnings().some((text) => text.startsWith('A hook refused the prompt'))).toBe(true);
  });

  it('[hooks.stop.limit] a Stop hook that always wants more is followed eight times in a turn, then told', async () => {
    const t = await hookBench({
      hooks: [{ event: 'Stop', text: say({ decision: 'block', reason: 'more' }) }],
      script: [{ when: '/./', reply: { say: 'here' } }],
    }).start();
    const turn = await t.turn('go');
    expect(turn.status).toBe('completed');
    expect(t.items('hookPrompt').map(({ fragments }) => fragments.map((f: any) => f.text))).toEqual(Array(8).fill(['more']));
    expect(t.given('Stop').map((input) => input.stop_hook_active)).toEqual([false, ...Array(8).fill(true)]);
    expect(t.warnings()).toEqual(['A Stop hook wanted the model to go on 9 times in one turn: the turn ends here.']);
  });

  it('[hooks.compact] PreCompact may prevent a compaction; PostCompact follows one', async () => {
    const t = await hookBench({
      hooks: [
        { event: 'PreCompact', text: refuse('keep it'), group: 'matcher = "manual"' },
        { event: 'PreCompact', text: refuse('never asked'), group: 'matcher = "auto"' },
        { event: 'PostCompact', text: '' },
      ],
      script: [{ when: '/./', reply: { say: 'a summary' } }],
    }).start();
    await t.turn('go');
    await t.result('thread/compact/start', { threadId: t.threadId });
    await t.seen('turn/completed', ({ turn }) => turn.id !== t.all('turn/completed')[0].turn.id);
    expect(t.items('contextCompaction')).toEqual([]);
    expect(t.warnings()).toEqual(['A hook prevented the compaction of the history: keep it']);
    expect([t.given('PreCompact').map(({ trigger }) => trigger), t.given('PostCompact')]).toEqual([['manual'], []]);
  });

  it('[hooks.session] SessionStart and SessionEnd come once around the life of a thread, with its record', async () => {
    const t = await hookBench({
      hooks: [
        { event: 'SessionStart', text: 'echo hello' },
        { event: 'SessionEnd', text: '' },
      ],
    }).start();
    await t.turn('one');
    await t.turn('two');
    const { path: file } = (await t.result('thread/read', { threadId: t.threadId })).thread;
    await t.result('thread/archive', { threadId: t.threadId });
    const told = [...t.given('SessionStart'), ...t.given('SessionEnd')];
    expect(
      told.map(({ hook_event_name, session_id, transcript_path, source, reason }) => [
        hook_event_name,
        session_id,
        transcript_path,
        source,
        reason,
      ]),
    ).toEqual([
      ['SessionStart', t.threadId, file, 'startup', undefined],
      ['SessionEnd', t.threadId, file, undefined, 'other'],
    ]);
  });

  it('[hooks.session.refused] a refusing SessionStart lets no prompt through and is asked again', async () => {
    const t = await hookBench({ hooks: [{ event: 'SessionStart', text: say({ continue: false, stopReason: 'closed today' }) }] }).start();
    for (const text of ['one', 'two']) expect((await t.turn(text)).status).toBe('completed');
    expect([t.items(), t.given('SessionStart').length]).toEqual([[], 2]);
  });

  it('[hooks.interrupt] an interrupted turn fires Interrupt, and the end of the turn does not wait for it', async () => {
    const t = await hookBench({
      hooks: [{ event: 'Interrupt', text: 'sleep 30' }],
      script: [exec('sleep 30'), { say: 'done' }],
    }).start();
    const id = await t.startTurn('go');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId: id });
    expect((await t.ended(id)).status).toBe('interrupted');
    await t.seen('hook/started', ({ run, turnId }) => run.eventName === 'interrupt' && turnId === id);
  });

  it('[hooks.async] nobody waits for an async hook, and its answer counts for nothing', async () => {
    const t = await hookBench({
      hooks: [{ event: 'PreToolUse', text: `sleep 1\n${refuse('too late')}`, handler: 'async = true' }],
      script: echoing(exec('echo ran')),
    }).start();
    await t.turn('go');
    expect(outputOf(await history(t))).toMatch(/ran\n$/);
    expect(t.all('hook/started').map(({ run }) => run.executionMode)).toEqual(['async']);
  });
});
