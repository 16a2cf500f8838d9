import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { looksLikePatch, PatchParser, parsePatch } from '../../src/patch/parser.ts';
import type { FileHunk, PatchLine } from '../../src/patch/patch.ts';
import { add, patch, update } from './support.ts';

const line = (sign: PatchLine['sign'], text: string, eol: PatchLine['eol'] = '\n'): PatchLine => ({ sign, text, eol });
const chunk = (at: number, lines: PatchLine[], more: object = {}) => ({
  line: at,
  anchors: [],
  lines,
  endOfFile: false,
  oldUnterminated: false,
  newUnterminated: false,
  ...more,
});

function hunks(text: string): readonly FileHunk[] {
  const result = parsePatch(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.patch.hunks;
}
function errorOf(text: string) {
  const result = parsePatch(text);
  if (result.ok) throw new Error('no error');
  return result.error;
}

describe('forms', () => {
  it('[patch.parse.kinds] add, delete, update with move, anchors and end of file', () => {
    const text = patch(
      '*** Add File: a b.txt',
      '+one',
      '+',
      '*** Delete File: d',
      '*** Update File: u',
      '*** Move to: v/w',
      '@@ class A:',
      '@@   def m():',
      ' x',
      '-y',
      '+z',
      '*** End of File',
    );
    expect(hunks(text)).toEqual([
      { type: 'add', path: 'a b.txt', line: 2, content: 'one\n\n' },
      { type: 'delete', path: 'd', line: 5 },
      {
        type: 'update',
        path: 'u',
        line: 6,
        moveTo: 'v/w',
        chunks: [chunk(8, [line(' ', 'x'), line('-', 'y'), line('+', 'z')], { anchors: ['class A:', '  def m():'], endOfFile: true })],
      },
    ]);
  });

  it('[patch.parse.tolerant] CRLF markers, a here-document, a fence, indentation, spaces around markers, gaps', () => {
    const plain = update('a', '@@', '-one', '+two');
    const want = [{ type: 'update', path: 'a', line: 2, chunks: [chunk(3, [line('-', 'one'), line('+', 'two')])] }];
    const shifted = [{ ...want[0], line: 3, chunks: [{ ...want[0].chunks[0], line: 4 }] }];
    const indent = (text: string, by: string): string => text.replace(/^/gm, by);
    expect(hunks(`${plain}\n\n`)).toEqual(want);
    expect(hunks(indent(plain, '  '))).toEqual(want);
    expect(hunks(indent(plain, '\t'))).toEqual(want);
    expect(hunks(`<<'EOF'\n${plain}\nEOF\n`)).toEqual(shifted);
    expect(hunks(`apply_patch <<"X"\n${plain}\nX`)).toEqual(shifted);
    expect(hunks(`\`\`\`diff\n${plain}\n\`\`\``)).toEqual(shifted);
    expect(hunks('  *** Begin Patch  \n***   Update File:  a \n@@ \n-one\n+two\n  *** End Patch')).toEqual(want);
    expect(hunks(plain.replaceAll('\n', '\r\n'))).toEqual([
      { ...want[0], chunks: [chunk(3, [line('-', 'one', '\r\n'), line('+', 'two', '\r\n')])] },
    ]);
    expect(hunks(patch('*** Add File: a', '+x', '', '+y', '', '*** Add File: b', '+z'))).toEqual([
      { type: 'add', path: 'a', line: 2, content: 'x\n\ny\n' },
      { type: 'add', path: 'b', line: 7, content: 'z\n' },
    ]);
  });

  it('[patch.parse.blank] blank lines are context inside a hunk, added lines between added ones, nothing around them', () => {
    const [u] = hunks(update('a', '@@', ' x', '', '-y', '+z', '', '@@ f', '', '+1', '', '+2', ''));
    expect(u.type === 'update' && u.chunks.map((c) => c.lines)).toEqual([
      [line(' ', 'x'), { ...line(' ', ''), bare: true }, line('-', 'y'), line('+', 'z'), { ...line(' ', ''), bare: true }],
      [line('+', '1'), line('+', ''), line('+', '2')],
    ]);
  });

  it('[patch.parse.ranges] a unified header is a hint, not an anchor; the no-newline mark belongs to the line before', () => {
    const [u] = hunks(update('a', '@@ -3,2 +3,2 @@ def f():', ' x', '-y', '\\ No newline at end of file', '+z'));
    expect(u.type === 'update' && u.chunks).toEqual([
      chunk(3, [line(' ', 'x'), line('-', 'y'), line('+', 'z')], { lineHint: 2, oldUnterminated: true }),
    ]);
    expect(hunks(patch('*** Add File: a', '+x', '\\ No newline at end of file'))).toEqual([
      { type: 'add', path: 'a', line: 2, content: 'x' },
    ]);
  });

  it('[patch.parse.u2028] only \\n ends a line', () => {
    expect(hunks(add('a', 'x\u2028y\u0085z\u000bw'))).toEqual([{ type: 'add', path: 'a', line: 2, content: 'x\u2028y\u0085z\u000bw\n' }]);
  });

  it('[patch.parse.raw] tells a patch from other text', () => {
    expect([add('a', 'x'), `\n  ${add('a', 'x')}`, 'ls', '', 'echo "*** Begin Patch"'].map(looksLikePatch)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('errors', () => {
  const HEADERS = "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'";
  const signs = "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)";
  const cases: [string, string, number, string][] = [
    ['no begin', 'hello', 1, "invalid patch: The first line of the patch must be '*** Begin Patch'; line 1 is 'hello'"],
    ['nothing', '', 1, "invalid patch: The first line of the patch must be '*** Begin Patch'"],
    ['no end', '*** Begin Patch\n*** Add File: q\n+x', 3, "invalid patch: The last line of the patch must be '*** End Patch'"],
    [
      'glued end',
      '*** Begin Patch\n*** Update File: a\n@@\n-one\n+x*** End Patch',
      5,
      "invalid patch: The last line of the patch must be '*** End Patch'; line 5 has it glued to other text: '+x*** End Patch'. Put '*** End Patch' on a line of its own",
    ],
    [
      'glued end on a line without sign',
      '*** Begin Patch\n*** Update File: a\n@@\n-one\nfoo();*** End Patch',
      5,
      `invalid hunk at line 5, Unexpected line found in update hunk: 'foo();*** End Patch'. ${signs}. Put '*** End Patch' on a line of its own`,
    ],
    [
      'header',
      patch('*** Frobnicate File: q', '+x'),
      2,
      `invalid hunk at line 2, '*** Frobnicate File: q' is not a valid hunk header. Valid hunk headers: ${HEADERS}`,
    ],
    [
      'near header',
      patch('*** Updte File: q', '+x'),
      2,
      `invalid hunk at line 2, '*** Updte File: q' is not a valid hunk header. Valid hunk headers: ${HEADERS}. Did you mean '*** Update File: q'?`,
    ],
    ['no path', patch('*** Add File:', '+x'), 2, "invalid hunk at line 2, '*** Add File:' names no path"],
    [
      'no plus',
      patch('*** Add File: q', 'plain'),
      3,
      `invalid hunk at line 3, 'plain' is not a line of the new file: each one starts with '+'. It is not a valid hunk header either. Valid hunk headers: ${HEADERS}`,
    ],
    ['no sign', update('a', '@@', 'esac'), 4, `invalid hunk at line 4, Unexpected line found in update hunk: 'esac'. ${signs}`],
    ['empty patch', patch(), 2, 'patch rejected: empty patch'],
    [
      'empty update',
      update('a.txt'),
      2,
      "invalid hunk at line 2, Update file hunk for path 'a.txt' is empty: it needs '@@' hunks, or a '*** Move to: {path}' line",
    ],
    [
      'empty hunk',
      update('a', '@@ f'),
      3,
      "invalid hunk at line 3, Update hunk is empty: after '@@' come lines that start with ' ', '+' or '-'",
    ],
    [
      'after the end',
      `${add('a', 'x')}\nmore`,
      5,
      "invalid patch: The last line of the patch must be '*** End Patch', but line 5 follows it: 'more'",
    ],
    [
      'after end of file',
      update('a', '-x', '*** End of File', '-y'),
      5,
      "invalid hunk at line 5, '-y' follows '*** End of File'; begin another hunk with '@@' before the lines that are not at the end",
    ],
    [
      'broken indentation',
      '  *** Begin Patch\n  *** Add File: a\n  +x\n+y\n  *** End Patch',
      4,
      "invalid hunk at line 4, '+y' is not indented like the first lines of the patch. Begin the patch at the left margin",
    ],
    [
      'json',
      JSON.stringify({ input: add('q', 'x') }),
      1,
      "invalid patch: The first line of the patch must be '*** Begin Patch', but the text is JSON: send the patch itself as plain text, with real line breaks and nothing around it",
    ],
  ];
  it.each(cases)('[patch.parse.error] %s', (_name, text, at, message) => {
    const error = errorOf(text);
    expect([error.message, error.line]).toEqual([message, at]);
  });

  it('[patch.parse.bounded] an error stays small and whole characters stay whole', () => {
    const error = errorOf(update('a', '@@', '世😀'.repeat(100_000)));
    expect(error.message.length).toBeLessThan(600);
    expect(/\p{Surrogate}/u.test(error.message)).toBe(false);
  });
});

describe('streaming', () => {
  it('[patch.stream.preview] the changes known so far grow line by line', () => {
    const parser = new PatchParser();
    const seen: unknown[] = [];
    for (const part of [
      '*** Begin Patch\n*** Add File: s',
      '.txt\n+one\n+tw',
      'o\n*** Update File: a\n*** Move to: b\n@@ f\n-x\n+',
      'y\n*** End Patch',
    ]) {
      parser.push(part);
      seen.push(parser.snapshot());
    }
    const s = { type: 'add', path: 's.txt', moveTo: undefined, diff: 'one\ntwo\n' };
    expect(seen).toEqual([
      [],
      [{ ...s, diff: 'one\n' }],
      [s, { type: 'update', path: 'a', moveTo: 'b', diff: '@@ f\n-x\n' }],
      [s, { type: 'update', path: 'a', moveTo: 'b', diff: '@@ f\n-x\n+y\n' }],
    ]);
    expect(parser.finish().ok).toBe(true);
  });

  const pieces = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Add File: a',
    '*** Delete File: b',
    '*** Update File: c',
    '*** Move to: d',
    '*** End of File',
    '@@',
    '@@ x',
    '@@ -1,2 +1,2 @@',
    '+x',
    '-y',
    ' z',
    '',
    '  ',
    '\\ No newline at end of file',
    "<<'EOF'",
    'EOF',
    '😀',
  );
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.oneof(pieces, fc.string({ maxLength: 10 })), { maxLength: 25 }).map((lines) => lines.join('\n')),
    fc.array(pieces, { maxLength: 12 }).map((lines) => patch(...lines)),
    fc.array(pieces, { maxLength: 12 }).map((lines) => `  ${patch(...lines).replaceAll('\n', '\r\n  ')}`),
  );

  it('[patch.stream.chunks] any chunking gives the same result as one push; no text throws', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 12 }), (text, cuts) => {
        const parser = new PatchParser();
        let from = 0;
        for (const cut of cuts.map((c) => Math.min(c, text.length)).sort((a, b) => a - b)) {
          parser.push(text.slice(from, cut));
          parser.snapshot();
          from = cut;
        }
        parser.push(text.slice(from));
        expect(parser.finish()).toEqual(parsePatch(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it('[patch.stream.flat] the cost of a delta does not grow with the patch', () => {
    const body = add('big', ...Array.from({ length: 40_000 }, (_, i) => `line ${i} of a long file`));
    const parser = new PatchParser();
    const started = performance.now();
    for (let at = 0; at < body.length; at += 16) {
      parser.push(body.slice(at, at + 16));
      parser.snapshot();
    }
    // 70 000 deltas of a patch of 1 MB: minutes if the text were parsed anew each time.
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(parser.finish().ok).toBe(true);
  });
});
