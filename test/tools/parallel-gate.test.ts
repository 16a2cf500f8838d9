import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Claim, ParallelGate } from '../../src/tools/gates/parallel.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

const claim: fc.Arbitrary<Claim> = fc.oneof(
  fc.constant<Claim>({ type: 'shared' }),
  fc.constant<Claim>({ type: 'exclusive' }),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }).map((resources): Claim => ({ type: 'exclusive', resources })),
);

const clash = (a: Claim, b: Claim): boolean =>
  !(a.type === 'shared' && b.type === 'shared') &&
  !(a.type === 'exclusive' && b.type === 'exclusive' && a.resources && b.resources && !a.resources.some((r) => b.resources?.includes(r)));

it('[tools.gate-fair] lets calls overlap only where they do not conflict, keeps the order of those that do, and starves none', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ claim, aborts: fc.boolean() }), { minLength: 1, maxLength: 14 }),
      fc.infiniteStream(fc.nat(100)),
      async (calls, choices) => {
        const gate = new ParallelGate();
        const inside = new Set<number>();
        const entered: number[] = [];
        const refused = new Set<number>();
        const aborts = calls.map(() => new AbortController());
        const places = calls.map((call, i) => {
          const ticket = gate.take(call.claim);
          const ended = ticket.enter(aborts[i].signal).then((entry) => {
            if (!entry) {
              refused.add(i);
              ticket.leave();
              return;
            }
            for (const other of inside) expect(clash(calls[other].claim, call.claim)).toBe(false);
            inside.add(i);
            entered.push(i);
          });
          return { ticket, ended };
        });
        for (const [i, call] of calls.entries()) if (call.aborts && choices.next().value % 2 === 0) aborts[i].abort();
        // Whoever is inside leaves in any order; everybody gets in sooner or later.
        for (let round = 0; round <= calls.length * 2; round++) {
          await tick();
          const some = [...inside];
          if (some.length === 0) continue;
          const leaving = some[choices.next().value % some.length];
          inside.delete(leaving);
          places[leaving].ticket.leave();
          places[leaving].ticket.leave();
        }
        for (const i of refused) expect(aborts[i].signal.aborted).toBe(true);
        const waited = calls.map((_, i) => i).filter((i) => !refused.has(i));
        expect([...entered].sort((a, b) => a - b)).toEqual(waited);
        for (const later of entered)
          for (const earlier of entered)
            if (earlier < later && clash(calls[earlier].claim, calls[later].claim))
              expect(entered.indexOf(earlier)).toBeLessThan(entered.indexOf(later));
      },
    ),
    { numRuns: 150 },
  );
});

it('[tools.gate-resources] lets two exclusive calls on different things overlap, and two on one thing not', async () => {
  const gate = new ParallelGate();
  const never = new AbortController().signal;
  const enter = (resources?: string[]) => {
    const ticket = gate.take({ type: 'exclusive' });
    ticket.claim({ type: 'exclusive', resources });
    let inside = false;
    void ticket.enter(never).then(() => {
      inside = true;
    });
    return { ticket, inside: () => inside };
  };
  const places = [enter(['a.txt']), enter(['b.txt']), enter(['a.txt']), enter(undefined)];
  await tick();
  expect(places.map((place) => place.inside())).toEqual([true, true, false, false]);
  places[0].ticket.leave();
  await tick();
  expect(places.map((place) => place.inside())).toEqual([true, true, true, false]);
  places[1].ticket.leave();
  places[2].ticket.leave();
  await tick();
  expect(places[3].inside()).toBe(true);
});
