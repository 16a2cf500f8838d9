import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { formatPath, parsePath } from '../../src/config/key-path.ts';
import { locate, scanToml } from '../../src/config/toml-lines.ts';
import { formatValue } from '../../src/config/toml-value.ts';

describe('dotted keys', () => {
  it.each([
    ['a', ['a']],
    [' a . b ', ['a', 'b']],
    ['a."b.c".d', ['a', 'b.c', 'd']],
    [`a.'b"c'`, ['a', 'b"c']],
    ['hooks.state."/h/config.toml:pre_tool_use:0:0".trusted_hash', ['hooks', 'state', '/h/config.toml:pre_tool_use:0:0', 'trusted_hash']],
    ['mcp_servers.weird name/x.url', ['mcp_servers', 'weird name/x', 'url']],
    ['"\\u00fc\\x41"', ['üA']],
    ['', undefined],
    ['.a', undefined],
    ['a.', undefined],
    ['"a', undefined],
    ['a"b"', undefined],
    ['"a"b', undefined],
    ['"\\q"', undefined],
  ])('[config.path] %j', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  it('[config.path.property] what is written is read back', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }), (path) => {
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
    );
  });
});

it('[config.value.property] a value that is written as TOML is read back', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      fc.pre(
        !JSON.stringify(value).includes('null') && !JSON.stringify(value).includes('\\ud') && !JSON.stringify(value).includes('__proto__'),
      );
      expect(parse(`value = ${formatValue(value)}`).value).toEqual(value);
    }),
  );
});

describe('where things stand', () => {
  const text = [
    '# top',
    'a = 1 # x',
    '',
    'long = """',
    '[no]',
    'b = 2',
    '"""',
    'list = [',
    '  "]", # ]',
    ']',
    '[t."u.v"]',
    '  k . l = { m = "}" }',
    '[[l]]',
    'x = 1',
    '[[l]]',
    '[l.s]',
    'y = 1',
    '[[l.s.deep]]',
    'z = 1',
    '[only.deeper]',
  ].join('\n');

  it('[config.lines] every header and pair, nothing else', () => {
    expect(scanToml(text).map((s) => [text.slice(0, s.start).split('\n').length, s.kind, formatPath(s.path)])).toEqual([
      [2, 'pair', 'a'],
      [4, 'pair', 'long'],
      [8, 'pair', 'list'],
      [11, 'header', 't."u.v"'],
      [12, 'pair', 't."u.v".k.l'],
      [13, 'header', 'l[0]'],
      [14, 'pair', 'l[0].x'],
      [15, 'header', 'l[1]'],
      [16, 'header', 'l[1].s'],
      [17, 'pair', 'l[1].s.y'],
      [18, 'header', 'l[1].s.deep[0]'],
      [19, 'pair', 'l[1].s.deep[0].z'],
      [20, 'header', 'only.deeper'],
    ]);
  });

  it.each([
    [['a'], { line: 2, column: 1, endLine: 2, endColumn: 6 }],
    [['list', 0], { line: 8, column: 1, endLine: 10, endColumn: 2 }],
    [['t', 'u.v', 'k', 'l', 'm'], { line: 12, column: 3, endLine: 12, endColumn: 22 }],
    [['t'], { line: 11, column: 1, endLine: 11, endColumn: 10 }],
    [['l', 1, 's', 'y'], { line: 17, column: 1, endLine: 17, endColumn: 6 }],
    [['l', 1], { line: 15, column: 1, endLine: 15, endColumn: 6 }],
    [['l', 1, 's', 'missing'], { line: 16, column: 1, endLine: 16, endColumn: 6 }],
    [['only'], { line: 20, column: 1, endLine: 20, endColumn: 14 }],
    [['nothing'], null],
  ])('[config.lines.locate] %j', (path, position) => {
    expect(locate(text, path)).toEqual(position);
  });
});
