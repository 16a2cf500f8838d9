// The life of threads at its edges: unloading, and turns that would begin while a thread is being put away.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockThread } from '../../src/session/rollout/lock.ts';
import { call } from '../spine/client.ts';
import { frontend } from './support.ts';

describe('idle threads', () => {
  it('[review.unload-at-once] a thread that may not be idle at all is still there for who started it', async () => {
    const t = await frontend({ config: 'thread_unload_delay_secs = 0' }).start();
    expect((await t.turn('hello')).status).toBe('completed');
  });

  it('[review.unload-far] a delay longer than a timer goes does not unload at once', async () => {
    const t = await frontend({ config: 'thread_unload_delay_secs = 5000000' }).start();
    await t.turn('hello');
    await t.result('thread/unsubscribe', { threadId: t.threadId });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await t.result('thread/loaded/list', {})).data).toEqual([t.threadId]);
  });
});

describe('a request that is refused', () => {
  it('[review.refused-start] changes no settings', async () => {
    const t = await frontend({ script: [call('exec_command', { cmd: 'sleep 20' }), { say: 'done' }] }).start({ approvalPolicy: 'never' });
    const turnId = await t.startTurn('go');
    const refused = await t.request('turn/start', { threadId: t.threadId, input: [], approvalPolicy: 'untrusted' });
    expect(refused.error.message).toContain('has an active turn');
    expect((await t.result('thread/resume', { threadId: t.threadId })).approvalPolicy).toBe('never');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    await t.ended(turnId);
  });

  it('[review.refused-update] changes no tools', async () => {
    const tool = { type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };
    const t = await frontend({ script: [call('look', {}, 'call_1'), { say: 'done' }] }).start();
    const refused = await t.request('thread/settings/update', { threadId: t.threadId, dynamicTools: [tool], effort: 'absurd' });
    expect(refused.error?.message ?? 'accepted').toContain('absurd');
    await t.turn('go');
    expect(t.all('warning').map(({ message }) => message)).toEqual(['The model called a tool that does not exist: look.']);
  });
});

describe('a record under another name', () => {
  it('[review.copied-record] is the thread that its file is named by, whatever stands in it', async () => {
    const t = await frontend({ script: [{ say: 'one' }, { say: 'two' }] }).start();
    await t.turn('first');
    const file = (await t.result('thread/read', { threadId: t.threadId })).thread.path as string;
    const other = `${t.threadId.slice(0, -4)}${t.threadId.endsWith('0000') ? '1111' : '0000'}`;
    const changed = fs.readFileSync(file, 'utf8').replaceAll(t.threadId, '../../outside');
    fs.writeFileSync(file.replace(t.threadId, other), changed);
    expect((await t.result('thread/resume', { threadId: other })).thread.id).toBe(other);
    t.threadId = other;
    expect((await t.turn('second')).status).toBe('completed');
    expect(fs.readdirSync(path.join(t.home, 'locks')).sort()).toContain(`${other}.lock`);
  });
});

describe('the lock of a thread', () => {
  it('[review.lock] is refused while another process holds it, taken over from a dead one, and leaves nothing else behind', async () => {
    const t = frontend();
    const folder = path.join(t.home, 'locks');
    const file = path.join(folder, 'x.lock');
    const other = spawn('sleep', ['30']);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file, JSON.stringify({ pid: other.pid, started: null }));
    expect(lockThread(t.home, 'x')).toEqual({ ok: false, ownerPid: other.pid });
    expect(fs.readdirSync(folder)).toEqual(['x.lock']);
    other.kill('SIGKILL');
    await new Promise((resolve) => other.on('exit', resolve));
    const lock = lockThread(t.home, 'x');
    expect(lock.ok).toBe(true);
    expect(JSON.parse(fs.readFileSync(file, 'utf8')).pid).toBe(process.pid);
    expect(fs.readdirSync(folder)).toEqual(['x.lock']);
    if (lock.ok) lock.release();
    expect(fs.readdirSync(folder)).toEqual(['x.changed']);
  });
});
