// Questions to the user leave a trace in the rollout, so that one that was lost with its process can be told as lost.
import { newRandomId } from '../../common/ids.ts';
import type { ServerRequestMethod } from '../../protocol/methods.ts';
import type { FrontendRequests } from '../ports.ts';
import type { RolloutSink } from './writer.ts';

/** Calls of the frontend's own tools are calls like any other: their items say what became of them. */
const UNRECORDED: ReadonlySet<ServerRequestMethod> = new Set<ServerRequestMethod>(['item/tool/call']);

const itemOf = (params: object): string | null => ('itemId' in params && typeof params.itemId === 'string' ? params.itemId : null);

export function recordedQuestions(requests: FrontendRequests, log: Pick<RolloutSink, 'append'>): FrontendRequests {
  return {
    open: (thread, method, params, onResolved) => {
      if (UNRECORDED.has(method)) return requests.open(thread, method, params, onResolved);
      const askId = newRandomId();
      log.append({ type: 'asked', turnId: thread.turnId, askId, method, itemId: itemOf(params) });
      return requests.open(thread, method, params, () => {
        log.append({ type: 'settled', askId });
        onResolved();
      });
    },
  };
}
