import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChunks } from '../../src/patch/edit.ts';
import { parsePatch } from '../../src/patch/parser.ts';
import { update } from './support.ts';

function edit(before: string, patchText: string): string {
  const parsed = parsePatch(patchText);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const [hunk] = parsed.patch.hunks;
  if (hunk.type !== 'update') throw new Error('not an update');
  const result = applyChunks(before, hunk.chunks, '/w/a');
  return result.ok ? result.text : `ERROR ${result.message}`;
}

type Row = [name: string, before: string, lines: string[], after: string];
const twice = 'def f():\n    x = 1\n\ndef g():\n    x = 1\n';
const nested = 'class A:\n  def m():\n    return 1\nclass B:\n  def m():\n    return 1\n';
const repeated = 'def m():\n  return 1\n\ndef m():\n  return 1\n';

const table: Record<string, Row[]> = {
  'P1 line endings': [
    ['CRLF', 'a\r\nb\r\nc\r\n', ['@@', ' a', '-b', '+B', ' c'], 'a\r\nB\r\nc\r\n'],
    [
      'more lines than before',
      '1\r\n2\r\n3\r\n4\r\n',
      ['@@', '-1', '+one', '+uno', '@@', '-4', '+four'],
      'one\r\nuno\r\n2\r\n3\r\nfour\r\n',
    ],
    ['untouched lines keep their own', '1\r\n2\n3\r\n4\r\n', ['@@', '-4', '+four'], '1\r\n2\n3\r\nfour\r\n'],
    ['dominant LF', '1\r\n2\n3\n4\n5\n', ['@@', ' 3', '-4', '+four'], '1\r\n2\n3\nfour\n5\n'],
    ['a tie goes to the first line', '1\r\n2\n', ['@@', '-2', '+two'], '1\r\ntwo\r\n'],
    ['a lone CR is content', 'a\rb\nc\n', ['@@', ' a\rb', '-c', '+C'], 'a\rb\nC\n'],
  ],
  'P2 P3 P4 end of the file': [
    ['no newline, first line', 'a\nb\nc', ['@@', '-a', '+A', ' b'], 'A\nb\nc'],
    ['no newline, last line', 'a\nb\nc', ['@@', '-c', '+C'], 'a\nb\nC'],
    ['no newline, append', 'hello\nworld', ['@@', ' world', '+tail'], 'hello\nworld\ntail'],
    ['no newline, append CRLF', 'hello\r\nworld', ['@@', ' world', '+tail', '*** End of File'], 'hello\r\nworld\r\ntail'],
    ['no newline, last line removed', 'a\nb', ['@@', ' a', '-b'], 'a\n'],
    ['blank lines at the end', 'alpha\nbeta\n\n\n', ['@@', '-alpha', '+ALPHA'], 'ALPHA\nbeta\n\n\n'],
    ['append after blank lines', 'a\n\n', ['@@', '+b'], 'a\n\nb\n'],
    ['an empty file', '', ['@@', '+b'], 'b\n'],
    ['everything removed', 'a\n', ['@@', '-a'], ''],
    ['newline taken away', 'a\nb\n', ['@@', '-b', '+B', '\\ No newline at end of file'], 'a\nB'],
    ['newline added', 'a\nb', ['@@', '-b', '\\ No newline at end of file', '+B'], 'a\nB\n'],
  ],
  'P9 pure additions': [
    [
      'after the anchor',
      'def f():\n    return 1\n\ndef g():\n    pass\n',
      ['@@ def f():', '+    log()'],
      'def f():\n    log()\n    return 1\n\ndef g():\n    pass\n',
    ],
    ['two anchors', '[one]\nx\n[two]\ny\n', ['@@ [one]', '+1', '@@ [two]', '+2'], '[one]\n1\nx\n[two]\n2\ny\n'],
    ['the same anchor twice', '[one]\nx\n', ['@@ [one]', '+1', '@@ [one]', '+2'], '[one]\n1\n2\nx\n'],
    ['no anchor: the end', 'a\nb\n', ['+c'], 'a\nb\nc\n'],
    ['anchor and end of file', 'a\nb\n', ['@@ a', '+c', '*** End of File'], 'a\nb\nc\n'],
    ['a gap after it is no context', '[one]\nx\n\ny\n', ['@@ [one]', '+1', '', '@@', '-y', '+Y'], '[one]\n1\nx\n\nY\n'],
    ['unified header without old lines', 'a\nb\nc\n', ['@@ -2,0 +3,1 @@', '+x'], 'a\nb\nx\nc\n'],
  ],
  'P10 P12 P26 choice of the place': [
    ['anchor', twice, ['@@ def g():', '-    x = 1', '+    x = 2'], twice.replace(/1\n$/, '2\n')],
    ['anchor without its colon', twice, ['@@ def g()', '-    x = 1', '+    x = 2'], twice.replace(/1\n$/, '2\n')],
    ['anchor closed by @@', twice, ['@@ def g(): @@', '-    x = 1', '+    x = 2'], twice.replace(/1\n$/, '2\n')],
    ['nested anchors', nested, ['@@ class B:', '@@   def m():', '-    return 1', '+    return 2'], nested.replace(/1\n$/, '2\n')],
    ['anchor repeated as context', repeated, ['@@ def m():', ' def m():', '-  return 1', '+  return 2'], repeated.replace('1', '2')],
    [
      'one anchor heads two hunks',
      'class A:\n  a\n  b\n  c\n',
      ['@@ class A:', '-  a', '+  A', '@@ class A:', '-  c', '+  C'],
      'class A:\n  A\n  b\n  C\n',
    ],
    ['end of file', 'end\nx\nend\n', ['@@', '-end', '+END', '*** End of File'], 'end\nx\nEND\n'],
    ['end of file that is not', 'end\nx\n', ['@@', '-end', '+END', '*** End of File'], 'END\nx\n'],
    ['first of several exact ones', 'x\ny\nx\n', ['@@', '-x', '+X'], 'X\ny\nx\n'],
    ['the next one for the second hunk', 'x\ny\nx\n', ['@@', '-x', '+X', '@@', '-x', '+Z'], 'X\ny\nZ\n'],
    ['line hint', 'x\ny\nx\ny\nx\n', ['@@ -3,1 +3,1 @@', '-x', '+X'], 'x\ny\nX\ny\nx\n'],
    ['without @@', 'one\ntwo\n', ['-one', '+ONE'], 'ONE\ntwo\n'],
    ['overlapping context', '1\n2\n3\n4\n', ['@@', '-1', '+one', ' 2', ' 3', '@@', ' 2', ' 3', '-4', '+four'], 'one\n2\n3\nfour\n'],
    [
      'exact before loose',
      'if a:\n    x = 1\nelse:\n        x = 1\n',
      ['@@', '-        x = 1', '+        x = 9'],
      'if a:\n    x = 1\nelse:\n        x = 9\n',
    ],
    ['blank context', 'one\n\ntwo\nthree\n', ['@@', ' one', '', '-two', '+TWO'], 'one\n\nTWO\nthree\n'],
    ['a gap between hunks', 'one\ntwo\nthree\n', ['@@', '-one', '+ONE', '', '@@', '-three', '+THREE'], 'ONE\ntwo\nTHREE\n'],
  ],
  'P11 P13 P23 context keeps its bytes': [
    ['quotes and dash', '“title” – x\nedit me\n', ['@@', ' "title" - x', '-edit me', '+edited'], '“title” – x\nedited\n'],
    ['no-break space', 'edit me\nit’s\u00a0ok\n', ['@@', '-edit me', '+edited', " it's ok"], 'edited\nit’s\u00a0ok\n'],
    ['decomposed file', 'cafe\u0301\nedit\n', ['@@', ' caf\u00e9', '-edit', '+edited'], 'cafe\u0301\nedited\n'],
    ['trailing spaces', 'keep   \nedit\n', ['@@', ' keep', '-edit', '+edited'], 'keep   \nedited\n'],
    ['U+2028', 'a\u2028b\nedit\n', ['@@', ' a\u2028b', '-edit', '+edited'], 'a\u2028b\nedited\n'],
    ['mark, first line', '\ufeffone\ntwo\n', ['@@', '-one', '+ONE', ' two'], '\ufeffONE\ntwo\n'],
    ['mark written in the patch', '\ufeffone\ntwo\n', ['@@', '-\ufeffone', '+\ufeffONE'], '\ufeffONE\ntwo\n'],
    ['mark, other line', '\ufeffone\r\ntwo\r\n', ['@@', '-two', '+2'], '\ufeffone\r\n2\r\n'],
  ],
  errors: [
    [
      'ambiguous',
      'if a:\n    x = 1\n    y()\nelse:\n        x = 1\n',
      ['@@', '-  x = 1', '+  x = 9'],
      "ERROR Several places fit: the lines of the hunk at line 3 of the patch fit loosely, none exactly, at lines 2 and 5 of /w/a. Copy the lines exactly as they are in the file, indentation included, or name the place with an '@@' line.",
    ],
    [
      'ambiguous anchor',
      nested,
      ['@@ def m():', '-    return 1', '+    return 2'],
      "ERROR Several places fit: the '@@' line of the hunk at line 3 of the patch fit loosely, none exactly, at lines 2 and 5 of /w/a. Copy the lines exactly as they are in the file, indentation included, or name the place with an '@@' line.",
    ],
    [
      'no anchor',
      'a\n',
      ['@@ def missing():', '+x'],
      "ERROR Failed to find context 'def missing():' in /w/a (hunk at line 3 of the patch). An '@@' line must hold one whole line of the file; read the file and copy it.",
    ],
    [
      'diverging',
      'one\ntwo\nthree\n',
      ['@@', ' one', ' two', '-thee', '+x'],
      "ERROR Failed to find expected lines in /w/a:\none\ntwo\nthee\n(hunk at line 3 of the patch; lines 1 to 2 fit, then line 3 of the file is 'three')",
    ],
    [
      'similar',
      'alpha\n  return compute(a, b)\n',
      ['@@', '-return compute(a, c)', '+x'],
      "ERROR Failed to find expected lines in /w/a:\nreturn compute(a, c)\n(hunk at line 3 of the patch; the nearest text is line 2 of the file: '  return compute(a, b)')",
    ],
    [
      'nothing like it',
      'alpha\n',
      ['@@', '-zzzzz', '+x'],
      'ERROR Failed to find expected lines in /w/a:\nzzzzz\n(hunk at line 3 of the patch; nothing like it is in the file: read it again)',
    ],
    [
      'out of order',
      '1\n2\n3\n',
      ['@@', '-3', '+three', '@@', '-1', '+one'],
      'ERROR Failed to find expected lines in /w/a:\n1\n(hunk at line 6 of the patch; these lines are at line 1 of the file, but not after the hunk before it, which reaches line 3. Keep the hunks in file order)',
    ],
    [
      'addition out of order',
      'a\nb\nc\n',
      ['@@', '-c', '+C', '@@ a', '+x'],
      'ERROR The hunk at line 6 of the patch adds lines after line 1 of /w/a, but a hunk before it already changed lines further down. Keep the hunks of a file in file order.',
    ],
    [
      'half a character',
      'a\n',
      ['@@', '-a', '+\ud83d'],
      'ERROR The hunk at line 3 of the patch holds half of a surrogate pair, which cannot be written to /w/a as UTF-8. Send the whole character.',
    ],
  ],
};

