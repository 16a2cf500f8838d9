// update_plan: the model's checklist, shown to the client as turn/plan/updated and kept in history by its call.
import { readFunctionPayload } from '../gates/validate.ts';
import { textOutput } from '../result.ts';
import type { ToolRuntime } from '../runtime.ts';

const parameters = {
  type: 'object',
  properties: {
    explanation: { type: 'string', description: 'Why the plan changes, in a sentence.' },
    plan: {
      type: 'array',
      items: {
        type: 'object',
        properties: { step: { type: 'string' }, status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] } },
        required: ['step', 'status'],
      },
    },
  },
  required: ['plan'],
} as const;

interface Args {
  explanation?: string;
  plan: { step: string; status: 'pending' | 'in_progress' | 'completed' }[];
}

export function updatePlan(): ToolRuntime<Args> {
  return {
    name: { name: 'update_plan' },
    spec: {
      type: 'function',
      name: 'update_plan',
      description: 'Sets the plan of this task: short steps, each pending, in_progress or completed, at most one in_progress.',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: false,
    waitsForCleanup: true,
    external: false,
    resources: () => ['plan'],
    validate: (payload) => readFunctionPayload<Args>('update_plan', payload, parameters),
    run: async ({ args, events }) => {
      events.planUpdated(
        args.explanation ?? null,
        args.plan.map(({ step, status }) => ({ step, status: status === 'in_progress' ? 'inProgress' : status })),
      );
      return textOutput('Plan updated');
    },
  };
}
