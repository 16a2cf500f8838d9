import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { formatKey } from '../../src/config/key-path.ts';
import { copyOf, deleteAt, isTable, mergeOver, setAt, type Table } from '../../src/config/table.ts';
import { TomlEditor } from '../../src/config/toml-editor.ts';
import { scanToml, startsWith } from '../../src/config/toml-lines.ts';

function edited(text: string, edit: (editor: TomlEditor) => void): string {
  const editor = new TomlEditor(text, parse(text) as Table);
  edit(editor);
  expect(parse(editor.text)).toEqual(editor.table);
  return editor.text;
}

describe('one edit', () => {
  const replace: [string, string, string[], unknown, string][] = [
    ['a value, its comment stays', 'a = "x" # keep\nb = 2\n', ['a'], 'y', 'a = "y" # keep\nb = 2\n'],
    ['odd spacing and a quoted key', '  "a"\t=\t1\n', ['a'], 2, '  "a"\t=\t2\n'],
    ['a list over several lines', 'a = [\n  1, # one\n  2,\n]\nb = 1\n', ['a'], [3], 'a = [3]\nb = 1\n'],
    ['a long string', 'a = """\n# no comment\n"""\nb = 1\n', ['a'], 'x\ny', 'a = "x\\ny"\nb = 1\n'],
    ['the same value', 'a = [ 1,2 ]\n', ['a'], [1, 2], 'a = [ 1,2 ]\n'],
    ['a key in a table', '[t]\n# c\na = 1\n\n[u]\n', ['t', 'a'], 2, '[t]\n# c\na = 2\n\n[u]\n'],
    ['a new key behind the last of its table', '[t]\na = 1 # x\n\n# u\n[u]\n', ['t', 'b'], 2, '[t]\na = 1 # x\nb = 2\n\n# u\n[u]\n'],
    ['a new key at the top', '# file\n\na = 1\n\n[t]\n', ['b'], true, '# file\n\na = 1\nb = true\n\n[t]\n'],
    ['a new key at the top of a file that begins with a table', '# about t\n[t]\n', ['b'], 1, 'b = 1\n\n# about t\n[t]\n'],
    ['a new key in an empty file', '', ['b'], 1, 'b = 1\n'],
    ['a new key behind comments', '# only\n', ['b'], 1, '# only\nb = 1\n'],
    ['a missing line break at the end', 'a = 1', ['b'], 1, 'a = 1\nb = 1\n'],
    ['Windows line ends', 'a = 1\r\n[t]\r\nx = 1\r\n', ['t', 'y'], 2, 'a = 1\r\n[t]\r\nx = 1\r\ny = 2\r\n'],
    ['a new table', 'a = 1\n', ['t', 'x'], 1, 'a = 1\n\n[t]\nx = 1\n'],
    ['a new table near its family', '[m.a]\nx = 1\n\n# u\n[u]\n', ['m', 'b', 'x'], 1, '[m.a]\nx = 1\n\n[m.b]\nx = 1\n\n# u\n[u]\n'],
    ['a table value', '', ['m', 'b'], { x: 1, y: { z: [1] }, s: 'q"' }, '[m.b]\nx = 1\ns = "q\\""\n\n[m.b.y]\nz = [1]\n'],
    ['a table of tables needs no header', '', ['m'], { a: { x: 1 } }, '[m.a]\nx = 1\n'],
    ['an empty table', 'a = 1\n', ['m'], {}, 'a = 1\n\n[m]\n'],
    ['names that need quotes', '', ['p', '/a.b c', 'x'], 1, '[p."/a.b c"]\nx = 1\n'],
    ['a sibling of dotted keys', 'm.a = 1\nn = 2\n[t]\n', ['m', 'b'], 2, 'm.a = 1\nm.b = 2\nn = 2\n[t]\n'],
    ['a table beside dotted keys', '[t]\nm.a = 1\n', ['t', 'm', 'b'], { x: 1 }, '[t]\nm.a = 1\nm.b = { x = 1 }\n'],
    ['inside an inline table', 'm = { a = 1, b = "x" } # c\n', ['m', 'b'], 2, 'm = { a = 1, b = 2 } # c\n'],
    ['a new key inside an inline table', 'm = { a = 1 }\n', ['m', 'n', 'o'], 2, 'm = { a = 1, n = { o = 2 } }\n'],
    [
      'a table replaced: what is not in the new one goes',
      '# c\n[m]\n# in\na = 1\nb = 2\n[m.s]\nx = 1\n[n]\n',
      ['m'],
      { b: 3 },
      '# c\n[m]\n# in\nb = 3\n[n]\n',
    ],
    ['a table becomes a scalar', '[m]\na = 1\n[n]\n', ['m'], 5, 'm = 5\n\n[n]\n'],
    ['a scalar becomes a table', 'm = 5\nx = 1\n', ['m'], { a: 1 }, 'm = { a = 1 }\nx = 1\n'],
    ['a list of tables becomes a list', '[[l]]\na = 1\n[[l]]\na = 2\n', ['l'], [{ a: 3 }], 'l = [{ a = 3 }]\n'],
    ['null removes', 'a = 1\nb = 2 # b\n# c\n', ['b'], null, 'a = 1\n# c\n'],
    ['null removes a table and its own blank line', 'a = 1\n\n[m]\nx = 1\n\n[m.s]\ny = 1\n\n[n]\n', ['m'], null, 'a = 1\n\n[n]\n'],
    ['null removes from an inline table', 'm = { a = 1, b = 2 }\n', ['m', 'a'], null, 'm = { b = 2 }\n'],
    ['null of nothing', 'a = 1\n', ['x', 'y'], null, 'a = 1\n'],
  ];
  it.each(replace)('[config.surgery] %s', (_, text, path, value, expected) => {
    expect(edited(text, (e) => e.replace(path, value))).toBe(expected);
  });

  it('[config.surgery] upsert keeps what it does not name, null inside removes', () => {
    const text = '[m]\na = 1 # a\nb = 2\nc = 3\n[m.s]\nx = 1\n';
    expect(edited(text, (e) => e.upsert(['m'], { b: null, c: 4, s: { y: 2 } }))).toBe('[m]\na = 1 # a\nc = 4\n[m.s]\nx = 1\ny = 2\n');
  });

  it('[config.surgery] a way through a value is refused, with what to do', () => {
    const editor = new TomlEditor('a = 1\n[[l]]\n', { a: 1, l: [{}] });
    expect(() => editor.replace(['a', 'b'], 1)).toThrow('a is not a table, so a.b cannot be set; write a whole');
    expect(() => editor.replace(['l', 'b'], 1)).toThrow('l is not a table, so l.b cannot be set; write l whole');
    expect(() => editor.replace(['x'], ['\ud800'])).toThrow('a text with half a surrogate pair cannot be written');
    expect(() => editor.replace(['x'], [null])).toThrow('null inside a list cannot be written as TOML');
    expect(editor.text).toBe('a = 1\n[[l]]\n');
  });
});

