import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CommandPatch, findPatchInArgv, findPatchInCommand, RAW_PATCH_REASON } from '../../src/patch/heredoc.ts';
import { scanShell } from '../../src/patch/shell-scan.ts';
import { add, scratch } from './support.ts';

const P = add('a.txt', 'x $HOME `date` "q" \\n');
const PLAIN = add('a.txt', 'x');
const found = (patchText: string, cd?: string): CommandPatch => ({
  type: 'patch',
  patchText: `${patchText}\n`,
  ...(cd === undefined ? {} : { cd }),
});

describe('taken over', () => {
  const rows: [string, string, CommandPatch][] = [
    ['quoted', `apply_patch <<'EOF'\n${P}\nEOF`, found(P)],
    ['double quoted, other name, newline at the end', `applypatch <<"PATCH-1"\n${P}\nPATCH-1\n`, found(P)],
    ['unquoted: taken as it is', `apply_patch <<EOF\n${P}\nEOF\n`, found(P)],
    ['escaped delimiter', `apply_patch << \\EOF\n${P}\nEOF`, found(P)],
    ['tabs stripped', `apply_patch <<-'EOF'\n${P.replace(/^/gm, '\t')}\n\tEOF`, found(P)],
    ['delimiter missing', `apply_patch <<'EOF'\n${P}`, found(P)],
    [
      'CRLF',
      `apply_patch <<'EOF'\r\n${PLAIN.replaceAll('\n', '\r\n')}\r\nEOF\r\n`,
      { type: 'patch', patchText: `${PLAIN.replaceAll('\n', '\r\n')}\r\n` },
    ],
    ['stderr joined', `apply_patch <<'EOF' 2>&1\n${P}\nEOF`, found(P)],
    ['cd &&', `cd sub && apply_patch <<'EOF'\n${P}\nEOF`, found(P, 'sub')],
    ['cd with an escape', `cd a\\ dir && apply_patch <<'EOF'\n${P}\nEOF`, found(P, 'a dir')],
    ['cd quoted', `cd "a dir"/'b $c' && apply_patch <<'EOF'\n${P}\nEOF`, found(P, 'a dir/b $c')],
    ['cd twice, other separators', `set -e\ncd a; cd -- ../b\napply_patch <<'EOF'\n${P}\nEOF`, found(P, 'b')],
    ['cd absolute', `cd a && cd /x && apply_patch <<'EOF'\n${P}\nEOF`, found(P, '/x')],
    ['comment', `# change it\napply_patch <<'EOF'\n${P}\nEOF`, found(P)],
    ['piped from cat', `cat <<'EOF' | apply_patch\n${P}\nEOF`, found(P)],
    ['argument', `apply_patch '${PLAIN}'`, { type: 'patch', patchText: PLAIN }],
    ['double quoted argument', `apply_patch "${add('a', 'say \\"hi\\" \\$5')}"`, { type: 'patch', patchText: add('a', 'say "hi" $5') }],
    ['bash -lc', `bash -lc "apply_patch <<'EOF'\n${PLAIN}\nEOF"`, found(PLAIN)],
    ['bash -lc in folders', `cd a && /bin/bash -l -c 'cd b && apply_patch <<EOF\n${PLAIN}\nEOF\n'`, found(PLAIN, 'a/b')],
  ];
  it.each(rows)('[patch.shell.found] %s', (_name, script, want) => {
    expect(findPatchInCommand(script)).toEqual(want);
  });

  it('[patch.shell.argv] a command that is already split', () => {
    expect(findPatchInArgv(['apply_patch', PLAIN])).toEqual({ type: 'patch', patchText: PLAIN });
    expect(findPatchInArgv(['bash', '-lc', `apply_patch <<'EOF'\n${P}\nEOF`])).toEqual(found(P));
    expect(findPatchInArgv([PLAIN])).toEqual({ type: 'rawPatch', patchText: PLAIN, reason: RAW_PATCH_REASON });
    expect(findPatchInArgv(['apply_patch', '--help', 'x']).type).toBe('refuse');
    expect([findPatchInArgv(['ls', '-l']), findPatchInArgv([])]).toEqual([{ type: 'none' }, { type: 'none' }]);
  });
});

