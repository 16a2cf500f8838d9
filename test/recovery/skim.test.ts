// A long record is opened by what it says as a whole. Whatever stands in it, that says the same as all of it, or leaves it to a whole reading.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { RolloutLine } from '../../src/protocol/rollout.ts';
import { BlobFolder } from '../../src/session/rollout/blobs.ts';
import { replayRollout } from '../../src/session/rollout/reader.ts';
import { skimRollout } from '../../src/session/rollout/skim.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-skim-'));
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
const blobs = new BlobFolder(path.join(dir, 'images'));
const file = path.join(dir, 'r.jsonl');

const meta: RolloutLine = {
  type: 'meta',
  version: 1,
  id: 'x',
  createdAt: 1,
  cliVersion: '1',
  source: 'vscode',
  originator: null,
  forkedFromId: null,
  parentThreadId: null,
  config: null,
};
const said = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text }] });
/** Makes the record long enough to be skimmed. */
const long: RolloutLine = { type: 'history', turnId: null, origin: 'injected', item: said('x'.repeat(300_000)) };
const counts = (totalTokens: number) => ({
  totalTokens,
  inputTokens: totalTokens,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
});
const usage = (n: number, more: { aside?: true } = {}): RolloutLine => ({
  type: 'usage',
  usage: { total: counts(n * 10), last: counts(n), modelContextWindow: 100 },
  ...more,
});

/** Lines of a turn from its input to the summary that follows it; `turns` of it count all so far. */
function turn(n: number, tokens: number): RolloutLine[] {
  const turnId = `t${n}`;
  const item = {
    type: 'userMessage' as const,
    id: `u${n}`,
    clientId: null,
    content: [{ type: 'text' as const, text: `q${n}`, text_elements: [] }],
  };
  return [
    { type: 'input', turnId, id: `u${n}`, clientId: null, input: [{ type: 'text', text: `q${n}` }] },
    { type: 'turnStarted', turnId, startedAt: n },
    { type: 'item', turnId, item },
    { type: 'history', turnId, origin: 'user', item: said(`q${n}`) },
    usage(tokens),
    { type: 'turnCompleted', turnId, status: 'completed', error: null, completedAt: n, durationMs: 1 },
    { type: 'summary', preview: 'q0', name: null, updatedAt: n, cwd: '/w', model: 'm', modelProvider: 'p', turns: n + 1 },
  ];
}

const tokens = fc.integer({ min: 1, max: 99 });
const between: fc.Arbitrary<RolloutLine> = fc.oneof(
  fc.constantFrom('a', 'b').map((cwd): RolloutLine => ({ type: 'settings', settings: { cwd, note: '"type":"summary"\n' } })),
  fc.string().map((name): RolloutLine => ({ type: 'name', name })),
  tokens.map((n) => usage(n, { aside: true })),
  fc.constant<RolloutLine>({ type: 'compacted', items: [{ origin: 'user', item: said('kept') }] }),
  fc.nat(3).map((n): RolloutLine => ({ type: 'dynamicTools', tools: [{ n }] })),
  fc.constantFrom<RolloutLine>({ type: 'asked', turnId: 't0', askId: 'q', method: 'm', itemId: null }, { type: 'settled', askId: 'q' }),
  fc.constant<RolloutLine>({ type: 'external' }),
  fc.constant<RolloutLine>({ type: 'history', turnId: null, origin: 'injected', item: said('more') }),
);
const parts = fc.array(fc.oneof({ weight: 2, arbitrary: between.map((line) => [line]) }, { weight: 3, arbitrary: tokens.map((n) => n) }), {
  maxLength: 12,
});

/** Damage: a line that is missing, one twice, or one that is no line. */
const damage = fc.array(fc.tuple(fc.constantFrom('drop', 'repeat', 'junk', 'bare'), fc.nat()), { maxLength: 2 });

function write(lines: readonly RolloutLine[], harm: [string, number][], torn: boolean): void {
  const texts = lines.map((line) => JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line }));
  for (const [kind, n] of harm) {
    const at = 2 + (n % Math.max(1, texts.length - 2));
    if (kind === 'drop') texts.splice(at, 1);
    else if (kind === 'repeat') texts.splice(at, 0, texts[at] ?? '');
    else if (kind === 'junk') texts.splice(at, 0, '{"timestamp":"2026-01-02T03:04:05.000Z","type":"na');
    else if (lines[at]) texts[at] = JSON.stringify(lines[at]); // as another hand would write it
  }
  fs.writeFileSync(file, texts.join('\n') + (torn ? '' : '\n'));
}

describe('a record that is skimmed', () => {
  it('[recovery.skim] says what the whole record says, or nothing', async () => {
    let skimmed = 0;
    await fc.assert(
      fc.asyncProperty(parts, damage, fc.boolean(), async (given, harm, torn) => {
        let n = 0;
        const lines = [meta, { type: 'settings', settings: { cwd: '/w' } } as RolloutLine, long];
        for (const part of given) lines.push(...(typeof part === 'number' ? turn(n++, part) : part));
        write(lines, harm, torn);
        const skim = await skimRollout(file, blobs);
        if (!skim) return;
        skimmed++;
        const whole = await replayRollout(file, blobs);
        const { remains, turns } = whole;
        for (const key of [
          'meta',
          'settings',
          'dynamicTools',
          'name',
          'external',
          'usage',
          'windowTokens',
          'queue',
          'goal',
          'updatedAt',
        ] as const)
          expect([key, skim.replay[key]]).toEqual([key, whole[key]]);
        // What damage in the middle left open is found, and made good, when the rest is read.
        if (harm.length > 0) return;
        expect([remains.turns, remains.items, [...remains.inputs], [...remains.questions], [...remains.results]]).toEqual([
          [],
          [],
          [],
          [],
          [],
        ]);
        expect([skim.turns, skim.preview]).toEqual([turns.length, 'q0']);
      }),
      { numRuns: 400 },
    );
    expect(skimmed).toBeGreaterThan(40);
  });
});
