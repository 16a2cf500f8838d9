import { describe, expect, it } from 'vitest';
import { type JudgeInput, judgeCommand, type Verdict } from '../../src/exec/policy/decide.ts';
import { parseScript } from '../../src/exec/policy/parse.ts';
import { parseRules } from '../../src/exec/policy/rule-file.ts';
import { FORCED, HIDDEN, OPTIONS, READS } from './tables.ts';

type Wish = Partial<Omit<JudgeInput, 'rules'>> & { rules?: string };

async function judge(script: string, wish: Wish = {}): Promise<Verdict> {
  const { rules = '', ...more } = wish;
  return judgeCommand({
    parsed: await parseScript(script),
    scriptText: script,
    shellArgv: ['/bin/bash', '-lc', script],
    cwd: '/w',
    approvalPolicy: 'on-request',
    sandboxMode: 'workspace-write',
    sandboxAvailable: true,
    escalation: 'useDefault',
    rules: parseRules(rules, 'r').rules,
    ...more,
  });
}
const kinds = async (scripts: readonly string[], wish: Wish, other: Verdict['type']): Promise<string[]> => {
  const odd: string[] = [];
  for (const s of scripts) if ((await judge(s, wish)).type !== other) odd.push(s);
  return odd;
};
const granular = (sandbox_approval: boolean, rules: boolean) => ({
  granular: { sandbox_approval, rules, skill_approval: true, request_permissions: true, mcp_elicitations: true },
});
const ALLOW = 'prefix_rule(pattern=["mkdir","-p"], decision="allow")\nprefix_rule(pattern=["ls"], decision="allow")';

