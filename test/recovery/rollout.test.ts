// The record of a thread: written in order whatever the disk does, read whatever a crash left, and the same to every reader after it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { RolloutLine } from '../../src/protocol/rollout.ts';
import { readRolloutLine } from '../../src/protocol/rollout.ts';
import { BlobFolder } from '../../src/session/rollout/blobs.ts';
import { RolloutOutline } from '../../src/session/rollout/outline.ts';
import { replayRollout } from '../../src/session/rollout/reader.ts';
import { RolloutWriter } from '../../src/session/rollout/writer.ts';

const folders: string[] = [];
const folder = (): string => {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-rollout-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

const blobs = (): BlobFolder => new BlobFolder(path.join(folder(), 'images'));

const fact = (name: string): RolloutLine => ({ type: 'name', name });
const names = (file: string): (string | null)[] =>
  fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .map(readRolloutLine)
    .flatMap((reading) => (reading.type === 'line' && reading.line.type === 'name' ? [reading.line.name] : []));

const command = (id: string, status: 'inProgress' | 'completed') =>
  ({
    type: 'commandExecution',
    id,
    command: 'x',
    cwd: '/w',
    status,
    commandActions: [],
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
    processId: null,
    source: 'agent',
  }) as unknown as Extract<RolloutLine, { type: 'item' }>['item'];
const userItem = (id: string, text: string) =>
  ({ type: 'userMessage', id, clientId: null, content: [{ type: 'text', text, text_elements: [] }] }) as Extract<
    RolloutLine,
    { type: 'item' }
  >['item'];
const said = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text }] });
const call = (id: string) => ({ type: 'function_call' as const, call_id: id, name: 'exec_command', arguments: '{}' });
const output = (id: string, text: string) => ({ type: 'function_call_output' as const, call_id: id, output: text });

/** A turn with two calls, cut off while the second ran. */
const CUT: RolloutLine[] = [
  { type: 'turnStarted', turnId: 't1', startedAt: 5 },
  { type: 'item', turnId: 't1', item: userItem('u1', 'go') },
  { type: 'history', turnId: 't1', origin: 'user', item: said('go') },
  { type: 'history', turnId: 't1', origin: 'model', item: call('c1') },
  { type: 'history', turnId: 't1', origin: 'model', item: call('c2') },
  { type: 'itemStarted', turnId: 't1', item: command('c1', 'inProgress') },
  { type: 'itemStarted', turnId: 't1', item: command('c2', 'inProgress') },
  { type: 'item', turnId: 't1', item: command('c1', 'completed') },
  { type: 'result', turnId: 't1', item: output('c1', 'first') },
];

function write(lines: readonly RolloutLine[], end = '\n'): string {
  const file = path.join(folder(), 'r.jsonl');
  const stamped = lines.map((line) => JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line }));
  fs.writeFileSync(file, stamped.join('\n') + end);
  return file;
}

