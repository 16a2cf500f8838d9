// get_context_remaining and new_context: the model looks at its window and, when it wishes, begins a fresh one. Also current_time.
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { type ToolOutput, textOutput } from '../result.ts';
import type { ToolRuntime } from '../runtime.ts';

const none: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

function withoutArguments(
  name: string,
  description: string,
  parallel: boolean,
  run: () => ToolOutput,
): ToolRuntime<Record<string, unknown>> {
  return {
    name: { name },
    spec: { type: 'function', name, description, parameters: none, strict: false },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: parallel,
    waitsForCleanup: true,
    external: false,
    validate: (payload) => readFunctionPayload(name, payload, none),
    run: async () => run(),
  };
}

export const getContextRemaining = (tokens: () => { used: number; window: number }): ToolRuntime<Record<string, unknown>> =>
  withoutArguments('get_context_remaining', 'Tells how many tokens of your context window are left.', true, () => {
    const now = tokens();
    return textOutput(`${Math.max(0, now.window - now.used)} of ${now.window} tokens are left (${now.used} used).`);
  });

export const newContext = (): ToolRuntime<Record<string, unknown>> =>
  withoutArguments(
    'new_context',
    'Begins a fresh context window: your earlier calls and answers go, the messages of the user stay. Note first what you need.',
    false,
    () => textOutput('A new context begins.', { newContext: true }),
  );

export const currentTime = (): ToolRuntime<Record<string, unknown>> =>
  withoutArguments('current_time', 'Tells the date and time, with the time zone.', true, () => {
    const now = new Date();
    return textOutput(`${now.toISOString()} (${Intl.DateTimeFormat().resolvedOptions().timeZone}, local ${now.toLocaleString('sv-SE')})`);
  });
