// Data out of line: whatever a line holds, it is read as it was written; what a file claims reaches nothing outside the line and the folder.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { RolloutLine } from '../../src/protocol/rollout.ts';
import { BlobFolder, detached } from '../../src/session/rollout/blobs.ts';
import { RolloutWriter } from '../../src/session/rollout/writer.ts';

const folders: string[] = [];
const folder = (): string => {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-blobs-'));
  folders.push(made);
  return path.join(made, 'images');
};
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

const lineOf = (item: Record<string, unknown>): RolloutLine =>
  ({ type: 'history', turnId: 't', origin: 'user', item: { type: 'message', ...item } }) as unknown as RolloutLine;

async function writtenAndRead(line: RolloutLine): Promise<{ text: string; read: unknown; files: string[] }> {
  const dir = folder();
  const blobs = new BlobFolder(dir);
  const stripped = blobs.strip(line);
  if (stripped) await blobs.write(stripped);
  const text = JSON.stringify(stripped?.line ?? line);
  const { reading } = new BlobFolder(dir).read(text);
  return { text, read: reading.type === 'line' ? reading.line : null, files: fs.existsSync(dir) ? fs.readdirSync(dir) : [] };
}

const data = fc
  .tuple(fc.constantFrom('data:image/png;base64,', 'data:;base64,', '', 'data:image/png,'), fc.integer({ min: 0, max: 5_000 }))
  .map(([head, bytes]) => head + randomBytes(bytes).toString('base64'));
const text = fc.oneof(
  fc.string(),
  data,
  fc.tuple(data, fc.string()).map(([a, b]) => a + b),
  fc.constant('='.repeat(5_000)),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
  ),
})).value;

describe('data out of line', () => {
  it('[recovery.blobs] any line is read as it was written, and holds no data itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value), async (content) => {
        const line = lineOf({ content });
        const before = JSON.stringify(line);
        const { read } = await writtenAndRead(line);
        expect(JSON.stringify(read)).toBe(before);
      }),
      { numRuns: 150 },
    );
    const url = `data:image/png;base64,${randomBytes(20_000).toString('base64')}`;
    const twice = await writtenAndRead(lineOf({ content: [{ image_url: url }, { image_url: url }] }));
    expect([twice.files.length, twice.text.length < 1_000]).toEqual([1, true]);
  });

  it('[recovery.blobs-hostile] marks of a foreign hand change nothing but empty places of their own line, and name no other file', () => {
    const dir = folder();
    fs.mkdirSync(dir, { recursive: true });
    const name = 'a'.repeat(64);
    fs.writeFileSync(path.join(dir, name), 'x');
    fs.writeFileSync(path.join(dir, '..', 'secret'), 'x');
    const content = [{ text: 'said' }, { text: '' }];
    const good = { sha256: name, bytes: 1, head: '' };
    const odd: unknown[] = [
      null,
      7,
      {},
      { ...good, at: [] },
      { ...good, at: ['__proto__', 'polluted'] },
      { ...good, at: ['item', 'constructor', 'name'] },
      { ...good, at: ['item', 'content', 0, 'text'] },
      { ...good, at: ['item', 'content', 7, 'text'] },
      { ...good, at: ['item', 'content', 1, 'text'], sha256: '../secret' },
      { ...good, at: ['item', 'content', 1, 'text'], sha256: `${name}/../../secret` },
      { ...good, at: 'item' },
    ];
    for (const blobs of [odd, 'text', { length: 3 }]) {
      const { reading, lost } = new BlobFolder(dir).read(JSON.stringify({ ...lineOf({ content }), blobs }));
      expect([reading.type === 'line' && JSON.stringify(reading.line), lost]).toEqual([JSON.stringify(lineOf({ content })), 0]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const fine = new BlobFolder(dir).read(
      JSON.stringify({ ...lineOf({ content }), blobs: [{ ...good, at: ['item', 'content', 1, 'text'] }] }),
    );
    expect(JSON.stringify(fine.reading)).toContain(Buffer.from('x').toString('base64'));
  });

  it('[recovery.blobs-fault] a disk that refuses the data holds the lines back, in order, until it takes it', async () => {
    const dir = folder();
    const home = path.dirname(dir);
    fs.writeFileSync(dir, 'a file where the folder has to be');
    const told: string[] = [];
    const blobs = new BlobFolder(dir);
    const file = path.join(home, 'r.jsonl');
    const writer = new RolloutWriter(file, { blobs, tornEnd: false, onFault: (message) => told.push(message) });
    const url = `data:image/png;base64,${randomBytes(20_000).toString('base64')}`;
    writer.append({ type: 'name', name: 'first' });
    await writer.flush();
    writer.append(lineOf({ content: [{ image_url: url }] }));
    writer.append({ type: 'name', name: 'last' });
    await writer.flush();
    expect([told.length, fs.readFileSync(file, 'utf8').split('\n').length]).toEqual([1, 2]);
    fs.rmSync(dir);
    await expect.poll(() => told.length, { timeout: 10_000 }).toBe(2);
    await writer.close();
    const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['name', 'history', 'name']);
    expect(JSON.stringify(blobs.read(lines[1]).reading)).toContain(url);
  });

  it('[recovery.blobs-detached] a detached copy does not need the files; what needs none is not copied', async () => {
    const dir = folder();
    const blobs = new BlobFolder(dir);
    const url = `data:image/png;base64,${randomBytes(20_000).toString('base64')}`;
    const line = lineOf({ content: [{ image_url: url }] }) as Extract<RolloutLine, { type: 'history' }>;
    expect(detached(line.item)).toBe(line.item);
    const stripped = blobs.strip(line);
    if (!stripped) throw new Error('nothing was taken out');
    await blobs.write(stripped);
    blobs.release(stripped);
    const copy = detached(line.item);
    expect(copy).not.toBe(line.item);
    fs.rmSync(dir, { recursive: true });
    expect(JSON.stringify(copy)).toContain(url);
  });
});
