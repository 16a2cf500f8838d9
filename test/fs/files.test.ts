// fs/* on real files: bytes, kinds, and refusals that name the path.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, readFileSync, statSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../src/server/files/file-bytes.ts';
import { b64, folder } from './folder.ts';

describe('bytes', () => {
  it('[fs.bytes] carries bytes unchanged, also more than one piece of them', async () => {
    const { at, client } = folder();
    const bytes = Buffer.alloc(2_000_003);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 7) ^ (i >> 8);
    expect(await client.result('fs/writeFile', { path: at('big'), dataBase64: bytes.toString('base64') })).toEqual({});
    expect(readFileSync(at('big')).equals(bytes)).toBe(true);
    const { dataBase64 } = await client.result<{ dataBase64: string }>('fs/readFile', { path: at('big') });
    expect(Buffer.from(dataBase64, 'base64').equals(bytes)).toBe(true);
  });

  it('[fs.bytes-unsized] reads files whose size is not known before', async () => {
    const { client } = folder();
    const { dataBase64 } = await client.result<{ dataBase64: string }>('fs/readFile', { path: '/proc/self/status' });
    expect(Buffer.from(dataBase64, 'base64').toString()).toContain('Pid:');
  });

  it('[fs.in-place] replaces the content in place: links and mode stay', async () => {
    const { at, client } = folder({ 'a.sh': 'a longer text' });
    chmodSync(at('a.sh'), 0o755);
    linkSync(at('a.sh'), at('hard'));
    symlinkSync('a.sh', at('soft'));
    await client.result('fs/writeFile', { path: at('soft'), dataBase64: b64('new') });
    expect([readFileSync(at('hard'), 'utf8'), statSync(at('a.sh')).mode & 0o777]).toEqual(['new', 0o755]);
  });

  it('[fs.order] requests about one file are served in their order', async () => {
    const { at, client } = folder();
    const file = at('f');
    const asked = Array.from({ length: 20 }, (_, i) => [
      client.ask('fs/writeFile', { path: file, dataBase64: b64(`${i}`.repeat(10_000)) }),
      client.ask('fs/readFile', { path: file }),
    ]);
    const read = await Promise.all(asked.map(async ([, answer]) => (await answer).result as { dataBase64: string }));
    const written = read.map(({ dataBase64 }) => Buffer.from(dataBase64, 'base64').toString());
    expect(written.every((text, i) => text === `${i}`.repeat(10_000))).toBe(true);
  });

  it('[fs.base64] takes standard base64 and nothing else', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => decodeBase64(Buffer.from(bytes).toString('base64'))?.equals(bytes) === true));
    fc.assert(fc.property(fc.string(), (text) => decodeBase64(text) === undefined || Buffer.from(text, 'base64').length >= 0));
    expect(['!!', 'YQ', 'YQ=', 'Y=Q=', '====', 'YWE_', ' YWE'].map(decodeBase64)).toEqual(Array(7).fill(undefined));
  });

  it('[fs.limits] refuses what is too large or no regular file, without waiting for it', async () => {
    const { at, client } = folder({ huge: '' });
    truncateSync(at('huge'), 200 * 1024 * 1024);
    spawnSync('mkfifo', [at('fifo')]);
    expect(await client.refusal('fs/readFile', { path: at('huge') })).toBe(
      `-32602 params.path: ${at('huge')} has 209715200 bytes, at most 134217728 can be read at once`,
    );
    expect(await client.refusal('fs/readFile', { path: at('fifo') })).toBe(`-32602 params.path: ${at('fifo')} is not a regular file`);
    expect(await client.refusal('fs/readFile', { path: at('') })).toMatch(/^-32602 params.path: .* is a directory$/);
    expect(await client.refusal('fs/writeFile', { path: at('fifo'), dataBase64: '' })).toMatch(`-32603 fs/writeFile: ${at('fifo')}: `);
  });
});

