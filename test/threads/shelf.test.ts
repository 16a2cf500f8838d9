// Earlier turns of a loaded thread are read from its record, and are the same there.
import fs from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestFrontend } from '../spine/client.ts';

const TURNS = 60;

async function longLife(): Promise<{ frontend: TestFrontend; turnIds: string[]; file: string }> {
  const frontend = new TestFrontend({
    script: Array.from({ length: TURNS * 2 }, (_, n) => ({ say: `answer ${String(n).padStart(3, '0')}` })),
  });
  onTestFinished(() => frontend.dispose());
  await frontend.start();
  const turnIds: string[] = [];
  for (let n = 0; n < TURNS; n++) turnIds.push((await frontend.turn(`question ${n}`)).id);
  const { thread } = await frontend.result('thread/read', { threadId: frontend.threadId });
  return { frontend, turnIds, file: thread.path };
}

const texts = (turn: any): string[] => turn.items.map((item: any) => item.text ?? item.content[0].text);

describe('a long life', () => {
  it('[threads.shelf] turns of long ago are those that were told', async () => {
    const { frontend, turnIds } = await longLife();
    const { threadId } = frontend;
    const { thread } = await frontend.result('thread/read', { threadId, includeTurns: true });
    expect(thread.turns.map(({ id }: { id: string }) => id)).toEqual(turnIds);
    const told = turnIds.map((id) => frontend.all('item/completed').flatMap(({ turnId, item }) => (turnId === id ? [item] : [])));
    expect(thread.turns.map(({ items }: { items: unknown[] }) => items)).toEqual(told);
  });

  it('[threads.shelf-memory] they are not held in memory: what the record says is shown, of early turns and not of the last ones', async () => {
    const { frontend, file } = await longLife();
    const last = `answer 0${TURNS - 1}`;
    const record = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, record.replaceAll('answer 000', 'ANSWER 000').replaceAll(last, last.toUpperCase()));
    const { data } = await frontend.result('thread/turns/list', {
      threadId: frontend.threadId,
      limit: 100,
      sortDirection: 'asc',
      itemsView: 'full',
    });
    expect([texts(data[0]), texts(data[TURNS - 1])]).toEqual([
      ['question 0', 'ANSWER 000'],
      [`question ${TURNS - 1}`, last],
    ]);
  });

  it('[threads.shelf-verbs] a fork, a revert and further turns find them as before', async () => {
    const { frontend, turnIds } = await longLife();
    const { threadId } = frontend;
    const fork = (await frontend.result('thread/fork', { threadId, lastTurnId: turnIds[4] })).thread;
    expect(fork.turns.map(texts)).toEqual([0, 1, 2, 3, 4].map((n) => [`question ${n}`, `answer 00${n}`]));
    await frontend.result('thread/revert', { threadId, beforeTurnId: turnIds[10] });
    for (let n = 0; n < 50; n++) await frontend.turn(`more ${n}`);
    const { thread } = await frontend.result('thread/read', { threadId, includeTurns: true });
    expect(thread.turns).toHaveLength(60);
    expect([texts(thread.turns[9])[0], texts(thread.turns[10])[0], texts(thread.turns[59])[0]]).toEqual([
      'question 9',
      'more 0',
      'more 49',
    ]);
  });
});
