// Faults that an adversarial reading of the records found: each of them lost, doubled or hid something.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BlobFolder } from '../../src/session/rollout/blobs.ts';
import { RolloutOutline } from '../../src/session/rollout/outline.ts';
import { replayRollout } from '../../src/session/rollout/reader.ts';
import { ThreadStore } from '../../src/session/thread-store.ts';
import { agentCall, agentIds, Team, says as teamSays } from '../agents/team.ts';
import { Asked, calling, says } from '../context/asked.ts';

const folders: string[] = [];
const folder = (): string => {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-records-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

type Line = Record<string, unknown>;
const turnId = 't1';
const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const meta = {
  type: 'meta',
  version: 1,
  id: 'x',
  createdAt: 1,
  cliVersion: '1',
  source: 'vscode',
  originator: null,
  forkedFromId: null,
  parentThreadId: null,
  config: null,
};
const textOf = (lines: readonly Line[]): string =>
  lines.map((line) => `${JSON.stringify({ timestamp: '2026-01-02T03:04:05.000Z', ...line })}\n`).join('');
function recordOf(text: string): string {
  const file = path.join(folder(), 'r.jsonl');
  fs.writeFileSync(file, text);
  return file;
}
const noBlobs = (): BlobFolder => new BlobFolder(path.join(folder(), 'images'));

async function reopened(t: Asked, more = {}): Promise<void> {
  const { threadId } = t.frontend;
  await t.frontend.result('thread/archive', { threadId });
  await t.frontend.result('thread/unarchive', { threadId });
  await t.frontend.result('thread/resume', { threadId, ...more });
}

async function compact(t: Asked, summary: string): Promise<void> {
  t.answers([says(summary)]);
  const { threadId } = t.frontend;
  const ended = () => t.frontend.all('turn/completed').filter((one) => one.threadId === threadId).length;
  const before = ended();
  await t.frontend.result('thread/compact/start', { threadId });
  await t.frontend.link.until(() => ended() > before, 'the end of the compaction');
}

const spoken = (t: Asked): string =>
  t.last.input.flatMap((item) => (item.type === 'message' ? item.content.map(({ text }: any) => text) : [item.type])).join('\n');

/** Makes the record of a stored thread long, so that it is skimmed. */
function lengthen(file: string, lines: number): void {
  const text = 'words '.repeat(50);
  const item = { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
  const more = textOf([{ type: 'history', turnId: null, origin: 'context', item }]).trim();
  const all = fs.readFileSync(file, 'utf8').split('\n');
  all.splice(2, 0, ...Array.from({ length: lines }, () => more));
  fs.writeFileSync(file, all.join('\n'));
}

describe('input', () => {
  it('[review.queued-image] an image that waits in the queue of a long thread is there for whoever opens it', async () => {
    const t = await Asked.open();
    await t.turn(`first ${'x y '.repeat(100_000)}`);
    const { threadId } = t.frontend;
    const url = `data:image/png;base64,${randomBytes(60_000).toString('base64')}`;
    t.fails(400, 'no'); // a turn that fails holds the queue
    const [{ turn }] = await Promise.all([
      t.frontend.result('turn/start', { threadId, input: [{ type: 'text', text: 'fails' }] }),
      t.frontend.result('thread/queue/add', { threadId, clientUserMessageId: 'c1', input: [{ type: 'image', url }] }),
    ]);
    await t.frontend.ended(turn.id);
    await t.frontend.result('thread/archive', { threadId });
    await t.frontend.result('thread/unarchive', { threadId });
    const queue = async () => (await t.frontend.result('thread/queue/list', { threadId })).data.map(({ input }: any) => input[0].url);
    expect(await queue()).toEqual([url]);
    await t.frontend.result('thread/resume', { threadId, excludeTurns: true });
    expect(await queue()).toEqual([url]);
    t.answers([says('ok')]);
    const started = await t.frontend.result('thread/queue/start', { threadId });
    await t.frontend.ended(started.turn.id);
    expect(t.last.input.at(-1)?.content.map((part: any) => part.image_url)).toEqual([url]);
  });

  it('[review.agent-opened] an agent takes input although a client is just opening or renaming its long thread', async () => {
    const done = async (method: string, params: object): Promise<string[]> => {
      let request: Promise<unknown> = Promise.resolve();
      const t: Team = await Team.open({
        root: (step, body) => {
          const [id] = agentIds(body);
          const wait = [agentCall('wait_agent', { targets: [id], timeout_ms: 20_000 })];
          if (step === 1) return [agentCall('spawn_agent', { message: 'TASK one' })];
          if (step === 2 || step === 6) return wait;
          if (step === 3) return [agentCall('close_agent', { id })];
          if (step !== 5) return [teamSays('done')];
          request = t.frontend.result(method, { threadId: id, ...params });
          return [agentCall('send_input', { target: id, message: 'more' })];
        },
        one: (step) => [teamSays(`result ${step}`)],
      });
      await t.turn();
      const [id] = agentIds(t.last('root'));
      lengthen((await t.frontend.result('thread/read', { threadId: id })).thread.path, 20_000);
      await t.turn('ROOT again');
      await request;
      const { thread } = await t.frontend.result('thread/read', { threadId: id, includeTurns: true });
      return thread.turns.map(({ status }: any) => status);
    };
    expect(await done('thread/resume', { excludeTurns: true })).toEqual(['completed', 'completed']);
    expect(await done('thread/name/set', { name: 'a name' })).toEqual(['completed', 'completed']);
  });

  it('[review.put-away] what is answered for while a thread is put away is in its record, or refused', async () => {
    const t: Team = await Team.open(
      {
        root: (step, body) =>
          step === 1
            ? [agentCall('spawn_agent', { message: 'TASK one' })]
            : step === 2
              ? [agentCall('wait_agent', { targets: agentIds(body), timeout_ms: 20_000 })]
              : [teamSays('done')],
        one: () => [teamSays('result')],
      },
      { config: 'thread_unload_delay_secs = 0\n' },
    );
    await t.turn();
    const { threadId } = t.frontend;
    const file = (await t.frontend.result('thread/read', { threadId })).thread.path;
    for (const id of [agentIds(t.last('root'))[0], threadId]) await t.frontend.result('thread/unsubscribe', { threadId: id });
    const taken: string[] = [];
    for (let i = 0, refused = 0; i < 200 && refused < 5; i++) {
      const text = `injected ${i}.`;
      const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
      const { error } = await t.frontend.request('thread/inject_items', { threadId, items: [item] });
      if (error) refused++;
      else taken.push(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const record = fs.readFileSync(file, 'utf8');
    expect(taken.filter((text) => !record.includes(text))).toEqual([]);
  });

  it('[review.cut-compacted] a turn that was compacted in its middle and cut has each message once', async () => {
    const input = (id: string): Line => ({ type: 'input', turnId, id, clientId: null, input: [{ type: 'text', text: id }] });
    const taken = (id: string): Line[] => [
      { type: 'item', turnId, item: { type: 'userMessage', id, clientId: null, content: [{ type: 'text', text: id, text_elements: [] }] } },
      { type: 'history', turnId, origin: 'user', item: said(id) },
    ];
    const compacted = {
      type: 'compacted',
      items: [
        { origin: 'user', turnId, item: said('u2') },
        { origin: 'summary', turnId: null, item: said('summary') },
      ],
    };
    const lines = [
      meta,
      input('u1'),
      { type: 'turnStarted', turnId, startedAt: 1 },
      ...taken('u1'),
      input('u2'),
      ...taken('u2'),
      compacted,
    ];
    const { history } = await replayRollout(recordOf(textOf(lines)), noBlobs());
    expect(history.map(({ item }: any) => item.content[0].text)).toEqual(['u2', 'summary']);
  });
});

describe('back behind a compaction', () => {
  it('[review.revert-early-input] a turn that was asked for while the one before it ended leaves all of that one', async () => {
    const t = await Asked.open();
    t.answers([calling('exec_command', { cmd: 'sleep 30', yield_time_ms: 30_000 })]);
    const { threadId } = t.frontend;
    const first = await t.frontend.startTurn('first');
    await t.frontend.seen('item/started', ({ item }) => item.type === 'commandExecution');
    t.answers([says('answer 2')]);
    const [, { turn }] = await Promise.all([
      t.frontend.result('turn/interrupt', { threadId, turnId: first }),
      t.frontend.result('turn/start', { threadId, input: [{ type: 'text', text: 'second' }] }),
    ]);
    await t.frontend.ended(turn.id);
    const told = (): string[] =>
      t.last.input.filter((item) => item.type !== 'message' || JSON.stringify(item).includes('turn_aborted')).map(({ type }) => type);
    const before = told();
    await compact(t, 'the summary');
    await t.frontend.result('thread/revert', { threadId, beforeTurnId: turn.id });
    await t.turn('another');
    expect([before, told()]).toEqual([before, before]);
    expect(before).toEqual(['function_call', 'function_call_output', 'message']);
  });

  it('[review.revert-in-fork] a revert in a fork takes its turns out, now and after a restart, also behind what the fork began with', async () => {
    const t = await Asked.open();
    await t.turn('first', {}, [says('answer 1')]);
    const second = (await t.turn('second', {}, [says('answer 2')])).id;
    const source = t.frontend.threadId;
    const check = async () => {
      await t.frontend.result('thread/revert', { threadId: t.frontend.threadId, beforeTurnId: second });
      await t.turn('another', {}, [says('answer 3')]);
      const live = spoken(t);
      await reopened(t);
      await t.turn('and on');
      for (const text of [live, spoken(t)])
        expect(['answer 1', 'answer 2', 'the summary'].map((words) => text.includes(words))).toEqual([true, false, false]);
    };
    // Compacted in the fork.
    t.frontend.threadId = (await t.frontend.result('thread/fork', { threadId: source })).thread.id;
    await compact(t, 'the summary');
    await check();
    // Compacted before the fork: what the summary stands for is in the other record.
    t.frontend.threadId = source;
    await compact(t, 'the summary');
    t.frontend.threadId = (await t.frontend.result('thread/fork', { threadId: source })).thread.id;
    await check();
  });
});

describe('odd records', () => {
  it('[review.long-header] a thread with a long configuration of its own is listed and comes back from the archive', async () => {
    const t = await Asked.open({}, { config: { developer_instructions: 'some words '.repeat(30_000) } });
    await t.turn('first');
    await reopened(t);
    const { data } = await t.frontend.result('thread/list', {});
    expect(data.map(({ id }: any) => id)).toEqual([t.frontend.threadId]);
  });

  it('[review.odd-blobs] an odd mark, or a file in the way, costs an image and not the thread', async () => {
    const marked = (sha256: unknown): string => {
      const blobs = [{ at: ['item', 'content', 0, 'text'], sha256, bytes: 1, head: '' }];
      return recordOf(textOf([meta, { type: 'history', turnId, origin: 'user', item: said(''), blobs }]));
    };
    const name = 'a'.repeat(64);
    const dir = folder();
    fs.writeFileSync(path.join(dir, 'file'), '');
    fs.mkdirSync(path.join(dir, 'loop'));
    fs.symlinkSync(name, path.join(dir, 'loop', name));
    expect((await replayRollout(marked([name]), noBlobs())).readLines).toBe(2);
    for (const images of ['file', 'loop'])
      expect((await replayRollout(marked(name), new BlobFolder(path.join(dir, images)))).readLines).toBe(2);
  });

  it('[review.archived-name] an archived record that was named by hand hides no other', async () => {
    const home = folder();
    const archive = path.join(home, 'archived_sessions');
    fs.mkdirSync(archive);
    const id = (c: string): string => [8, 4, 4, 4, 12].map((length) => c.repeat(length)).join('-');
    const names = [`rollout-old-${id('a')}`, `rollout-2026-03-01T00-00-00-${id('b')}`, `rollout-2026-02-01T00-00-00-${id('c')}`];
    for (const [i, name] of names.entries()) {
      const lines = [
        { ...meta, createdAt: i === 0 ? 1_600_000_000 : 1 },
        { type: 'turnStarted', turnId, startedAt: 1 },
      ];
      fs.writeFileSync(path.join(archive, `${name}.jsonl`), textOf(lines));
    }
    const store = new ThreadStore(home);
    const seen: string[] = [];
    const nothing = {
      cwds: null,
      providers: null,
      kinds: null,
      originators: null,
      parentThreadId: null,
      included: null,
      excluded: null,
      term: null,
    };
    for (let after: any = null, more = true; more && seen.length < 5; ) {
      const found = await store.page({ archived: true, sortKey: 'createdAt', descending: true, after, limit: 1, ...nothing });
      seen.push(...found.page.map(({ threadId }) => threadId[0]));
      after = { at: found.page[0]?.meta.createdAt, id: found.page[0]?.threadId };
      more = found.more;
    }
    await store.close();
    expect(seen).toEqual(['b', 'c', 'a']);
  });

  it('[review.late-of-reverted] a command that ends after its turn was taken back leaves no turn behind', async () => {
    const t = await Asked.open();
    await t.turn('first');
    const run = calling('exec_command', { cmd: 'sleep 1', yield_time_ms: 250 });
    const second = (await t.turn('second', {}, [run], [says('it runs')])).id;
    const { threadId } = t.frontend;
    await t.frontend.result('thread/revert', { threadId, beforeTurnId: second });
    await t.frontend.seen('item/completed', ({ item }) => item.type === 'commandExecution');
    await t.frontend.result('thread/archive', { threadId });
    const page = await t.frontend.result('thread/turns/list', { threadId, limit: 1 });
    expect([page.data.length, page.nextCursor]).toEqual([1, null]);
  });

  it('[review.outlived-turn] work that outlived its turn and was cut gets its end in the record', async () => {
    const item = { type: 'commandExecution', id: 'c', command: 'x', cwd: '/', status: 'inProgress', commandActions: [], source: 'agent' };
    const lines = [
      meta,
      { type: 'turnStarted', turnId, startedAt: 1 },
      { type: 'itemStarted', turnId, item },
      { type: 'turnCompleted', turnId, status: 'completed', error: null, completedAt: 1, durationMs: 1 },
    ];
    const { remains, turns } = await replayRollout(recordOf(textOf(lines)), noBlobs());
    expect(remains.items.map(({ item: one }: any) => [one.id, one.status])).toEqual([['c', 'failed']]);
    expect([turns[0].status, turns[0].items.map(({ id }) => id)]).toEqual(['completed', ['c']]);
    const ended = [...lines, { type: 'item', turnId, item: { ...item, status: 'completed' } }];
    expect((await replayRollout(recordOf(textOf(ended)), noBlobs())).remains.items).toEqual([]);
  });

  it('[review.whole-last-line] a last line that is whole but for its end counts for every reader', async () => {
    const completed = { type: 'turnCompleted', turnId, status: 'completed', error: null, completedAt: 7, durationMs: 1 };
    const text = textOf([meta, { type: 'turnStarted', turnId, startedAt: 1 }, completed]);
    const file = recordOf(text.trimEnd());
    const outline = new RolloutOutline(file, noBlobs());
    await outline.extend();
    expect((await outline.load([turnId]))[0]).toMatchObject({ status: 'completed', completedAt: 7 });
    fs.appendFileSync(file, `\n${textOf([{ type: 'turnStarted', turnId: 't2', startedAt: 8 }])}`);
    await outline.extend();
    expect(outline.turnIds).toEqual([turnId, 't2']);
  });
});