// ---------- any document, any edits ----------
const name = fc.constantFrom('a', 'b', 'c', 'd-1', 'e f', 'g.h', 'ü"');
const scalarText = fc.constantFrom(
  '1',
  '-0.5',
  'true',
  '"s # t"',
  "'l]'",
  '"q\\"[x"',
  '"""\nm # x\n[no]\n"""',
  "'''\n'''",
  '1979-05-27T07:32:00Z',
  '[1, 2]',
  '[\n  "a", # c ]\n  "b",\n]',
  '{ x = 1, y = { z = "}" } }',
  '{}',
  '[{ k = 1 }]',
  '1979-05-27 07:32:00 # date',
);
const filler = fc.constantFrom('', '', '# note', '   # indented = 1', '#[x]', '\n# two');
const pairText = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), scalarText, filler, fc.constantFrom('', ' # end', '\t'))
  .map(
    ([key, value, above, end]) =>
      `${above}${above === '' ? '' : '\n'}${key.map(formatKey).join(' . ')} = ${value}${value.includes('#') ? '' : end}\n`,
  );
const headerText = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 5 }), filler)
  .map(
    ([key, kind, above]) =>
      `${above}${above === '' ? '' : '\n'}${kind === 0 ? `[[${key.map(formatKey).join('.')}]]` : `[${key.map(formatKey).join('.')}]`}\n`,
  );
