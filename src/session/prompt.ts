// The request of a step, from history and the frozen step alone. Pure: the same inputs give the same bytes, which is what prompt caches need.
import type { ModelRequest } from '../model/client.ts';
import { BASE_INSTRUCTIONS } from './context/base-instructions.ts';
import type { History } from './history.ts';
import { withTextFor } from './item-images.ts';
import type { StepContext } from './step-context.ts';

export interface PromptOptions {
  sessionId: string;
  outputSchema?: unknown;
}

export function buildRequest(history: History, step: StepContext, options: PromptOptions): ModelRequest {
  const { settings, binding, facts } = step;
  const { card } = binding;
  // A model that is known not to reason refuses the whole request for such a setting; it may have stayed from the model before.
  const reasons = card.supports.reasoning || !card.known;
  const standard = card.supports.reasoning && card.efforts.length > 0 ? card.defaultEffort : undefined;
  const effort = reasons ? (settings.effort ?? standard) : undefined;
  const summary = reasons && settings.summary && settings.summary !== 'none' ? settings.summary : undefined;
  return {
    model: settings.model,
    instructions: settings.baseInstructions ?? BASE_INSTRUCTIONS,
    input: card.supports.images ? history.forModel() : history.forModel().map((item) => withTextFor(item, NO_IMAGE)),
    tools: step.router.plan.specs,
    parallelToolCalls: card.supports.parallelToolCalls,
    ...(effort || summary ? { reasoning: { ...(effort ? { effort } : {}), ...(summary ? { summary } : {}) } } : {}),
    ...(card.supports.verbosity && card.defaultVerbosity ? { verbosity: card.defaultVerbosity } : {}),
    ...(settings.serviceTier ? { serviceTier: settings.serviceTier } : {}),
    ...(options.outputSchema !== undefined && options.outputSchema !== null ? { outputSchema: options.outputSchema } : {}),
    promptCacheKey: options.sessionId,
    metadata: { thread_id: facts.threadId, turn_id: facts.turnId, session_id: options.sessionId },
    headers: { 'session-id': options.sessionId, 'thread-id': facts.threadId },
  };
}

const NO_IMAGE = '[An image stood here. This model reads text only.]';
