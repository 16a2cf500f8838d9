// Commands that go on: what a client sees of them, what is left of them after the daemon was killed, and what no path hands on.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEntry } from '../../src/exec/process-table.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';
import { mark, sleepers, until } from '../exec/support.ts';
import { call, TestFrontend } from '../spine/client.ts';

const sandboxed = await new SandboxLauncher().available();
const SANDBOXES = sandboxed ? ['danger-full-access', 'workspace-write'] : ['danger-full-access'];

interface Terminal {
  itemId: string;
  processId: string;
  command: string;
  osPid: number;
  cpuPercent: number;
  rssKb: number;
}

describe('background terminals', () => {
  it.each(SANDBOXES)('[command.terminals] shows real pid, load and memory, and ends what it is told to (%s)', async (sandbox) => {
    const [idle, busy] = [mark(), mark()];
    const script = [
      call('exec_command', { cmd: `exec sleep ${idle}`, login: false, yield_time_ms: 250 }, 'call_idle'),
      // 64 MB of a variable, then work without end.
      call(
        'exec_command',
        { cmd: `x=$(head -c 64000000 /dev/zero | tr '\\0' x); sleep ${busy} & while :; do :; done`, login: false, yield_time_ms: 2500 },
        'call_busy',
      ),
      { say: 'done' },
    ];
    const front = new TestFrontend({ script });
    onTestFinished(() => front.dispose());
    await front.start({ sandbox, approvalPolicy: 'never' });
    await front.turn('go');
    const { threadId } = front;
    const list = async (): Promise<Terminal[]> => (await front.result('thread/backgroundTerminals/list', { threadId })).data;
    const [first, second] = await list();
    expect([first.itemId, second.itemId]).toEqual(['call_idle', 'call_busy']);
    for (const { osPid } of [first, second]) expect(readEntry(osPid)?.parent).toBe(process.pid);
    expect(first.cpuPercent).toBeLessThan(second.cpuPercent);
    expect([second.cpuPercent > 5, second.rssKb > 60_000, first.rssKb > 0, first.rssKb < 60_000]).toEqual([true, true, true, true]);
    const end = (processId: string) => front.result('thread/backgroundTerminals/terminate', { threadId, processId });
    expect([await end(second.processId), await end('99'), await end(second.processId)].map(({ terminated }) => terminated)).toEqual([
      true,
      false,
      false,
    ]);
    expect([(await list()).map(({ itemId }) => itemId), sleepers(busy)]).toEqual([['call_idle'], []]);
    await front.result('thread/backgroundTerminals/clean', { threadId });
    expect([await list(), sleepers(idle)]).toEqual([[], []]);
    expect(front.items('commandExecution').map(({ id, status }) => [id, status])).toEqual([
      ['call_busy', 'failed'],
      ['call_idle', 'failed'],
    ]);
  });
});

describe('a daemon that was killed', () => {
  /** Six sleepers: on pipes and in a terminal one that is waited for, one in the background, one in a session of its own. */
  async function killed(sandbox: string, argument: string): Promise<void> {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.killed-')));
    onTestFinished(() => {
      for (const pid of sleepers(argument)) process.kill(pid, 'SIGKILL');
      fs.rmSync(root, { recursive: true, force: true });
    });
    const line = `setsid sleep ${argument} & sleep ${argument} & sleep ${argument}`;
    const exec = (tty: boolean) => call('exec_command', { cmd: line, tty, login: false, yield_time_ms: 500 });
    fs.writeFileSync(path.join(root, 'script.json'), JSON.stringify([exec(false), exec(true), { say: 'done' }]));
    fs.writeFileSync(
      path.join(root, 'config.toml'),
      `model_provider = "scripted"\nsandbox_mode = "${sandbox}"\napproval_policy = "never"\n[model_providers.scripted]\nscript = "script.json"\n`,
    );
    const main = path.join(import.meta.dirname, '..', '..', 'dist', 'main.js');
    const env = { PATH: process.env.PATH, HOME: root, HARNESSD_HOME: root, HARNESSD_LOG: 'silent' };
    const daemon = spawn(process.execPath, [main, 'app-server'], { env, cwd: root, stdio: ['pipe', 'pipe', 'ignore'] });
    let said = '';
    daemon.stdout.on('data', (chunk) => {
      said += chunk;
    });
    const send = (message: object) => daemon.stdin.write(`${JSON.stringify(message)}\n`);
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 't', version: '1' } } });
    send({ id: 2, method: 'thread/start', params: { cwd: root } });
    expect(await until(() => said.includes('"id":2,'), 20_000)).toBe(true);
    const answer = said.split('\n').find((text) => text.includes('"id":2,')) ?? '{}';
    const threadId: string = JSON.parse(answer).result.thread.id;
    send({ id: 3, method: 'turn/start', params: { threadId, input: [{ type: 'text', text: 'go' }] } });
    expect(await until(() => said.includes('turn/completed'), 20_000)).toBe(true);
    expect(await until(() => sleepers(argument).length === 6)).toBe(true);
    daemon.kill('SIGKILL');
  }

  it.skipIf(!sandboxed)('[command.killed-daemon] takes its sandboxed commands along, terminals and background children too', async () => {
    const argument = mark();
    await killed('workspace-write', argument);
    expect(await until(() => sleepers(argument).length === 0)).toBe(true);
  });

  it('[command.killed-daemon.unsandboxed] leaves without a sandbox what runs on pipes or left its terminal', async () => {
    const argument = mark();
    await killed('danger-full-access', argument);
    expect(await until(() => sleepers(argument).length === 4)).toBe(true);
  });
});