describe('policy × sandbox × command', () => {
  it('[policy.decide.table] what is skipped, asked and refused', async () => {
    const scripts = { read: 'ls', write: 'echo x > f', unknown: 'awk "BEGIN{}"', unread: 'exec 3<>/dev/tcp/h/1', danger: 'rm -rf v' };
    const rows: Record<string, Record<string, string>> = {};
    for (const approvalPolicy of ['untrusted', 'on-request', 'on-failure', 'never'] as const)
      for (const sandboxMode of ['read-only', 'workspace-write', 'danger-full-access', 'external'] as const) {
        const row: Record<string, string> = {};
        for (const [name, script] of Object.entries(scripts)) {
          const v = await judge(script, { approvalPolicy, sandboxMode });
          row[name] = v.type === 'skip' ? v.sandbox : v.type;
        }
        rows[`${approvalPolicy} ${sandboxMode}`] = row;
      }
    const all = (what: string, danger: string) => ({ read: what, write: what, unknown: what, unread: what, danger });
    const ask = all('needsApproval', 'needsApproval');
    expect(rows).toEqual({
      'untrusted read-only': ask,
      'untrusted workspace-write': ask,
      'untrusted danger-full-access': ask,
      'untrusted external': ask,
      'on-request read-only': all('sandboxed', 'needsApproval'),
      'on-request workspace-write': all('sandboxed', 'needsApproval'),
      'on-request danger-full-access': all('unsandboxed', 'needsApproval'),
      'on-request external': all('unsandboxed', 'needsApproval'),
      'on-failure read-only': all('sandboxed', 'needsApproval'),
      'on-failure workspace-write': all('sandboxed', 'needsApproval'),
      'on-failure danger-full-access': all('unsandboxed', 'needsApproval'),
      'on-failure external': all('unsandboxed', 'needsApproval'),
      'never read-only': all('sandboxed', 'forbidden'),
      'never workspace-write': all('sandboxed', 'forbidden'),
      'never danger-full-access': all('unsandboxed', 'forbidden'),
      'never external': all('unsandboxed', 'forbidden'),
    });
  });

  it('[policy.decide.lists] the lists of scripts under untrusted, on-request and never', async () => {
    expect(await kinds([...HIDDEN, ...OPTIONS, ...READS, ...FORCED], { approvalPolicy: 'untrusted' }, 'needsApproval')).toEqual([]);
    expect(await kinds(FORCED, { sandboxMode: 'danger-full-access' }, 'needsApproval')).toEqual([]);
    expect(await kinds(FORCED, { approvalPolicy: 'never' }, 'forbidden')).toEqual([]);
    expect(await kinds(FORCED, { approvalPolicy: granular(true, false) }, 'forbidden')).toEqual([]);
  });

  it('[policy.decide.untrusted] a request under untrusted: key, proposal, no reason', async () => {
    expect(await judge('mkdir -p d1', { approvalPolicy: 'untrusted' })).toEqual({
      type: 'needsApproval',
      reason: null,
      sandboxAfter: 'sandboxed',
      proposedAmendment: ['mkdir', '-p'],
      keys: ['command ["mkdir","-p","d1"] by ["/bin/bash","-lc"] in "/w" under sandboxed workspace-write'],
    });
  });

  it('[policy.decide.escalation] leave to go outside is asked with its justification, or refused by the policy', async () => {
    const wish: Wish = { escalation: 'requireEscalated', justification: 'Needs it.' };
    expect(await judge('ls', wish)).toEqual({
      type: 'needsApproval',
      reason: 'Needs it.',
      sandboxAfter: 'unsandboxed',
      proposedAmendment: ['ls'],
      keys: ['command ["ls"] by ["/bin/bash","-lc"] in "/w" under unsandboxed workspace-write'],
    });
    expect(await judge('touch a b', { ...wish, prefixRule: ['touch'] })).toMatchObject({ proposedAmendment: ['touch'] });
    expect(await judge('touch a b', { ...wish, prefixRule: ['cp'] })).toMatchObject({ proposedAmendment: ['touch', 'a', 'b'] });
    expect(await judge('python3 x.py', { ...wish, prefixRule: ['python3'] })).toMatchObject({ proposedAmendment: ['python3', 'x.py'] });
    expect(await judge('ls', { escalation: 'requireEscalated' })).toMatchObject({ reason: null });
    const additional = { escalation: { additional: { fileSystem: { write: ['/o'] } } }, justification: 'Writes.' } as const;
    expect(await judge('touch /o/x', additional)).toMatchObject({ type: 'needsApproval', reason: 'Writes.', sandboxAfter: 'sandboxed' });
    for (const e of [wish, additional]) {
      const [never, off] = [
        await judge('ls', { ...e, approvalPolicy: 'never' }),
        await judge('ls', { ...e, approvalPolicy: granular(false, true) }),
      ];
      expect(never).toMatchObject({ type: 'forbidden', reason: expect.stringMatching(/approval policy is never/) });
      expect(off).toMatchObject({
        type: 'forbidden',
        reason: expect.stringMatching(/granular approval policy has sandbox_approval switched off/),
      });
      for (const v of [never, off]) expect(v).not.toMatchObject({ reason: expect.stringMatching(/by (?:the )?user/i) });
    }
    expect(await judge('rm -f v', { approvalPolicy: granular(false, true) })).toMatchObject({
      type: 'needsApproval',
      reason: '`rm -f v` removes files by force',
    });
  });

  it('[policy.decide.never] the refusal of a forced removal', async () => {
    expect(await judge('echo a && rm -rf v', { approvalPolicy: 'never' })).toEqual({
      type: 'forbidden',
      reason: '`rm -rf v` rejected: rm -f style commands are not permitted under approval policy never. Use a safer approach.',
    });
  });

  it('[policy.decide.rules] allow, prompt and forbidden under each policy', async () => {
    const allowed: Wish = { approvalPolicy: 'untrusted', rules: ALLOW };
    expect(await judge('mkdir -p a && ls', allowed)).toEqual({ type: 'skip', sandbox: 'sandboxed' });
    expect(await judge('mkdir -p a', { ...allowed, escalation: 'requireEscalated' })).toEqual({ type: 'skip', sandbox: 'unsandboxed' });
    expect(
      await kinds(
        [
          'mkdir d3',
          'mkdir -pv d3',
          'mkdir -p d3 && touch t',
          'mkdir -p d3 > t',
          'mkdir -p $(touch t)',
          'FOO=1 mkdir -p d3',
          'touch t && mkdir -p d3',
          'mkdir',
        ],
        allowed,
        'needsApproval',
      ),
    ).toEqual([]);
    expect(await judge('mkdir -p a && touch t', allowed)).toMatchObject({ proposedAmendment: ['touch', 't'] });
    const rules = `${ALLOW}\nprefix_rule(pattern=["touch"], decision="forbidden", justification="no touching; ask a human")\nprefix_rule(pattern=["cat"], decision="prompt", justification="why read?")`;
    for (const approvalPolicy of ['untrusted', 'on-request', 'never', granular(true, true)] as const)
      expect(await judge('ls && touch t', { rules, approvalPolicy })).toEqual({
        type: 'forbidden',
        reason: '`touch t` was rejected by a command rule: no touching; ask a human',
      });
    expect(await judge('cat v', { rules })).toEqual({
      type: 'needsApproval',
      reason: 'a command rule asks for approval of `cat v`: why read?',
      sandboxAfter: 'sandboxed',
      keys: ['command ["cat","v"] by ["/bin/bash","-lc"] in "/w" under sandboxed workspace-write'],
    });
    for (const approvalPolicy of ['never', granular(true, false)] as const)
      expect(await judge('cat v', { rules, approvalPolicy })).toMatchObject({
        type: 'forbidden',
        reason: expect.stringMatching(/why read\?.*approval policy/),
      });
  });

  it('[policy.decide.force-rule] leave for rm is not leave for rm -rf, unless the rule spells it', async () => {
    const rule = (words: string) => `prefix_rule(pattern=[${words}], decision="allow")`;
    const asked = async (rules: string, script: string) => (await judge(script, { rules })).type;
    expect([
      await asked(rule('"rm"'), 'rm -rf v'),
      await asked(rule('"rm","-rf","build"'), 'rm -rf build'),
      await asked(rule('"rm","-rf","build"'), 'rm -rf build; rm -rf v'),
    ]).toEqual(['needsApproval', 'skip', 'needsApproval']);
  });

  it('[policy.decide.shell] a shell from the workspace is not taken for one we can read', async () => {
    const wish: Wish = { approvalPolicy: 'untrusted', rules: ALLOW };
    expect([
      (await judge('ls', wish)).type,
      (await judge('ls', { ...wish, shellArgv: ['./bash', '-c', 'ls'] })).type,
      (await judge('ls', { ...wish, shellArgv: ['/w/sh', '-c', 'ls'] })).type,
    ]).toEqual(['skip', 'needsApproval', 'needsApproval']);
  });

  it('[policy.decide.no-sandbox] without a sandbox only reading runs unasked', async () => {
    const wish: Wish = { sandboxAvailable: false };
    expect(await kinds(READS, wish, 'skip')).toEqual([]);
    expect(await kinds([...HIDDEN, ...OPTIONS], wish, 'needsApproval')).toEqual([]);
    expect(await kinds([...HIDDEN, ...OPTIONS], { ...wish, approvalPolicy: 'never' }, 'forbidden')).toEqual([]);
    expect(await judge('touch a', wish)).toMatchObject({
      reason: 'no sandbox is available on this machine, so the command would run unprotected (it is not known to only read)',
      sandboxAfter: 'unsandboxed',
    });
    expect(await judge('ls', wish)).toEqual({ type: 'skip', sandbox: 'unsandboxed' });
    expect(await judge('touch a', { ...wish, approvalPolicy: 'never' })).toMatchObject({
      type: 'forbidden',
      reason: expect.stringMatching(/no sandbox is available.*the approval policy is never/),
    });
    expect(await judge('touch a', { ...wish, sandboxMode: 'danger-full-access' })).toEqual({ type: 'skip', sandbox: 'unsandboxed' });
  });
});

