// Turns at their edges: input that no step took, calls that a model numbers anew, what is added from outside while a call runs.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { frontend, linesOf, textInput, told } from './support.ts';

const heads = (texts: string[]): string[] => texts.map((text) => text.split('\n')[0]);
const userTexts = (t: ReturnType<typeof frontend>): string[] => t.items('userMessage').map((item) => item.content[0].text);

describe('input that no step took', () => {
  it('[review.steered-then-interrupted] input that was steered in is kept, for the client and for the model, when the turn is interrupted', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 20' }, 'call_1'), { say: 'done' }] }).start();
    const turnId = await t.startTurn('first');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    await t.result('turn/steer', { threadId: t.threadId, expectedTurnId: turnId, input: textInput('also this') });
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    expect((await t.ended(turnId)).status).toBe('interrupted');
    expect(userTexts(t)).toEqual(['first', 'also this']);
    expect(heads((await told(t)).filter((text) => !text.startsWith('output')))).toEqual([
      'first',
      'call call_1',
      '<turn_aborted>',
      'also this',
    ]);
  });

  it('[review.failed-before-input] input of a turn that fails before its first step is kept', async () => {
    const t = await frontend({
      script: [
        [{ say: 'one' }, { usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1000 } }],
        [{ fail: { kind: 'badRequest', message: 'no summary today' } }],
        { say: 'three' },
      ],
      config: 'model_auto_compact_token_limit = 500',
      provider: 'request_max_retries = 0',
    }).start();
    await t.turn('first');
    expect((await t.turn('second')).status).toBe('failed');
    expect(userTexts(t)).toEqual(['first', 'second']);
    expect(await told(t)).toEqual(['first', 'second']);
  });
});

describe('a review', () => {
  it('[review.review-at-once] that is interrupted at once leaves the words to its reviewer out of the thread', async () => {
    const t = await frontend({ script: [{ say: 'one' }, [{ hang: true }]] }).start();
    await t.turn('first');
    const started = t.result('review/start', { threadId: t.threadId, target: { type: 'custom', instructions: 'look at it' } });
    t.link.send({ id: 'i', method: 'turn/interrupt', params: { threadId: t.threadId, turnId: '' } });
    await t.ended((await started).turn.id);
    expect((await told(t)).filter((text) => !text.startsWith('<'))).toEqual(['first']);
  });
});

describe('calls', () => {
  it('[review.numbered-anew] a call of a later step is run although the model gave it the id of an equal one before', async () => {
    const again = call('exec_command', { cmd: 'echo x >> log' }, 'call_0');
    const t = await frontend({ script: [again, again, { say: 'done' }] }).start();
    expect((await t.turn('go')).status).toBe('completed');
    expect(fs.readFileSync(path.join(t.cwd, 'log'), 'utf8')).toBe('x\nx\n');
    expect(t.items('agentMessage').map((item) => item.text)).toEqual(['done']);
    expect(heads(await told(t)).map((text) => text.split(':')[0])).toEqual([
      'go',
      'call call_0',
      'output call_0',
      'call call_0_2',
      'output call_0_2',
    ]);
  });

  it('[review.inject-beside-call] items that are added while a call runs leave its output alone', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 0.5; echo real' }, 'call_1'), { say: 'done' }] }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    const items = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'by the way' }] },
      { type: 'function_call', name: 'look', arguments: '{}', call_id: 'call_open' },
    ];
    await t.result('thread/inject_items', { threadId: t.threadId, items });
    await t.ended(turnId);
    const outputs = (await told(t)).filter((text) => text.startsWith('output'));
    expect(outputs.map((text) => text.slice(0, 'output call_open: aborted'.length))).toEqual([
      'output call_open: aborted',
      expect.stringMatching(/^output call_1: Chunk/),
    ]);
    expect(outputs[1]).toContain('real');
  });

  it('[review.long-deadline] a deadline longer than a timer goes is no deadline that has passed', async () => {
    const t = frontend({ script: [call('slow', {}, 'call_1'), { say: 'done' }] });
    t.answers.set('item/tool/call', (_params, id) => {
      setTimeout(() => t.link.send({ id, result: { contentItems: [{ type: 'inputText', text: 'late' }], success: true } }), 60);
      return undefined;
    });
    const dynamicTools = [{ type: 'function', name: 'slow', description: 'd', inputSchema: { type: 'object' }, timeoutMs: 2 ** 32 }];
    await t.start({ dynamicTools });
    expect((await t.turn('go')).status).toBe('completed');
    expect(t.items('dynamicToolCall').map((item) => [item.status, item.contentItems])).toEqual([
      ['completed', [{ type: 'inputText', text: 'late' }]],
    ]);
  });
});

