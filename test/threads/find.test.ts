// Finding things in one thread: items by their ids, words by where they were said; and the settings of a turn that runs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placesOf, snippetAt } from '../../src/session/thread-search.ts';
import { Asked, calling, says } from '../context/asked.ts';

async function conversation(): Promise<{ t: Asked; threadId: string; turnIds: string[] }> {
  const t = await Asked.open();
  const turnIds = [];
  for (const text of ['Where is the Fox?', 'no', 'fox fox FOX'])
    turnIds.push((await t.turn(text, {}, [says(`They say: ${text.toUpperCase()}`)])).id);
  return { t, threadId: t.frontend.threadId, turnIds };
}

describe('finding in a thread', () => {
  it('[threads.items-read] gives the items of a turn that are asked for, in the order asked for, loaded or not', async () => {
    const { t, threadId, turnIds } = await conversation();
    const { data } = await t.frontend.result('thread/items/list', { threadId, turnId: turnIds[0] });
    const [first, second] = data.map(({ item }: any) => item.id);
    const read = (params: object) => t.frontend.request('thread/items/read', { threadId, turnId: turnIds[0], ...params });
    for (const stored of [false, true]) {
      if (stored) await t.frontend.result('thread/archive', { threadId });
      const { result } = await read({ itemIds: [second, 'none', first] });
      expect(result.data.map(({ turnId, item }: any) => [turnId, item.id])).toEqual([
        [turnIds[0], second],
        [turnIds[0], first],
      ]);
      expect(result.data[1]).toEqual(data[0]);
      const { error } = await read({ turnId: 'none', itemIds: [] });
      expect(error).toMatchObject({ code: -32602, message: 'params.turnId: turn not found: none' });
    }
  });

  it('[threads.occurrences] gives every place of a word in order, page by page, with a cursor to its turn', async () => {
    const { t, threadId, turnIds } = await conversation();
    const find = (more: object) => t.frontend.result('thread/searchOccurrences', { threadId, searchTerm: 'fox', ...more });
    const all: any[] = [];
    for (let cursor: string | null = null, pages = 0; pages === 0 || cursor; pages++) {
      const page: any = await find({ limit: 3, cursor });
      all.push(...page.data);
      cursor = page.nextCursor;
    }
    expect(all.map(({ turnId }) => turnIds.indexOf(turnId))).toEqual([0, 0, 2, 2, 2, 2, 2, 2]);
    expect(all.map(({ snippet, snippetMatchRange: { start, end } }) => snippet.slice(start, end))).toEqual([
      'Fox',
      'FOX',
      'fox',
      'fox',
      'FOX',
      'FOX',
      'FOX',
      'FOX',
    ]);
    const { data } = await t.frontend.result('thread/turns/list', { threadId, cursor: all[2].turnCursor, sortDirection: 'asc' });
    expect(data.map(({ id }: any) => id)).toEqual([turnIds[2]]);
    expect((await t.frontend.request('thread/searchOccurrences', { threadId, searchTerm: ' ' })).error.code).toBe(-32602);
    expect((await t.frontend.request('thread/searchOccurrences', { threadId, searchTerm: 'x', cursor: 'eA' })).error.code).toBe(-32602);
  });

  it('[threads.occurrence-places] a place is where the words stand, whatever they and the text are made of', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme' }),
        (before, term, after) => {
          fc.pre(term.trim() !== '');
          const text = before + term + after;
          for (const { at, length } of placesOf(text, term)) {
            const { snippet, start, end } = snippetAt(text, at, length);
            expect(snippet.slice(start, end)).toBe(text.slice(at, at + length).replace(/\s+/g, ' '));
          }
          expect(placesOf(text, term).some(({ at }) => at <= before.length)).toBe(true);
        },
      ),
    );
    expect(placesOf('İx .* fox', '.*')).toEqual([{ at: 3, length: 2 }]);
  });

  it('[turn.settings] of the running turn hold from its next step on; of any other turn they change nothing', async () => {
    const t = await Asked.open();
    const { threadId } = t.frontend;
    const statuses: string[] = [];
    const tool = { type: 'function', name: 'ask', description: 'Asks', inputSchema: { type: 'object', properties: {} } };
    await t.frontend.result('thread/settings/update', { threadId, dynamicTools: [tool] });
    t.answers([calling('ask', {})], [says('done')]);
    const turnId = await t.frontend.startTurn('go');
    await t.frontend.seen('item/tool/call');
    const update = async (params: object) =>
      (await t.frontend.result('turn/settings/update', { threadId, effort: 'low', ...params })).status;
    statuses.push(await update({ turnId: 'another' }), await update({ turnId }));
    const call = t.frontend.link.received.find(({ method }) => method === 'item/tool/call');
    t.frontend.link.send({ id: call?.id, result: { success: true, contentItems: [] } });
    await t.frontend.ended(turnId);
    statuses.push(await update({ turnId }));
    expect(statuses).toEqual(['targetUnavailable', 'applied', 'targetUnavailable']);
    expect(t.requests.map(({ reasoning }) => reasoning?.effort)).not.toEqual(['low', 'low']);
    expect(t.last.reasoning?.effort).toBe('low');
    expect((await t.frontend.request('turn/settings/update', { threadId, turnId, cwd: '/' })).error.code).toBe(-32602);
  });
});
