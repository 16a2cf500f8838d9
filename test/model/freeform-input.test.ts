import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FreeformInputReader } from '../../src/model/freeform-input.ts';

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const feedAll = (pieces: string[]) => {
  const reader = new FreeformInputReader();
  return pieces.map((piece) => reader.feed(piece));
};

it('[model.freeform.stream] whatever the cuts, the deltas add up to the input, and each is whole characters', () => {
  const ascii = (json: string) => json.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.boolean(), fc.array(fc.nat(200)), (input, escaped, cuts) => {
      const plain = JSON.stringify({ input });
      const json = escaped ? ascii(plain) : plain;
      const places = [0, ...cuts.map((cut) => cut % json.length).sort((a, b) => a - b), json.length];
      const deltas = feedAll(places.slice(1).map((end, i) => json.slice(places[i], end)));
      expect(deltas.join('')).toBe(input);
      for (const delta of deltas) expect(delta).not.toMatch(LONE);
    }),
  );
});

it('[model.freeform.other] arguments of another shape give no preview', () => {
  expect(feedAll(['{"patch":"x"}', 'more'])).toEqual(['', '']);
  expect(feedAll(['{"input":', '"a', '\\x', '"}'])).toEqual(['', 'a', '', '']);
  expect(feedAll([' '.repeat(100), '{"input":"a"}'])).toEqual(['', '']);
});
