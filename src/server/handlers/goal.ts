// thread/goal/*: what a thread works towards by itself.
import type { ThreadManager } from '../../session/thread-manager.ts';
import type { HandlersFor } from '../handler.ts';

export function goalHandlers(threads: ThreadManager): HandlersFor<'thread/goal/set' | 'thread/goal/get' | 'thread/goal/clear'> {
  return {
    'thread/goal/set': ({ threadId, objective, status, tokenBudget }, { after }) => {
      const { followUps } = threads.get(threadId);
      const goal = followUps.goal.set({ objective, status, tokenBudget });
      after(() => followUps.next());
      return { goal };
    },
    'thread/goal/get': async ({ threadId }) => ({ goal: (await threads.agenda(threadId)).goal }),
    'thread/goal/clear': ({ threadId }) => ({ cleared: threads.get(threadId).followUps.goal.clear() }),
  };
}
