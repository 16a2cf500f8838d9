// What stands between the two fences.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrontMatterError, parseFrontMatter } from '../../src/session/front-matter.ts';

const read = (body: string): Record<string, string> => Object.fromEntries(parseFrontMatter(`---\n${body}\n---\nrest: no\n`));

describe('front matter', () => {
  it('[skills.front-matter] reads plain, quoted, folded and literal texts, and one level of nesting', () => {
    expect(
      read(
        [
          'name: plain text # a remark',
          'colon: a: b',
          'double: "say \\"hi\\"\\n#1"',
          "single: 'it''s'",
          'long: one',
          '  two',
          'folded: >-',
          '  a',
          '  b',
          '',
          '  c',
          'literal: |',
          '  x',
          '    y',
          'metadata:',
          '  short-description: short',
          'list:',
          '  - a',
          'flow: [a, b]',
        ].join('\n'),
      ),
    ).toEqual({
      name: 'plain text',
      colon: 'a: b',
      double: 'say "hi"\n#1',
      single: "it's",
      long: 'one two',
      folded: 'a b\nc',
      literal: 'x\n  y',
      'metadata.short-description': 'short',
      flow: '[a, b]',
    });
  });

  it('[skills.front-matter-crlf] takes Windows line ends and a byte order mark', () => {
    expect(Object.fromEntries(parseFrontMatter('\ufeff---\r\nname: x\r\n---\r\n'))).toEqual({ name: 'x' });
  });

  it('[skills.front-matter-errors] says what is wrong', () => {
    const wrong = (text: string): string => {
      try {
        return JSON.stringify([...parseFrontMatter(text)]);
      } catch (error) {
        return error instanceof FrontMatterError ? error.message : 'another error';
      }
    };
    expect(wrong('')).toBe('there is no front matter: the first line must be ---');
    expect(wrong('---\nname: x\n')).toBe('the front matter has no closing ---');
    expect(wrong('---\nname x\n---')).toBe('line 2: expected "key: value"');
    expect(wrong('---\na: 1\nname: "x\n---')).toBe('line 3: the quote " is not closed');
  });

  it('[skills.front-matter-any] gives values or a FrontMatterError for any text', () => {
    const line = fc.oneof(
      fc.constantFrom('---', 'name: x', 'a:', '  b: "c', 'd: |', 'e: >', '  text', '', "f: 'g'", '- h', '# i'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        try {
          for (const value of parseFrontMatter(lines.join('\n')).values()) expect(typeof value).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(FrontMatterError);
        }
      }),
    );
  });

  it('[skills.front-matter-quoted] gives back what a quoted text was made from', () => {
    const text = fc.stringMatching(/^[^\n\r]*$/);
    fc.assert(
      fc.property(text, (value) => {
        const double = value.replace(/[\\"]/g, '\\$&').replaceAll('\t', '\\t');
        expect(read(`a: "${double}"\nb: '${value.replaceAll("'", "''")}'`)).toEqual({ a: value, b: value });
      }),
    );
  });
});
