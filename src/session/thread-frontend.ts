// Requests of one turn to the frontend. While any waits, the thread's status says for what.
import type { ServerRequestMethod, ServerRequestParams, ServerRequestResult } from '../protocol/methods.ts';
import type { ThreadActiveFlag } from '../protocol/thread.ts';
import type { FrontendPort, FrontendRequest } from '../tools/events.ts';
import type { FrontendRequests } from './ports.ts';

const FLAGS: Partial<Record<ServerRequestMethod, ThreadActiveFlag>> = {
  'item/commandExecution/requestApproval': 'waitingOnApproval',
  'item/fileChange/requestApproval': 'waitingOnApproval',
  'item/permissions/requestApproval': 'waitingOnApproval',
  'mcpServer/elicitation/request': 'waitingOnApproval',
  'item/tool/requestUserInput': 'waitingOnUserInput',
};

export interface WaitingFlags {
  raise(flag: ThreadActiveFlag): void;
  lower(flag: ThreadActiveFlag): void;
}

export class ThreadFrontend implements FrontendPort {
  readonly #requests: FrontendRequests;
  readonly #threadId: string;
  readonly #currentTurn: () => string;
  readonly #flags: WaitingFlags;

  constructor(requests: FrontendRequests, threadId: string, currentTurn: () => string, flags: WaitingFlags) {
    this.#requests = requests;
    this.#threadId = threadId;
    this.#currentTurn = currentTurn;
    this.#flags = flags;
  }

  open<M extends ServerRequestMethod>(method: M, params: ServerRequestParams<M>): FrontendRequest<ServerRequestResult<M>> {
    const flag = FLAGS[method];
    if (flag) this.#flags.raise(flag);
    return this.#requests.open({ threadId: this.#threadId, turnId: this.#currentTurn() }, method, params, () => {
      if (flag) this.#flags.lower(flag);
    });
  }
}
