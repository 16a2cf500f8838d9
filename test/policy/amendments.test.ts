import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { bannedPrefix, proposeAmendment, validateAmendment } from '../../src/exec/policy/amendments.ts';
import { parseScript } from '../../src/exec/policy/parse.ts';
import { appendAllowRule, loadRules, parseRules } from '../../src/exec/policy/rule-file.ts';

const proposal = async (script: string, wished?: string[]) => {
  const parsed = await parseScript(script);
  return proposeAmendment(parsed, parsed.commands, wished);
};

describe('proposed prefixes', () => {
  it('[policy.amendment.proposal] narrow, and never a program that runs what it is given', async () => {
    const table: [string, string[] | undefined][] = [
      ['mkdir -p d1', ['mkdir', '-p']],
      ['touch one', ['touch', 'one']],
      ['cp one two', ['cp', 'one', 'two']],
      ['npm run build -- x', ['npm', 'run', 'build']],
      ['cargo test foo', ['cargo', 'test']],
      ['git status -s', ['git', 'status']],
      ['git push origin main', ['git', 'push', 'origin', 'main']],
      ['bash -c "touch t"', ['touch', 't']],
      ['python3 app.py x', ['python3', 'app.py', 'x']],
      ['touch a && cp b c', ['touch', 'a']],
      ['bash', undefined],
      ['sh', undefined],
      ['python3', undefined],
      ['node', undefined],
      ['sudo', undefined],
      ['env', undefined],
      ['git', undefined],
      ['npm', undefined],
      ['docker', undefined],
      ['sudo ls', undefined],
      ['env ls', undefined],
      ['python3 -c "print(1)"', undefined],
      ['node -e 1', undefined],
      ['xargs ls', undefined],
      ['timeout 5 ls', undefined],
      ['git -C x push', undefined],
      ['docker run', undefined],
      ['rm -rf x', undefined],
      ['touch $x', undefined],
      ['touch *', undefined],
      ['A=1 touch x', undefined],
      ['touch x > y', undefined],
      ['(touch x)', undefined],
      ['touch "', undefined],
    ];
    const seen: [string, string[] | undefined][] = [];
    for (const [script] of table) seen.push([script, await proposal(script)]);
    expect(seen).toEqual(table);
  });

  it('[policy.amendment.wish] a wished prefix is proposed when it fits', async () => {
    expect([
      await proposal('pytest -q tests', ['pytest']),
      await proposal('pytest -q', ['cargo']),
      await proposal('python3 a.py', ['python3']),
    ]).toEqual([['pytest'], ['pytest', '-q'], ['python3', 'a.py']]);
  });

  it('[policy.amendment.answer] a prefix that comes back must begin a command of the request', async () => {
    const check = async (prefix: string[], script: string) => validateAmendment(prefix, await parseScript(script));
    expect([
      await check(['mkdir', '-p'], 'mkdir -p d'),
      await check(['touch'], 'mkdir -p d && touch x'),
      await check(['touch', 't'], "bash -lc 'touch t'"),
    ]).toEqual([undefined, undefined, undefined]);
    const refused: [string[], string, RegExp][] = [
      [['cp'], 'touch one', /not the beginning/],
      [['touch', 'two'], 'touch one', /not the beginning/],
      [['bash'], 'bash x', /too wide/],
      [['python3'], 'python3 x.py', /too wide/],
      [['git'], 'git push', /too wide/],
      [[], 'touch one', /too wide/],
      [['sudo', 'ls'], 'sudo ls', /too wide/],
      [['rm', 'y', '-rf'], 'rm y -rf', /destructive/],
      [['rm'], 'rm x', /too wide/],
      [['touch'], 'touch x > y', /chain of simple commands/],
      [['touch'], 'touch "', /chain of simple commands/],
    ];
    for (const [prefix, script, why] of refused) expect(await check(prefix, script)).toMatch(why);
    expect(bannedPrefix(['python3', '-m', 'pytest'])).toBe(undefined);
  });
});

describe('rule files', () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'rules-'));
  afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

  it('[policy.rules.file] several forms, comments and lines; a broken rule is told and skipped', () => {
    const text = `# first
prefix_rule(pattern=["ls"], decision="allow") # and this
prefix_rule(
  pattern = ["git", ["status", "log"],],
  decision = "prompt",
  justification = 'it\\'s "x"',
)
prefix_rule(pattern=["a"], decision="maybe")
prefix_rule(pattern=[], decision="allow")
other(x="y")
prefix_rule(pattern=["b" decision="allow")
prefix_rule(pattern=["c"]) prefix_rule(pattern=["d"], decision="forbidden")
prefix_rule(pattern=["e"`;
    const { rules, warnings } = parseRules(text, 'f.rules');
    expect(rules.map((r) => [r.pattern, r.decision, r.justification, r.origin.line])).toEqual([
      [[['ls']], 'allow', undefined, 2],
      [[['git'], ['status', 'log']], 'prompt', `it's "x"`, 3],
      [[['c']], 'allow', undefined, 12],
      [[['d']], 'forbidden', undefined, 12],
    ]);
    expect(warnings.map((w) => [w.file, w.line, w.message])).toEqual([
      ['f.rules', 8, 'decision must be one of allow, prompt, forbidden, not "maybe"'],
      ['f.rules', 9, 'pattern must be a list of words, each a string or a list of alternative strings'],
      ['f.rules', 10, 'unknown rule other; known is prefix_rule'],
      ['f.rules', 11, 'expected "]", found "decision"'],
      ['f.rules', 13, 'expected "]", found the end of the file'],
    ]);
  });

  it('[policy.rules.append] an allow rule is added once, on a line of its own, and read back', async () => {
    expect(await loadRules(home)).toEqual({ rules: [], warnings: [] });
    fs.mkdirSync(path.join(home, 'rules'));
    fs.writeFileSync(path.join(home, 'rules/default.rules'), 'prefix_rule(pattern=["z"], decision="prompt")');
    await appendAllowRule(home, ['mkdir', '-p']);
    await appendAllowRule(home, ['mkdir', '-p']);
    await Promise.all(['a', 'b', 'c'].map((w) => appendAllowRule(home, [w])));
    const text = fs.readFileSync(path.join(home, 'rules/default.rules'), 'utf8');
    expect([
      text.startsWith('prefix_rule(pattern=["z"], decision="prompt")\nprefix_rule(pattern=["mkdir", "-p"], decision="allow")\n'),
      text.split('\n').length,
    ]).toEqual([true, 6]);
    fs.writeFileSync(path.join(home, 'rules/a.rules'), 'nonsense');
    fs.writeFileSync(path.join(home, 'rules/b.txt'), 'not read');
    const { rules, warnings } = await loadRules(home);
    expect([rules.map((r) => r.pattern[0][0]).sort(), warnings.map((w) => [path.basename(w.file), w.line])]).toEqual([
      ['a', 'b', 'c', 'mkdir', 'z'],
      [['a.rules', 1]],
    ]);
  });

  it('[policy.rules.words] any word survives writing and reading', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }), async (words) => {
        const own = fs.mkdtempSync(path.join(home, 'w-'));
        await appendAllowRule(own, words);
        expect((await loadRules(own)).rules.map((r) => r.pattern)).toEqual([words.map((w) => [w])]);
      }),
      { numRuns: 40 },
    );
  });
});
