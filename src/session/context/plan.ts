// The plan over a compaction. While the call that set it is in the history the model can read it there; afterwards it is told as a section.
import type { HistoryEntry } from '../history.ts';
import { inputMessage } from '../input-message.ts';

const SECTION = 'plan';

interface PlanStep {
  readonly step: string;
  readonly status: string;
}

const isStep = (value: unknown): value is PlanStep => {
  const { step, status } = (value ?? {}) as Partial<PlanStep>;
  return typeof step === 'string' && typeof status === 'string';
};

function stepsOf(text: string): PlanStep[] | null {
  try {
    const { plan } = JSON.parse(text) as { plan?: unknown };
    return Array.isArray(plan) && plan.every(isStep) ? plan : null;
  } catch {
    return null; // the call was answered with what is wrong with it, and set no plan
  }
}

const planText = (steps: readonly PlanStep[]): string =>
  [
    '<plan>',
    'The plan as it stood when earlier work was summed up:',
    ...steps.map(({ step, status }) => `- [${status}] ${step}`),
    '</plan>',
  ].join('\n');

/** The plan in force as an entry of its own; null when there is none, or nothing of it is left to do. */
export function standingPlan(entries: readonly HistoryEntry[]): HistoryEntry | null {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    if (entry.section === SECTION) return entry;
    const { item } = entry;
    if (item.type !== 'function_call' || item.namespace !== undefined || item.name !== 'update_plan') continue;
    const steps = stepsOf(item.arguments);
    if (!steps) continue;
    if (steps.every(({ status }) => status === 'completed')) return null;
    // The steps are the model's words: they get no developer's role.
    return { origin: 'context', turnId: null, item: inputMessage('user', planText(steps)), section: SECTION };
  }
  return null;
}

export const isPlanSection = (section: string): boolean => section === SECTION;
