// thread/queue/*: inputs that wait for their turn.
import { invalidParams, invalidRequest } from '../../common/errors.ts';
import type { UserInput } from '../../protocol/item.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { checkInput } from '../../session/user-input.ts';
import type { HandlersFor } from '../handler.ts';
import { pageOf } from './pages.ts';

function checked(input: UserInput[]): UserInput[] {
  if (input.length === 0) throw invalidParams('params.input: input must not be empty');
  checkInput(input);
  return input;
}

type Methods =
  | 'thread/queue/add'
  | 'thread/queue/list'
  | 'thread/queue/update'
  | 'thread/queue/delete'
  | 'thread/queue/reorder'
  | 'thread/queue/start';

export function queueHandlers(threads: ThreadManager): HandlersFor<Methods> {
  const queueOf = (threadId: string) => threads.get(threadId).followUps.queue;
  return {
    'thread/queue/add': async ({ threadId, input, clientUserMessageId, responsesapiClientMetadata }, { after }) => {
      const submission = { clientUserMessageId, input: checked(input), responsesapiClientMetadata: responsesapiClientMetadata ?? null };
      const thread = threads.get(threadId);
      const { entry, run } = thread.followUps.enqueue(submission);
      after(run);
      await thread.log.flush();
      return { queuedSubmission: entry };
    },
    'thread/queue/list': async ({ threadId, ...page }) => {
      const { data, nextCursor } = pageOf((await threads.agenda(threadId)).queue, ({ id }) => id, page);
      return { data, nextCursor };
    },
    'thread/queue/update': ({ threadId, queuedSubmissionId, input, responsesapiClientMetadata }) => ({
      queuedSubmission: queueOf(threadId).update(queuedSubmissionId, {
        input: checked(input),
        ...(responsesapiClientMetadata ? { responsesapiClientMetadata } : {}),
      }),
    }),
    'thread/queue/delete': ({ threadId, queuedSubmissionId }) => ({ deleted: queueOf(threadId).delete(queuedSubmissionId) }),
    'thread/queue/reorder': ({ threadId, queuedSubmissionIds }) => {
      queueOf(threadId).reorder(queuedSubmissionIds);
      return {};
    },
    'thread/queue/start': ({ threadId, queuedSubmissionId }, { after }) => {
      const thread = threads.get(threadId);
      if (thread.activeTurnId) throw invalidRequest(`thread ${threadId} has an active turn; what waits starts when it has ended`);
      const { turn, run } = thread.startTurn(thread.followUps.queue.take(queuedSubmissionId), { patch: {}, outputSchema: undefined });
      after(run);
      return { turn };
    },
  };
}
