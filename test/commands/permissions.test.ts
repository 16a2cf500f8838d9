// request_permissions: what is granted, for how long, and what the model reads when it is not; on the real sandbox.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grantOf, intersection, isEmptyGrant, PermissionGrants } from '../../src/exec/sandbox/grants.ts';
import { isGuarded } from '../../src/exec/sandbox/guarded-paths.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';
import { call, TestFrontend } from '../spine/client.ts';
import type { Answers } from './bench.ts';
import { bodyOf, outputOf, outputsOf } from './bench.ts';

const sandboxed = await new SandboxLauncher().available();
const METHOD = 'item/permissions/requestApproval';
const ON = '[features]\nrequest_permissions_tool = true\n';

/** Outside of every writable root; /tmp is one. */
function folder(...names: string[]): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), '.permissions-')));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  for (const name of names) fs.mkdirSync(path.join(root, name), { recursive: true });
  return root;
}

const wish = (permissions: object): [string, object] => ['request_permissions', { reason: 'need it', permissions }];
const writing = (...write: string[]) => wish({ file_system: { write } });
const touch = (file: string): [string, object] => ['exec_command', { cmd: `touch ${file}; echo rc=$?`, login: false }];
const patch = (file: string): [string, object] => ['apply_patch', { input: `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch` }];

const granting = (answer: (params: Record<string, any>) => unknown): Answers => ({ [METHOD]: answer });
const run = (calls: [string, object][], answer: (params: Record<string, any>) => unknown, thread: object = {}, config = ON) =>
  outputsOf(calls, {
    provider: config,
    on: granting(answer),
    thread: { sandbox: 'workspace-write', approvalPolicy: 'on-request', ...thread },
  });

const asked = (front: TestFrontend) =>
  front.link.received.filter(({ method }) => method === METHOD).map(({ params }) => params as Record<string, any>);

describe.skipIf(!sandboxed)('a grant', () => {
  it('[sandbox.grant.turn] opens what was asked for to commands and patches', async () => {
    const root = folder('out');
    const out = path.join(root, 'out');
    const { front, turn, outputs } = await run(
      [touch(`${out}/early`), writing(out), touch(`${out}/a`), patch(`${out}/p`)],
      ({ permissions }) => ({ permissions }),
    );
    const { startedAtMs, ...request } = asked(front)[0];
    expect([typeof startedAtMs, request]).toEqual([
      'number',
      {
        threadId: front.threadId,
        turnId: turn.id,
        itemId: expect.any(String),
        environmentId: 'local',
        cwd: front.cwd,
        reason: 'need it',
        permissions: { network: null, fileSystem: { read: null, write: [out] } },
      },
    ]);
    expect(bodyOf(outputs[0])).toContain('rc=1');
    expect(JSON.parse(outputs[1])).toEqual({ permissions: { network: null, file_system: { read: null, write: [out] } }, scope: 'turn' });
    expect(bodyOf(outputs[2])).toBe('rc=0\n');
    expect(fs.readdirSync(out).sort()).toEqual(['a', 'p']);
    expect(front.methods()).not.toContain('item/fileChange/requestApproval');
  });

  it('[sandbox.grant.session] outlives its turn, and one for the turn does not', async () => {
    const root = folder('kept', 'gone');
    const [kept, gone] = ['kept', 'gone'].map((name) => path.join(root, name));
    const script = [
      call(...writing(kept), 'call_1'),
      call(...writing(gone), 'call_2'),
      { say: 'done' },
      call(...touch(`${kept}/a`), 'call_3'),
      call(...touch(`${gone}/a`), 'call_4'),
      { say: 'done' },
    ];
    const front = new TestFrontend({ script, provider: ON });
    onTestFinished(() => front.dispose());
    front.answers.set(METHOD, ({ permissions }) => ({ permissions, scope: permissions.fileSystem.write[0] === kept ? 'session' : 'turn' }));
    await front.start({ sandbox: 'workspace-write', approvalPolicy: 'on-request' });
    await front.turn('one');
    await front.turn('two');
    expect(['call_3', 'call_4'].map((id) => bodyOf(outputOf(front, id)).match(/rc=\d/)?.[0])).toEqual(['rc=0', 'rc=1']);
  });

  it('[sandbox.grant.bounds] never exceeds what was asked for, and an answer may narrow it', async () => {
    const root = folder('asked/part', 'asked/rest', 'other');
    const at = (name: string) => path.join(root, name);
    const { outputs } = await run(
      [writing(at('asked')), touch(at('asked/part/a')), touch(at('asked/rest/b')), touch(at('other/c'))],
      () => ({ permissions: { network: { enabled: true }, fileSystem: { read: null, write: [at('asked/part'), at('other')] } } }),
    );
    expect(JSON.parse(outputs[0]).permissions).toEqual({ network: null, file_system: { read: null, write: [at('asked/part')] } });
    expect(outputs.slice(1).map((text) => bodyOf(text).match(/rc=\d/)?.[0])).toEqual(['rc=0', 'rc=1', 'rc=1']);
  });
});