describe('refused with a text that teaches', () => {
  const more =
    'The script calls apply_patch together with other commands or redirections. Nothing was run. Call the apply_patch tool with the patch text as its argument, and run the other commands in a call of their own.';
  const doc = `apply_patch <<'EOF'\n${P}\nEOF`;
  const rows: [string, string, string][] = [
    ['command after', `${doc}\necho after`, more],
    ['command after on the line', `apply_patch <<'EOF' && echo ok\n${P}\nEOF`, more],
    ['command before', `git pull && ${doc}`, more],
    ['pipe', `apply_patch <<'EOF' | tee log\n${P}\nEOF`, more],
    ['redirect', `apply_patch <<'EOF' > /dev/null\n${P}\nEOF`, more],
    ['subshell', `(${doc}\n)`, more],
    ['condition', `if true; then ${doc}\nfi`, more],
    ['background', `apply_patch <<'EOF' &\n${P}\nEOF`, more],
    ['echo into it', `echo '${PLAIN}' | apply_patch`, more],
    ['two patches', `${doc}\n${doc}`, more],
    ['inside bash -c, and more', `bash -c "${`apply_patch <<'EOF'\n${PLAIN}\nEOF`}" && ls`, more],
    ['file', 'apply_patch < fix.patch', more],
    [
      'no patch',
      'apply_patch',
      'apply_patch was called in the shell without a here-document that holds the patch. Nothing was run. Call the apply_patch tool with the patch text as its argument',
    ],
    [
      'variable folder',
      `cd $DIR && ${doc}`,
      'The folder of the cd before apply_patch is not a plain path. Nothing was run. Call the apply_patch tool with the patch text as its argument',
    ],
    [
      'not a patch',
      'apply_patch fix.patch',
      'The argument of apply_patch is not a patch in plain text. Nothing was run. Call the apply_patch tool with the patch text as its argument',
    ],
    [
      'backslashes in an unquoted document',
      `apply_patch <<EOF\n${add('a', 'cost \\$5')}\nEOF`,
      "The here-document has an unquoted delimiter and holds backslashes that the shell would remove. Write <<'EOF', with quotes, to have the text taken as it is. Nothing was run. Call the apply_patch tool with the patch text as its argument",
    ],
    [
      'variables around it',
      `bash -lc "apply_patch <<'EOF'\n${add('a', '$HOME')}\nEOF"`,
      'The script around apply_patch holds variables or substitutions that the shell would replace. Nothing was run. Call the apply_patch tool with the patch text as its argument',
    ],
    [
      'open quote',
      `apply_patch '${PLAIN}`,
      'The script calls apply_patch, but a quote in it is not closed. Nothing was run. Call the apply_patch tool with the patch text as its argument',
    ],
  ];
  it.each(rows)('[patch.shell.refused] %s', (_name, script, reason) => {
    expect(findPatchInCommand(script)).toEqual({ type: 'refuse', reason });
  });

  it('[patch.shell.P17] a raw patch is not a command', () => {
    expect(findPatchInCommand(`\n${PLAIN}`)).toEqual({ type: 'rawPatch', patchText: `\n${PLAIN}`, reason: RAW_PATCH_REASON });
  });
});

describe('left alone', () => {
  it.each([
    'ls -l',
    '',
    'grep -rn apply_patch src',
    'which apply_patch || true',
    "echo 'apply_patch <<EOF'",
    `cat > doc.md <<'EOF'\napply_patch <<X\n${PLAIN}\nX\nEOF`,
    `git apply <<'EOF'\n--- a/a\n+++ b/a\nEOF`,
    './apply_patch x',
    "echo 'open apply_patch",
    `python - <<'EOF'\nprint("*** Begin Patch")  # apply_patch\nEOF`,
  ])('[patch.shell.none] %j', (script) => {
    expect(findPatchInCommand(script)).toEqual({ type: 'none' });
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    'apply_patch',
    "<<'EOF'",
    '<<EOF',
    '\n',
    ' ',
    'EOF',
    '&&',
    '|',
    ';',
    '"',
    "'",
    '\\',
    '$(',
    ')',
    '${',
    '}',
    '`',
    'cd',
    'x',
    '(',
    '>',
    '2>&1',
    '\f',
    '\u00a0',
    '#',
    'bash -lc',
    '*** Begin Patch',
  );
  it('[patch.shell.fuzz] never throws and ends', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (script) => {
          expect(['none', 'patch', 'rawPatch', 'refuse']).toContain(findPatchInCommand(script).type);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('[patch.shell.words] words are read as the shell reads them', () => {
    const part = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', ' ', '"', '$', '\\', '&', ';', '\n'), maxLength: 5 }).map((s) => `'${s}'`),
      fc.string({ unit: fc.constantFrom('a', ' ', "'", '\\\\', '\\"', '\\$', '\\n', ';'), maxLength: 5 }).map((s) => `"${s}"`),
      fc.constantFrom('plain', '\\ ', '\\\\', "\\'", '-x', '.', 'é'),
    );
    const script = fc
      .array(
        fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 4 },
      )
      .map((words) => words.join(' '));
    const cwd = scratch();
    fc.assert(
      fc.property(script, (words) => {
        const out = execFileSync('bash', ['-c', `printf '%s\\0' ${words}`], { cwd })
          .toString()
          .split('\0')
          .slice(0, -1);
        expect(scanShell(`run ${words}`)?.map((command) => command.words.map((word) => word.text))).toEqual([['run', ...out]]);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