describe('the record', () => {
  it('[recovery.order] keeps the order of what was appended, through a disk that refuses for a while, and tells its owner twice', async () => {
    const dir = folder();
    const blocked = path.join(dir, 'sessions');
    fs.writeFileSync(blocked, 'a file where the folder has to be');
    const told: string[] = [];
    const writer = new RolloutWriter(path.join(blocked, 'r.jsonl'), {
      blobs: blobs(),
      tornEnd: false,
      onFault: (message) => told.push(message),
    });
    for (let i = 0; i < 50; i++) writer.append(fact(`a${i}`));
    await writer.flush();
    writer.append(fact('between'));
    await writer.flush();
    expect(told).toHaveLength(1);
    fs.rmSync(blocked);
    for (let i = 0; i < 500 && told.length < 2; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    writer.append(fact('last'));
    await writer.close();
    expect(names(path.join(blocked, 'r.jsonl'))).toEqual([...Array.from({ length: 50 }, (_, i) => `a${i}`), 'between', 'last']);
    expect(told).toHaveLength(2);
  });

  it('[recovery.fresh-line] begins on a fresh line behind a torn end', async () => {
    const file = path.join(folder(), 'r.jsonl');
    fs.writeFileSync(file, `${JSON.stringify(fact('whole'))}\n{"type":"name","na`);
    const writer = new RolloutWriter(file, { blobs: blobs(), tornEnd: true, onFault: () => {} });
    writer.append(fact('next'));
    await writer.close();
    expect(names(file)).toEqual(['whole', 'next']);
  });

  it('[recovery.odd-lines] lines that are torn, odd or of an unknown kind cost nothing but themselves', async () => {
    const good = [fact('one'), ...CUT, fact('two')].map((line) => JSON.stringify(line));
    const junk = fc.oneof(
      fc.string().map((text) => text.replaceAll('\n', ' ')),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.constantFrom(
        '{"type":"item"}',
        '{"type":"history","turnId":"t1"}',
        '{"type":"later","x":1}',
        '{"type":"item","turnId":5,"item":{}}',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(good.length), junk), { maxLength: 8 }), async (inserts) => {
        const lines = [...good];
        for (const [at, text] of inserts) if (!good.includes(text)) lines.splice(at, 0, text);
        const file = path.join(folder(), 'r.jsonl');
        fs.writeFileSync(file, `${lines.join('\n')}\n`);
        const replay = await replayRollout(file, blobs());
        expect(replay.name).toBe('two');
        expect(replay.turns.map(({ id, status }) => [id, status])).toEqual([['t1', 'interrupted']]);
        expect(replay.history.map(({ item }) => item)).toEqual([said('go'), call('c1'), call('c2'), output('c1', 'first')]);
      }),
      { numRuns: 40 },
    );
  });

  it('[recovery.unknown-kinds] a kind of a later version is no damage', async () => {
    const file = path.join(folder(), 'r.jsonl');
    fs.writeFileSync(file, `{"type":"fromTheFuture","x":1}\n${JSON.stringify(fact('n'))}\nnot json\n`);
    const replay = await replayRollout(file, blobs());
    expect([replay.name, replay.readLines, replay.skippedLines]).toEqual(['n', 1, 1]);
  });

  it('[recovery.cut-turn] a cut turn is interrupted when it was last heard of, its open item failed, a finished result kept in place', async () => {
    const { turns, history, remains } = await replayRollout(write(CUT), blobs());
    expect(turns[0]).toMatchObject({ status: 'interrupted', startedAt: 5, completedAt: 1767323045 });
    expect(turns[0].items.map((item) => [item.id, (item as { status?: string }).status])).toEqual([
      ['u1', undefined],
      ['c1', 'completed'],
      ['c2', 'failed'],
    ]);
    expect(history.at(-1)?.item).toEqual(output('c1', 'first'));
    expect(remains.placed).toEqual([{ turnId: 't1', callId: 'c1' }]);
  });

  it('[recovery.input-first] an input that was answered for is there although no turn came to take it; a refused one is not', async () => {
    const input = (id: string, text: string): RolloutLine => ({
      type: 'input',
      turnId: `t-${id}`,
      id,
      clientId: null,
      input: [{ type: 'text', text }],
    });
    const file = write([input('kept', 'keep me'), input('gone', 'secret'), { type: 'inputRefused', turnId: 't-gone', id: 'gone' }]);
    const replay = await replayRollout(file, blobs());
    expect(replay.history.map(({ item }) => item)).toEqual([said('keep me')]);
    expect(replay.turns.map(({ id, status }) => [id, status])).toEqual([['t-kept', 'interrupted']]);
    const outline = new RolloutOutline(file, blobs());
    await outline.extend();
    expect(await outline.load(['t-kept'])).toEqual(replay.turns);
  });

  it('[recovery.input-halfway] an input whose item is there and whose message to the model is not is not shown twice and not lost', async () => {
    const file = write([
      { type: 'input', turnId: 't', id: 'u', clientId: null, input: [{ type: 'text', text: 'go' }] },
      { type: 'turnStarted', turnId: 't', startedAt: 5 },
      { type: 'item', turnId: 't', item: userItem('u', 'go') },
    ]);
    const replay = await replayRollout(file, blobs());
    expect([replay.history.map(({ item }) => item), replay.turns[0].items]).toEqual([[said('go')], [userItem('u', 'go')]]);
  });

  it('[recovery.window] how full the window is follows from the last request of the thread, and from nothing once the history was replaced', async () => {
    const counts = (totalTokens: number) =>
      ({
        totalTokens,
        inputTokens: totalTokens,
        cachedInputTokens: 0,
        cacheWriteInputTokens: 0,
        outputTokens: 0,
        reasoningOutputTokens: 0,
      }) as const;
    const usage = (last: number, total: number, more: { aside?: true } = {}): RolloutLine => ({
      type: 'usage',
      usage: { total: counts(total), last: counts(last), modelContextWindow: 1_000 },
      ...more,
    });
    const compacted: RolloutLine = { type: 'compacted', items: [{ origin: 'user', item: said('go') }] };
    const standing = async (...lines: RolloutLine[]) => {
      const { windowTokens, usage: spent } = await replayRollout(write(lines), blobs());
      return [windowTokens, spent?.total.totalTokens];
    };
    expect(await standing(usage(90, 90))).toEqual([90, 90]);
    expect(await standing(usage(90, 90), usage(5, 95, { aside: true }))).toEqual([90, 95]);
    expect(await standing(usage(90, 90), compacted)).toEqual([0, 90]);
    expect(await standing(usage(90, 90), compacted, usage(5, 95, { aside: true }))).toEqual([0, 95]);
    expect(await standing(usage(90, 90), compacted, usage(20, 115))).toEqual([20, 115]);
  });

  it('[recovery.outline] turns read by their places are the turns that a whole reading gives, also while the file grows and after a revert', async () => {
    const turn = (id: string): RolloutLine[] => [
      { type: 'turnStarted', turnId: id, startedAt: 5 },
      { type: 'item', turnId: id, item: userItem(`u-${id}`, `question ${id} — ✿`) },
      { type: 'history', turnId: id, origin: 'user', item: said('x'.repeat(3_000)) },
      { type: 'turnCompleted', turnId: id, status: 'completed', error: null, completedAt: 6, durationMs: 1 },
    ];
    const file = write([...turn('a'), ...turn('b'), ...turn('c')]);
    const outline = new RolloutOutline(file, blobs());
    await outline.extend();
    expect(await outline.load(['c', 'a'])).toEqual([
      (await replayRollout(file, blobs())).turns[2],
      (await replayRollout(file, blobs())).turns[0],
    ]);
    const more = [{ type: 'reverted', beforeTurnId: 'b' } as RolloutLine, ...turn('d')];
    fs.appendFileSync(file, more.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join(''));
    await outline.extend();
    expect(outline.turnIds).toEqual(['a', 'd']);
    expect(await outline.load(['a', 'd'])).toEqual((await replayRollout(file, blobs())).turns);
  });
});
