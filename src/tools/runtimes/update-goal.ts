// update_goal: the model says that the thread's goal is reached, or that it cannot go on alone. Listed while there is a goal only.
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { textOutput } from '../result.ts';
import type { ToolRuntime } from '../runtime.ts';

const parameters: JsonSchema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['complete', 'blocked'], description: 'complete: reached and checked. blocked: the user is needed.' },
  },
  required: ['status'],
  additionalProperties: false,
};

type GoalDeclaration = 'complete' | 'blocked';

interface Args {
  status: GoalDeclaration;
}

export const updateGoal = (declare: (status: GoalDeclaration) => void): ToolRuntime<Args> => ({
  name: { name: 'update_goal' },
  spec: {
    type: 'function',
    name: 'update_goal',
    description: 'Ends the work on the goal of this thread: it is reached, or you cannot go on without the user.',
    parameters,
    strict: false,
  },
  exposure: 'direct',
  source: { type: 'builtin' },
  supportsParallel: false,
  waitsForCleanup: true,
  external: false,
  validate: (payload) => readFunctionPayload<Args>('update_goal', payload, parameters),
  run: async ({ args }) => {
    declare(args.status);
    return textOutput(
      args.status === 'complete' ? 'The goal is marked as complete.' : 'The goal is marked as blocked; the user will see it.',
    );
  },
});
