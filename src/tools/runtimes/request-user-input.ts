// request_user_input: puts questions with options to the user and waits for the answers. It makes no item; the request itself is what the
// user sees. It is there where the user is asked to decide: in Plan mode, or where the configuration allows it.

import { preview } from '../../common/text.ts';
import type { ToolRequestUserInputQuestion } from '../../protocol/approval.ts';
import type { FrontendOutcome, FrontendPort } from '../events.ts';
import { outcomeOf } from '../frontend-question.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { failedOutput, type ToolOutput, textOutput } from '../result.ts';
import type { Exposure, Invocation, ToolRuntime, Validation } from '../runtime.ts';

const NAME = 'request_user_input';

const parameters = {
  type: 'object',
  properties: {
    questions: {
      type: 'array',
      minItems: 1,
      description: 'Questions that are shown together; one to three.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', minLength: 1, description: 'A name for the answer, in snake_case; each question has its own.' },
          header: { type: 'string', description: 'A title of a few words.' },
          question: { type: 'string', minLength: 1, description: 'One sentence.' },
          options: {
            type: ['array', 'null'],
            description:
              'Two or three answers that exclude each other, the one that you would choose first, marked (Recommended). The user can always say something else.',
            items: {
              type: 'object',
              properties: {
                label: { type: 'string', minLength: 1, description: 'One to five words.' },
                description: { type: ['string', 'null'], description: 'What follows from this choice, in one sentence.' },
              },
              required: ['label'],
            },
          },
        },
        required: ['id', 'question'],
      },
    },
  },
  required: ['questions'],
} as const;

interface Question {
  id: string;
  header?: string;
  question: string;
  options?: { label: string; description?: string | null }[] | null;
}

interface Args {
  questions: Question[];
}

function checked(args: Args): Validation<Args> {
  if (args.questions.some(({ options }) => !options?.length))
    return { ok: false, problem: `${NAME} requires non-empty options for every question` };
  const ids = args.questions.map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  return twice === undefined
    ? { ok: true, args }
    : { ok: false, problem: `two questions have the id ${JSON.stringify(preview(twice))}; give each its own` };
}

const shown = ({ id, header, question, options }: Question): ToolRequestUserInputQuestion => ({
  id,
  header: header ?? '',
  question,
  isOther: true,
  isSecret: false,
  options: (options ?? []).map(({ label, description }) => ({ label, description: description ?? '' })),
});

/** Words for what is no answer, so that the model does not take it for one. */
function withoutAnswer(outcome: Exclude<FrontendOutcome<unknown>, { type: 'answered' }>): string {
  switch (outcome.type) {
    case 'malformed':
      return `The questions were not answered: the frontend's answer was malformed (${preview(outcome.problem)}). Ask in your message instead, or go on with a sensible assumption and name it.`;
    case 'unsupported':
      return `The questions were not asked: the connected frontend cannot show them (${preview(outcome.message)}). Ask in your message instead, or go on with a sensible assumption and name it.`;
    case 'clientError':
      return `The questions were not answered: the frontend answered with error ${outcome.code}: ${preview(outcome.message, 400)}. Ask in your message instead.`;
    case 'cancelled':
      return `The questions were withdrawn: ${outcome.reason}. Nothing was answered.`;
  }
}

async function ask(frontend: FrontendPort, { args, call, step }: Invocation<Args>, signal: AbortSignal): Promise<ToolOutput> {
  const params = {
    threadId: step.threadId,
    turnId: step.turnId,
    itemId: call.itemId,
    questions: args.questions.map(shown),
    isBlocking: true,
    autoResolutionMs: null,
  };
  const outcome = await outcomeOf(frontend, 'item/tool/requestUserInput', params, signal);
  if (!outcome) return failedOutput('cancelled', 'aborted by user before the questions were answered.');
  if (outcome.type !== 'answered') return failedOutput('tool_error', withoutAnswer(outcome));
  return textOutput(JSON.stringify({ answers: outcome.value.answers }));
}

/** `available`: the user may be asked now. Where not, the tool is not listed, and a call of it is told so. */
export function requestUserInput(frontend: FrontendPort, available: boolean): ToolRuntime<Args> {
  const exposure: Exposure = available ? 'direct' : 'hidden';
  return {
    name: { name: NAME },
    spec: {
      type: 'function',
      name: NAME,
      description: 'Asks the user one to three short questions, each with options to choose from, and waits for the answers.',
      parameters,
      strict: false,
    },
    exposure,
    source: { type: 'builtin' },
    supportsParallel: false,
    waitsForCleanup: true,
    external: false,
    audience: 'root',
    validate: (payload) => {
      const read = readFunctionPayload<Args>(NAME, payload, parameters);
      return read.ok ? checked(read.args) : read;
    },
    approvalNeed: () =>
      available
        ? { type: 'skip' }
        : {
            type: 'forbidden',
            reason: `${NAME} is unavailable in Default mode. Nobody was asked. Go on with a sensible assumption and name it, or ask in your message.`,
          },
    run: (invocation, signal) => ask(frontend, invocation, signal),
  };
}
