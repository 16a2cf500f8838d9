// fuzzyFileSearch and its sessions on real folders and repositories.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { PathList } from '../../src/server/fuzzy/path-list.ts';
import { addWalkedPaths } from '../../src/server/fuzzy/walk.ts';
import { fuzzySearchHandlers } from '../../src/server/handlers/fuzzy-search.ts';
import { Served } from '../handlers/served.ts';
import { tick } from '../wire/linked.ts';

interface Hit {
  root: string;
  path: string;
  match_type: string;
  file_name: string;
  score: number;
  indices: number[];
}

function searching(files: readonly string[] = [], env: Record<string, string | undefined> = { PATH: process.env['PATH'] }) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'search-')));
  const put = (name: string, text = ''): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  for (const name of files) put(name);
  const runner = new LocalProcessRunner();
  const search = fuzzySearchHandlers({ runner, env });
  onTestFinished(async () => {
    search.endAll();
    await runner.endAll(0);
    rmSync(root, { recursive: true, force: true });
  });
  const client = new Served(search.handlers);
  const git = (...args: string[]) => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  const hits = async (query: string, roots = [root]) => (await client.result<{ files: Hit[] }>('fuzzyFileSearch', { query, roots })).files;
  const find = async (query: string, roots?: string[]) => (await hits(query, roots)).map((hit) => hit.path);
  return { root, put, client, search, git, hits, find };
}

describe('fuzzyFileSearch', () => {
  it('[search.once] gives files and folders with score and positions, best first', async () => {
    const { root, hits, find } = searching(['src/main.ts', 'src/manifest.json', 'main-parts/x', 'other/readme.md']);
    const [first, ...more] = await hits('main');
    expect(first).toEqual({
      root,
      path: 'src/main.ts',
      match_type: 'file',
      file_name: 'main.ts',
      score: first.score,
      indices: [4, 5, 6, 7],
    });
    expect(more.map((hit) => [hit.path, hit.match_type])).toEqual([
      ['main-parts', 'directory'],
      ['main-parts/x', 'file'],
      ['src/manifest.json', 'file'],
    ]);
    expect([
      await find(''),
      await find('  '),
      await find('main', []),
      await find('main', [`${root}/no`, '', `${root}/src/main.ts`]),
    ]).toEqual(Array(4).fill([]));
    expect(await find('maints', [`${root}/src`, `${root}/src`])).toEqual(['main.ts']);
  });

  it('[search.git] in a repository it goes by git: tracked files always, others unless ignored, what is gone not', async () => {
    const { put, git, find, root } = searching(['x-tracked', 'x-forced', 'x-gone', 'sub/x-inner', 'build/x-built', 'x-excluded', 'x-new']);
    git('init', '-q');
    put('.gitignore', 'x-forced\nbuild/\n');
    put('.git/info/exclude', 'x-excluded\n');
    git('add', '-f', 'x-tracked', 'x-forced', 'x-gone', 'sub');
    git('commit', '-q', '-m', 'all');
    rmSync(path.join(root, 'x-gone'));
    expect((await find('x')).sort()).toEqual(['sub/x-inner', 'x-forced', 'x-new', 'x-tracked']);
    expect([await find('x', [`${root}/sub`]), await find('config'), await find('sub')]).toEqual([['x-inner'], [], ['sub', 'sub/x-inner']]);
    expect(await find('x', [`${root}/build`])).toEqual(['x-built']);
  });

  it('[search.git-quiet] starts nothing that a repository names', async () => {
    const { root, put, git, find } = searching(['x']);
    git('init', '-q');
    put('.git/monitor', `#!/bin/sh\ntouch ${root}/ran\n`);
    chmodSync(path.join(root, '.git/monitor'), 0o755);
    git('config', 'core.fsmonitor', `${root}/.git/monitor`);
    expect([await find('x'), await find('ran')]).toEqual([['x'], []]);
  });

  it.each([
    ['an empty .git folder', { PATH: process.env['PATH'] }],
    ['no git to ask', { PATH: '/nonexistent' }],
  ])('[search.walk] with %s it walks, and honours the rules itself', async (_, env) => {
    const { root, put, find } = searching(['x1', 'sub/x2', 'sub/deep/x3', 'logs/x4', '.hidden/x5', 'sub/x6.log'], env);
    mkdirSync(path.join(root, '.git/refs/x-ref'), { recursive: true });
    put('.gitignore', '/logs/\n*.log\n');
    put('sub/.gitignore', '!x6.log\ndeep\n');
    symlinkSync('..', path.join(root, 'sub/x-loop'));
    expect((await find('x')).sort()).toEqual(['.hidden/x5', 'sub/x-loop', 'sub/x2', 'sub/x6.log', 'x1']);
    expect((await find('x', [`${root}/sub`])).sort()).toEqual(['x-loop', 'x2', 'x6.log']);
  });

  it('[search.replaced] a later search with the same token takes the place of the earlier', async () => {
    const { root, client } = searching(['main.ts']);
    const ask = () => client.result<{ files: Hit[] }>('fuzzyFileSearch', { query: 'main', roots: [root], cancellationToken: 't' });
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ files }) => files.length)).toEqual([0, 0, 1]);
  });

  it('[search.limits] gives the best fifty, and refuses what is out of all proportion', async () => {
    const { client, hits } = searching(Array.from({ length: 80 }, (_, i) => `f/file-${i}`));
    expect((await hits('file')).length).toBe(50);
    expect(await client.refusal('fuzzyFileSearch', { query: 'x'.repeat(2000), roots: [] })).toBe(
      '-32602 params.query: expected at most 1024 characters, got 2000',
    );
    expect(await client.refusal('fuzzyFileSearch', { query: 'x', roots: Array(65).fill('/') })).toBe(
      '-32602 params.roots: expected at most 64 roots, got 65',
    );
  });

  it('[search.pace] a large tree holds nobody up', async () => {
    const names = Array.from({ length: 6_000 }, (_, i) => `d${i % 40}/some/module-${i}-component.ts`);
    const { find } = searching(names);
    await find('warm');
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    expect((await find('somod59comp')).length).toBeGreaterThan(0);
    delay.disable();
    expect(delay.percentile(99) / 1e6).toBeLessThan(100);
  });

  it('[search.cancelled] a walk ends with its signal', async () => {
    const { root } = searching(Array.from({ length: 500 }, (_, i) => `d${i}/x`));
    const list = new PathList(root);
    const abort = new AbortController();
    const walk = addWalkedPaths(list, root, root, abort.signal).catch((error: unknown) => (error as Error).name);
    abort.abort();
    expect(await walk).toBe('AbortError');
    expect(list.paths.length).toBeLessThan(1_000);
  });
});

