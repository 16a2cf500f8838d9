// Gate 4: session approvals first, then permission hooks, then the frontend, which suspends just this call. Default deny: only a
// well-formed acceptance lets a call through, and an acceptance that comes after the turn was interrupted does not.

import { nowMs } from '../../common/clock.ts';
import { Deferred } from '../../common/deferred.ts';
import { preview } from '../../common/text.ts';
import { spelledOut } from '../../exec/policy/display.ts';
import type { CommandExecutionApprovalDecision } from '../../protocol/approval.ts';
import type { FrontendOutcome, FrontendPort, FrontendRequest } from '../events.ts';
import type { ApprovalAsk, ElicitedApproval, StepFacts } from '../runtime.ts';
import { type ApprovalDecision, decisionWithoutAnswer, denied, NOTHING_RAN } from './approval-decision.ts';
import type { ApprovalStore } from './approval-store.ts';
import { judgeElicitation, openElicitation } from './elicited-approval.ts';

export type { ApprovalDecision } from './approval-decision.ts';

export interface ApprovalRequest {
  itemId: string;
  keys: readonly string[];
  ask: ApprovalAsk;
}

/** Stores a rule that a client accepted with its approval. Resolves with a problem when the rule may not be stored. */
export type AmendmentSink = (amendment: readonly string[], request: ApprovalRequest) => Promise<string | null>;

type Answer = CommandExecutionApprovalDecision;

type CommandQuestion = ApprovalRequest & { ask: Exclude<ApprovalAsk, ElicitedApproval> };

/** For frontends that show the reason and know no display form. */
const HIDING = 'The command holds characters that hide or reorder text. Spelled out it reads: ';
const SHOWN_COMMAND = 2_000;

export class ApprovalGate {
  readonly #store: ApprovalStore;
  readonly #frontend: FrontendPort;
  readonly #amend: AmendmentSink;

  constructor(store: ApprovalStore, frontend: FrontendPort, amend: AmendmentSink) {
    this.#store = store;
    this.#frontend = frontend;
    this.#amend = amend;
  }

  covered(keys: readonly string[]): boolean {
    return this.#store.covers(keys);
  }

  /** Asks the frontend. Settles with the first of: a valid answer, a session approval of the same keys, the signal. */
  async ask(request: ApprovalRequest, step: StepFacts, signal: AbortSignal): Promise<ApprovalDecision> {
    if (this.#store.covers(request.keys)) return { type: 'approved', how: 'session' };
    if (signal.aborted) return denied('cancelled', `Interrupted before it was approved. ${NOTHING_RAN}`);
    const { ask } = request;
    if (ask.kind === 'elicitation') {
      const elicit = { ...request, ask };
      return this.#whileOpen(openElicitation(this.#frontend, elicit, step), request.keys, signal, (outcome) =>
        judgeElicitation(outcome, elicit, () => this.#store.approve(request.keys)),
      );
    }
    return this.#whileOpen(this.#open({ ...request, ask }, step), request.keys, signal, (outcome) => this.#judge(outcome, request));
  }

  /** Waits for an open question: its answer, a session approval of the same keys, or the signal. */
  async #whileOpen<T>(
    open: FrontendRequest<T>,
    keys: readonly string[],
    signal: AbortSignal,
    judge: (outcome: FrontendOutcome<T>) => Promise<ApprovalDecision>,
  ): Promise<ApprovalDecision> {
    const released = new Deferred<ApprovalDecision>();
    const stopWaiting = this.#store.whenCovered(keys, () => {
      released.resolve({ type: 'approved', how: 'session' });
      open.cancel('approved for the session by another answer');
    });
    const onAbort = () => open.cancel('the turn was interrupted');
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const outcome = await open.outcome;
      if (released.settled) return await released.promise;
      return await judge(outcome);
    } finally {
      stopWaiting();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #open(request: CommandQuestion, step: StepFacts): FrontendRequest<{ decision: Answer }> {
    const common = { threadId: step.threadId, turnId: step.turnId, itemId: request.itemId, startedAtMs: nowMs() };
    const { ask } = request;
    if (ask.kind === 'fileChange') {
      return this.#frontend.open('item/fileChange/requestApproval', { ...common, reason: ask.reason, grantRoot: ask.grantRoot });
    }
    const plain = spelledOut(ask.command);
    const isHiding = plain !== ask.command;
    return this.#frontend.open('item/commandExecution/requestApproval', {
      ...common,
      kind: 'command',
      environmentId: 'local',
      reason: isHiding ? [ask.reason, HIDING].filter(Boolean).join(' ') + preview(plain, SHOWN_COMMAND) : ask.reason,
      command: ask.command,
      ...(isHiding ? { displayCommand: plain } : {}),
      cwd: ask.cwd,
      commandActions: ask.commandActions as never,
      ...(ask.proposedAmendment ? { proposedExecpolicyAmendment: [...ask.proposedAmendment] } : {}),
      ...(ask.additionalPermissions ? { additionalPermissions: ask.additionalPermissions as never } : {}),
      availableDecisions: this.#decisionsFor(request),
    });
  }

  #decisionsFor(request: ApprovalRequest): Answer[] {
    const amendment = request.ask.kind === 'command' ? request.ask.proposedAmendment : undefined;
    return [
      'accept',
      ...(request.keys.length ? (['acceptForSession'] as const) : []),
      ...(amendment ? [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: [...amendment] } }] : []),
      'decline',
      'cancel',
    ];
  }

  async #judge(outcome: FrontendOutcome<{ decision: Answer }>, request: ApprovalRequest): Promise<ApprovalDecision> {
    return outcome.type === 'answered' ? this.#decide(outcome.value.decision, request) : decisionWithoutAnswer(outcome);
  }

  async #decide(decision: Answer, request: ApprovalRequest): Promise<ApprovalDecision> {
    if (decision === 'accept') return { type: 'approved', how: 'once' };
    if (decision === 'acceptForSession') {
      this.#store.approve(request.keys);
      return { type: 'approved', how: request.keys.length ? 'session' : 'once' };
    }
    if (decision === 'decline') {
      return denied(
        'denied_by_user',
        `The user declined this call. ${NOTHING_RAN} Do not retry the same action; ask what they want, or choose another way.`,
      );
    }
    if (decision === 'cancel') return denied('denied_by_user', 'aborted by user', true);
    if ('acceptWithExecpolicyAmendment' in decision) {
      const problem = await this.#amend(decision.acceptWithExecpolicyAmendment.execpolicy_amendment, request);
      if (!problem) return { type: 'approved', how: 'amendment' };
      return denied(
        'denied_by_policy',
        `The approval failed: the rule that came with it was malformed or too wide (${preview(problem)}). ${NOTHING_RAN}`,
      );
    }
    return denied(
      'denied_by_policy',
      `The approval failed: the frontend's answer was malformed (this decision was not offered). ${NOTHING_RAN}`,
    );
  }
}
