// What is kept and what is passed on, byte for byte.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputCapture } from '../../src/server/exec-capture.ts';

const outputs = fc.array(
  fc.record({
    stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'tty' as const),
    bytes: fc.uint8Array({ maxLength: 40 }),
  }),
  { maxLength: 20 },
);

describe('OutputCapture', () => {
  it('[exec-wire.capture] gives, of each stream, the first bytes up to the cap, kept or streamed, and marks exactly what was cut', () => {
    fc.assert(
      fc.property(outputs, fc.option(fc.nat(60)), (given, cap) => {
        const streamed = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
        const marks = { stdout: false, stderr: false };
        const passing = new OutputCapture(cap, (stream, bytes, capReached) => {
          streamed[stream].push(Uint8Array.from(bytes));
          if (marks[stream]) throw new Error('something came after the cap');
          marks[stream] = capReached;
        });
        const keeping = new OutputCapture(cap, null);
        for (const output of given) {
          passing.push(output);
          keeping.push(output);
        }
        for (const name of ['stdout', 'stderr'] as const) {
          const whole = Buffer.concat(
            given.filter(({ stream }) => (stream === 'stderr') === (name === 'stderr')).map(({ bytes }) => bytes),
          );
          const kept = whole.subarray(0, cap ?? whole.length);
          expect(Buffer.concat(streamed[name]).equals(kept)).toBe(true);
          expect(marks[name]).toBe(kept.length < whole.length);
          expect(passing.read(name).text).toBe('');
          const { text, capReached } = keeping.read(name);
          expect(capReached).toBe(kept.length < whole.length);
          // Uncut, the text is that of the bytes; cut, it may lack the unfinished character at the end.
          if (capReached) expect(kept.toString().startsWith(text.replace(/\ufffd+$/, ''))).toBe(true);
          else expect(text).toBe(kept.toString());
        }
      }),
    );
  });

  it('[exec-wire.capture-character] never cuts a kept text inside a character', () => {
    const capture = new OutputCapture(4, null);
    capture.push({ stream: 'stdout', bytes: Buffer.from('aé€') });
    expect(capture.read('stdout')).toEqual({ text: 'aé', capReached: true });
    expect(capture.read('stderr')).toEqual({ text: '', capReached: false });
  });
});
