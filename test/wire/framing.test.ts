import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder, type Framing } from '../../src/server/framing.ts';

type Event = { value: unknown } | { damaged: unknown } | { fault: string };

function decoder(maxBytes?: number): { decoder: FrameDecoder; events: Event[] } {
  const events: Event[] = [];
  const sink = {
    onMessage: (value: unknown, intact: boolean) => void events.push(intact ? { value } : { damaged: value }),
    onFault: (fault: { kind: string }) => void events.push({ fault: fault.kind }),
  };
  return { decoder: new FrameDecoder(sink, maxBytes), events };
}

function decode(input: string | Uint8Array, maxBytes?: number): Event[] {
  const { decoder: d, events } = decoder(maxBytes);
  d.push(Buffer.from(input));
  d.end();
  return events;
}

const frame = (json: string, headers = ''): string => `${headers}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
const parse = { fault: 'parse' };

describe('lines', () => {
  it('[wire.ndjson.lenient] blank lines, CRLF, blanks around a message and a byte order mark do no harm', () => {
    const text = '\ufeff{"a":1}\n\n  \r\n\t{"b":2} \r\n{"c":3}';
    expect(decode(text)).toEqual([{ value: { a: 1 } }, { value: { b: 2 } }, { value: { c: 3 } }]);
  });

  it('[wire.ndjson.split] only 0x0a ends a line: U+2028, U+2029 and U+0085 are text', () => {
    expect(decode('{"t":"a\u2028b\u2029c\u0085d"}\n')).toEqual([{ value: { t: 'a\u2028b\u2029c\u0085d' } }]);
  });

  it('[wire.ndjson.parse] a line that is not JSON is one fault, and the next line is served', () => {
    expect(decode('{\nhello\n{"id":9,"method":\n{"ok":1}\n')).toEqual([parse, parse, parse, { value: { ok: 1 } }]);
  });

  it('[wire.ndjson.utf8] bytes that are not UTF-8 are reported as damaged; a real replacement character is not', () => {
    const bad = Buffer.concat([Buffer.from('{"id":"u","m":"'), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('"}\n')]);
    expect(decode(bad)).toEqual([{ damaged: { id: 'u', m: '\ufffd\ufffd(' } }]);
    expect(decode('{"m":"\ufffd"}\n')).toEqual([{ value: { m: '\ufffd' } }]);
  });

  it('[wire.ndjson.end] the end of the input serves a last line without line feed; half a message is a fault', () => {
    expect(decode('{"a":1}\n{"b":2}')).toEqual([{ value: { a: 1 } }, { value: { b: 2 } }]);
    expect(decode('{"id":"half","method":')).toEqual([parse]);
    expect(decode('')).toEqual([]);
  });

  it('[wire.ndjson.cap] a message over the limit is refused at once, skipped to its end, and the next is served', () => {
    const { decoder: d, events } = decoder(100);
    d.push(Buffer.from(`{"pad":"${'x'.repeat(200)}`));
    expect(events).toEqual([{ fault: 'oversized' }]);
    for (let i = 0; i < 50; i++) d.push(Buffer.alloc(1000, 0x78));
    d.push(Buffer.from('"}\n{"next":1}\n'));
    expect(events).toEqual([{ fault: 'oversized' }, { value: { next: 1 } }]);
    expect(decode(`{"pad":"${'x'.repeat(89)}"}\n{"pad":"${'x'.repeat(91)}"}\n{"ok":1}\n`, 100)).toEqual([
      { value: { pad: 'x'.repeat(89) } },
      { fault: 'oversized' },
      { value: { ok: 1 } },
    ]);
  });

  it('[wire.ndjson.linear] a megabyte fed byte by byte costs a linear amount of work', () => {
    const { decoder: d, events } = decoder();
    const text = JSON.stringify({ pad: 'y'.repeat(1_000_000) });
    const bytes = Buffer.from(`${text}\n`);
    const began = performance.now();
    for (let i = 0; i < bytes.length; i++) d.push(bytes.subarray(i, i + 1));
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(events).toEqual([{ value: JSON.parse(text) }]);
  });
});

