// Turns: start, steer, interrupt. The decision which turn is active is the thread's.
import { invalidParams } from '../../common/errors.ts';
import { newId } from '../../common/ids.ts';
import type { UserInput } from '../../protocol/item.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { checkInput, type UserMessage } from '../../session/user-input.ts';
import type { HandlersFor } from '../handler.ts';
import { patchOf } from './thread-overrides.ts';

type Context = Record<string, { value: string; kind?: string | null }>;

function messageOf(input: readonly UserInput[], clientId: string | null | undefined, context: Context | null | undefined): UserMessage {
  const values = Object.values(context ?? {}).map(({ value }) => value);
  checkInput(input, values);
  const entries = Object.entries(context ?? {}).map(([key, entry]) => ({
    key,
    kind: entry.kind === 'application' ? ('application' as const) : ('untrusted' as const),
    value: entry.value,
  }));
  return { id: newId(), clientId: clientId ?? null, input, context: entries };
}

export function turnHandlers(threads: ThreadManager): HandlersFor<'turn/start' | 'turn/steer' | 'turn/interrupt' | 'turn/settings/update'> {
  return {
    'turn/start': async (params, { after }) => {
      const thread = threads.get(params.threadId);
      // Without input a turn still runs: the model goes on from what is in history.
      const message =
        params.input.length || params.additionalContext
          ? messageOf(params.input, params.clientUserMessageId, params.additionalContext as Context)
          : null;
      const { turn, run } = thread.startTurn(message, { patch: patchOf(params), outputSchema: params.outputSchema });
      after(run);
      // An input that was answered for outlives this process.
      await thread.log.flush();
      return { turn };
    },
    'turn/steer': async (params) => {
      const thread = threads.get(params.threadId);
      if (params.input.length === 0) throw invalidParams('params.input: input must not be empty');
      const message = messageOf(params.input, params.clientUserMessageId, params.additionalContext as Context);
      const turnId = thread.steer(message, params.expectedTurnId);
      await thread.log.flush();
      return { turnId };
    },
    'turn/interrupt': ({ threadId, turnId }) => {
      threads.get(threadId).interrupt(turnId);
      return {};
    },
    // A step is made with the settings that hold when it begins: the next one of the turn has these.
    'turn/settings/update': ({ threadId, turnId, ...settings }, { after }) => {
      const thread = threads.get(threadId);
      if (thread.activeTurnId !== turnId) return { status: 'targetUnavailable' };
      after(thread.patchSettings(patchOf(settings)));
      return { status: 'applied' };
    },
  };
}
