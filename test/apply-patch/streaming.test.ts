import path from 'node:path';
import { expect, it } from 'vitest';
import { add, calls, type Params, patch, patchCall, slowly, update, Workbench } from './workbench.ts';

const LONG = patch(
  '*** Add File: s.txt',
  ...Array.from({ length: 16 }, (_, i) => `+line ${i} of a file that comes slowly`),
  '*** Update File: a.txt',
  '@@',
  '-one',
  '+ONE',
);

/** Notifications about file changes, in order: method, item id and how much the changes hold. */
function shown(t: Workbench): [string, string, number][] {
  const size = (changes: Params[]): number => changes.reduce((sum, change) => sum + change.diff.length, 0);
  return t.link.received.flatMap(({ method, params }): [string, string, number][] => {
    const { item, itemId, changes } = (params ?? {}) as Params;
    if (method === 'item/fileChange/patchUpdated') return [['updated', itemId, size(changes)]];
    if (item?.type !== 'fileChange') return [];
    return [[method === 'item/started' ? 'started' : item.status, item.id, size(item.changes)]];
  });
}

it('[patch-tool.preview] a patch that comes slowly is shown as it grows, under one item that starts first and ends last', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(LONG);
  await t.turn(slowly(call, { everyMs: 20 }));
  const seen = shown(t);
  expect(new Set(seen.map(([, id]) => id))).toEqual(new Set([call.id]));
  expect([seen[0][0], seen.at(-1)?.[0], seen.filter(([what]) => what === 'started').length]).toEqual(['started', 'completed', 1]);
  const sizes = seen.slice(1, -1).map(([, , size]) => size);
  expect(sizes.length).toBeGreaterThanOrEqual(2);
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  expect(sizes[0]).toBeLessThan(sizes.at(-1) as number);
  const [first] = t.all('item/fileChange/patchUpdated')[0].changes;
  expect([first.path, first.kind]).toEqual([t.at('s.txt'), { type: 'add' }]);
  expect([t.file('a.txt'), t.file('s.txt')?.split('\n').length]).toEqual(['ONE\ntwo\n', 17]);
});

it('[patch-tool.preview-asked] who is asked about a previewed patch is shown what will be written first', async () => {
  const t = await Workbench.open({ files: { 's.txt': 'precious\n', 'a.txt': 'one\n' }, approval: 'untrusted' });
  let known: Params[] = [];
  t.answer = (method) => {
    if (!method.endsWith('requestApproval')) return undefined;
    known = t.all('item/fileChange/patchUpdated').at(-1)?.changes;
    return { decision: 'decline' };
  };
  await t.turn(slowly(patchCall(LONG), { everyMs: 20 }));
  expect(known.map(({ path: file, kind }) => [path.basename(file), kind.type])).toEqual([
    ['a.txt', 'update'],
    ['s.txt', 'update'],
  ]);
  expect(known[1].diff).toMatch(/^-precious$/m);
  expect([t.file('s.txt'), t.changes().map(([, status]) => status)]).toEqual(['precious\n', ['declined']]);
});

it('[patch-tool.cut] a call that is cut off is closed as failed and not run; the same call in the retry is run under a new item', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(LONG);
  await t.turn(slowly(call, { everyMs: 20, cutAfter: 24 }), calls(call));
  const [half, whole, ...more] = t.changes();
  expect([half.slice(0, 2), more]).toEqual([[call.id, 'failed'], []]);
  expect([whole[0] === call.id, whole[1], whole[2]]).toEqual([false, 'completed', ['update a.txt', 'add s.txt']]);
  expect(t.file('a.txt')).toBe('ONE\ntwo\n');
  expect(t.read(call.id)).toMatch(/Success/);
});

it('[patch-tool.cut-again] the retry is previewed too, when it comes slowly again', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(LONG);
  await t.turn(slowly(call, { everyMs: 20, cutAfter: 24 }), slowly(call, { everyMs: 20 }));
  const seen = shown(t);
  const ended = seen.findIndex(([what]) => what === 'failed');
  const again = seen.slice(ended + 1);
  expect([again[0][0], again.at(-1)?.[0], new Set(again.map(([, id]) => id)).size]).toEqual(['started', 'completed', 1]);
  expect(again[0][1]).not.toBe(call.id);
  expect(again.length).toBeGreaterThan(3);
  expect([t.file('a.txt'), t.changes().length]).toEqual(['ONE\ntwo\n', 2]);
});

it('[patch-tool.interrupt-stream] an interrupt while the patch still comes ends its item as failed and writes nothing', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(LONG);
  const turnId = await t.begin(slowly(call, { everyMs: 20, holdAfter: 24 }));
  await t.seen('item/fileChange/patchUpdated');
  await t.request('turn/interrupt', { threadId: t.threadId, turnId });
  expect((await t.ended(turnId)).status).toBe('interrupted');
  expect(t.changes().map(([id, status]) => [id, status])).toEqual([[call.id, 'failed']]);
  expect([t.file('a.txt'), t.file('s.txt')]).toEqual(['one\ntwo\n', null]);
});

it('[patch-tool.preview-repeat] a call id of an earlier turn is renamed, and not previewed under the old one', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'one\ntwo\n' } });
  const call = patchCall(LONG);
  await t.turn(calls(call));
  const before = t.link.received.length;
  const same = patchCall(LONG.replace('s.txt', 'r.txt').replace('-one', '-ONE').replace('+ONE', '+one'), call.id);
  await t.turn(slowly(same, { everyMs: 20 }));
  const later = t.link.received.slice(before).filter(({ method }) => method === 'item/fileChange/patchUpdated');
  expect([later.length, t.read(`${call.id}_2`)]).toEqual([0, t.read(call.id).replace('s.txt', 'r.txt')]);
  expect(t.changes().map(([id]) => id)).toEqual([call.id, `${call.id}_2`]);
});

it('[patch-tool.preview-refused] a previewed patch that does not fit ends its one item as failed', async () => {
  const t = await Workbench.open({ files: { 'a.txt': 'other\n' } });
  const call = patchCall(LONG);
  await t.turn(slowly(call, { everyMs: 20 }), calls(patchCall(add('b.txt', 'b'))), calls(patchCall(update('b.txt', 'b', 'B'))));
  expect(t.changes().map(([id, status]) => [id === call.id, status])).toEqual([
    [true, 'failed'],
    [false, 'completed'],
    [false, 'completed'],
  ]);
  expect(shown(t).filter(([what]) => what === 'started').length).toBe(3);
});
