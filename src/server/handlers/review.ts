// Code reviews: a turn of a thread in which a reviewer reads a change.
import { invalidParams } from '../../common/errors.ts';
import { targetProblem } from '../../session/review.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import type { HandlersFor } from '../handler.ts';

export function reviewHandlers(threads: ThreadManager): HandlersFor<'review/start'> {
  return {
    'review/start': ({ threadId, target }, { after }) => {
      const thread = threads.get(threadId);
      const problem = targetProblem(target);
      if (problem) throw invalidParams(problem);
      const { turn, run } = thread.review(target);
      after(run);
      return { turn, reviewThreadId: threadId };
    },
  };
}
