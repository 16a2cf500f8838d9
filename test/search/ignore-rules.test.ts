// .gitignore rules, with git itself as the judge.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IgnoreRules } from '../../src/server/fuzzy/ignore-rules.ts';

/** Those are folders; of the others git believes what their names say. */
const FOLDERS = ['ba', 'x', 'c/b', 'c'];
const PATHS = [
  ...FOLDERS,
  'a',
  'b',
  'ab',
  'a/b',
  'b/a',
  'a/b/c',
  'c/a/b',
  'a.log',
  'x/a.log',
  'x/y/a.log',
  '#a',
  '!a',
  'a b',
  'a ',
  'x/b',
  'c/x/y/b',
  '[a]',
  'a*',
];

let repository: string;

beforeAll(() => {
  repository = mkdtempSync(path.join(tmpdir(), 'ignore-'));
  execFileSync('git', ['init', '-q', repository]);
  for (const folder of FOLDERS) mkdirSync(path.join(repository, folder), { recursive: true });
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** Which of the paths git leaves out under these rules. */
function judged(rules: string, paths: readonly string[]): string[] {
  writeFileSync(path.join(repository, '.gitignore'), rules);
  try {
    const input = `${paths.join('\0')}\0`;
    const out = execFileSync('git', ['-C', repository, 'check-ignore', '--no-index', '-z', '--stdin'], { input, encoding: 'utf8' });
    return out.split('\0').filter(Boolean);
  } catch {
    return []; // it ends with 1 when none is ignored
  }
}

/** As the walk applies them: what lies in an ignored folder is ignored. */
function own(text: string, paths: readonly string[]): string[] {
  const rules = new IgnoreRules(text);
  return paths.filter((given) => {
    const isFolder = FOLDERS.includes(given);
    const parts = given.split('/');
    return parts.some((_, i) => rules.ignores(parts.slice(0, i + 1), i < parts.length - 1 || isFolder) === true);
  });
}

describe('ignore rules', () => {
  it('[search.ignore] mean what git means by them', () => {
    const rules = [
      '',
      '# a',
      '\\#a',
      '\\!a',
      'a',
      '/a',
      'a/',
      '*.log',
      '/*.log',
      'x/*.log',
      'x/**/a.log',
      '**/b',
      'a/**',
      'a/**/c',
      '**/a/**',
      '*',
      '*\n!a.log',
      '*\n!*/\n!*.log',
      'a \n',
      'a\\ ',
      '[ab]',
      '[!a]',
      '[^a]b',
      '[a-c]',
      '\\[a\\]',
      'a\\*',
      '?',
      'a?',
      'x/b',
      '/x/b/',
      'ba/',
      'x/',
      'c/b/',
      '*/b/',
      '/*/',
      'a\r\nb\r',
      '[',
      '[]a]',
      'a//b',
      '/',
      '!',
      '***',
      'a/*',
      'x/*/b',
      'c/**/b',
    ];
    expect(rules.map((text) => [text, own(text, PATHS)])).toEqual(rules.map((text) => [text, judged(text, PATHS)]));
  });

  it('[search.ignore-any] for any small rules', () => {
    // Two stars count as folders only when they stand alone between slashes: other uses are not defined.
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'x', '?', '[ab]', '.log'), minLength: 1, maxLength: 3 });
    const starred = fc.tuple(name, fc.constantFrom('', '*'), name).map((parts) => parts.join(''));
    const part = fc.oneof(name, starred, fc.constantFrom('*', '**', '*a', 'a*', 'c'));
    const parts = fc.array(part, { minLength: 1, maxLength: 3 }).map((all) => all.join('/'));
    const line = fc.tuple(fc.constantFrom('', '!', '/'), parts, fc.constantFrom('', '/')).map((all) => all.join(''));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 3 }), (lines) => {
        const text = lines.join('\n');
        expect([text, own(text, PATHS)]).toEqual([text, judged(text, PATHS)]);
      }),
      { numRuns: 120 },
    );
  });

  it('[search.ignore-cost] no pattern takes long', () => {
    const rules = new IgnoreRules(`${'*a'.repeat(60)}b\n${'**/a/'.repeat(30)}b`);
    const began = performance.now();
    for (let i = 0; i < 50; i++) rules.ignores(Array(60).fill('a'.repeat(250)), false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
