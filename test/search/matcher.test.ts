// The matcher against a plain search through all alignments, and what a person expects to stand first.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FuzzyQuery, foldCase } from '../../src/server/fuzzy/matcher.ts';

const query = (text: string) => new FuzzyQuery(text);
const ranked = (text: string, paths: string[]): string[] =>
  paths
    .map((path) => ({ path, score: query(text).score(path) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.path.length - b.path.length)
    .map(({ path }) => path);

describe('the matcher', () => {
  it('[search.positions] tells the characters that matched', () => {
    expect([
      query('main').indices('src/main.ts'),
      query('main').indices('src/manifest.json'),
      query('sm ts').indices('src/main.ts'),
      query('ü').indices('😀/a/Ü.txt'),
    ]).toEqual([[4, 5, 6, 7], [4, 5, 7, 16], [0, 4, 9, 10], [4]]);
  });

  it('[search.order] prefers whole names, names over folders, beginnings over middles, one piece over scraps', () => {
    expect(ranked('main', ['src/manifest.json', 'domain/x.ts', 'src/remain.ts', 'src/main.ts', 'main/index.ts', 'src/zz.ts'])).toEqual([
      'src/main.ts',
      'main/index.ts',
      'src/remain.ts',
      'domain/x.ts',
      'src/manifest.json',
    ]);
    expect(ranked('main.ts', ['x/main.tsx', 'a/very/long/way/to/main.ts'])).toEqual(['a/very/long/way/to/main.ts', 'x/main.tsx']);
    expect(ranked('src/main.ts', ['lib/src/main.ts', 'src/main.tsx', 'other/src.main.ts'])[0]).toBe('lib/src/main.ts');
    expect(ranked('fh', ['src/FileHandler.ts', 'src/fishing.ts', 'src/file-handler.ts'])).toEqual([
      'src/file-handler.ts',
      'src/FileHandler.ts',
      'src/fishing.ts',
    ]);
  });

  it('[search.case] any case matches, also of letters whose other case is longer', () => {
    expect([query('README').score('docs/readme.md') > 0, query('readme').score('README') > 0]).toEqual([true, true]);
    expect(foldCase('aİB').length).toBe(3);
    expect(query('README').score('README')).toBeGreaterThan(query('README').score('readme'));
  });

  it('[search.none] what is no subsequence does not match; neither does a word that is missing', () => {
    expect(['niam', 'mainx', 'main zz'].map((text) => query(text).score('src/main.ts'))).toEqual([0, 0, 0]);
    expect([query('').isEmpty, query(' \t').isEmpty, query('a').isEmpty]).toEqual([true, true, false]);
  });

  const letters = (max: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'B', '/', '-', 'é'), minLength: 1, maxLength: max });

  it('[search.subsequence] a path matches exactly when the word is a subsequence, and the positions spell it', () => {
    fc.assert(
      fc.property(letters(5), letters(24), (word, path) => {
        let at = 0;
        for (const char of foldCase(path)) if (at < word.length && char === foldCase(word)[at]) at++;
        const score = query(word).score(path);
        expect(score > 0).toBe(at === word.length);
        if (score === 0) return;
        const indices = query(word).indices(path);
        expect(indices.map((i) => foldCase(path)[i]).join('')).toBe(foldCase(word));
        expect(indices).toEqual([...new Set(indices)].sort((a, b) => a - b));
      }),
    );
  });

  it('[search.word-at-end] a path that ends in the word itself matches at least as well', () => {
    fc.assert(
      fc.property(letters(4), letters(16), (word, path) => {
        expect(query(word).score(`${path}/${word}`)).toBeGreaterThanOrEqual(query(word).score(`${path}/x`));
      }),
    );
  });
});
