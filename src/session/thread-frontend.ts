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
  /** The thread that this one works for in the end; null for one that works for nobody. */
  readonly #rootThreadId: string | null;

  constructor(
    requests: FrontendRequests,
    threadId: string,
    currentTurn: () => string,
    flags: WaitingFlags,
    rootThreadId: string | null = null,
  ) {
    this.#rootThreadId = rootThreadId;
    this.#requests = requests;
    this.#threadId = threadId;
    this.#currentTurn = currentTurn;
    this.#flags = flags;
  }

  open<M extends ServerRequestMethod>(method: M, params: ServerRequestParams<M>): FrontendRequest<ServerRequestResult<M>> {
    const flag = FLAGS[method];
    if (flag) this.#flags.raise(flag);
    // Whoever is asked by an agent sees for whom it works.
    const told = this.#rootThreadId === null ? params : { ...params, rootThreadId: this.#rootThreadId };
    return this.#requests.open({ threadId: this.#threadId, turnId: this.#currentTurn() }, method, told, () => {
      if (flag) this.#flags.lower(flag);
    });
  }
}
