// The life of threads: start, resume, fork, settings, and putting away.
import { invalidParams, invalidRequest, messageOf } from '../../common/errors.ts';
import type { ThreadStartResponse } from '../../protocol/thread-lifecycle.ts';
import { RESERVED_TOOL_NAMES } from '../../session/step-context.ts';
import type { Thread } from '../../session/thread.ts';
import type { ThreadManager } from '../../session/thread-manager.ts';
import { wireTurn } from '../../session/turn-record.ts';
import { type DynamicTool, readDynamicTools } from '../../tools/sources/dynamic-specs.ts';
import type { ClientSession } from '../client-session.ts';
import type { HandlersFor } from '../handler.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { loadedTurns, turnsPage } from './pages.ts';
import { storedView } from './stored-view.ts';
import { patchOf } from './thread-overrides.ts';
import { itemsFrom, namedThread } from './thread-source.ts';

export interface ThreadPorts {
  threads: ThreadManager;
  subscriptions: Subscriptions;
}

function dynamicToolsOf(value: unknown): DynamicTool[] {
  const read = readDynamicTools(value, RESERVED_TOOL_NAMES);
  if (!read.ok) throw invalidParams(read.problem);
  return read.tools;
}

/** The answer of start, resume and fork: the thread and its settings. */
async function opened(thread: Thread, includeTurns: boolean): Promise<ThreadStartResponse> {
  const { settings } = thread.state;
  const turns = includeTurns ? thread.state.turns.map((record) => wireTurn(record, 'full')) : [];
  return {
    thread: thread.view(turns),
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: [settings.cwd],
    instructionSources: await thread.instructionSources(),
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: settings.sandbox,
    activePermissionProfile: null,
    reasoningEffort: settings.effort,
    multiAgentMode: 'explicitRequestOnly',
  };
}

type Methods =
  | 'thread/start'
  | 'thread/resume'
  | 'thread/fork'
  | 'thread/unsubscribe'
  | 'thread/name/set'
  | 'thread/archive'
  | 'thread/unarchive'
  | 'thread/delete'
  | 'thread/revert'
  | 'thread/rollback'
  | 'thread/metadata/update'
  | 'thread/settings/update'
  | 'thread/inject_items'
  | 'thread/shellCommand'
  | 'thread/compact/start';

