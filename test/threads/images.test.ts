// Images of a thread lie beside its record: once each, whole again for whoever reads, gone with the thread, and never in the way of a turn.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Asked, calling } from '../context/asked.ts';

/** A PNG header, so that its type is recognised, and an end; what is between does not matter here. */
function picture(bytes = 60_000): { url: string; base64: string; content: Buffer } {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61', 'hex');
  const content = Buffer.concat([header, randomBytes(bytes), Buffer.from('0000000049454e44ae426082', 'hex')]);
  const base64 = content.toString('base64');
  return { url: `data:image/png;base64,${base64}`, base64, content };
}

const images = (body: { input: any[] }): string[] =>
  body.input
    .flatMap((item) => (item.type === 'message' ? item.content : Array.isArray(item.output) ? item.output : []))
    .flatMap((part: any) => (part.type === 'input_image' ? [part.image_url] : []));

const input = (text: string, ...urls: string[]) => ({ input: [{ type: 'text', text }, ...urls.map((url) => ({ type: 'image', url }))] });

/** Unloads the thread and loads it again. */
async function reopened(t: Asked): Promise<any> {
  const { threadId } = t.frontend;
  await t.frontend.result('thread/archive', { threadId });
  await t.frontend.result('thread/unarchive', { threadId });
  return (await t.frontend.result('thread/resume', { threadId })).thread;
}

const record = async (t: Asked, threadId = t.frontend.threadId): Promise<string> =>
  fs.readFileSync((await t.frontend.result('thread/read', { threadId })).thread.path, 'utf8');
const folder = (t: Asked, threadId = t.frontend.threadId): string => path.join(t.frontend.home, 'images', threadId);

describe('images of a thread', () => {
  it('[threads.images] are kept once beside the record, and every reader gets them whole', async () => {
    const t = await Asked.open();
    const [seen, viewed] = [picture(), picture()];
    fs.writeFileSync(path.join(t.frontend.cwd, 'viewed.png'), viewed.content);
    await t.turn(
      'look',
      input('look', seen.url),
      [calling('view_image', { path: 'viewed.png' })],
      [{ type: 'message', role: 'assistant', content: [] }],
    );
    expect(images(t.last)).toEqual([seen.url, viewed.url]);

    const thread = await reopened(t);
    expect(fs.readdirSync(folder(t))).toHaveLength(2);
    const text = await record(t);
    expect([seen, viewed].map(({ base64 }) => text.includes(base64.slice(0, 200)))).toEqual([false, false]);
    expect(text.length).toBeLessThan(seen.base64.length);
    expect(thread.turns[0].items[0].content[1]).toEqual({ type: 'image', url: seen.url });
    const page = await t.frontend.result('thread/items/list', { threadId: t.frontend.threadId });
    expect(page.data[0].item.content[1].url).toBe(seen.url);

    await t.turn('and now?');
    expect(images(t.last)).toEqual([seen.url, viewed.url]);
    // What was sent before is the beginning of what is sent now, byte for byte.
    const before = t.requests[t.requests.length - 2].input;
    expect(JSON.stringify(t.last.input.slice(0, before.length))).toBe(JSON.stringify(before));
  });

  it('[threads.images-fork] go with a fork, which does not need the thread that it came from', async () => {
    const t = await Asked.open();
    const seen = picture();
    await t.turn('look', input('look', seen.url));
    const source = t.frontend.threadId;
    const fork = (await t.frontend.result('thread/fork', { threadId: source })).thread;
    await t.frontend.result('thread/delete', { threadId: source });
    expect([fs.existsSync(folder(t)), fs.readdirSync(folder(t, fork.id))]).toEqual([false, [expect.any(String)]]);
    t.frontend.threadId = fork.id;
    await t.turn('go on');
    expect(images(t.last)).toEqual([seen.url]);
    await reopened(t);
    await t.turn('go on');
    expect(images(t.last)).toEqual([seen.url]);
  });

  it('[threads.images-gone] whose files are missing are told in words, to the model and to the client, and no turn fails for them', async () => {
    const t = await Asked.open();
    await t.turn('look', input('look', picture().url));
    fs.rmSync(folder(t), { recursive: true });
    // Under a loaded thread: what is sent is still an image.
    await t.turn('again');
    expect(images(t.last)[0]).toMatch(/^data:image\/png;base64,/);

    const thread = await reopened(t);
    const told = '[An image stood here; its file is gone.]';
    expect(thread.turns[0].items[0].content[1]).toEqual({ type: 'text', text: told, text_elements: [] });
    await t.turn('and now?');
    expect([images(t.last), t.texts('user').includes(told)]).toEqual([[], true]);
    expect(t.warnings()).toContain('Images of this thread are gone, as their files are missing: 1.');
  });

  it('[threads.images-words] are nothing that a user can imitate: text that looks like a mark or like data stays what it is', async () => {
    const t = await Asked.open();
    const mark = JSON.stringify({ blobs: [{ at: ['input', 0, 'text'], sha256: 'a'.repeat(64), bytes: 1, head: 'data:x;base64,' }] });
    const texts = [mark, picture(9_000).url, `data:image/png;base64,${'A'.repeat(6_001)}!`, 'x'.repeat(5_000)];
    await t.turn('', { input: texts.map((text) => ({ type: 'text', text })) });
    const thread = await reopened(t);
    expect(thread.turns[0].items[0].content.map(({ text }: { text: string }) => text)).toEqual(texts);
    await t.turn('and now?');
    expect(t.texts('user')).toEqual(expect.arrayContaining(texts));
  });

  it('[context.images] weigh what providers count for them, not their bytes: a thread of images is not compacted for its size on disk', async () => {
    const t = await Asked.open({ config: '[features]\ntoken_budget = true\n' });
    await t.turn('look', input('look', picture(900_000).url));
    await t.turn('and now?');
    expect(t.frontend.items('contextCompaction')).toEqual([]);
    t.answers([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'summary' }] }]);
    await t.frontend.result('thread/compact/start', { threadId: t.frontend.threadId });
    await t.frontend.seen('item/completed', ({ item }) => item.type === 'contextCompaction');
    await t.turn('still there?');
    expect(images(t.last)).toHaveLength(1);
    await reopened(t);
    await t.turn('and after a restart?');
    expect(images(t.last)).toHaveLength(1);
  });
});