describe('refusals', () => {
  it('[fs.errors] name the path and the reason, and change nothing', async () => {
    const { at, client } = folder({ 'a.txt': 'a', 'full/x': '' });
    const gone = at('gone/there');
    const missing = `${gone}: No such file or directory (ENOENT)`;
    const rows: [Parameters<typeof client.refusal>[0], object, string][] = [
      ['fs/readFile', { path: gone }, `-32603 fs/readFile: ${missing}`],
      ['fs/writeFile', { path: gone, dataBase64: '' }, `-32603 fs/writeFile: ${missing}`],
      ['fs/getMetadata', { path: gone }, `-32603 fs/getMetadata: ${missing}`],
      ['fs/readDirectory', { path: gone }, `-32603 fs/readDirectory: ${missing}`],
      ['fs/copy', { sourcePath: gone, destinationPath: at('x') }, `-32603 fs/copy: ${missing}`],
      ['fs/remove', { path: gone, force: false }, `-32603 fs/remove: ${missing}`],
      ['fs/createDirectory', { path: gone, recursive: false }, `-32603 fs/createDirectory: ${missing}`],
      ['fs/createDirectory', { path: at('a.txt') }, `-32603 fs/createDirectory: ${at('a.txt')}: It exists already (EEXIST)`],
      [
        'fs/readDirectory',
        { path: at('a.txt') },
        `-32603 fs/readDirectory: ${at('a.txt')}: A part of the path is a file, not a folder (ENOTDIR)`,
      ],
      ['fs/readFile', { path: 'a.txt' }, '-32602 params.path: expected an absolute path, got "a.txt"'],
      ['fs/readFile', { path: '/a\0b' }, '-32602 params.path: a path cannot contain a NUL character'],
      ['fs/copy', { sourcePath: at('a.txt'), destinationPath: 'b' }, '-32602 params.destinationPath: expected an absolute path, got "b"'],
      ['fs/watch', { watchId: 'w', path: '.' }, '-32602 params.path: expected an absolute path, got "."'],
      ['fs/writeFile', { path: at('a.txt'), dataBase64: '!!' }, '-32602 params.dataBase64: expected standard base64 with padding'],
      ['fs/remove', { path: '/' }, '-32602 params.path: / is the root of the file system and is not removed'],
      ['fs/remove', { path: '/tmp/..' }, '-32602 params.path: / is the root of the file system and is not removed'],
    ];
    const seen: string[] = [];
    for (const [method, params] of rows) seen.push(await client.refusal(method, params));
    expect(seen).toEqual(rows.map(([, , wanted]) => wanted));
    expect(await client.refusal('fs/remove', { path: at('full'), recursive: false })).toContain(`fs/remove: ${at('full')}: `);
    expect([existsSync(at('gone')), existsSync(at('full/x')), readFileSync(at('a.txt'), 'utf8')]).toEqual([false, true, 'a']);
  });
});

describe('kinds', () => {
  it('[fs.kinds] tells file, directory and link apart, also a link that leads nowhere', async () => {
    const { root, at, client } = folder({ 'a.txt': 'alpha', 'sub/': '' });
    symlinkSync('a.txt', at('file-link'));
    symlinkSync('sub', at('dir-link'));
    symlinkSync('nowhere', at('lost'));
    utimesSync(at('a.txt'), 1_700_000_000, 1_700_000_000.25);
    const kind = async (name: string) => {
      const { isFile, isDirectory, isSymlink } = await client.result('fs/getMetadata', { path: at(name) });
      return [isFile, isDirectory, isSymlink];
    };
    expect([await kind('a.txt'), await kind('sub'), await kind('file-link'), await kind('dir-link/'), await kind('lost')]).toEqual([
      [true, false, false],
      [false, true, false],
      [true, false, true],
      [false, true, true],
      [false, false, true],
    ]);
    expect((await client.result('fs/getMetadata', { path: at('a.txt') })).modifiedAtMs).toBe(1_700_000_000_250);
    expect(await client.result('fs/readDirectory', { path: root })).toEqual({
      entries: [
        { fileName: 'a.txt', isDirectory: false, isFile: true },
        { fileName: 'dir-link', isDirectory: true, isFile: false },
        { fileName: 'file-link', isDirectory: false, isFile: true },
        { fileName: 'lost', isDirectory: false, isFile: false },
        { fileName: 'sub', isDirectory: true, isFile: false },
      ],
    });
  });
});
