import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandActions } from '../../src/exec/policy/actions.ts';
import { spelledOut } from '../../src/exec/policy/display.ts';
import { parseScript } from '../../src/exec/policy/parse.ts';
import { argvOf } from '../../src/exec/policy/syntax.ts';

const argvs = async (script: string) => (await parseScript(script)).commands.map(argvOf);

describe('parsing', () => {
  it('[policy.parse.words] words come back as the program gets them', async () => {
    const table: [string, (string[] | undefined)[]][] = [
      ['r"m" -rf v', [['rm', '-rf', 'v']]],
      ['\\rm v', [['rm', 'v']]],
      ["r'm' v", [['rm', 'v']]],
      ["$'r\\x6d' v", [['rm', 'v']]],
      ['a "b c" \'d e\' f\\ g', [['a', 'b c', 'd e', 'f g']]],
      ['a "\\"\\$\\\\"', [['a', '"$\\']]],
      ['a b; c | d && e', [['a', 'b'], ['c'], ['d'], ['e']]],
      ["bash -lc 'a && b'", [['a'], ['b']]],
      ['/bin/bash -lc \'sh -c "a b"\'', [['a', 'b']]],
      ['a $x', [undefined]],
      ['a *', [undefined]],
      ['a "$(b c)"', [undefined, ['b', 'c']]],
      ['x {a,b} $', [undefined]],
      ['a {} ;', [['a', '{}']]],
      [
        "sudo bash -c 'x y'",
        [
          ['sudo', 'bash', '-c', 'x y'],
          ['x', 'y'],
        ],
      ],
      ['a > f b', [['a', 'b']]],
      ['a # b', [['a']]],
    ];
    const seen: typeof table = [];
    for (const [script] of table) seen.push([script, await argvs(script)]);
    expect(seen).toEqual(table);
  });

  it('[policy.parse.facts] redirections, assignments and nesting are kept', async () => {
    const parsed = await parseScript('A=b c > f 2>&1; $(d) < g & f(){ h; }');
    expect(parsed).toMatchObject({ ok: true, plain: false, usesSubstitution: true, usesFunctions: true });
    expect(
      parsed.commands.map((c) => [
        c.words.map((w) => w.text),
        c.assignments.map((a) => a.name),
        c.redirects.map((r) => [r.kind, r.target.text, r.writes]),
        c.nested,
        c.background,
      ]),
    ).toEqual([
      [
        ['c'],
        ['A'],
        [
          ['write', 'f', true],
          ['duplicate', '1', false],
        ],
        false,
        false,
      ],
      [['$(d)'], [], [['read', 'g', false]], false, true],
      [['d'], [], [], true, true],
      [['h'], [], [], true, false],
    ]);
  });

  it('[policy.parse.unread] what is not understood is said so', async () => {
    const scripts = [
      'a "b',
      'a $(b',
      'if a',
      'a\0b',
      'l\\\ns',
      'exec 3<>/dev/tcp/h/1',
      'a )',
      'printf ;;',
      'a ;; b',
      '{ a ;; }',
      'case x in y) { a ;; } ;; esac',
      `${'a;'.repeat(100_001)}`,
      `${'bash -c "'.repeat(1)}`,
    ];
    const seen: boolean[] = [];
    for (const s of scripts) seen.push((await parseScript(s)).ok);
    expect(seen).toEqual(scripts.map(() => false));
    expect((await parseScript('case x in y) a ;; z) b ;; esac')).ok).toBe(true);
    let deep = 'rm x';
    for (let i = 0; i < 8; i++) deep = `bash -c '${deep.replaceAll("'", "'\\''")}'`;
    expect((await parseScript(deep)).ok).toBe(false);
  });

  it('[policy.parse.bash] a plain script of fixed words gives the arguments that bash gives', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'a',
        '-rf',
        '"b c"',
        "'d e'",
        '\\f',
        '"$"',
        "$'\\n'",
        "$'\\x41'",
        '~x',
        'é',
        '{}',
        '#',
        'x#y',
        '""',
        "''",
        '\\\n',
        '=',
        '!',
        '%',
        '"\\""',
        '[',
        '*',
        '$x',
        '`a`',
        '{a,b}',
      ),
      fc.stringMatching(/^[ -~]{1,3}$/),
    );
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(piece, fc.constantFrom('', ' ', ' ', '  ', '\t')), { minLength: 1, maxLength: 6 }),
        async (parts) => {
          const script = `printf ${parts.map((p) => p.join('')).join('')}`;
          const parsed = await parseScript(script);
          const argv = parsed.ok && parsed.plain && parsed.commands.length === 1 ? argvOf(parsed.commands[0]) : undefined;
          if (argv === undefined || argv[0] !== 'printf' || parsed.commands[0].redirects.length > 0) return;
          const seen = execFileSync('bash', ['-c', `printf(){ for a in "$@"; do builtin printf '%s\\0' "$a"; done; }\n${script}`], {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          });
          expect([script, seen.split('\0').slice(0, -1)]).toEqual([script, argv.slice(1)]);
          checked++;
        },
      ),
      { numRuns: 400 },
    );
    expect(checked).toBeGreaterThan(20);
  }, 60_000);

  it('[policy.parse.any] any text is answered', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
        expect(typeof (await parseScript(text)).ok).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});

