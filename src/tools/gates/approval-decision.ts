// What an approval comes to, and what every outcome that is no answer means: no consent.
import { preview } from '../../common/text.ts';
import type { FrontendOutcome } from '../events.ts';
import type { ErrorCategory } from '../result.ts';

export type ApprovalDecision =
  | { type: 'approved'; how: 'once' | 'session' | 'amendment' }
  | { type: 'denied'; category: ErrorCategory; text: string; interruptTurn: boolean };

export const NOTHING_RAN = 'Nothing was run.';

export const denied = (category: ErrorCategory, text: string, interruptTurn = false): ApprovalDecision => ({
  type: 'denied',
  category,
  text,
  interruptTurn,
});

export function decisionWithoutAnswer(outcome: Exclude<FrontendOutcome<unknown>, { type: 'answered' }>): ApprovalDecision {
  switch (outcome.type) {
    case 'malformed':
      return denied(
        'denied_by_policy',
        `The approval failed: the frontend's answer was malformed (${preview(outcome.problem)}), which counts as no approval. ${NOTHING_RAN}`,
      );
    case 'unsupported':
      return denied(
        'denied_by_policy',
        `This call needs an approval, and the connected frontend cannot be asked for one: it does not support approval requests (${preview(outcome.message)}). ${NOTHING_RAN} Choose a way that needs no approval, or say what is missing.`,
      );
    case 'clientError':
      return denied(
        'denied_by_policy',
        `The approval failed: the frontend answered with error ${outcome.code}: ${preview(outcome.message, 400)}. ${NOTHING_RAN}`,
      );
    case 'cancelled':
      return denied('cancelled', `The approval was withdrawn: ${outcome.reason}. ${NOTHING_RAN}`);
  }
}
