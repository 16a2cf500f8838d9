// The list of threads: the index, and the files where there is none, give the same pages whatever happens to the files.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { lockThread } from '../../src/session/rollout/lock.ts';
import { newRolloutPath } from '../../src/session/rollout/paths.ts';
import type { ThreadQuery } from '../../src/session/thread-query.ts';
import { searchThreads, snippetOf } from '../../src/session/thread-search.ts';
import { ThreadStore } from '../../src/session/thread-store.ts';

const homes: string[] = [];
const stores: ThreadStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const home of homes.splice(0)) fs.rmSync(home, { recursive: true, force: true });
});
const newHome = (): string => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-store-'));
  homes.push(home);
  return home;
};
const open = (home: string): ThreadStore => {
  const store = new ThreadStore(home);
  stores.push(store);
  return store;
};

const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const idOf = (n: number): string => {
  const hex = (START + n * 1000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${n.toString().padStart(12, '0')}`;
};
const fileOf = (home: string, n: number): string => newRolloutPath(home, idOf(n), new Date(START + n * 1000));

function put(home: string, n: number, more: { cwd?: string; answer?: string; updatedAt?: number } = {}): void {
  const file = fileOf(home, n);
  const createdAt = START / 1000 + n;
  const turnId = `t${n}`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const lines = [
    {
      type: 'meta',
      version: 1,
      id: idOf(n),
      createdAt,
      cliVersion: '1',
      source: 'vscode',
      originator: 'x',
      forkedFromId: null,
      parentThreadId: null,
      config: null,
    },
    { type: 'settings', settings: { cwd: more.cwd ?? '/w', model: 'm', modelProvider: 'p' } },
    { type: 'turnStarted', turnId, startedAt: createdAt },
    {
      type: 'item',
      turnId,
      item: { type: 'userMessage', id: `u${n}`, clientId: null, content: [{ type: 'text', text: `Question ${n}` }] },
    },
    { type: 'item', turnId, item: { type: 'agentMessage', id: `a${n}`, text: more.answer ?? `the answer ${n}` } },
    {
      type: 'summary',
      preview: `Question ${n}`,
      name: null,
      updatedAt: more.updatedAt ?? createdAt,
      cwd: more.cwd ?? '/w',
      model: 'm',
      modelProvider: 'p',
      turns: 1,
    },
  ];
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join(''));
}

const ALL: ThreadQuery = {
  archived: false,
  sortKey: 'createdAt',
  descending: true,
  after: null,
  limit: 100,
  cwds: null,
  providers: null,
  kinds: null,
  originators: null,
  parentThreadId: null,
  included: null,
  excluded: null,
  term: null,
};
const shown = async (store: ThreadStore, query: Partial<ThreadQuery> = {}): Promise<string[]> =>
  (await store.page({ ...ALL, ...query })).page.map(({ threadId }) => threadId);

/** A home whose index cannot be made: its place is taken by a folder that is not empty. */
function withoutIndex(home: string): string {
  fs.mkdirSync(path.join(home, 'index.sqlite', 'x'), { recursive: true });
  return home;
}

const KINDS: [string, () => string][] = [
  ['with an index', newHome],
  ['without one', () => withoutIndex(newHome())],
];

describe.each(KINDS)('stored threads %s', (_kind, home) => {
  it('[threads.pages] pages both ways without gap or repeat, filtered and searched', async () => {
    const at = home();
    for (let n = 0; n < 7; n++) put(at, n, { cwd: n % 2 ? '/odd' : '/even', updatedAt: 1_000_000_000 - n });
    const store = open(at);
    const seen: string[] = [];
    let after: ThreadQuery['after'] = null;
    for (let more = true; more; ) {
      const page = await store.page({ ...ALL, limit: 3, after });
      seen.push(...page.page.map(({ threadId }) => threadId));
      const last = page.page.at(-1);
      if (last) after = { at: last.meta.createdAt, id: last.threadId };
      more = page.more;
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map(idOf));
    expect(await shown(store, { descending: false, limit: 2 })).toEqual([0, 1].map(idOf));
    expect(await shown(store, { sortKey: 'updatedAt' })).toEqual([0, 1, 2, 3, 4, 5, 6].map(idOf));
    expect(await shown(store, { cwds: ['/odd'] })).toEqual([5, 3, 1].map(idOf));
    expect(await shown(store, { term: 'QUESTION 4' })).toEqual([idOf(4)]);
    expect(await shown(store, { providers: ['else'] })).toEqual([]);
    expect(await shown(store, { included: [idOf(2), idOf(9)], excluded: [idOf(3)] })).toEqual([idOf(2)]);
    expect((await searchThreads(store, 'answer 3', ALL)).hits.map(({ thread, snippet }) => [thread.threadId, snippet])).toEqual([
      [idOf(3), 'the answer 3'],
    ]);
  });

  it('[threads.changes] follows files that come, change, move to the archive and go', async () => {
    const at = home();
    put(at, 0);
    const store = open(at);
    expect(await shown(store)).toEqual([idOf(0)]);
    put(at, 1);
    put(at, 2);
    expect(await shown(store)).toEqual([2, 1, 0].map(idOf));
    expect(await shown(store, { sortKey: 'updatedAt' })).toHaveLength(3);
    put(at, 1, { answer: 'something else', cwd: '/moved' });
    const moved: Partial<ThreadQuery> = { cwds: ['/moved'], sortKey: 'updatedAt' };
    expect(await shown(store, moved)).toEqual(seesAtOnce(at) ? [idOf(1)] : []);
    await shown(store, { sortKey: 'updatedAt' }); // a page puts its rows right
    expect(await shown(store, moved)).toEqual([idOf(1)]);
    await store.archive({ threadId: idOf(0), file: fileOf(at, 0), archived: false });
    expect([await shown(store), await shown(store, { archived: true })]).toEqual([[2, 1].map(idOf), [idOf(0)]]);
    fs.rmSync(fileOf(at, 2));
    expect(await shown(store)).toEqual([idOf(1)]);
    fs.writeFileSync(fileOf(at, 3), '');
    fs.writeFileSync(fileOf(at, 4), 'no line of a record\n');
    expect(await shown(store)).toEqual([idOf(1)]);
  });
});

/** Only the scan of the files sees at once what nobody announced. */
const seesAtOnce = (home: string): boolean => fs.existsSync(path.join(home, 'index.sqlite', 'x'));

describe('threads by their names', () => {
  const query = fc.record({
    archived: fc.boolean(),
    descending: fc.boolean(),
    limit: fc.integer({ min: 1, max: 9 }),
    after: fc.option(fc.record({ at: fc.integer({ min: -3, max: 40 }).map((n) => START / 1000 + n * 20_000), id: fc.nat(40).map(idOf) })),
    cwds: fc.option(fc.subarray(['/even', '/odd', '/none'])),
    excluded: fc.option(fc.array(fc.nat(40).map(idOf))),
  });

  it('[threads.by-name] a page by the time of making is the same by names, by the index and by all files, over days and any place', async () => {
    const homes = [newHome(), newHome(), withoutIndex(newHome())];
    const at = (n: number) => n * 20_000; // some a day
    for (const home of homes) {
      for (let n = 0; n < 40; n++) put(home, at(n), { cwd: n % 2 ? '/odd' : '/even' });
      for (let n = 3; n < 40; n += 7) await open(home).archive({ threadId: idOf(at(n)), file: fileOf(home, at(n)), archived: false });
    }
    // A thread of no day: names do not tell all in this home.
    fs.mkdirSync(path.join(homes[1], 'sessions'), { recursive: true });
    const lost = path.join(homes[1], 'sessions', path.basename(fileOf(homes[1], 99)));
    put(homes[1], 99, { cwd: '/lost' });
    fs.renameSync(fileOf(homes[1], 99), lost);
    const [named, indexed, scanned] = homes.map(open);
    expect(await shown(indexed, { cwds: ['/lost'] })).toEqual([idOf(99)]);
    fs.writeFileSync(lost, '');
    expect(await shown(named, { limit: 9 })).toHaveLength(9);
    expect(fs.existsSync(path.join(homes[0], 'index.sqlite'))).toBe(false);
    await fc.assert(
      fc.asyncProperty(query, async (wanted) => {
        const pages = await Promise.all([named, indexed, scanned].map((store) => store.page({ ...ALL, ...wanted })));
        const [first, ...others] = pages.map(({ page, more }) => [
          page.map(({ threadId, cwd, preview }) => [threadId, cwd, preview]),
          more,
        ]);
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 60 },
    );
  });

  it('[threads.by-name-place] a place of a foreign hand gives an empty page or a page, and no fault', async () => {
    const home = newHome();
    for (let n = 0; n < 3; n++) put(home, n);
    for (const at of [Number.MAX_VALUE, -Number.MAX_VALUE, 8.64e12, -1, 0.5])
      for (const id of ['', '../../x', '\0', 'z']) expect((await shown(open(home), { after: { at, id } })).length % 3).toBe(0);
  });
});

describe('the index', () => {
  it('[threads.announced] a thread that another process held is looked at again, whatever page it is on', async () => {
    const home = newHome();
    put(home, 0);
    put(home, 1);
    const store = open(home);
    expect(await shown(store, { term: 'question 0' })).toEqual([idOf(0)]);
    const lock = lockThread(home, idOf(0));
    put(home, 0, { cwd: '/changed' });
    expect(await shown(store, { cwds: ['/changed'], sortKey: 'updatedAt' })).toEqual([idOf(0)]);
    put(home, 0, { cwd: '/again' });
    if (lock.ok) lock.release();
    expect(await shown(store, { cwds: ['/again'], sortKey: 'updatedAt' })).toEqual([idOf(0)]);
  });

  it('[threads.index-damaged] is made anew when its file is damaged or gone', async () => {
    const home = newHome();
    put(home, 0);
    fs.writeFileSync(path.join(home, 'index.sqlite'), 'this is no database, and long enough to be looked at as one'.repeat(50));
    expect(await shown(open(home), { sortKey: 'updatedAt' })).toEqual([idOf(0)]);
    for (const store of stores.splice(0)) await store.close();
    for (const name of fs.readdirSync(home)) if (name.startsWith('index.sqlite')) fs.rmSync(path.join(home, name));
    expect(await shown(open(home), { sortKey: 'updatedAt' })).toEqual([idOf(0)]);
  });

  it('[threads.headless] a thread whose header is lost is still listed, by what its file is named', async () => {
    const home = newHome();
    put(home, 0);
    const file = fileOf(home, 0);
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').split('\n').slice(1).join('\n'));
    expect((await open(home).page(ALL)).page.map(({ meta, preview }) => [meta.id, meta.createdAt, preview])).toEqual([
      [idOf(0), START / 1000, 'Question 0'],
    ]);
  });

  it('[threads.shared-index] two daemons that use it at the same time see the same', async () => {
    const home = newHome();
    for (let n = 0; n < 30; n++) put(home, n);
    const [a, b] = [open(home), open(home)];
    const both = await Promise.all([a, b, a, b].map((store) => shown(store, { sortKey: 'updatedAt' })));
    for (const one of both) expect(one).toHaveLength(30);
  });

  it('[threads.snippet] a snippet shows the term on one line with what stands around it', () => {
    expect(snippetOf(`${'a '.repeat(100)}find\nME${' z'.repeat(100)}`, 'find')).toMatch(/^…(a )+find ME( z)+…$/);
  });
});
