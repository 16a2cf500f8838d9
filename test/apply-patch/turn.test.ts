import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { add, applied, calls, functionCall, type Params, patch, patchCall, update, Workbench } from './workbench.ts';

const accepting =
  (...decisions: string[]) =>
  (method: string): unknown =>
    method.endsWith('requestApproval') ? { decision: decisions.shift() ?? 'decline' } : undefined;

it('[patch-tool.applied] a patch is one item, started and completed with the same changes, then the diff of the turn', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(patch('*** Update File: a.txt', '@@', '-one', '+ONE', '*** Add File: sub/b.txt', '+b'));
  expect((await t.turn(calls(call))).status).toBe('completed');
  expect([t.file('a.txt'), t.file('sub/b.txt')]).toEqual(['ONE\ntwo\n', 'b\n']);
  expect(t.read(call.id)).toBe(applied('M a.txt', 'A sub/b.txt'));
  const changes = [
    { path: t.at('a.txt'), kind: { type: 'update', move_path: null }, diff: '@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n' },
    { path: t.at('sub/b.txt'), kind: { type: 'add' }, diff: 'b\n' },
  ];
  const own = (method: string): Params[] => t.all(method).filter(({ item }) => item.type === 'fileChange');
  expect(own('item/started').map(({ item }) => [item.id, item.status, item.changes])).toEqual([[call.id, 'inProgress', changes]]);
  expect(own('item/completed').map(({ item }) => [item.id, item.status, item.changes])).toEqual([[call.id, 'completed', changes]]);
  expect(t.all('item/fileChange/outputDelta').map(({ itemId, delta }) => [itemId, delta])).toEqual([
    [call.id, 'Success. Updated the following files:\nM a.txt\nA sub/b.txt\n'],
  ]);
  const methods = t.link.received.map(({ method }) => method);
  expect(methods.lastIndexOf('turn/diff/updated')).toBeGreaterThan(methods.indexOf('item/completed'));
  expect(t.all('item/fileChange/patchUpdated')).toEqual([]);
});

it('[patch-tool.turn-diff] the diff grows over the patches of a turn and begins anew with the next', async () => {
  const t = await Workbench.open({ files: { 'a.txt': '1\n2\n' } });
  await t.turn(calls(patchCall(update('a.txt', '1', 'one'))), calls(patchCall(update('a.txt', '2', 'two'))));
  await t.turn(calls(patchCall(update('a.txt', 'two', '2'))));
  const lines = t.all('turn/diff/updated').map(({ diff }) => diff.split('\n').filter((line: string) => /^[-+ ]\w/.test(line)));
  expect(lines).toEqual([
    ['-1', '+one', ' 2'],
    ['-1', '-2', '+one', '+two'],
    [' one', '-two', '+2'],
  ]);
});

it('[patch-tool.refused] a patch that does not fit, and one that is none, end as failed items with the text that the model reads', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\n' } });
  const [bad, none] = [patchCall(update('a.txt', 'zzz', 'x')), patchCall('hello')];
  expect((await t.turn(calls(bad), calls(none))).status).toBe('completed');
  expect(t.changes()).toEqual([
    [bad.id, 'failed', ['update a.txt']],
    [none.id, 'failed', []],
  ]);
  expect(t.read(bad.id)).toMatch(/^apply_patch verification failed: Failed to find expected lines in .*a\.txt/);
  expect(t.read(none.id)).toMatch(/^apply_patch verification failed: invalid patch: The first line .* 'hello'$/);
  expect(t.all('item/fileChange/outputDelta').map(({ delta }) => delta)).toEqual([t.read(bad.id), t.read(none.id)]);
  expect([t.file('a.txt'), t.all('turn/diff/updated')]).toEqual(['one\n', []]);
});

it('[patch-tool.in-line] patches of one file in one response land one after the other, and a command after them sees all', async () => {
  const t = await Workbench.open({ files: { 'a.txt': '1\n2\n3\n' }, sandbox: 'danger-full-access' });
  const list = [
    patchCall(update('a.txt', '1', 'one')),
    patchCall(update('./a.txt', 'one', 'uno')),
    patchCall(update('a.txt', '3', 'three')),
  ];
  const look = functionCall('exec_command', { cmd: 'cat a.txt', login: false });
  await t.turn(calls(...list, look));
  expect(t.read(look.id)).toMatch(/\nuno\n2\nthree\n$/);
  expect(t.changes().map(([id, status]) => [id, status])).toEqual(list.map(({ id }) => [id, 'completed']));
});

it('[patch-tool.overtaken] patches through a link, and of commands, that were verified side by side are verified again', async () => {
  const t = await Workbench.open({ files: { 'a.txt': '1\n2\n3\n' } });
  fs.symlinkSync('a.txt', t.at('link.txt'));
  const heredoc = (text: string) => functionCall('exec_command', { cmd: `apply_patch <<'EOF'\n${text}EOF` });
  const list = [
    patchCall(update('a.txt', '1', 'one')),
    patchCall(update('link.txt', '2', 'two')),
    heredoc(update('a.txt', 'one', 'uno')),
    heredoc(update('a.txt', '3', 'three')),
  ];
  await t.turn(calls(...list));
  expect(t.file('a.txt')).toBe('uno\ntwo\nthree\n');
  expect(t.changes().map(([, status]) => status)).toEqual(['completed', 'completed', 'completed', 'completed']);
});