for (const [group, rows] of Object.entries(table)) {
  describe(group, () => {
    it.each(rows)('[patch.edit] %s', (_name, before, lines, after) => {
      expect(edit(before, update('a', ...lines))).toBe(after);
    });
  });
}

describe('CRLF patch text', () => {
  it('[patch.edit.crlf] the endings of the patch do not reach a file that has its own', () => {
    const body = update('a', '@@', ' a', '-b', '+B').replaceAll('\n', '\r\n');
    expect([edit('a\r\nb\r\n', body), edit('a\nb\n', body), edit('', update('a', '+x').replaceAll('\n', '\r\n'))]).toEqual([
      'a\r\nB\r\n',
      'a\nB\n',
      'x\r\n',
    ]);
  });
});

describe('size', () => {
  it('[patch.edit.repetitive] a long hunk in a long file of equal lines is searched in reasonable time', () => {
    const started = performance.now();
    const lines = [...Array.from({ length: 3_000 }, () => ' the same line again'), '-the last one'];
    const result = edit(`${'the same line again\n'.repeat(60_000)}the last one, not quite\n`, update('a', '@@', ...lines, '+x'));
    expect(result.startsWith('ERROR Failed to find expected lines in /w/a:\nthe same line again\n')).toBe(true);
    expect(result.length).toBeLessThan(2_000);
    expect(
      edit(`${'the same line again\n'.repeat(60_000)}the last one\nthe last one\n`, update('a', '@@', ...lines, '+x')).endsWith(
        'again\nx\nthe last one\n',
      ),
    ).toBe(true);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

// ---------- properties ----------

type Edit = { type: 'keep' } | { type: 'remove' } | { type: 'replace' | 'insert'; lines: string[] };
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', '+', '-', '@', '*', 'é', '“', '\u2028', '😀'), maxLength: 6 });
const added = fc.array(text, { minLength: 1, maxLength: 3 });
const operation: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Edit>({ type: 'keep' }) },
  fc.constant<Edit>({ type: 'remove' }),
  fc.record({ type: fc.constantFrom('replace' as const, 'insert' as const), lines: added }),
);
const fileLine = fc.record({ text, eol: fc.constantFrom('\n', '\r\n'), edit: operation });
const files = fc.record({
  lines: fc.array(fileLine, { minLength: 1, maxLength: 30 }),
  style: fc.constantFrom('LF', 'CRLF', 'mixed'),
  bom: fc.boolean(),
  finalNewline: fc.boolean(),
  newFinalNewline: fc.boolean(),
});

interface Input {
  lines: { text: string; eol: string; edit: Edit }[];
  style: string;
  bom: boolean;
  finalNewline: boolean;
  newFinalNewline: boolean;
}
interface Step {
  sign: ' ' | '-' | '+';
  text: string;
  eol: string;
}
const NOTE = '\\ No newline at end of file';

function oldLines(input: Input, unique: boolean): { text: string; eol: string }[] {
  const styled = (eol: string): string => (input.style === 'mixed' ? eol : input.style === 'LF' ? '\n' : '\r\n');
  return input.lines.map((line, i) => {
    const name = unique ? `${i}:${line.text}` : line.text;
    const isOpen = i === input.lines.length - 1 && !input.finalNewline && name !== '';
    return { text: name, eol: isOpen ? '' : styled(line.eol) };
  });
}

function dominantOf(lines: { eol: string }[]): string {
  const crlf = lines.filter((line) => line.eol === '\r\n').length;
  const lf = lines.filter((line) => line.eol === '\n').length;
  return crlf === lf ? lines[0].eol || '\n' : crlf > lf ? '\r\n' : '\n';
}

/** The old file, the new one as it ought to be, and a patch with `context` lines around each change. */
function build(input: Input, context: number, unique: boolean): { before: string; after: string; body: string } {
  const mark = input.bom ? '\ufeff' : '';
  const old = oldLines(input, unique);
  const eol = dominantOf(old);
  const script: Step[] = old.flatMap((line, i): Step[] => {
    const { edit } = input.lines[i];
    const sign = edit.type === 'keep' || edit.type === 'insert' ? ' ' : '-';
    return [{ sign, ...line }, ...('lines' in edit ? edit.lines : []).map((t): Step => ({ sign: '+', text: t, eol }))];
  });
  const end = script.findLastIndex((step) => step.sign !== '-');
  const notes = new Map<number, string>();
  if (end >= 0) {
    const last = script[end];
    const oldOpen = old[old.length - 1].eol === '';
    const naturallyOpen = last.sign === '+' ? oldOpen : last.eol === '';
    const open = !input.newFinalNewline && last.text !== '';
    last.eol = open ? '' : last.eol || eol;
    if (open !== naturallyOpen) stateEnd(script, end, open, eol, notes);
  }
  const result = script.filter((step) => step.sign !== '-');
  const after = result.map((step, i) => step.text + (i < result.length - 1 ? step.eol || eol : step.eol)).join('');
  return { before: mark + old.map((line) => line.text + line.eol).join(''), after: mark + after, body: format(script, context, notes) };
}

/** What changes the state of the end: the lines there are taken out and put in again, each with its mark. */
function stateEnd(script: Step[], end: number, open: boolean, eol: string, notes: Map<number, string>): void {
  for (let i = script.length - 1; i >= 0; i--) {
    const step = script[i];
    const isOldEnd = step.sign !== '+' && !script.slice(i + 1).some((later) => later.sign !== '+');
    if (step.sign === ' ' && (isOldEnd || i === end))
      script.splice(i, 1, { ...step, sign: '-' }, { ...step, sign: '+', eol: step.eol && eol });
  }
  const oldEnd = script.findLastIndex((step) => step.sign !== '+');
  if (open)
    notes.set(
      script.findLastIndex((step) => step.sign !== '-'),
      NOTE,
    );
  else notes.set(oldEnd, NOTE);
}

function format(script: readonly Step[], context: number, notes: Map<number, string>): string {
  // The end is always shown: a mark there speaks of the end of the file.
  const isNear = (i: number): boolean =>
    i >= script.length - 1 - context || script.slice(Math.max(0, i - context), i + context + 1).some((step) => step.sign !== ' ');
  const lines: string[] = [];
  script.forEach((step, i) => {
    if (!isNear(i)) return;
    if (i === 0 || !isNear(i - 1)) lines.push('@@');
    lines.push(step.sign + step.text);
    const note = notes.get(i);
    if (note) lines.push(note);
  });
  return update('a', ...lines);
}

describe('from old to new', () => {
  it('[patch.property.bytes] a patch with the whole file as context gives the new file byte for byte', () => {
    fc.assert(
      fc.property(files, (input) => {
        const { before, after, body } = build(input, 1_000, false);
        expect(edit(before, body)).toBe(after);
      }),
      { numRuns: 1_500 },
    );
  });

  it('[patch.property.context] one or three lines of context suffice where lines are unique', () => {
    fc.assert(
      fc.property(files, fc.constantFrom(1, 3), (input, context) => {
        const { before, after, body } = build(input, context, true);
        expect(edit(before, body)).toBe(after);
      }),
      { numRuns: 1_500 },
    );
  });
});
