// Commands whose surroundings fail.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandPlan } from '../../src/tools/exec/command-plan.ts';
import { startCommand } from '../../src/tools/exec/command-run.ts';
import type { ExecHost } from '../../src/tools/exec/host.ts';
import { call } from '../spine/client.ts';
import { frontend } from './support.ts';

describe('commands', () => {
  it('[review.no-room-for-output] run although nothing of their output can be kept', async () => {
    const t = frontend({ script: [call('exec_command', { cmd: 'echo fine' }, 'call_1'), { say: 'done' }] });
    fs.writeFileSync(path.join(t.home, 'artifacts'), 'a file stands here');
    await t.start();
    await t.turn('go');
    expect(t.items('commandExecution').map((item) => [item.status, item.aggregatedOutput])).toEqual([['completed', 'fine\n']]);
  });

  it('[review.moved-workdir] that were approved for a folder are not run in another one that a link leads to by then', async () => {
    const t = frontend({ script: [call('exec_command', { cmd: 'touch made', workdir: 'link' }, 'call_1'), { say: 'done' }] });
    for (const name of ['shown', 'other']) fs.mkdirSync(path.join(t.cwd, name));
    const link = path.join(t.cwd, 'link');
    fs.symlinkSync('shown', link);
    t.answers.set('item/commandExecution/requestApproval', () => {
      fs.rmSync(link);
      fs.symlinkSync('other', link);
      return { decision: 'accept' };
    });
    await t.start({ approvalPolicy: 'untrusted' });
    expect((await t.turn('go')).status).toBe('completed');
    expect(['shown', 'other'].map((name) => fs.readdirSync(path.join(t.cwd, name)))).toEqual([[], []]);
    expect(t.items('commandExecution').map((item) => item.status)).toEqual(['failed']);
  });

  it('[review.interrupted-start] are not begun when the interrupt comes while their sandbox is made, which is given back', async () => {
    const abort = new AbortController();
    let released = 0;
    const wrap = async () => {
      abort.abort();
      return { argv: ['true'], sandboxed: true, release: () => released++ };
    };
    const host = { launcher: { wrap } } as unknown as ExecHost; // nothing of a host but this is reached
    const plan = { request: { login: false }, argv: ['true'], cwd: '/' } as unknown as CommandPlan;
    const options = { sessionId: 1, itemId: 'i', events: {} as never, unsandboxed: false, signal: abort.signal };
    await expect(startCommand(host, plan, options)).rejects.toMatchObject({ category: 'cancelled' });
    expect(released).toBe(1);
  });
});
