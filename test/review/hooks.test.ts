// Hooks that guard, and an interrupt while they look: what they had no time to look at does not pass.
import { describe, expect, it } from 'vitest';
import { hookBench } from '../hooks/bench.ts';
import { call } from '../spine/client.ts';
import { textInput, told } from './support.ts';

const closed = 'fail_closed = true';

describe('a guard that an interrupt cuts off', () => {
  it('[review.unchecked-prompt] withholds the prompt that it was looking at', async () => {
    const t = await hookBench({ hooks: [{ event: 'UserPromptSubmit', text: 'sleep 20', handler: closed }] }).start();
    const turnId = await t.startTurn('my secret');
    await t.seen('hook/started');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    expect((await t.ended(turnId)).status).toBe('interrupted');
    expect(t.items()).toEqual([]);
    expect((await told(t)).filter((text) => text.includes('my secret'))).toEqual([]);
    expect(t.warnings().some((text) => text.startsWith('A hook refused the prompt'))).toBe(true);
  });

  it('[review.unchecked-steer] withholds input that no step took, and sees it when it is no guard', async () => {
    const script = [call('exec_command', { cmd: 'sleep 20' }, 'call_1'), { say: 'done' }];
    for (const [handler, kept] of [
      [closed, ['first']],
      ['', ['first', 'my secret']],
    ] as const) {
      const t = await hookBench({ hooks: [{ event: 'UserPromptSubmit', text: 'exit 0', handler }], script }).start();
      const turnId = await t.startTurn('first');
      await t.seen('item/started', ({ item }) => item.type === 'commandExecution');
      await t.result('turn/steer', { threadId: t.threadId, expectedTurnId: turnId, input: textInput('my secret') });
      await t.result('turn/interrupt', { threadId: t.threadId, turnId });
      await t.ended(turnId);
      expect(t.items('userMessage').map((item) => item.content[0].text)).toEqual(kept);
      expect((await told(t)).filter((text) => text === 'first' || text === 'my secret')).toEqual(kept);
    }
  });

  it('[review.unchecked-part] withholds what a call had printed when it was interrupted', async () => {
    const t = await hookBench({
      hooks: [{ event: 'PostToolUse', text: 'exit 0', handler: closed }],
      script: [call('exec_command', { cmd: 'echo my-secret; sleep 20' }, 'call_1'), { say: 'done' }],
    }).start();
    const turnId = await t.startTurn('go');
    await t.seen('item/commandExecution/outputDelta');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    await t.ended(turnId);
    const outputs = (await told(t)).filter((text) => text.startsWith('output call_1'));
    expect(outputs).toEqual([
      expect.stringMatching(/^output call_1: the hook .* failed \(the turn was interrupted before it had decided\)/),
    ]);
  });

  it('[review.unchecked-result] withholds the result that it was looking at', async () => {
    const t = await hookBench({
      hooks: [{ event: 'PostToolUse', text: 'sleep 20', handler: closed }],
      script: [call('exec_command', { cmd: 'echo my-secret' }, 'call_1'), { say: 'done' }],
    }).start();
    const turnId = await t.startTurn('go');
    await t.seen('hook/started');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    await t.ended(turnId);
    const outputs = (await told(t)).filter((text) => text.startsWith('output call_1'));
    expect(outputs).toEqual([
      expect.stringMatching(/^output call_1: the hook .* failed \(the turn was interrupted before it had decided\)/),
    ]);
  });
});
