// Commands that a thread left running, as a client lists and ends them.
import type { ThreadManager } from '../../session/thread-manager.ts';
import type { HandlersFor } from '../handler.ts';
import { pageOf } from './pages.ts';

type Methods = 'thread/backgroundTerminals/list' | 'thread/backgroundTerminals/terminate' | 'thread/backgroundTerminals/clean';

export function terminalHandlers(threads: ThreadManager): HandlersFor<Methods> {
  return {
    'thread/backgroundTerminals/list': async (params) => {
      const { data, nextCursor } = pageOf(await threads.get(params.threadId).tools.terminals(), (terminal) => terminal.processId, params);
      return { data, nextCursor };
    },
    'thread/backgroundTerminals/terminate': async ({ threadId, processId }) => ({
      terminated: await threads.get(threadId).tools.terminate(processId),
    }),
    'thread/backgroundTerminals/clean': async ({ threadId }) => {
      await threads.get(threadId).tools.terminateAll();
      return {};
    },
  };
}
