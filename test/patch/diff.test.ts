import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { previewChanges } from '../../src/patch/changes.ts';
import { unifiedHunks } from '../../src/patch/diff.ts';
import { PatchParser } from '../../src/patch/parser.ts';
import { TurnDiff } from '../../src/patch/turn-diff.ts';
import { add, applyText, patch, scratch, tree, update } from './support.ts';

describe('hunks', () => {
  it('[patch.diff.hunks] context, joined hunks, headers, missing newlines', () => {
    const lines = (n: number): string => Array.from({ length: n }, (_, i) => `${i + 1}\n`).join('');
    expect(unifiedHunks(lines(9), lines(9).replace('2\n', 'two\n').replace('5\n', '').replace('9\n', '9'), 1)).toBe(
      '@@ -1,6 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n-5\n 6\n@@ -8,2 +7,2 @@\n 8\n-9\n+9\n\\ No newline at end of file\n',
    );
    expect([unifiedHunks('', 'a\n', 1), unifiedHunks('a\n', '', 3), unifiedHunks('a\n', 'a\n', 3)]).toEqual([
      '@@ -0,0 +1 @@\n+a\n',
      '@@ -1 +0,0 @@\n-a\n',
      '',
    ]);
    expect(unifiedHunks('a\r\nb\u2028c\r\n', 'a\r\nB\r\n', 1)).toBe('@@ -1,2 +1,2 @@\n a\r\n-b\u2028c\r\n+B\r\n');
  });

  it('[patch.diff.bounded] two texts with nothing in common do not block', () => {
    const text = (word: string): string => Array.from({ length: 20_000 }, (_, i) => `${word} ${(i * 7919) % 20_011}\n`).join('');
    const started = performance.now();
    const hunks = unifiedHunks(text('old'), text('new'), 1);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(hunks.startsWith('@@ -1,20000 +1,20000 @@\n-old 0\n')).toBe(true);
  });
});

describe('previews', () => {
  it('[patch.preview] absolute paths, sorted, sections of a file joined', () => {
    const parser = new PatchParser();
    parser.push(
      patch(
        '*** Update File: b',
        '@@',
        '-x',
        '+y',
        '*** Add File: a',
        '+1',
        '*** Delete File: /c',
        '*** Update File: b',
        '*** Move to: d',
        '@@ f',
        '+z',
      ),
    );
    expect(previewChanges(parser.snapshot(), '/w')).toEqual([
      { path: '/c', kind: { type: 'delete' }, diff: '' },
      { path: '/w/a', kind: { type: 'add' }, diff: '1\n' },
      { path: '/w/b', kind: { type: 'update', move_path: '/w/d' }, diff: '@@\n-x\n+y\n@@ f\n+z\n' },
    ]);
  });
});