describe('Content-Length', () => {
  it('[wire.header.recognised] the first bytes decide: any case, other headers, both orders, a byte order mark, blank lines before', () => {
    expect(decode(frame('{"a":"ü"}') + frame('{"b":2}'))).toEqual([{ value: { a: 'ü' } }, { value: { b: 2 } }]);
    expect(decode(frame('{"a":1}', 'content-TYPE: application/vscode-jsonrpc; charset=utf-8\r\n'))).toEqual([{ value: { a: 1 } }]);
    expect(decode(`\ufeff\n\r\ncontent-length:7\nX-Other: y\n\n{"a":1}\r\n\r\n${frame('{"b":2}')}`)).toEqual([
      { value: { a: 1 } },
      { value: { b: 2 } },
    ]);
  });

  it('[wire.header.answered] a framing is answered in kind', () => {
    const { decoder: d } = decoder();
    expect(d.framing).toBe('ndjson');
    d.push(Buffer.from('Content-Length: 2'));
    expect(d.framing).toBe('ndjson');
    d.push(Buffer.from('\r\n'));
    expect(d.framing).toBe('contentLength');
    expect(encodeFrame('contentLength', '{"a":"ü"}')).toBe('Content-Length: 10\r\n\r\n{"a":"ü"}');
    expect(encodeFrame('ndjson', '{}')).toBe('{}\n');
  });

  it('[wire.header.late] after a line was served a header is a fault; after garbage it is still recognised', () => {
    expect(decode(`{"a":1}\n${frame('{"b":2}')}`)).toEqual([{ value: { a: 1 } }, parse, { value: { b: 2 } }]);
    expect(decode(`garbage\n${frame('{"b":2}')}`)).toEqual([parse, { value: { b: 2 } }]);
  });

  it('[wire.header.body] a body that is not JSON, or empty, is a fault and the next is served', () => {
    expect(decode(frame('{nope') + frame('') + frame('  ') + frame('{"ok":1}'))).toEqual([parse, parse, parse, { value: { ok: 1 } }]);
    expect(decode('Content-Length: 100\r\n\r\n{"a":')).toEqual([parse]);
  });

  it('[wire.header.bad] a bad header block is one fault; the stream is found again at the next Content-Length', () => {
    const next = frame('{"ok":1}');
    const fault = { fault: 'header' };
    for (const bad of [
      'Content-Length: abc\r\n\r\n{"x":1}',
      'Content-Length: -5\r\n\r\n{"x":1}',
      'Content-Length: 7\r\nContent-Length: 8\r\n\r\n{"x":1}',
      'Content-Type: x\r\n\r\n{"x":1}',
      'Content-Length: 7\r\nnot a header\r\n\r\n{"x":1}',
      `Content-Length: 7\r\nX: ${'y'.repeat(9_000)}\r\n\r\n{"x":1}`,
      `Content-Type: x\r\n${'X-Y: z\r\n'.repeat(40)}\r\n{"x":1}`,
    ]) {
      expect(decode(bad + next), bad.slice(0, 60)).toEqual([fault, { value: { ok: 1 } }]);
    }
    expect(decode(`${next}garbage\r\n${next}`)).toEqual([{ value: { ok: 1 } }, fault, { value: { ok: 1 } }]);
  });

  it('[wire.header.cap] a length over the limit is refused before the body comes; a lie about it does not swallow what follows', () => {
    const big = `{"pad":"${'x'.repeat(200)}"}`;
    expect(decode(frame(big) + frame('{"ok":1}'), 100)).toEqual([{ fault: 'oversized' }, { value: { ok: 1 } }]);
    expect(decode(`Content-Length: 99999999999\r\n\r\n{"id":1}${frame('{"ok":1}')}`)).toEqual([
      { fault: 'oversized' },
      { value: { ok: 1 } },
    ]);
  });
});

// ---- properties

const message = fc.record({ id: fc.integer(), method: fc.string({ unit: 'binary' }), params: fc.jsonValue() });
/** The same bytes in pieces of the given lengths, repeated. */
function chunks(bytes: Buffer, sizes: number[]): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length];
    out.push(bytes.subarray(at, at + size));
    at += size;
  }
  return out;
}
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe('properties', () => {
  it.each<Framing>(['ndjson', 'contentLength'])(
    '[wire.framing.chunks] %s: any chunking of any messages gives the same messages',
    (framing) => {
      fc.assert(
        fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), sizes, (messages, cut) => {
          const bytes = Buffer.from(messages.map((m) => encodeFrame(framing, JSON.stringify(m))).join(''));
          const { decoder: d, events } = decoder();
          for (const chunk of chunks(bytes, cut)) d.push(chunk);
          expect(events).toEqual(messages.map((m) => ({ value: JSON.parse(JSON.stringify(m)) })));
          expect(d.framing).toBe(framing);
        }),
        { numRuns: 200 },
      );
    },
  );

  it('[wire.framing.garbage] any bytes never throw, and the next valid line behind a line feed is served', () => {
    const noHeader = fc.uint8Array({ maxLength: 300 }).filter((bytes) => !/(^|\n)\s*content-/i.test(Buffer.from(bytes).toString('latin1')));
    fc.assert(
      fc.property(noHeader, sizes, (garbage, cut) => {
        const { decoder: d, events } = decoder(100);
        const bytes = Buffer.concat([Buffer.from(garbage), Buffer.from('\n{"id":1,"method":"next"}\n')]);
        for (const chunk of chunks(bytes, cut)) d.push(chunk);
        d.end();
        expect(events.at(-1)).toEqual({ value: { id: 1, method: 'next' } });
      }),
      { numRuns: 300 },
    );
  });

  it('[wire.framing.header-garbage] garbage between header-framed messages never throws, and a later message is served', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('Content-Length: ', '\r\n', '\n', '7', '{"a":1}')), { maxLength: 20 }),
        sizes,
        (parts, cut) => {
          const { decoder: d, events } = decoder(100);
          // What a garbled block claims as its length may cover at most the limit: padding of that size ends it.
          const bytes = Buffer.from(
            `${frame('{"a":1}')}${parts.join('')}${' '.repeat(100)}\n\n${frame('{"id":1}')}${' '.repeat(100)}\n\n${frame('{"id":2}')}`,
          );
          for (const chunk of chunks(bytes, cut)) d.push(chunk);
          d.end();
          expect(events[0]).toEqual({ value: { a: 1 } });
          expect(events.at(-1)).toEqual({ value: { id: 2 } });
        },
      ),
      { numRuns: 300 },
    );
  });
});
