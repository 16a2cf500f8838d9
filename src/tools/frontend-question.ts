// One question of a running call to the frontend.
import type { ServerRequestMethod, ServerRequestParams, ServerRequestResult } from '../protocol/methods.ts';
import type { FrontendOutcome, FrontendPort } from './events.ts';

/** What became of it; null when the call was interrupted first, whatever came later. */
export async function outcomeOf<M extends ServerRequestMethod>(
  frontend: FrontendPort,
  method: M,
  params: ServerRequestParams<M>,
  signal: AbortSignal,
): Promise<FrontendOutcome<ServerRequestResult<M>> | null> {
  const open = frontend.open(method, params);
  const onAbort = () => open.cancel('the turn was interrupted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const outcome = await open.outcome;
  signal.removeEventListener('abort', onAbort);
  return signal.aborted ? null : outcome;
}