describe('the turn', () => {
  it('[patch.turn.format] new, changed, deleted, renamed, binary, linked and outside files', async () => {
    const root = scratch({
      'w/a.txt': '1\n2\n3\n4\n5\n6\n',
      'w/old.txt': 'bye\n',
      'w/m.txt': 'one\ntwo\n',
      'w/p.txt': 'same\n',
      'w/bin': Uint8Array.from([255, 0]),
      'out/x': 'x',
    });
    const cwd = path.join(root, 'w');
    fs.symlinkSync('a.txt', path.join(cwd, 'link'));
    fs.chmodSync(path.join(cwd, 'old.txt'), 0o755);
    const turn = new TurnDiff(cwd);
    const body = patch(
      '*** Add File: s/new.txt',
      '+hello',
      '*** Update File: a.txt',
      '@@',
      '-5',
      '+five',
      '*** Delete File: old.txt',
      '*** Update File: m.txt',
      '*** Move to: n.txt',
      '@@',
      '-two',
      '+TWO',
      '*** Update File: p.txt',
      '*** Move to: q.txt',
      '*** Delete File: bin',
      '*** Delete File: link',
      `*** Update File: ${root}/out/x`,
      '@@',
      '-x',
      '+y',
    );
    const result = await applyText(cwd, body);
    expect(result.ok).toBe(true);
    turn.record(result.files);
    const outside = `${root.slice(1)}/out/x`;
    const zero = '0'.repeat(40);
    const parts = [
      `diff --git a/a.txt b/a.txt\nindex b414108e81e5091fe0974a1858b4d0d22b107f70..13c9f2c83b6f6ebaed1fb60a16b1c61b1e5ae5a1\n--- a/a.txt\n+++ b/a.txt\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n`,
      `diff --git a/bin b/bin\ndeleted file mode 100644\nindex BIN..${zero}\nBinary files a/bin and /dev/null differ\n`,
      `diff --git a/link b/link\ndeleted file mode 120000\nindex LINK..${zero}\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a.txt\n\\ No newline at end of file\n`,
      'diff --git a/m.txt b/n.txt\nsimilarity index 50%\nrename from m.txt\nrename to n.txt\nindex M..N\n--- a/m.txt\n+++ b/n.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n',
      `diff --git a/old.txt b/old.txt\ndeleted file mode 100755\nindex OLD..${zero}\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n`,
      'diff --git a/p.txt b/q.txt\nsimilarity index 100%\nrename from p.txt\nrename to q.txt\n',
      `diff --git a/s/new.txt b/s/new.txt\nnew file mode 100644\nindex ${zero}..ce013625030ba8dba906f756967f9e9ca394464a\n--- /dev/null\n+++ b/s/new.txt\n@@ -0,0 +1 @@\n+hello\n`,
      `diff --git a/${outside} b/${outside}\nindex X..Y\n--- a/${outside}\n+++ b/${outside}\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n`,
    ];
    const shape = (text: string): string =>
      text.replace(/^index (\w+)\.\.(\w+)$/gm, (_, a, b) => `index ${a === zero ? 'none' : 'id'}..${b === zero ? 'none' : 'id'}`);
    const names = (text: string): string[] => text.split(/(?=^diff --git )/m).sort();
    expect(names(shape(turn.render()))).toEqual(names(shape(parts.join(''))));
    expect(turn.render()).toContain(`index ${zero}..ce013625030ba8dba906f756967f9e9ca394464a`);
  });

  it('[patch.turn.cumulative] later patches move the after-image only; what comes back to where it was is gone', async () => {
    const cwd = scratch({ a: 'a1\na2\n', b: 'b\n' });
    const turn = new TurnDiff(cwd);
    const go = async (text: string): Promise<string> => {
      const result = await applyText(cwd, text);
      if (!result.ok) throw new Error(result.text);
      turn.record(result.files);
      return turn.render().replace(/^index .*\n/gm, '');
    };
    const head = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n';
    expect(await go(update('a', '@@', '-a1', '+A1'))).toBe(`${head}@@ -1,2 +1,2 @@\n-a1\n+A1\n a2\n`);
    expect(await go(update('a', '@@', '-a2', '+A2'))).toBe(`${head}@@ -1,2 +1,2 @@\n-a1\n-a2\n+A1\n+A2\n`);
    expect(await go(patch('*** Add File: n', '+n', '*** Update File: a', '@@', '-A1', '-A2', '+a1', '+a2'))).toBe(
      'diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n',
    );
    expect(await go(patch('*** Delete File: n', '*** Update File: b', '*** Move to: c'))).toBe(
      'diff --git a/b b/c\nsimilarity index 100%\nrename from b\nrename to c\n',
    );
    expect(await go(update('c', '*** Move to: d'))).toBe('diff --git a/b b/d\nsimilarity index 100%\nrename from b\nrename to d\n');
    expect(await go(update('d', '*** Move to: b'))).toBe('');
    expect(turn.before.map(({ path: at, bytes }) => [path.relative(cwd, at), bytes && Buffer.from(bytes).toString()])).toEqual([
      ['a', 'a1\na2\n'],
      ['n', null],
      ['b', 'b\n'],
      ['c', null],
      ['d', null],
    ]);
  });

  it('[patch.turn.git] git applies the diff to the old tree and gets the new one', async () => {
    const name = fc.constantFrom('a', 'b', 'dir/c', 'with space', 'quote"d', 'ü');
    const content = fc.array(fc.constantFrom('x', 'y', '', 'long line', '\ttab'), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, content, { minKeys: 1, noNullPrototype: true }),
        fc.dictionary(name, content, { noNullPrototype: true }),
        fc.boolean(),
        async (old, now, moves) => {
          const text = (lines: string[]): string => lines.map((line) => `${line}\n`).join('');
          const files = Object.fromEntries(Object.entries(old).map(([file, lines]) => [file, text(lines)]));
          const [cwd, other] = [scratch(files), scratch(files)];
          const gone = Object.keys(old).filter((file) => !(file in now));
          const sections = Object.entries(now).flatMap(([file, lines]) => [`*** Add File: ${file}`, ...lines.map((line) => `+${line}`)]);
          const removed = gone.flatMap((file) =>
            moves ? [`*** Update File: ${file}`, `*** Move to: moved/${file}`] : [`*** Delete File: ${file}`],
          );
          fc.pre(sections.length + removed.length > 0);
          const result = await applyText(cwd, patch(...sections, ...removed));
          expect(result.ok).toBe(true);
          const turn = new TurnDiff(cwd);
          turn.record(result.files);
          const diff = turn.render();
          if (diff !== '')
            execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
              cwd: other,
              input: diff,
              env: { PATH: process.env.PATH ?? '', GIT_CEILING_DIRECTORIES: '/' },
            });
          expect(tree(other)).toEqual(tree(cwd));
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);

  it('[patch.turn.add] an added file that exists shows what it replaces', async () => {
    const cwd = scratch({ r: 'old\n' });
    const turn = new TurnDiff(cwd);
    turn.record((await applyText(cwd, add('r', 'new'))).files);
    expect(turn.render().split('\n').slice(-4)).toEqual(['@@ -1 +1 @@', '-old', '+new', '']);
  });
});