export function threadHandlers({ threads, subscriptions }: ThreadPorts): HandlersFor<Methods> {
  const listen = (client: ClientSession, thread: Thread): void => {
    const heard = [thread, ...threads.agentsOf(thread.id)].map(({ id }) => id);
    for (const id of heard) client.subscriptions.add(id);
    threads.listenersChanged(heard);
  };
  const announce = (client: ClientSession, thread: Thread) => () => {
    listen(client, thread);
    subscriptions.all('thread/started', { thread: thread.view() });
    thread.tools.announced();
  };
  /** A thread whose required parts did not come up is no thread. */
  const up = async (thread: Thread): Promise<void> => {
    try {
      await thread.tools.started();
    } catch (error) {
      await threads.unload(thread.id);
      throw error;
    }
  };
  /** What opens a thread for a client. The thread is idle again when that fails, and not before. */
  const opening = async <T>(thread: Thread, work: () => Promise<T>): Promise<T> => {
    try {
      await up(thread);
      return await work();
    } catch (error) {
      threads.listenersChanged([thread.id]);
      throw error;
    }
  };
  /** What is left to read of a thread is read now, and what was found wrong with it told to those who listen. */
  const restRead = async (thread: Thread): Promise<void> => {
    try {
      await thread.whole();
    } catch (error) {
      thread.warn(messageOf(error));
    }
    for (const warning of thread.state.loadWarnings.splice(0)) thread.warn(warning);
  };
  return {
    'thread/start': async (params, { client, after }) => {
      const thread = await threads.start({
        cwd: params.cwd ?? null,
        config: params.config ?? null,
        patch: patchOf(params),
        ephemeral: params.ephemeral ?? false,
        dynamicTools: dynamicToolsOf(params.dynamicTools),
        originator: client.identity?.name ?? null,
      });
      return opening(thread, () => {
        after(announce(client, thread));
        return opened(thread, false);
      });
    },
    'thread/resume': async (params, { client, after }) => {
      const tools = params.dynamicTools === undefined || params.dynamicTools === null ? null : dynamicToolsOf(params.dynamicTools);
      const patch = patchOf(params);
      const config = params.config ?? null;
      const page = params.initialTurnsPage;
      const restLater = params.excludeTurns === true && !page;
      const brought = params.history ? itemsFrom(params.history, 'params.history') : null;
      // A history of the client's own is a new thread that begins with it.
      const thread = brought
        ? await threads.start({
            cwd: params.cwd ?? null,
            config,
            patch,
            ephemeral: false,
            dynamicTools: tools ?? [],
            originator: client.identity?.name ?? null,
          })
        : await threads.resume(await namedThread(threads.store, params), { patch, config, restLater });
      if (brought) {
        thread.inject(brought);
        await thread.log.flush();
      }
      return opening(thread, async () => {
        if (tools && !brought) thread.setDynamicTools(tools);
        after(() => {
          listen(client, thread);
          for (const { id } of [thread, ...threads.agentsOf(thread.id)]) subscriptions.replay(client, id);
          thread.tools.announced();
          void restRead(thread);
        });
        return {
          ...(await opened(thread, !params.excludeTurns)),
          collaborationMode: thread.state.settings.collaborationMode,
          ...(page
            ? {
                initialTurnsPage: await turnsPage(loadedTurns(thread.state.turns), {
                  itemsView: page.itemsView,
                  limit: page.limit,
                  sortDirection: page.sortDirection,
                }),
              }
            : {}),
        };
      });
    },
    'thread/fork': async (params, { client, after }) => {
      const thread = await threads.fork(
        await namedThread(threads.store, params),
        { lastTurnId: params.lastTurnId, beforeTurnId: params.beforeTurnId },
        {
          cwd: params.cwd ?? null,
          config: params.config ?? null,
          patch: patchOf(params),
          ephemeral: params.ephemeral ?? false,
          originator: client.identity?.name ?? null,
        },
      );
      return opening(thread, () => {
        after(announce(client, thread));
        return opened(thread, !params.excludeTurns);
      });
    },
    'thread/unsubscribe': ({ threadId }, { client }) => {
      if (!threads.find(threadId)) return { status: 'notLoaded' };
      if (!client.subscriptions.delete(threadId)) return { status: 'notSubscribed' };
      threads.listenersChanged([threadId]);
      return { status: 'unsubscribed' };
    },
    'thread/name/set': async ({ threadId, name }) => {
      const trimmed = name.trim();
      if (trimmed === '') throw invalidParams('params.name: thread name must not be empty');
      await threads.rename(threadId, trimmed);
      return {};
    },
    'thread/archive': async ({ threadId }, { after }) => {
      await threads.archive(threadId);
      subscriptions.drop(threadId);
      after(() => subscriptions.all('thread/archived', { threadId }));
      return {};
    },
    'thread/unarchive': async ({ threadId }, { after }) => {
      const stored = await threads.unarchive(threadId);
      after(() => subscriptions.all('thread/unarchived', { threadId }));
      return { thread: await storedView(threads, stored) };
    },
    'thread/delete': async ({ threadId }, { after }) => {
      await threads.delete(threadId);
      subscriptions.drop(threadId);
      after(() => subscriptions.all('thread/deleted', { threadId }));
      return {};
    },
    'thread/revert': async ({ threadId, beforeTurnId }, { after }) => {
      const thread = threads.get(threadId);
      thread.checkTurn(beforeTurnId); // a request that is refused ends no turn
      await thread.stop();
      await thread.revert(beforeTurnId);
      after(() => subscriptions.all('thread/reverted', { threadId }));
      return { thread: thread.view() };
    },
    'thread/rollback': async ({ threadId, numTurns }, { after }) => {
      const thread = threads.get(threadId);
      if (thread.activeTurnId) throw invalidRequest(`thread ${threadId} has an active turn; roll back when turn/completed has come`);
      const { turns } = thread.state;
      const first = turns.at(-numTurns) ?? turns.at(0);
      if (first) {
        await thread.revert(first.id);
        after(() => subscriptions.all('thread/reverted', { threadId }));
      }
      return { thread: thread.view(thread.state.turns.map((record) => wireTurn(record, 'full'))) };
    },
    'thread/metadata/update': async ({ threadId, gitInfo }) => {
      const thread = threads.find(threadId) ?? (await threads.resume(threadId, { patch: {}, config: null }));
      if (gitInfo) {
        thread.state.gitInfo = { ...thread.state.gitInfo, ...gitInfo };
        thread.log.append({ type: 'gitInfo', gitInfo: thread.state.gitInfo });
        thread.log.summary();
      }
      threads.listenersChanged([threadId]);
      return { thread: thread.view() };
    },
    'thread/settings/update': (params, { after }) => {
      const thread = threads.get(params.threadId);
      const tools = params.dynamicTools === undefined || params.dynamicTools === null ? null : dynamicToolsOf(params.dynamicTools);
      after(thread.patchSettings(patchOf(params)));
      if (tools) thread.setDynamicTools(tools);
      return {};
    },
    'thread/inject_items': async ({ threadId, items }) => {
      const thread = threads.get(threadId);
      thread.inject(itemsFrom(items, 'params.items'));
      await thread.log.flush();
      return {};
    },
    'thread/shellCommand': ({ threadId, command, timeoutMs }, { after }) => {
      const thread = threads.get(threadId);
      if (command.trim() === '') throw invalidParams('params.command: expected a command, got an empty text');
      after(thread.shellCommand(command, timeoutMs ?? null));
      return {};
    },
    'thread/compact/start': ({ threadId }, { after }) => {
      const thread = threads.get(threadId);
      if (thread.activeTurnId) throw invalidRequest(`thread ${threadId} has an active turn; compact it when turn/completed has come`);
      after(thread.compact());
      return {};
    },
  };
}
