import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundOutput } from '../../src/common/bound-text.ts';

describe('bounding a text', () => {
  it('[bound.whole] leaves alone what fits', () => {
    expect(boundOutput('bad\n', 1)).toEqual({ text: 'bad\n', truncated: false, originalTokens: 1 });
    expect(boundOutput('', 0)).toEqual({ text: '', truncated: false, originalTokens: 0 });
  });

  it('[bound.cut] keeps half the budget at each end', () => {
    expect(boundOutput(`${'a'.repeat(50)}${'b'.repeat(50)}`, 5)).toEqual({
      text: 'aaaaaaaaaa…20 tokens truncated…bbbbbbbbbb',
      truncated: true,
      originalTokens: 25,
    });
    expect(boundOutput('abcdefgh', 0)).toEqual({ text: '…2 tokens truncated…', truncated: true, originalTokens: 2 });
  });

  it('[bound.exact] never splits a character and counts what is missing', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '日', '😀', '\n'), { maxLength: 400 }).map((c) => c.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: -5, max: 200 }), (whole, tokens) => {
        const budget = Math.max(0, tokens) * 4;
        const { text: kept, truncated, originalTokens } = boundOutput(whole, tokens);
        expect(originalTokens).toBe(Math.ceil(Buffer.byteLength(whole) / 4));
        expect(truncated).toBe(Buffer.byteLength(whole) > budget);
        if (!truncated) {
          expect(kept).toBe(whole);
          return;
        }
        const [, head, said, tail] = /^(.*)…(\d+) tokens truncated…(.*)$/s.exec(kept) ?? [];
        expect(whole.startsWith(head) && whole.endsWith(tail) && !Buffer.from(kept).toString().includes('\uFFFD')).toBe(true);
        const missing = Buffer.byteLength(whole) - Buffer.byteLength(head) - Buffer.byteLength(tail);
        expect(Math.abs(missing / 4 - Number(said))).toBeLessThanOrEqual(1);
        for (const part of [head, tail]) expect(budget / 2 - Buffer.byteLength(part)).toBeLessThan(4);
      }),
    );
  });
});