it('[patch-tool.approval] accepted for the session covers the same path only; the request names the path, and the diff is shown before', async () => {
  const t = await Workbench.open({ files: { '../out/x.txt': 'x\n' } });
  t.answer = accepting('acceptForSession', 'decline');
  const [x, again, y] = [update('../out/x.txt', 'x', 'X'), update('../out/x.txt', 'X', 'Z'), add('../out/y.txt', 'y')].map((p) =>
    patchCall(p),
  );
  await t.turn(calls(x), calls(again), calls(y));
  const out = path.join(t.root, 'out');
  const asked = t.all('item/fileChange/requestApproval');
  expect(asked.map(({ itemId, reason, grantRoot }) => [itemId, reason, grantRoot])).toEqual([
    [x.id, `the patch writes outside the writable folders of the sandbox: ${out}/x.txt`, out],
    [y.id, `the patch writes outside the writable folders of the sandbox: ${out}/y.txt`, out],
  ]);
  expect(t.changes().map(([id, status]) => [id, status])).toEqual([
    [x.id, 'completed'],
    [again.id, 'completed'],
    [y.id, 'declined'],
  ]);
  expect([t.file('../out/x.txt'), t.file('../out/y.txt')]).toEqual(['Z\n', null]);
});

it('[patch-tool.approved-once] what changed on disk while a client was asked stops the patch; nothing of it is written', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\n' }, approval: 'untrusted' });
  t.answer = (method) => {
    if (!method.endsWith('requestApproval')) return undefined;
    t.write('a.txt', 'one\nmore\n');
    return { decision: 'accept' };
  };
  const call = patchCall(patch('*** Add File: b.txt', '+b', '*** Update File: a.txt', '@@', '-one', '+ONE'));
  await t.turn(calls(call));
  expect(t.read(call.id)).toBe(
    `Exit code: 1\nWall time: T seconds\nOutput:\napply_patch failed: ${t.at('a.txt')} changed after the patch was verified; nothing of the patch is applied. Read the file again and send a new patch`,
  );
  expect([t.file('a.txt'), t.file('b.txt'), t.changes()]).toEqual([
    'one\nmore\n',
    null,
    [[call.id, 'failed', ['update a.txt', 'add b.txt']]],
  ]);
});

it('[patch-tool.interrupt] an interrupt while a client is asked writes nothing and ends the item; a late accept changes nothing', async () => {
  const t = await Workbench.open({ approval: 'untrusted' });
  const call = patchCall(add('a.txt', 'a'));
  const turnId = await t.begin(calls(call));
  await t.seen('item/fileChange/requestApproval');
  const asked = t.link.received.find(({ method }) => method === 'item/fileChange/requestApproval');
  await t.request('turn/interrupt', { threadId: t.threadId, turnId });
  expect((await t.ended(turnId)).status).toBe('interrupted');
  t.link.send({ id: asked?.id, result: { decision: 'accept' } });
  await t.request('thread/read', { threadId: t.threadId });
  expect([t.file('a.txt'), t.changes()]).toEqual([null, [[call.id, 'declined', ['add a.txt']]]]);
});

it('[patch-tool.before-images] what the files held before the turn is kept with a manifest, bytes that are no text too', async () => {
  const t = await Workbench.open({ files: { 'a.txt': '\ufeffone\r\n', 'gone.bin': '' } });
  fs.writeFileSync(t.at('gone.bin'), Buffer.from([0xff, 0, 1]));
  fs.chmodSync(t.at('a.txt'), 0o755);
  fs.symlinkSync('a.txt', t.at('link.txt'));
  const first = patchCall(patch('*** Update File: a.txt', '@@', '-one', '+two', '*** Delete File: gone.bin', '*** Delete File: link.txt'));
  const turn = await t.turn(calls(first), calls(patchCall(update('a.txt', 'two', 'three'))), calls(patchCall(add('new.txt', 'n'))));
  const kept = (id: string): string => fs.readFileSync(path.join(t.home, 'artifacts', t.threadId, `${id}.txt`), 'utf8');
  const id = `before-${turn.id}`;
  expect(JSON.parse(kept(id))).toEqual({
    turnId: turn.id,
    files: [
      { path: t.at('a.txt'), state: 'file', artifact: `${id}-0`, encoding: 'utf8', mode: 0o755, link: null },
      { path: t.at('gone.bin'), state: 'file', artifact: `${id}-1`, encoding: 'base64', mode: 0o644, link: null },
      { path: t.at('link.txt'), state: 'link', artifact: null, encoding: 'utf8', mode: null, link: 'a.txt' },
      { path: t.at('new.txt'), state: 'absent', artifact: null, encoding: 'utf8', mode: null, link: null },
    ],
  });
  expect([kept(`${id}-0`), Buffer.from(kept(`${id}-1`), 'base64')]).toEqual(['\ufeffone\r\n', Buffer.from([0xff, 0, 1])]);
});
