// Threads named by their record, and threads that begin with a history of the client's own.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Asked } from '../context/asked.ts';

const message = (role: string, type: string, text: string) => ({ type: 'message', role, content: [{ type, text }] });

describe('what a thread is opened from', () => {
  it('[threads.path] resume and fork take the path of a record in place of the id; other files are refused unread', async () => {
    const t = await Asked.open();
    await t.turn('remember me');
    const { thread } = await t.frontend.result('thread/read', { threadId: t.frontend.threadId });
    const other = '01980000-0000-7000-8000-000000000000';
    const resumed = await t.frontend.result('thread/resume', { threadId: other, path: thread.path });
    expect([resumed.thread.id, resumed.thread.turns.length]).toEqual([thread.id, 1]);
    const forked = await t.frontend.result('thread/fork', { threadId: other, path: thread.path });
    expect([forked.thread.forkedFromId, forked.thread.turns.length]).toEqual([thread.id, 1]);

    const copy = path.join(t.frontend.cwd, path.basename(thread.path));
    fs.copyFileSync(thread.path, copy);
    for (const file of [copy, '/etc/passwd', `/nowhere/rollout-${other}.jsonl`, 'relative.jsonl']) {
      for (const method of ['thread/resume', 'thread/fork']) {
        const { error } = await t.frontend.request(method, { threadId: thread.id, path: file });
        expect(error).toMatchObject({ code: -32600, message: `params.path: no thread of this home is recorded in ${file}` });
      }
    }
  });

  it("[threads.history] resume with a history begins a new thread with it, and the model reads it before the user's words", async () => {
    const t = await Asked.open();
    const history = [message('user', 'input_text', 'My name is Ada.'), message('assistant', 'output_text', 'Hello Ada.')];
    const settings = { model: 'gpt-5.5', modelProvider: 'local', cwd: t.frontend.cwd };
    const { thread } = await t.frontend.result('thread/resume', { threadId: t.frontend.threadId, history, ...settings });
    expect(thread.id).not.toBe(t.frontend.threadId);
    t.answers([message('assistant', 'output_text', 'Ada')]);
    const { turn } = await t.frontend.result('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'Who am I?' }] });
    await t.frontend.ended(turn.id);
    const said = t.last.input.filter((item) => item.type === 'message').flatMap((item) => item.content.map((part: any) => part.text));
    const at = (text: string) => said.indexOf(text);
    expect([at('My name is Ada.') >= 0, at('Hello Ada.') > at('My name is Ada.'), at('Who am I?') > at('Hello Ada.')]).toEqual([
      true,
      true,
      true,
    ]);

    const { error } = await t.frontend.request('thread/resume', { threadId: thread.id, history: [], ...settings });
    expect(error).toMatchObject({ code: -32602, message: 'params.history: items must not be empty' });
  });
});
