// What an agent may do is what its parent may do, whenever that changes.
import { describe, expect, it } from 'vitest';
import {
  agentCall,
  asked,
  calling,
  DEEP,
  FREE,
  following,
  type Item,
  later,
  made,
  PLAN,
  READ_ONLY,
  says,
  spawn,
  spawnAndWait,
  Team,
  texts,
  touch,
  wait,
} from './team.ts';

describe('rights of agents', () => {
  it('[agents.rights-later] an agent that is given more work may do what its parent may do by then', async () => {
    const t = await Team.open(
      {
        root: following(
          () => [spawn('TASK one')],
          (ids) => [wait(ids)],
          () => [says('first')],
          ([id]) => [agentCall('send_input', { target: id, message: 'go on' })],
          (ids) => [wait(ids)],
        ),
        one: (step) => (step === 2 ? [touch] : [says('one')]),
      },
      FREE,
    );
    await t.turn();
    await t.frontend.turn('ROOT more', READ_ONLY);
    expect(made(t)).toBe(false);
  });

  it('[agents.rights-back] so may one that was closed and comes back', async () => {
    const t = await Team.open(
      {
        root: following(
          () => [spawn('TASK one')],
          (ids) => [wait(ids)],
          ([id]) => [agentCall('close_agent', { id })],
          () => [says('first')],
          ([id]) => [agentCall('resume_agent', { id })],
          ([id]) => [agentCall('send_input', { target: id, message: 'go on' })],
          (ids) => [wait(ids)],
        ),
        one: (step) => (step === 2 ? [touch] : [says('one')]),
      },
      FREE,
    );
    await t.turn();
    await t.frontend.turn('ROOT more', READ_ONLY);
    expect(made(t)).toBe(false);
  });

  it('[agents.rights-now] and one that is at work, and its own agents', async () => {
    const narrowed = later();
    const t = await Team.open(
      {
        root: spawnAndWait('one'),
        one: spawnAndWait('two'),
        two: (step) =>
          step === 1
            ? { after: narrowed.promise, items: [calling('exec_command', { cmd: 'echo' })] }
            : step === 2
              ? [touch]
              : [says('two')],
      },
      { ...FREE, config: DEEP },
    );
    const turnId = await t.frontend.startTurn('ROOT go');
    await asked(t, 'two');
    await t.frontend.result('thread/settings/update', { threadId: t.frontend.threadId, ...READ_ONLY });
    narrowed.now();
    await t.frontend.ended(turnId);
    expect([made(t), t.bodies.filter(({ who }) => who === 'two').length]).toEqual([false, 3]);
  });

  it('[agents.plan-later] Plan mode holds for agents of agents and for those that were made before it, until it ends', async () => {
    const deep = await Team.open({ root: spawnAndWait('one'), one: spawnAndWait('two'), two: () => [says('two')] }, { config: DEEP });
    await deep.frontend.turn('ROOT go', { collaborationMode: PLAN });
    expect(texts(deep.last('two')).join()).toContain('is in Plan mode');

    const more = (ids: string[]): Item[] => [agentCall('send_input', { target: ids[0], message: 'go on' })];
    const t = await Team.open({
      root: following(
        () => [spawn('TASK one')],
        (ids) => [wait(ids)],
        () => [says('first')],
        more,
        (ids) => [wait(ids)],
        () => [says('second')],
        more,
        (ids) => [wait(ids)],
      ),
    });
    await t.turn();
    await t.frontend.turn('ROOT plan now', { collaborationMode: PLAN });
    expect(texts(t.last('agent')).join()).toContain('is in Plan mode');
    await t.frontend.turn('ROOT work now', { collaborationMode: { ...PLAN, mode: 'default' } });
    expect(texts(t.last('agent')).join()).toContain('is no longer in Plan mode');
  });
});