describe('beside a turn', () => {
  it('[review.shell-outlives-turn] a command of the user that outlives the turn beside it ends as it ends, and the model reads it', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 0.3' }), { say: 'done' }] }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    await t.result('thread/shellCommand', { threadId: t.threadId, command: 'sleep 1; echo late' });
    await t.ended(turnId);
    const { item } = (await t.seen('item/completed', (params) => params.item.source === 'userShell')).params;
    expect([item.status, item.exitCode, item.aggregatedOutput]).toEqual(['completed', 0, 'late\n']);
    await expect.poll(async () => (await told(t)).some((text) => text.includes('late'))).toBe(true);
  });

  it('[review.shell-ends-with-thread] a command of the user ends with its thread', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 0.3' }), { say: 'done' }] }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
    await t.result('thread/shellCommand', { threadId: t.threadId, command: 'sleep 1.5; echo late > late.txt' });
    await t.ended(turnId);
    await t.result('thread/archive', { threadId: t.threadId });
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    expect(fs.existsSync(path.join(t.cwd, 'late.txt'))).toBe(false);
  });

  it('[review.image-pipe] a picture that is a pipe is told as what it is and holds nothing up', async () => {
    const t = await frontend().start();
    const pipe = path.join(t.cwd, 'pipe.png');
    execFileSync('mkfifo', [pipe]);
    const { turn } = await t.result('turn/start', { threadId: t.threadId, input: [{ type: 'localImage', path: pipe }] });
    expect((await t.ended(turn.id)).status).toBe('completed');
    expect(await told(t)).toEqual([`The image [Image #1] at ${pipe} cannot be read: it is not a file.`]);
  });
});

describe('the window', () => {
  it('[review.reverted-window] a thread whose long turns were reverted is not compacted for them', async () => {
    const t = await frontend({
      script: [{ say: 'one' }, [{ say: 'two' }, { usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1000 } }], { say: 'three' }],
      config: 'model_auto_compact_token_limit = 500',
    }).start();
    await t.turn('first');
    const long = await t.turn('second');
    await t.result('thread/revert', { threadId: t.threadId, beforeTurnId: long.id });
    await t.turn('third');
    expect(t.items('contextCompaction')).toEqual([]);
    expect((await linesOf(t)).filter((line) => line.type === 'compacted')).toEqual([]);
    expect(t.items('agentMessage').map((item) => item.text)).toEqual(['one', 'two', 'three']);
  });

  it('[review.window-after-restart] a thread that was compacted is not compacted again because the daemon was restarted', async () => {
    const long = [{ say: 'one' }, { usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1000 } }];
    const config = 'model_auto_compact_token_limit = 500';
    const t = await frontend({ script: [long, { say: 'SUMMARY' }], config }).start();
    await t.turn('first');
    await t.result('thread/compact/start', { threadId: t.threadId });
    await t.seen('item/completed', ({ item }) => item.type === 'contextCompaction');
    await t.seen('thread/status/changed', ({ status }) => status.type === 'idle');
    // A summary costs tokens, too, and they are told.
    expect(t.all('thread/tokenUsage/updated').map(({ tokenUsage }) => tokenUsage.total.totalTokens)).toEqual([1000, 1120]);
    await t.leave();
    const u = frontend({ home: t.home, cwd: t.cwd, script: [{ say: 'two' }], config });
    await u.result('initialize', { clientInfo: { name: 'test', version: '1.0.0' }, capabilities: {} });
    await u.result('thread/resume', { threadId: t.threadId });
    u.threadId = t.threadId;
    expect((await u.turn('second')).status).toBe('completed');
    expect(u.items('contextCompaction')).toEqual([]);
  });
});
