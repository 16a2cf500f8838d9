// A thread that another daemon writes: it can be read as it stands, and is not taken for a broken one.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestFrontend } from '../spine/client.ts';

/** Takes a thread over in the name of a process that lives, in the middle of a turn. */
async function heldElsewhere(): Promise<{ frontend: TestFrontend; threadId: string; file: string; lock: string }> {
  const frontend = new TestFrontend();
  onTestFinished(() => frontend.dispose());
  await frontend.start();
  await frontend.turn('first');
  const { threadId } = frontend;
  const { thread } = await frontend.result('thread/read', { threadId });
  await frontend.result('thread/archive', { threadId });
  await frontend.result('thread/unarchive', { threadId });
  const turnId = 'a-turn-of-another-daemon';
  const command = {
    type: 'commandExecution',
    id: 'c',
    command: 'sleep 9',
    cwd: '/',
    status: 'inProgress',
    commandActions: [],
    source: 'agent',
  };
  const lines = [
    { type: 'turnStarted', turnId, startedAt: 5 },
    { type: 'itemStarted', turnId, item: command },
  ];
  fs.appendFileSync(thread.path, lines.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join(''));
  const lock = path.join(frontend.home, 'locks', `${threadId}.lock`);
  fs.writeFileSync(lock, JSON.stringify({ pid: process.ppid, started: null }));
  return { frontend, threadId, file: thread.path, lock };
}

const standing = (turns: any[]) => turns.map(({ status, items }) => [status, items.at(-1)?.status ?? items.at(-1)?.type]);

describe('a thread that another daemon writes', () => {
  it('[threads.elsewhere] its running turn is in progress for a reader, and interrupted once its daemon is gone', async () => {
    const { frontend, threadId, lock } = await heldElsewhere();
    const read = async () => (await frontend.result('thread/read', { threadId, includeTurns: true })).thread.turns;
    expect(standing(await read())).toEqual([
      ['completed', 'agentMessage'],
      ['inProgress', 'inProgress'],
    ]);
    const { error } = await frontend.request('thread/resume', { threadId });
    expect(error.message).toContain(`another process (pid ${process.ppid}) is its writer`);
    fs.rmSync(lock);
    expect(standing(await read())).toEqual([
      ['completed', 'agentMessage'],
      ['interrupted', 'failed'],
    ]);
  });

  it('[threads.put-away] nobody listens to a thread that was put away: whoever opens it again is alone with it', async () => {
    const frontend = new TestFrontend();
    onTestFinished(() => frontend.dispose());
    await frontend.start();
    await frontend.turn('first');
    const { threadId } = frontend;
    await frontend.result('thread/archive', { threadId });
    await frontend.result('thread/unarchive', { threadId });
    const before = frontend.all('thread/settings/updated').length;
    // Loads it for the moment, for nobody.
    await frontend.result('thread/metadata/update', { threadId, gitInfo: { branch: 'main' } });
    await frontend.result('thread/settings/update', { threadId, model: 'another' });
    expect(frontend.all('thread/settings/updated')).toHaveLength(before);
    expect((await frontend.result('thread/unsubscribe', { threadId })).status).toBe('notSubscribed');
  });
});