describe('approval keys', () => {
  const key = async (script: string, wish: Wish = {}): Promise<string> => {
    const v = await judge(script, { approvalPolicy: 'untrusted', ...wish });
    if (v.type !== 'needsApproval') throw new Error(v.type);
    return v.keys.join();
  };
  it('[policy.key.same] quoting and wrapping do not matter to one command', async () => {
    expect(new Set([await key('touch s1'), await key('touch  "s1"'), await key('\\touch s1'), await key("bash -c 'touch s1'")]).size).toBe(
      1,
    );
  });
  it('[policy.key.other] anything else makes another key', async () => {
    const keys = [
      await key('touch s1'),
      await key('touch s2'),
      await key('touch s1; touch s2'),
      await key('touch s1 && touch s2'),
      await key('touch s1', { escalation: 'requireEscalated', justification: 'x' }),
      await key('touch s1 > s2'),
      await key('touch s1', { cwd: '/w/sub' }),
      await key('A=1 touch s1'),
      await key('touch $(s1)'),
      await key('touch s1', { shellArgv: ['/bin/sh', '-c', 'touch s1'] }),
      await key('touch s1', { sandboxMode: 'read-only' }),
      await key('touch "s1 "'),
      await key('touch s1', { permissions: 'writing ["/x"]' }),
      await key('touch s1', { escalation: { additional: { network: { enabled: true } } } }),
      await key('touch s1', { escalation: { additional: { fileSystem: { write: ['/x'] } } } }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
