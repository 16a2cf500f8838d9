// Questions that a server asks during a call, handed to the frontend of the thread that called. Whatever goes wrong is a refusal with
// its reason; an interrupt is a cancellation, and a late answer changes nothing.
import { preview } from '../../common/text.ts';
import type { McpServerElicitationRequestResponse } from '../../protocol/mcp.ts';
import type { FrontendOutcome, FrontendPort } from '../events.ts';
import type { StepFacts } from '../runtime.ts';
import { elicitationsForbidden } from './mcp-approval.ts';

type Json = Record<string, unknown>;

const refuse = (reason: string): Json => ({ action: 'decline', _meta: { reason } });
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function answerOf(outcome: FrontendOutcome<McpServerElicitationRequestResponse>): Json {
  switch (outcome.type) {
    case 'answered': {
      const { action, content } = outcome.value;
      return action === 'accept' && isObject(content) ? { action, content } : { action };
    }
    case 'malformed':
      return refuse(`the frontend's answer was malformed: ${preview(outcome.problem)}`);
    case 'unsupported':
      return refuse('the connected frontend cannot ask its user');
    case 'clientError':
      return refuse(`the frontend answered with error ${outcome.code}: ${preview(outcome.message)}`);
    case 'cancelled':
      return { action: 'cancel' };
  }
}

/** Whose question it is; the turn is null for a request that a client made outside of one. */
export type AskingStep = Pick<StepFacts, 'threadId' | 'approvalPolicy'> & { readonly turnId: string | null };

/** Resolves always. */
export async function forwardElicitation(
  frontend: FrontendPort,
  server: string,
  step: AskingStep,
  params: Json,
  signal: AbortSignal,
): Promise<Json> {
  const forbidden = elicitationsForbidden(step);
  if (forbidden) return refuse(forbidden);
  if (signal.aborted) return { action: 'cancel' };
  const common = {
    threadId: step.threadId,
    turnId: step.turnId,
    serverName: server,
    environmentId: null,
    _meta: params._meta ?? null,
    message: typeof params.message === 'string' ? params.message : '',
  };
  const request =
    params.mode === 'url'
      ? frontend.open('mcpServer/elicitation/request', {
          ...common,
          mode: 'url',
          url: String(params.url ?? ''),
          elicitationId: String(params.elicitationId ?? ''),
        })
      : frontend.open('mcpServer/elicitation/request', {
          ...common,
          mode: 'form',
          requestedSchema: isObject(params.requestedSchema) ? params.requestedSchema : { type: 'object', properties: {} },
        });
  const onAbort = () => request.cancel('the call that asked has ended');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return answerOf(await request.outcome);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
