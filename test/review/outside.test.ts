// Faults that a trial from outside found: what was answered for and lost, what a refused request did all the same, cursors that lead nowhere.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Asked, says } from '../context/asked.ts';
import { TestFrontend } from '../spine/client.ts';

async function started(): Promise<TestFrontend> {
  const frontend = new TestFrontend();
  onTestFinished(() => frontend.dispose());
  return frontend.start();
}

describe('a thread that another daemon writes', () => {
  it('[review.held-elsewhere] is not archived, brought back or deleted under it', async () => {
    const t = await started();
    await t.turn('one');
    const { threadId } = t;
    const { path: file } = (await t.result('thread/read', { threadId })).thread;
    await t.result('thread/archive', { threadId });
    await t.result('thread/unarchive', { threadId });
    const lock = path.join(t.home, 'locks', `${threadId}.lock`);
    const hold = () => fs.writeFileSync(lock, JSON.stringify({ pid: process.ppid, started: null }));
    const refused = async (method: string) => (await t.request(method, { threadId })).error;
    hold();
    for (const method of ['thread/archive', 'thread/delete'])
      expect(await refused(method)).toMatchObject({ code: -32600, message: expect.stringContaining('is in use: another process') });
    expect([fs.existsSync(file), fs.existsSync(lock)]).toEqual([true, true]);
    fs.rmSync(lock);
    await t.result('thread/archive', { threadId });
    hold();
    expect((await refused('thread/unarchive'))?.message).toContain('is in use: another process');
    fs.rmSync(lock);
    await t.result('thread/delete', { threadId });
    expect(fs.readdirSync(path.join(t.home, 'locks')).filter((name) => name.startsWith(threadId))).toEqual([]);
  });
});

describe('what is answered for', () => {
  it('[review.answered-is-kept] is in the record when the answer comes: a fork, settings, a goal, a revert', async () => {
    const t = await Asked.open();
    const { id } = await t.turn(`first ${'x'.repeat(200_000)}`);
    await t.turn('second');
    const { threadId } = t.frontend;
    const fileOf = async (thread: string) => (await t.frontend.result('thread/read', { threadId: thread })).thread.path;
    const file = await fileOf(threadId);
    const fork = (await t.frontend.result('thread/fork', { threadId })).thread;
    const kept = fs.readFileSync(fork.path, 'utf8');
    expect([kept.includes('"type":"summary"'), kept.split('"type":"turnCompleted"').length]).toEqual([true, 3]);
    for (const [method, params, words] of [
      ['thread/settings/update', { model: 'gpt-5.4' }, '"model":"gpt-5.4"'],
      ['thread/goal/set', { objective: 'be done', status: 'paused' }, 'be done'],
      ['thread/name/set', { name: 'a new name' }, 'a new name'],
      ['thread/revert', { beforeTurnId: id }, '"type":"reverted"'],
    ] as const) {
      await t.frontend.result(method, { threadId, ...params });
      expect([method, fs.readFileSync(file, 'utf8').includes(words)]).toEqual([method, true]);
    }
  });
});

describe('refused requests', () => {
  it('[review.refused-revert] to revert to no turn of the thread leave the running one alone', async () => {
    const t = await Asked.open();
    const { threadId } = t.frontend;
    const tool = { type: 'function', name: 'ask', description: 'Asks', inputSchema: { type: 'object', properties: {} } };
    await t.frontend.result('thread/settings/update', { threadId, dynamicTools: [tool] });
    t.answers([{ type: 'function_call', call_id: 'c', name: 'ask', arguments: '{}' }], [says('done')]);
    const turnId = await t.frontend.startTurn('go');
    await t.frontend.seen('item/tool/call');
    const { error } = await t.frontend.request('thread/revert', { threadId, beforeTurnId: 'nope' });
    expect(error.message).toBe('turn not found: nope');
    const call = t.frontend.link.received.find(({ method }) => method === 'item/tool/call');
    t.frontend.link.send({ id: call?.id, result: { success: true, contentItems: [] } });
    expect((await t.frontend.ended(turnId)).status).toBe('completed');
  });

  it('[review.empty-model] a model without a name is none', async () => {
    const t = await started();
    for (const [method, params] of [
      ['thread/settings/update', { threadId: t.threadId }],
      ['turn/start', { threadId: t.threadId, input: [{ type: 'text', text: 'x' }] }],
      ['thread/start', { cwd: t.cwd }],
    ] as const) {
      const { error } = await t.request(method, { ...params, model: ' ' });
      expect([method, error?.code, error?.message]).toEqual([
        method,
        -32602,
        'params.model: expected the name of a model, got an empty text',
      ]);
    }
  });
});

describe('cursors', () => {
  it('[review.turnaround] the cursor back of any page, in the opposite direction, begins with its first entry and goes on to what is new', async () => {
    const t = await started();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await t.turn(`turn ${n}`)).id);
    const { threadId } = t;
    const turns = (params: object) => t.result('thread/turns/list', { threadId, ...params });
    const idsOf = (page: any): string[] => page.data.map(({ id }: any) => id);
    const newest = await turns({ limit: 2 });
    const older = await turns({ limit: 2, cursor: newest.nextCursor });
    ids.push((await t.turn('turn 4')).id);
    expect(idsOf(await turns({ cursor: newest.backwardsCursor, sortDirection: 'asc' }))).toEqual(ids.slice(3));
    expect(idsOf(await turns({ cursor: older.backwardsCursor, sortDirection: 'asc' }))).toEqual(ids.slice(1));

    const items = (params: object) => t.result('thread/items/list', { threadId, limit: 3, ...params });
    const last = await items({ sortDirection: 'desc' });
    const onwards = await items({ cursor: last.backwardsCursor, sortDirection: 'asc' });
    expect(onwards.data.map(({ item }: any) => item.id)).toEqual([last.data[0].item.id]);

    const threads = (params: object) => t.result('thread/list', params);
    const page = await threads({});
    expect(idsOf(await threads({ cursor: page.backwardsCursor, sortDirection: 'asc' }))).toContain(threadId);
    expect((await turns({ cursor: (await turns({ limit: 9, sortDirection: 'asc' })).nextCursor ?? undefined })).data).toHaveLength(5);
  });
});

describe('words', () => {
  it('[review.words-stay] are never taken for data: a long text without a blank is found by a search, and stays where it is', async () => {
    const t = await Asked.open();
    const word = 'abcd'.repeat(3_000);
    await t.turn(word);
    const { threadId } = t.frontend;
    expect(fs.existsSync(path.join(t.frontend.home, 'images'))).toBe(false);
    const { data } = await t.frontend.result('thread/search', { searchTerm: 'abcdabcd' });
    expect(data.map(({ thread }: any) => thread.id)).toEqual([threadId]);
  });
});