describe('no grant', () => {
  it('[sandbox.grant.told] tells a refusal, a frontend that cannot be asked, an error and a malformed answer apart', async () => {
    const root = folder();
    const entry = (access: string, at: string) => ({ access, path: { type: 'path', path: at } });
    const answers: unknown[] = [
      { permissions: {} },
      { permissions: { network: { enabled: true } } },
      { permissions: { fileSystem: { entries: [entry('write', root), entry('deny', path.join(root, 'secret'))] } } },
      { __error: { code: -32601, message: 'no such method' } },
      { __error: { code: -1, message: 'the window is gone' } },
      { nonsense: true },
    ];
    const { front, turn, outputs } = await run([...answers.map(() => writing(root)), touch(`${root}/a`)], () => answers.shift());
    const declined = 'Do not ask for the same again; work within the sandbox, or say what you could not do.';
    expect([turn.status, outputs.slice(0, 3)]).toEqual([
      'completed',
      [
        `The user declined the request: nothing was granted. ${declined}`,
        `The user declined the request: nothing was granted. What the answer granted was not what you asked for. ${declined}`,
        `The user declined the request: nothing was granted. ${declined}`,
      ],
    ]);
    expect(outputs[3]).toMatch(/^This call needs an approval, and the connected frontend cannot be asked.*Nothing was granted/);
    expect(outputs[4]).toMatch(/^The approval failed: the frontend answered with error -1: the window is gone. Nothing was granted/);
    expect(outputs[5]).toMatch(/^The approval failed: the frontend's answer was malformed .*Nothing was granted/);
    if (sandboxed) expect([bodyOf(outputs[6]).includes('rc=1'), fs.readdirSync(root)]).toEqual([true, []]);
    expect(asked(front).length).toBe(6);
  });

  it('[sandbox.grant.policy] asks nobody where the policy lets nobody be asked, or for nothing', async () => {
    const granular = { sandbox_approval: true, rules: true, mcp_elicitations: true };
    const [never, partly] = [
      await run([writing('/x'), wish({}), wish({ network: { enabled: false } })], () => ({}), { approvalPolicy: 'never' }),
      await run([writing('/x')], () => ({}), { approvalPolicy: { granular } }),
    ];
    expect(never.outputs[0]).toBe(
      'request_permissions rejected: approval policy never lets nobody be asked. Nothing was granted. Work within the sandbox, or say what you could not do.',
    );
    expect(partly.outputs[0]).toMatch(/^request_permissions rejected: the granular approval policy has request_permissions switched off/);
    for (const text of never.outputs.slice(1)) expect(text).toMatch(/^request_permissions requires at least one permission/);
    expect([asked(never.front), asked(partly.front)]).toEqual([[], []]);
    const off = await run([writing('/x')], () => ({}), {}, '');
    expect(off.outputs[0]).toMatch(/unsupported call: request_permissions/);
  });

  it('[sandbox.grant.interrupt] an answer after the interrupt grants nothing', async () => {
    const front = new TestFrontend({ script: [call(...writing('/x'), 'call_1'), { say: 'done' }], provider: ON });
    onTestFinished(() => front.dispose());
    await front.start({ sandbox: 'workspace-write', approvalPolicy: 'on-request' });
    const turnId = await front.startTurn('go');
    await front.seen(METHOD);
    const request = front.link.received.find(({ method }) => method === METHOD);
    await front.result('turn/interrupt', { threadId: front.threadId, turnId });
    front.link.send({ id: request?.id, result: { permissions: { fileSystem: { write: ['/x'] } }, scope: 'session' } });
    expect((await front.ended(turnId)).status).toBe('interrupted');
    expect(front.all('serverRequest/resolved').map(({ requestId }) => requestId)).toEqual([request?.id]);
  });
});

describe('grants', () => {
  const grant = (write: string[], network = false) => grantOf({ fileSystem: { write }, network: { enabled: network } }, '/w');

  it('[sandbox.grant.intersection] keeps the parts that lie in both, whatever they are called', () => {
    const root = folder('real/sub');
    fs.symlinkSync(path.join(root, 'real'), path.join(root, 'link'));
    const at = (name: string) => path.join(root, name);
    const both = (a: string[], b: string[]) => intersection(grant(a), grant(b)).write;
    expect(both([at('link')], [at('real/sub')])).toEqual([at('real/sub')]);
    expect(both([at('real/sub')], [at('link')])).toEqual([at('real/sub')]);
    expect(both([at('real')], ['/'])).toEqual([at('real')]);
    expect(both([at('real')], [at('realm')])).toEqual([]);
    expect(both(['sub', '/w/../etc'], ['/w/sub', '/etc/'])).toEqual(['/w/sub', '/etc']);
    expect(intersection(grant(['/a'], true), grant([], true))).toEqual({ read: [], write: [], network: true });
    expect(isEmptyGrant(intersection(grant(['/a']), grant(['/b'], true)))).toBe(true);
  });

  it('[sandbox.grant.guarded] a root that was granted inside a guarded folder is open, the rest of it stays shut', () => {
    const roots = ['/w', '/w/.git/hooks'];
    const files = ['/w/.git/config', '/w/.git/hooks/x', '/w/.git/hooks/.git/x', '/w/a', '/elsewhere/.git/x'];
    expect(files.map((file) => isGuarded(roots, file))).toEqual([true, false, true, false, false]);
  });

  it('[sandbox.grant.scopes] adds up within a turn, apart from other turns', () => {
    const grants = new PermissionGrants();
    const base = { type: 'restricted', writableRoots: ['/w'], scratchRoots: [], readAll: true, network: false } as const;
    grants.add('t1', 'turn', grant(['/a']));
    grants.add('t1', 'turn', grant(['/b'], true));
    grants.add('t2', 'session', grant(['/c']));
    const of = (turn: string) => grants.widen(base, turn);
    expect([of('t1'), of('t2')]).toEqual([
      { ...base, writableRoots: ['/w', '/c', '/a', '/b'], network: true },
      { ...base, writableRoots: ['/w', '/c'] },
    ]);
    grants.turnEnded('t1');
    expect(of('t1')).toEqual(of('t2'));
    expect(grants.widen({ type: 'fullAccess' }, 't1')).toEqual({ type: 'fullAccess' });
  });
});
