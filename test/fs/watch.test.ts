// fs/watch: what is told, under whose id, and that it ends.
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tick } from '../wire/linked.ts';
import { type Folder, folder } from './folder.ts';

const WINDOW_MS = 600;

async function watched(made: Folder, id: string, name: string): Promise<() => string[]> {
  await made.client.result('fs/watch', { watchId: id, path: made.at(name) });
  return () =>
    made.client
      .notifications('fs/changed')
      .filter((params) => params.watchId === id)
      .flatMap((params) => params.changedPaths as string[])
      .map((changed) => path.relative(made.root, changed) || '.');
}

const until = (made: Folder, test: () => boolean, what: string) => made.client.link.until(test, what);

describe('fs/watch', () => {
  it('[fs.watch] tells changes in a directory and of a file, gathered, by the id of the watch', async () => {
    const made = folder({ 'a.txt': 'a', 'sub/b': '' });
    const inDirectory = await watched(made, 'dir', '.');
    const ofFile = await watched(made, 'file', 'a.txt');
    for (let i = 0; i < 50; i++) appendFileSync(made.at('a.txt'), 'x');
    writeFileSync(made.at('new'), '');
    writeFileSync(made.at('sub/c'), '');
    await until(made, () => inDirectory().includes('new') && ofFile().includes('a.txt'), 'both changes');
    expect([new Set(inDirectory()), new Set(ofFile())]).toEqual([new Set(['a.txt', 'new']), new Set(['a.txt'])]);
    expect(made.client.notifications('fs/changed').length).toBeLessThan(8);
  });

  it('[fs.watch-replaced] follows a file that is replaced, removed and made again', async () => {
    const made = folder({ 'a.txt': 'a' });
    const seen = await watched(made, 'w', 'a.txt');
    const step = async (change: () => void, what: string) => {
      const before = seen().length;
      change();
      await until(made, () => seen().length > before, what);
      await tick(WINDOW_MS);
    };
    await step(() => {
      writeFileSync(made.at('tmp'), 'b');
      renameSync(made.at('tmp'), made.at('a.txt'));
    }, 'a replacement');
    await step(() => appendFileSync(made.at('a.txt'), 'c'), 'a change of the new file');
    await step(() => rmSync(made.at('a.txt')), 'a removal');
    await step(() => writeFileSync(made.at('a.txt'), ''), 'a new file');
    expect(new Set(seen())).toEqual(new Set(['a.txt']));
  });

  it('[fs.watch-missing] takes a path that does not exist, and tells when it comes', async () => {
    const made = folder();
    const seen = await watched(made, 'w', 'x/y/z');
    mkdirSync(made.at('x/y'), { recursive: true });
    await tick(WINDOW_MS);
    expect(seen()).toEqual([]);
    mkdirSync(made.at('x/y/z'));
    await until(made, () => seen().includes('x/y/z'), 'the directory');
    writeFileSync(made.at('x/y/z/inner'), '');
    await until(made, () => seen().includes('x/y/z/inner'), 'a file in it');
    rmSync(made.at('x'), { recursive: true });
    await until(made, () => seen().filter((name) => name === 'x/y/z').length > 1, 'its end');
  });

  it('[fs.watch-link] hears the file behind a link', async () => {
    const made = folder({ 'sub/real': 'a' });
    symlinkSync('sub/real', made.at('link'));
    const seen = await watched(made, 'w', 'link');
    appendFileSync(made.at('sub/real'), 'b');
    await until(made, () => seen().includes('link'), 'the change');
  });

  it('[fs.watch-many] lets the watched path stand for very many changes', async () => {
    const made = folder({ 'many/': '' });
    const seen = await watched(made, 'w', 'many');
    for (let i = 0; i < 1_500; i++) mkdirSync(made.at(`many/${i}`));
    await until(made, () => seen().length > 0, 'a change');
    expect(seen()[0]).toBe('many');
  });

  it('[fs.watch-ids] an id is taken once, and ends with unwatch or with its client', async () => {
    const made = folder({ 'a.txt': '' });
    const inDirectory = await watched(made, 'dir', '.');
    const ofFile = await watched(made, 'file', 'a.txt');
    expect(await made.client.refusal('fs/watch', { watchId: 'dir', path: made.root })).toBe('-32600 watchId already exists: "dir"');
    for (const watchId of ['dir', 'dir', 'nobody']) expect(await made.client.result('fs/unwatch', { watchId })).toEqual({});
    made.fs.endClient(made.client.session);
    appendFileSync(made.at('a.txt'), 'b');
    await tick(WINDOW_MS);
    expect([inDirectory(), ofFile()]).toEqual([[], []]);
    await made.client.result('fs/watch', { watchId: 'dir', path: made.root });
  });
});
