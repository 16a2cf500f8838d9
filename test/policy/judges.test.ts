import { describe, expect, it } from 'vitest';
import { findDanger } from '../../src/exec/policy/danger.ts';
import { parseScript } from '../../src/exec/policy/parse.ts';
import { parseRules } from '../../src/exec/policy/rule-file.ts';
import { consultRules } from '../../src/exec/policy/rules.ts';
import { isReadOnlyScript } from '../../src/exec/policy/safe-commands.ts';
import { FORCED, HIDDEN, NOT_FORCED, OPTIONS, READS } from './tables.ts';

const those = async (scripts: readonly string[], test: (parsed: Awaited<ReturnType<typeof parseScript>>) => boolean): Promise<string[]> => {
  const kept: string[] = [];
  for (const script of scripts) if (test(await parseScript(script))) kept.push(script);
  return kept;
};

describe('read-only scripts', () => {
  it('[policy.safe.reads] reading commands are recognised', async () => {
    expect(await those(READS, (p) => !isReadOnlyScript(p))).toEqual([]);
  });
  it('[policy.safe.hidden] nothing that hides a write or another program is taken for reading', async () => {
    expect(await those(HIDDEN, isReadOnlyScript)).toEqual([]);
  });
  it('[policy.safe.options] an option that writes or runs makes a reading program unsafe', async () => {
    expect(await those(OPTIONS, isReadOnlyScript)).toEqual([]);
  });
});

describe('danger', () => {
  it('[policy.danger.forced] forced removal is seen through every wrapper', async () => {
    expect(await those(FORCED, (p) => findDanger(p)?.kind !== 'forcedRemoval')).toEqual([]);
  });
  it('[policy.danger.alike] what only resembles it is left alone', async () => {
    expect(await those(NOT_FORCED, (p) => findDanger(p) !== undefined)).toEqual([]);
  });
  it('[policy.danger.others] disks and power', async () => {
    const kinds = new Map<string, string | undefined>();
    for (const s of [
      'mkfs.ext4 x',
      'sudo mkfs x',
      'dd if=a of=/dev/sda',
      'cat a > /dev/nvme0n1',
      'shutdown now',
      'sudo reboot',
      'systemctl poweroff',
      'init 0',
      'dd if=a of=/dev/null',
      'dd if=a of=b',
      'systemctl status',
      'echo reboot',
    ])
      kinds.set(s, findDanger(await parseScript(s))?.kind);
    expect(Object.fromEntries(kinds)).toEqual({
      'mkfs.ext4 x': 'disk',
      'sudo mkfs x': 'disk',
      'dd if=a of=/dev/sda': 'disk',
      'cat a > /dev/nvme0n1': 'disk',
      'shutdown now': 'power',
      'sudo reboot': 'power',
      'systemctl poweroff': 'power',
      'init 0': 'power',
      'dd if=a of=/dev/null': undefined,
      'dd if=a of=b': undefined,
      'systemctl status': undefined,
      'echo reboot': undefined,
    });
  });
});

describe('rules', () => {
  const set = (text: string) => parseRules(text, 'r').rules;
  const allow = set(
    ['echo', 'ls', 'cat'].map((p) => `prefix_rule(pattern=["${p}"], decision="allow")`).join('\n') +
      '\nprefix_rule(pattern=["git", ["status", "log"]], decision="allow")',
  );

  it('[policy.rules.allow] every part of a chain is judged', async () => {
    const good = [
      'echo hi',
      'ls -la',
      'echo hi && ls',
      'echo hi; ls',
      'echo hi | cat',
      'echo hi\nls',
      'echo "a b" \'c d\'',
      'git status',
      'git log -3',
      "bash -lc 'ls'",
      'ls 2>&1',
      'ls > /dev/null',
      'ls a*',
    ];
    expect(await those(good, (p) => !consultRules(allow, p).allowsAll)).toEqual([]);
  });
  it('[policy.rules.carry] a known first word does not carry the rest', async () => {
    const bad = [
      ...HIDDEN,
      'git push',
      'git -c a=b status',
      'git $x',
      'ls $(ls)',
      './ls',
      '/tmp/ls',
      'ls < a',
      'git',
      'cat <<EOF\na\nEOF',
      'ls; (ls)',
    ];
    expect(await those(bad, (p) => consultRules(allow, p).allowsAll)).toEqual([]);
  });
  it('[policy.rules.ban] a ban is seen behind paths, wrappers, nesting and unread scripts', async () => {
    const ban = set('prefix_rule(pattern=["touch"], decision="forbidden", justification="no touching")');
    const scripts = [
      'touch t',
      'echo a && touch t',
      '/usr/bin/touch t',
      'sudo touch t',
      'env A=b touch t',
      'echo $(touch t)',
      "bash -c 'touch t'",
      'eval "touch t"',
      'touch "t',
      'f(){ touch t; }; f',
      '\\touch t',
    ];
    expect(await those(scripts, (p) => consultRules(ban, p).forbidden?.rule.justification !== 'no touching')).toEqual([]);
    expect(await those(['echo touch', 'ls touch', 'git touch'], (p) => consultRules(ban, p).forbidden !== undefined)).toEqual([]);
  });
});
