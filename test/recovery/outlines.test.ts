// Where turns lie in a record: known once, also to later daemons, and found anew when the file is another one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RolloutLine } from '../../src/protocol/rollout.ts';
import { BlobFolder } from '../../src/session/rollout/blobs.ts';
import { type OutlineKeeper, Outlines, type RecordPlace } from '../../src/session/rollout/outlines.ts';
import { ThreadStore } from '../../src/session/thread-store.ts';

const folders: string[] = [];
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

const said = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text }] });
const item = (turnId: string, id: string, text: string): RolloutLine => ({
  type: 'item',
  turnId,
  item: { type: 'agentMessage', id, text } as unknown as Extract<RolloutLine, { type: 'item' }>['item'],
});
const turn = (n: number, bytes = 100_000): RolloutLine[] => [
  { type: 'turnStarted', turnId: `t${n}`, startedAt: n },
  { type: 'history', turnId: `t${n}`, origin: 'user', item: said('x'.repeat(bytes)) },
  item(`t${n}`, `a${n}`, `answer ${n} — ✿`),
  { type: 'turnCompleted', turnId: `t${n}`, status: 'completed', error: null, completedAt: n, durationMs: 1 },
];
const textOf = (lines: readonly RolloutLine[]): string =>
  lines.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join('');

class Keeper implements OutlineKeeper {
  readonly kept = new Map<string, string>();
  asked = 0;
  async keptOutline(threadId: string): Promise<string | null> {
    this.asked++;
    return this.kept.get(threadId) ?? null;
  }
  async keepOutline(threadId: string, text: string): Promise<void> {
    this.kept.set(threadId, text);
  }
}

function longRecord(turns = 50): RecordPlace {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-outlines-'));
  folders.push(dir);
  const file = path.join(dir, 'r.jsonl');
  const lines = Array.from({ length: turns }, (_, n) => turn(n)).flat();
  // A command that went on after its turn.
  lines.splice(5 * 4, 0, item('t2', 'late', 'came late'));
  fs.writeFileSync(file, textOf(lines));
  return { threadId: 'x', file, blobs: new BlobFolder(path.join(dir, 'images')) };
}

const shown = async (outlines: Outlines, place: RecordPlace, ids: string[]) =>
  (await outlines.load(place, ids, { running: false })).map(({ id, status, items }) => [
    id,
    status,
    items.map((one) => (one as { text: string }).text),
  ]);

describe('outlines', () => {
  it('[recovery.outlines-kept] a later daemon reads a page of a long record without the rest of the file', async () => {
    const keeper = new Keeper();
    const place = longRecord();
    expect(await new Outlines(keeper).turnIds(place)).toHaveLength(50);
    expect(keeper.kept.size).toBe(1);
    // Were it read again, nothing of this could be understood.
    const bytes = fs.readFileSync(place.file);
    const last = bytes.indexOf('{"timestamp":"2026-01-02T03:04:05.000Z","type":"turnStarted","turnId":"t48"');
    fs.writeFileSync(place.file, Buffer.concat([bytes.fill('#', 0, last)]));
    fs.appendFileSync(place.file, textOf(turn(50)));
    const later = new Outlines(keeper);
    expect(await later.turnIds(place)).toHaveLength(51);
    expect(await shown(later, place, ['t50', 't48'])).toEqual([
      ['t50', 'completed', ['answer 50 — ✿']],
      ['t48', 'completed', ['answer 48 — ✿']],
    ]);
  });

  it('[recovery.outlines-late] what came when its turn was over belongs to it', async () => {
    const keeper = new Keeper();
    const place = longRecord();
    for (const outlines of [new Outlines(keeper), new Outlines(keeper)])
      expect(await shown(outlines, place, ['t2', 't4'])).toEqual([
        ['t2', 'completed', ['answer 2 — ✿', 'came late']],
        ['t4', 'completed', ['answer 4 — ✿']],
      ]);
    expect(keeper.asked).toBe(2);
  });

  it('[recovery.outlines-stale] a file that another hand wrote anew is looked through anew', async () => {
    const keeper = new Keeper();
    const place = longRecord();
    const outlines = new Outlines(keeper);
    await outlines.turnIds(place);
    fs.writeFileSync(place.file, textOf([...turn(7, 60_000), ...Array.from({ length: 60 }, (_, n) => turn(n + 100)).flat()]));
    for (const one of [outlines, new Outlines(keeper)])
      expect((await shown(one, place, ['t7']))[0]).toEqual(['t7', 'completed', ['answer 7 — ✿']]);
    // Shorter than what was known of it.
    fs.writeFileSync(place.file, textOf(turn(3)));
    for (const one of [outlines, new Outlines(keeper)]) expect(await one.turnIds(place)).toEqual(['t3']);
    keeper.kept.set('x', '{"scannedTo":1,"turns":[{"id":5}]}');
    fs.writeFileSync(place.file, textOf(Array.from({ length: 50 }, (_, n) => turn(n)).flat()));
    expect(await new Outlines(keeper).turnIds(place)).toHaveLength(50);
  });

  it('[recovery.outlines-index] the index keeps them, and a home without an index does without', async () => {
    const home = path.dirname(longRecord().file);
    const store = new ThreadStore(home);
    expect(await store.keptOutline('x')).toBeNull();
    await store.keepOutline('x', 'text');
    expect(await store.keptOutline('x')).toBe('text');
    await store.close();
    const later = new ThreadStore(home);
    expect(await later.keptOutline('x')).toBe('text');
    await later.close();
    const bare = path.dirname(longRecord().file);
    fs.mkdirSync(path.join(bare, 'index.sqlite', 'x'), { recursive: true });
    const without = new ThreadStore(bare);
    await without.keepOutline('x', 'text');
    expect(await without.keptOutline('x')).toBeNull();
    await without.close();
  });
});