const pieces = fc.array(fc.oneof({ weight: 3, arbitrary: pairText }, { weight: 1, arbitrary: headerText }), { maxLength: 14 });

/** The longest document that can be made of the pieces: what would break it is left out. */
const document = fc.tuple(pieces, fc.boolean()).map(([parts, windows]) => {
  let text = '';
  for (const part of parts) {
    try {
      parse(text + part);
      text += part;
    } catch {
      // A key defined twice, a table reopened: not this piece.
    }
  }
  return windows ? text.replaceAll('\n', '\r\n') : text;
});
const leaf = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.string({ maxLength: 6 }),
  fc.double({ noNaN: true }),
  fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
);
const { value: newValue } = fc.letrec((tie) => ({
  value: fc.oneof({ weight: 3, arbitrary: leaf }, { weight: 2, arbitrary: tie('table') }, { weight: 1, arbitrary: fc.constant(null) }),
  table: fc.dictionary(name, tie('value'), { maxKeys: 3 }),
}));
const edit = fc.record({ path: fc.array(name, { minLength: 1, maxLength: 4 }), value: newValue, upsert: fc.boolean() });

const pruned = (value: unknown): unknown => {
  if (Array.isArray(value) || !isTable(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pruned(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => !(isTable(inner) && Object.keys(inner).length === 0)));
};

/** Lines with something on them that belong to no statement at, under or around the path. */
function untouched(text: string, path: readonly string[]): string[] {
  let rest = text;
  for (const s of scanToml(text).toReversed()) {
    const touched = startsWith(s.path, path) || (s.kind === 'pair' && startsWith(path, s.path));
    if (touched) rest = `${rest.slice(0, s.start)}${rest.slice(s.end)}`;
  }
  return rest.split(/\r?\n/).filter((line) => line.trim() !== '');
}

const isSubsequence = (part: readonly string[], whole: readonly string[]): boolean => {
  let i = 0;
  for (const line of whole) if (line === part[i]) i++;
  return i === part.length;
};

describe('any edits of any document', () => {
  it('[config.surgery.property] the content is what was meant, every other line stays', () => {
    fc.assert(
      fc.property(document, fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
        const editor = new TomlEditor(text, parse(text) as Table);
        const model = parse(text) as Table;
        for (const { path, value, upsert } of edits) {
          const before = editor.text;
          const keep = untouched(before, path);
          try {
            if (upsert) editor.upsert(path, value);
            else editor.replace(path, value);
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError);
            expect(editor.text).toBe(before);
            continue;
          }
          if (value === null) deleteAt(model, path);
          else setAt(model, path, upsert ? mergeOver(copyOf(valueIn(model, path)), value) : isTable(value) ? mergeOver({}, value) : value);
          expect(parse(editor.text)).toEqual(editor.table);
          expect(pruned(editor.table)).toEqual(pruned(model));
          const lines = editor.text.split(/\r?\n/);
          expect(isSubsequence(keep, lines), `${JSON.stringify(before)}\n→ ${JSON.stringify(editor.text)}`).toBe(true);
          if (before.includes('\r\n')) expect(/[^\r]\n/.test(editor.text)).toBe(false);
        }
      }),
      { numRuns: 1500 },
    );
  });
});

function valueIn(root: Table, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const part of path) value = isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}
