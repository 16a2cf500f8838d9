import '../wire/quiet.ts';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ArtifactStore } from '../../src/tools/artifacts.ts';
import { toHistoryItem } from '../../src/tools/history-output.ts';
import { textOf, textOutput } from '../../src/tools/result.ts';
import { readArtifact } from '../../src/tools/runtimes/read-artifact.ts';
import { TraceFile } from '../../src/tools/trace-file.ts';
import { callOf, facts, recordingEvents } from './support.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tools-artifacts-'));
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

describe('artifacts', () => {
  const store = new ArtifactStore(path.join(dir, 'thread'));

  it('[tools.artifact-range] gives any text back by ranges of whole characters that join without a gap', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 9 }), async (text, limit) => {
        await store.save('any', text);
        let offset: number | null = 0;
        let joined = '';
        for (let reads = 0; offset !== null && reads <= Buffer.byteLength(text); reads++) {
          const reading = await store.read('any', offset, limit);
          if (reading.type !== 'text') throw new Error('unknown');
          expect(reading.offset).toBe(offset);
          joined += reading.text;
          offset = reading.nextOffset;
        }
        expect(joined).toBe(text);
      }),
      { numRuns: 60 },
    );
    await store.save('any', 'aé🌍z');
    expect(await store.read('any', 2, 100)).toEqual({ type: 'text', text: '🌍z', offset: 3, nextOffset: null, totalBytes: 8 });
  });

  it('[tools.artifact-names] keeps two calls apart whatever their ids are, and reads by id, name or path', async () => {
    const ids = ['a/b', 'a:b', 'x'.repeat(100), `${'x'.repeat(100)}y`, '..', ''];
    for (const id of ids) await store.save(id, `of ${id}`);
    expect(new Set(ids.map((id) => store.pathOf(id))).size).toBe(ids.length);
    for (const id of ids) {
      for (const name of [id, store.pathOf(id), path.basename(store.pathOf(id))])
        expect(await store.read(name, 0, 200)).toMatchObject({ text: `of ${id}` });
    }
    expect(await store.read('/etc/passwd', 0, 10)).toMatchObject({ type: 'unknown' });
  });

  it('[tools.read-artifact] reads what a cut result named, says where to go on, and names what there is', async () => {
    const call = callOf('dump');
    const whole = `${'a'.repeat(400)}MIDDLE${'b'.repeat(400)}`;
    const item = await toHistoryItem(call, textOutput(whole), 100, store);
    const named =
      item.type === 'function_call_output' && typeof item.output === 'string' ? (/kept in (\S+?);/.exec(item.output)?.[1] ?? '') : '';
    expect(item.type === 'function_call_output' && item.output).not.toContain('MIDDLE');
    const runtime = readArtifact(store);
    const ask = async (args: { id: string; offset?: number; limit?: number }) =>
      textOf(
        await runtime.run(
          { call: callOf('read_artifact'), args, step: facts(), events: recordingEvents(), approved: 'notNeeded' },
          new AbortController().signal,
        ),
      );
    expect(await ask({ id: named, offset: 400, limit: 6 })).toBe('Bytes 400–406 of 806. Go on at offset 406.\nMIDDLE');
    expect(await ask({ id: 'call_dump', offset: 800 })).toBe('Bytes 800–806 of 806. This is the end.\nbbbbbb');
    expect(await ask({ id: 'nothing' })).toMatch(/^There is no artifact nothing\. Kept in this thread: .*call_dump/);
    expect(runtime.validate({ type: 'function', arguments: '{"id":"x","offset":-1}' })).toMatchObject({ ok: false });
  });
});

describe('traces', () => {
  const trace = {
    turnId: 'turn',
    callId: 'c',
    tool: 'x',
    marks: { provider_item_received: 0, result_normalized: 2.00049 },
    waits: { readyMs: 0, gateMs: 1.23456, approvalMs: 0, hooksMs: 0 },
    handlerMs: 0.5,
    success: true,
  };

  it('[tools.trace-file] keeps one line a call with the waits apart, in order', async () => {
    const file = new TraceFile(dir, 'one');
    for (const callId of ['a', 'b']) file.add({ ...trace, callId });
    await file.flush();
    const lines = fs
      .readFileSync(path.join(dir, 'traces', 'one.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      ['a', 'b'].map((callId) => ({
        endedAt: expect.any(String),
        ...trace,
        callId,
        marks: { provider_item_received: 0, result_normalized: 2 },
        waits: { ...trace.waits, gateMs: 1.235 },
      })),
    );
  });

  it('[tools.trace-refused] costs nothing but the trace when the disk refuses', async () => {
    fs.writeFileSync(path.join(dir, 'full'), '');
    const file = new TraceFile(path.join(dir, 'full'), 'x');
    file.add(trace);
    file.add(trace);
    await expect(file.flush()).resolves.toBeUndefined();
  });
});
