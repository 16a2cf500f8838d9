// The approval of a tool of an MCP server, asked as an elicitation with an empty form. How long it holds comes back in the answer.
import { logger } from '../../common/log.ts';
import type { McpServerElicitationRequestResponse } from '../../protocol/mcp.ts';
import type { FrontendOutcome, FrontendPort, FrontendRequest } from '../events.ts';
import type { ElicitedApproval, StepFacts } from '../runtime.ts';
import { type ApprovalDecision, decisionWithoutAnswer, denied, NOTHING_RAN } from './approval-decision.ts';

export interface ElicitedRequest {
  keys: readonly string[];
  ask: ElicitedApproval;
}

type Answer = McpServerElicitationRequestResponse;

export function openElicitation(frontend: FrontendPort, { keys, ask }: ElicitedRequest, step: StepFacts): FrontendRequest<Answer> {
  const persist = keys.length === 0 ? [] : ask.remember ? ['session', 'always'] : ['session'];
  return frontend.open('mcpServer/elicitation/request', {
    threadId: step.threadId,
    turnId: step.turnId,
    serverName: ask.server,
    environmentId: null,
    mode: 'form',
    _meta: { codex_approval_kind: 'mcp_tool_call', persist, scope: ask.scope, ...ask.meta },
    message: ask.message,
    requestedSchema: { type: 'object', properties: {} },
  });
}

function persistOf({ _meta: meta }: Answer): unknown {
  return typeof meta === 'object' && meta !== null && 'persist' in meta ? meta.persist : undefined;
}

/** `approveForSession` is called when the answer holds for more than this call. */
export async function judgeElicitation(
  outcome: FrontendOutcome<Answer>,
  { keys, ask }: ElicitedRequest,
  approveForSession: () => void,
): Promise<ApprovalDecision> {
  if (outcome.type !== 'answered') return decisionWithoutAnswer(outcome);
  switch (outcome.value.action) {
    case 'decline':
      return denied(
        'denied_by_user',
        `user rejected MCP tool call. ${NOTHING_RAN} Do not retry the same action; ask what they want, or choose another way.`,
      );
    case 'cancel':
      return denied('denied_by_user', `user cancelled MCP tool call. ${NOTHING_RAN}`);
    case 'accept':
      break;
  }
  const persist = persistOf(outcome.value);
  if (keys.length === 0 || (persist !== 'session' && persist !== 'always')) return { type: 'approved', how: 'once' };
  approveForSession();
  if (persist === 'always' && ask.remember) {
    const problem = await ask.remember();
    if (problem) logger().warn({ server: ask.server, problem }, 'an approval for good could not be stored; it holds for this session');
  }
  return { type: 'approved', how: 'session' };
}
