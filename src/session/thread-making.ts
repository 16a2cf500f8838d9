// What a new thread is from its beginning, and what one that was stored is again.
import { nowSeconds } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import { PROTOCOL_VERSION } from '../common/version.ts';
import { withoutSecretKeys } from '../config/read.ts';
import { type MetaLine, ROLLOUT_VERSION } from '../protocol/rollout.ts';
import type { StoredFile } from './rollout/paths.ts';
import { recover } from './rollout/recovery.ts';
import type { LostQuestion, ReplayedThread } from './rollout/replay.ts';
import { lostMeta } from './rollout/summary.ts';
import { checkPatch, patchSettings, type SettingsPatch, type ThreadSettings, withSandbox } from './settings.ts';
import type { Thread } from './thread.ts';
import type { ThreadSetup } from './thread-requests.ts';
import { identityOf } from './thread-state.ts';

/** The header of a new thread. */
export function newMeta(originator: string | null, config: Record<string, unknown> | null, forkedFromId: string | null): MetaLine {
  return {
    type: 'meta',
    version: ROLLOUT_VERSION,
    id: newId(),
    createdAt: nowSeconds(),
    cliVersion: PROTOCOL_VERSION,
    source: 'vscode',
    originator,
    forkedFromId,
    parentThreadId: null,
    config: config && withoutSecretKeys(config),
  };
}

/** The name of the file says which thread it is: an id inside that says otherwise was copied there, and would name other files. */
export const metaOf = (replay: ReplayedThread, stored: StoredFile): MetaLine => ({
  ...(replay.meta ?? lostMeta(stored)),
  id: stored.threadId,
});

/** Writes down what a crash left open in a thread that was just read, and keeps what a client is to be told of it. */
export function makeGood(thread: Thread, replay: ReplayedThread): void {
  const { state } = thread;
  state.lostQuestions = recover(state, thread.log, replay.remains);
  if (state.lostQuestions.length > 0) state.loadWarnings.push(lostText(state.lostQuestions));
  if (replay.lostBlobs > 0) state.loadWarnings.push(`Images of this thread are gone, as their files are missing: ${replay.lostBlobs}.`);
  if (replay.skippedLines > 0) state.loadWarnings.push(`${replay.skippedLines} damaged lines in the record of this thread were skipped.`);
}

/** The header of a thread that works for another one. */
export function agentMeta(meta: MetaLine, parent: MetaLine, nickname: string): MetaLine {
  const above = identityOf(parent);
  const depth = (above.type === 'subAgent' ? above.depth : 0) + 1;
  const spawned = { parent_thread_id: parent.id, depth, agent_nickname: nickname, agent_path: null, agent_role: null };
  return { ...meta, parentThreadId: parent.id, source: { subAgent: { thread_spawn: spawned } } };
}

const lostText = (lost: readonly LostQuestion[]): string =>
  `The daemon ended while ${lost.length === 1 ? 'a request waited' : `${lost.length} requests waited`} for an answer (${lost.map(({ method }) => method).join(', ')}): lost, and nothing of it was done.`;

/** Throws an RpcError for a patch that no request to a model could follow. */
export function settingsFor(setup: ThreadSetup, before: ThreadSettings, given: SettingsPatch): ThreadSettings {
  const patch = withSandbox(given, setup.sandbox);
  const settings = patchSettings(before, patch);
  checkPatch(patch, settings, setup.models);
  return settings;
}