describe('command actions', () => {
  it('[policy.actions] reading, listing, searching and the rest', async () => {
    const read = (command: string, file: string) => ({ type: 'read', command, name: file.split('/').at(-1), path: file });
    const list = (command: string, place: string | null) => ({ type: 'listFiles', command, path: place });
    const search = (command: string, query: string, place: string | null) => ({ type: 'search', command, query, path: place });
    const table: [string, object[]][] = [
      ['cat a.txt', [read('cat a.txt', '/w/a.txt')]],
      ['sed -n 1,2p a.txt', [read('sed -n 1,2p a.txt', '/w/a.txt')]],
      ['cat a.txt | head', [read('cat a.txt', '/w/a.txt')]],
      ['cat a.txt | head -n 5 | wc -l', [read('cat a.txt', '/w/a.txt')]],
      ['head -n 20 dir/a', [read('head -n 20 dir/a', '/w/dir/a')]],
      ['head -20 a', [read('head -20 a', '/w/a')]],
      ['cat /etc/hosts', [read('cat /etc/hosts', '/etc/hosts')]],
      ['ls', [list('ls', null)]],
      ['ls -la dir', [list('ls -la dir', 'dir')]],
      ['rg hello', [search('rg hello', 'hello', null)]],
      ['rg -n -g "*.ts" hello src', [search('rg -n -g "*.ts" hello src', 'hello', 'src')]],
      ['rg --files src', [list('rg --files src', 'src')]],
      ['grep -rn hello .', [search('grep -rn hello .', 'hello', '.')]],
      ['grep -e a b', [search('grep -e a b', 'a', 'b')]],
      ['git grep x', [search('git grep x', 'x', null)]],
      ['find . -name "*.ts"', [search('find . -name "*.ts"', '*.ts', '.')]],
      ['find src -type f', [list('find src -type f', 'src')]],
      ['cat a.txt && ls', [read('cat a.txt', '/w/a.txt'), list('ls', null)]],
      ['cd dir && cat a', [read('cat a', '/w/dir/a')]],
      ["bash -lc 'cat a'", [read('cat a', '/w/a')]],
      ['ls | grep x', [list('ls', null)]],
      ['cat a b', [read('cat a b', '/w/a'), read('cat a b', '/w/b')]],
    ];
    const unknown = [
      'git status',
      'echo $(cat a.txt)',
      'cat a > b',
      'cat "',
      'cat a; rm b',
      'sed -i s/a/b/ c',
      'find . -delete',
      'cat $x',
      'cat',
      'FOO=1 cat a',
      'cat <<EOF\na\nEOF',
      'cat a | tee b',
      '(cat a)',
      'true',
      '',
    ];
    const seen: [string, object[]][] = [];
    for (const [script] of table) seen.push([script, await commandActions(script, '/w')]);
    expect(seen).toEqual(table);
    for (const command of unknown) expect(await commandActions(command, '/w')).toEqual([{ type: 'unknown', command }]);
  });
});

describe('display', () => {
  it('[policy.display] what hides or turns text is spelled out', () => {
    expect(spelledOut('ls \u202e\u2066x\u001b[2K\r\u200b\u0000 é\t\n日\u{e0041}\ud800')).toBe(
      'ls \\u{202e}\\u{2066}x\\u{1b}[2K\\u{d}\\u{200b}\\u{0} é\t\n日\\u{e0041}\\u{d800}',
    );
  });
});
