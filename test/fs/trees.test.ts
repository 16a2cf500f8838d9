// fs/copy and fs/remove: trees only when told to, links as links, and nothing outside what was named.
import { chmodSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { folder } from './folder.ts';

const tree = (root: string): string[] => (readdirSync(root, { recursive: true }) as string[]).sort();

describe('fs/copy', () => {
  it('[fs.copy] copies files, links as links, and trees with their modes', async () => {
    const { at, client } = folder({ 'dir/x/b.sh': 'beta', 'dir/empty/': '', 'there/x/own': 'kept', 'a.txt': 'alpha' });
    chmodSync(at('dir/x/b.sh'), 0o750);
    symlinkSync('x/b.sh', at('dir/link'));
    chmodSync(at('dir/x'), 0o555);
    const copy = (from: string, to: string, more = {}) =>
      client.ask('fs/copy', { sourcePath: at(from), destinationPath: at(to), recursive: true, ...more });
    expect([await copy('dir', 'new'), await copy('dir', 'there'), await copy('a.txt', 'a2.txt', { recursive: false })]).toEqual([
      { result: {} },
      { result: {} },
      { result: {} },
    ]);
    expect(tree(at('new'))).toEqual(['empty', 'link', 'x', 'x/b.sh']);
    expect(tree(at('there'))).toEqual(['empty', 'link', 'x', 'x/b.sh', 'x/own']);
    expect([readlinkSync(at('new/link')), statSync(at('new/x/b.sh')).mode & 0o777, statSync(at('new/x')).mode & 0o777]).toEqual([
      'x/b.sh',
      0o750,
      0o555,
    ]);
    expect(readFileSync(at('a2.txt'), 'utf8')).toBe('alpha');
    for (const name of ['dir/x', 'new/x']) chmodSync(at(name), 0o755);
  });

  it('[fs.copy-refused] never copies a tree unasked or into itself, nor a file onto itself', async () => {
    const { at, client } = folder({ 'dir/x': 'x', 'a.txt': 'alpha', 'sub/': '' });
    symlinkSync('dir', at('alias'));
    linkSync(at('a.txt'), at('hard'));
    const refused = (from: string, to: string, recursive: boolean) =>
      client.refusal('fs/copy', { sourcePath: at(from), destinationPath: at(to), recursive });
    const inside = (to: string) =>
      `-32602 params.destinationPath: ${at(to)} is ${at('dir')} itself or lies inside it; a directory cannot be copied there`;
    expect([
      await refused('dir', 'dir2', false),
      await refused('dir', 'dir/inner/deep', true),
      await refused('dir', 'dir', true),
      await refused('dir', 'alias/inner', true),
      await refused('a.txt', 'hard', false),
      await refused('a.txt', 'sub', false),
    ]).toEqual([
      `-32602 params.recursive: ${at('dir')} is a directory; copying it needs recursive: true`,
      inside('dir/inner/deep'),
      inside('dir'),
      inside('alias/inner'),
      `-32602 params.destinationPath: ${at('hard')} is the same file as ${at('a.txt')}`,
      `-32602 params.destinationPath: ${at('sub')} is a directory; name the file inside it`,
    ]);
    expect([tree(at('dir')), existsSync(at('dir2')), readFileSync(at('a.txt'), 'utf8')]).toEqual([['x'], false, 'alpha']);
    expect(await client.ask('fs/copy', { sourcePath: at('dir'), destinationPath: at('dir-too'), recursive: true })).toEqual({ result: {} });
  });
});

describe('fs/remove', () => {
  it('[fs.remove] removes trees by default, a link without what it points to, and nothing twice', async () => {
    const { root, at, client } = folder({ 'dir/x/b': '', 'kept/y': '', 'empty/': '' });
    symlinkSync('../kept', at('dir/link'));
    symlinkSync('kept', at('link'));
    const remove = (name: string, more = {}) => client.ask('fs/remove', { path: `${root}/${name}`, ...more });
    for (const name of ['dir', 'link/', 'gone']) expect(await remove(name)).toEqual({ result: {} });
    expect(await remove('empty', { recursive: false })).toEqual({ result: {} });
    expect(tree(root)).toEqual(['kept', 'kept/y']);
    expect(lstatSync(at('kept')).isDirectory()).toBe(true);
  });
});