describe('search sessions', () => {
  function session(files: string[]) {
    const made = searching(files);
    const { client, root } = made;
    const updates = (query: string) => client.notifications('fuzzyFileSearch/sessionUpdated').filter((params) => params.query === query);
    const completed = () => client.notifications('fuzzyFileSearch/sessionCompleted').length;
    const update = (query: string) => client.ask('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query });
    const ends = async (count: number) => {
      await client.link.until(() => completed() >= count, `${count} ends`);
      await tick(50);
      expect(completed()).toBe(count);
    };
    const start = (roots = [root]) => client.result('fuzzyFileSearch/sessionStart', { sessionId: 's', roots });
    const paths = (query: string) => ((updates(query).at(-1)?.files ?? []) as Hit[]).map((hit) => hit.path).sort();
    return { ...made, start, update, updates, ends, paths };
  }

  it('[search.session] answers each query with updates and one end, an empty one with nothing found', async () => {
    const { client, start, update, ends, paths } = session(['src/main.ts', 'src/manifest.json', 'b.txt']);
    expect([await start(), await update('ma')]).toEqual([{}, { result: {} }]);
    await ends(1);
    for (const query of ['mani', '']) await update(query);
    await client.link.until(() => client.notifications('fuzzyFileSearch/sessionUpdated').some((params) => params.query === ''), 'the last');
    await tick(100);
    expect([paths('ma'), paths('')]).toEqual([['src/main.ts', 'src/manifest.json'], []]);
    const last = client.link.received.slice(-2).map(({ method, params }) => [method, params]);
    expect(last).toEqual([
      ['fuzzyFileSearch/sessionUpdated', { sessionId: 's', query: '', files: [] }],
      ['fuzzyFileSearch/sessionCompleted', { sessionId: 's' }],
    ]);
  });

  it('[search.session-ends] a stopped session is unknown, and says nothing more', async () => {
    const { client, search, start, update, updates, ends } = session(['main.ts']);
    const unknown = { error: { code: -32600, message: 'fuzzy file search session not found: "s"' } };
    expect(await update('m')).toEqual(unknown);
    await start();
    await start();
    await update('m');
    await ends(1);
    for (let i = 0; i < 2; i++) expect(await client.result('fuzzyFileSearch/sessionStop', { sessionId: 's' })).toEqual({});
    expect(await update('ma')).toEqual(unknown);
    await start();
    search.endClient(client.session);
    expect([await update('ma'), updates('ma')]).toEqual([unknown, []]);
    expect(await client.refusal('fuzzyFileSearch/sessionStart', { sessionId: '', roots: [] })).toBe(
      '-32602 params.sessionId: expected a name for the session, got an empty text',
    );
  });

  it('[search.session-many] a client has sixteen sessions at most', async () => {
    const { client } = session([]);
    const start = (i: number) => client.ask('fuzzyFileSearch/sessionStart', { sessionId: `s${i}`, roots: [] });
    for (let i = 0; i < 16; i++) expect(await start(i)).toEqual({ result: {} });
    expect((await start(16)).error?.message).toBe('a client has at most 16 search sessions; end one with fuzzyFileSearch/sessionStop');
    expect(await start(0)).toEqual({ result: {} });
  });
});
