import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { OutputCollector } from '../../src/exec/output.ts';
import type { ProcessOutput } from '../../src/exec/process.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { Utf8Splitter } from '../../src/exec/utf8.ts';
import { bash } from './support.ts';

const runner = new LocalProcessRunner();
const folder = mkdtemp(join(tmpdir(), 'harnessd-test-'));
afterAll(async () => {
  await runner.endAll(500);
  await rm(await folder, { recursive: true });
});

const tty = (bytes: Uint8Array): ProcessOutput => ({ stream: 'tty', bytes });
/** Bytes that are often text, often not, cut anywhere. */
const anyBytes = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((s) => Buffer.from(s)),
  fc.uint8Array({ maxLength: 12 }).map((b) => Buffer.from(b)),
  fc.constantFrom(...[[0xe6], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0]].map((b) => Buffer.from(b))),
);
const stream = fc.array(anyBytes, { maxLength: 12 }).map((parts) => Buffer.concat(parts));
const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 20 });
function chunked(bytes: Buffer, at: number[]): Buffer[] {
  const points = [...new Set([0, ...at.map((n) => n % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  return points.slice(1).map((end, i) => bytes.subarray(points[i], end));
}

describe('output of a process', () => {
  it('[exec.utf8] gives the same text however the bytes are cut', () => {
    fc.assert(
      fc.property(stream, cuts, (bytes, at) => {
        const splitter = new Utf8Splitter();
        const parts = [
          ...chunked(bytes, at).map((chunk) => Buffer.from(splitter.push(chunk)).toString()),
          Buffer.from(splitter.end()).toString(),
        ];
        expect(parts.join('')).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  it('[exec.collect] keeps text, deltas, reads and lines in step', async () => {
    await fc.assert(
      fc.asyncProperty(stream, cuts, fc.boolean(), async (bytes, at, reads) => {
        let deltas = '';
        const collector = new OutputCollector({ onDelta: (text) => void (deltas += text) });
        let read = '';
        for (const chunk of chunked(bytes, at)) {
          collector.push(tty(chunk));
          if (reads) read += collector.takeNew().text;
        }
        await collector.end();
        read += collector.takeNew().text;
        const text = bytes.toString();
        const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);
        expect([collector.aggregated(), deltas, read, collector.totalLines, collector.totalBytes]).toEqual([
          text,
          text,
          text,
          lines,
          bytes.length,
        ]);
        expect(collector.takeNew()).toEqual({ text: '', omittedBytes: 0, lines: 0 });
      }),
    );
  });

  it('[exec.head-tail] keeps head and tail between characters and counts the rest exactly', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '日', '😀', '\n'), { minLength: 1, maxLength: 300 }).map((c) => c.join(''));
    fc.assert(
      fc.property(text, cuts, fc.integer({ min: 8, max: 200 }), (whole, at, cap) => {
        const bytes = Buffer.from(whole);
        const collector = new OutputCollector({ capBytes: cap });
        for (const chunk of chunked(bytes, at)) collector.push(tty(chunk));
        const kept = collector.aggregated();
        expect(collector.takeNew().text).toBe(kept);
        if (bytes.length <= (cap >> 1) * 2) {
          expect(kept).toBe(whole);
          return;
        }
        const [, head, said, tail] = /^(.*)\n\.\.\. (\d+) bytes omitted \.\.\.\n(.*)$/s.exec(kept) ?? [];
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(Number(said)).toBe(bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail));
        for (const part of [head, tail]) expect(Buffer.byteLength(part)).toBeGreaterThan((cap >> 1) - 4);
      }),
    );
  });

  it('[exec.cursor] gives only what is new, also when its middle is gone', () => {
    const collector = new OutputCollector({ capBytes: 16 });
    collector.push(tty(Buffer.from('abcd\n')));
    expect(collector.takeNew()).toEqual({ text: 'abcd\n', omittedBytes: 0, lines: 1 });
    collector.push(tty(Buffer.from('efg\nhijklmno\npqrstuv')));
    expect(collector.takeNew()).toEqual({ text: 'efg\n... 9 bytes omitted ...\n\npqrstuv', omittedBytes: 9, lines: 3 });
    collector.push(tty(Buffer.from('wx')));
    expect(collector.takeNew()).toEqual({ text: 'wx', omittedBytes: 0, lines: 1 });
    collector.push(tty(Buffer.from('0123456789\nABCDEFGH')));
    expect(collector.takeNew()).toEqual({ text: '\n... 11 bytes omitted ...\nABCDEFGH', omittedBytes: 11, lines: 2 });
  });

  it('[exec.binary] marks the part that is not text, not what comes after it', async () => {
    const collector = new OutputCollector({ capBytes: 16 });
    const read = (...bytes: number[]) => {
      collector.push({ stream: 'stdout', bytes: Uint8Array.from(bytes) });
      return collector.takeNew();
    };
    expect(read(0x61, 0, 0x62)).toEqual({ text: 'a\0b', omittedBytes: 0, lines: 1, binary: true });
    expect(read(0x63, 0xe6)).toEqual({ text: 'c', omittedBytes: 0, lines: 1 });
    expect(read(0x97, 0xa5)).toEqual({ text: '日', omittedBytes: 0, lines: 1 });
    expect(read(0xff)).toEqual({ text: '\ufffd', omittedBytes: 0, lines: 1, binary: true });
    expect(read(0xf0, 0x9f)).toEqual({ text: '', omittedBytes: 0, lines: 0 });
    await collector.end();
    expect(collector.takeNew()).toEqual({ text: '\ufffd', omittedBytes: 0, lines: 1, binary: true });
  });

  it('[exec.streams] joins characters per stream when two streams interleave', async () => {
    const collector = new OutputCollector();
    const [a, b, c] = Buffer.from('日');
    collector.push({ stream: 'stdout', bytes: Buffer.from([a, b]) });
    collector.push({ stream: 'stderr', bytes: Buffer.from('err ') });
    collector.push({ stream: 'stdout', bytes: Buffer.from([c, a]) });
    await collector.end();
    expect(collector.aggregated()).toBe('err 日\uFFFD');
  });

  it('[exec.deltas] sends the first delta at once, small ones together, none over 8 KiB, none beyond the cap', async () => {
    const seen: string[] = [];
    const collector = new OutputCollector({ onDelta: (text) => void seen.push(text) });
    collector.push(tty(Buffer.from('one')));
    expect(seen).toEqual(['one']);
    collector.push(tty(Buffer.from('two')));
    collector.push(tty(Buffer.from('three')));
    expect(seen).toEqual(['one']);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(seen).toEqual(['one', 'twothree']);
    for (let i = 0; i < 40; i++) collector.push(tty(Buffer.from('é'.repeat(20_000))));
    await collector.end();
    expect(Math.max(...seen.map((text) => Buffer.byteLength(text)))).toBe(8192);
    expect(Buffer.byteLength(seen.join(''))).toBe(1024 * 1024 - 1);
  });

  it('[exec.spill] writes the whole output to the file once it is long', async () => {
    const path = join(await folder, 'whole.txt');
    const short = new OutputCollector({ spill: { path, thresholdBytes: 100 } });
    short.push(tty(Buffer.alloc(100, 'x')));
    await short.end();
    expect(short.spilled).toBeUndefined();

    const process = runner.start(bash('seq 1 400000'));
    const collector = new OutputCollector({ spill: { path } });
    collector.attach(process);
    await process.exited;
    await collector.end();
    const whole = Array.from({ length: 400_000 }, (_, i) => `${i + 1}\n`).join('');
    expect((await readFile(path, 'utf8')) === whole).toBe(true);
    expect(collector.spilled).toEqual({ path, bytes: whole.length, complete: true, error: undefined });
    expect([collector.totalBytes, collector.totalLines, collector.truncated]).toEqual([whole.length, 400_000, true]);
  });

  it('[exec.spill.bounds] stops at its cap, and a file that cannot be written stops nothing', async () => {
    const path = join(await folder, 'capped.txt');
    const capped = new OutputCollector({ spill: { path, thresholdBytes: 10, maxBytes: 1000 } });
    for (let i = 0; i < 50; i++) capped.push(tty(Buffer.alloc(100, 'x')));
    await capped.end();
    expect([capped.spilled, (await stat(path)).size]).toEqual([{ path, bytes: 1000, complete: false, error: undefined }, 1000]);

    const lost = new OutputCollector({ spill: { path: '/no/such/folder/file', thresholdBytes: 10 } });
    lost.push(tty(Buffer.alloc(100, 'x')));
    await lost.end();
    expect(lost.spilled).toMatchObject({ complete: false, error: expect.stringContaining('ENOENT') });
  });

  it('[exec.flood] stays flat under a flood whose consumer lags', async () => {
    const path = join(await folder, 'flood.txt');
    const process = runner.start(bash('yes'));
    let deltas = 0;
    const collector = new OutputCollector({
      spill: { path, maxBytes: 8 * 1024 * 1024 },
      onDelta: () => (++deltas % 32 === 0 ? new Promise((resolve) => setTimeout(resolve, 20)) : undefined),
    });
    collector.attach(process);
    const before = globalThis.process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await process.terminate(200);
    await collector.end();
    expect((globalThis.process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(120);
    expect(collector.totalBytes).toBeGreaterThan(8 * 1024 * 1024);
    expect(collector.spilled).toMatchObject({ bytes: 8 * 1024 * 1024, complete: false });
  });
});
