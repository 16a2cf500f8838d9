// A hook as it is known to the daemon: what it does, when, whose it is, and whether it may run.
import type { HookMetadata, HookSource, HookTrustStatus } from '../protocol/hook.ts';
import { factsOf, type HookEvent } from './hook-event.ts';

export type HookInput = Readonly<Record<string, unknown>>;

export type HookHandler =
  | { readonly type: 'command'; readonly command: string }
  /** A hook of an extension. It gives an answer in the form that a command prints, a text, or nothing. */
  | { readonly type: 'function'; readonly label: string; run(input: HookInput, signal: AbortSignal): unknown };

/** Where a hook was written down. `own`: by the user or the machine's owner, so it is trusted as it stands; `byHash`: by anyone else. */
export interface HookOrigin {
  readonly source: HookSource;
  readonly path: string;
  readonly trust: 'own' | 'byHash';
}

export interface Hook {
  readonly key: string;
  readonly event: HookEvent;
  readonly matcher: string | null;
  readonly handler: HookHandler;
  readonly timeoutMs: number;
  readonly statusMessage: string | null;
  /** A failure of this hook refuses what it guards. */
  readonly failClosed: boolean;
  /** Nobody waits for it and its answer counts for nothing. */
  readonly async: boolean;
  /** Tokens of context that one run may bring; null: the default. */
  readonly contextLimit: number | null;
  readonly origin: HookOrigin;
  /** Place among all hooks; effects are combined in this order. */
  readonly order: number;
  /** Of all that decides what the hook does. */
  readonly hash: string;
  readonly enabled: boolean;
  readonly trust: HookTrustStatus;
  /** Why it can not do its work (an odd matcher, an unknown type). With failClosed it then refuses everything, else it never runs. */
  readonly fault: string | null;
  readonly pattern: RegExp | null;
}

export const trusted = (hook: Hook): boolean => hook.trust === 'trusted' || hook.trust === 'managed';

/** May it run at all, whatever it matches? */
export const active = (hook: Hook): boolean => hook.enabled && trusted(hook) && (hook.fault === null || hook.failClosed);

/** @param subjects the names under which the tool goes, or the word of the event; empty for events without a matcher */
export function matches(hook: Hook, event: HookEvent, subjects: readonly string[]): boolean {
  if (hook.event !== event || !active(hook)) return false;
  if (hook.pattern === null || factsOf(event).matches === 'nothing') return true;
  return subjects.some((subject) => hook.pattern?.test(subject));
}

/** As hooks/list shows it. */
export function metadataOf(hook: Hook): HookMetadata {
  return {
    key: hook.key,
    eventName: factsOf(hook.event).wire,
    handlerType: 'command',
    command: hook.handler.type === 'command' ? hook.handler.command : hook.handler.label,
    async: hook.async,
    matcher: hook.matcher,
    timeoutSec: Math.ceil(hook.timeoutMs / 1000),
    statusMessage: hook.statusMessage,
    additionalContextLimit: hook.contextLimit,
    sourcePath: hook.origin.path,
    source: hook.origin.source,
    pluginId: null,
    environmentId: null,
    displayOrder: hook.order,
    enabled: hook.enabled,
    isManaged: hook.trust === 'managed',
    currentHash: hook.hash,
    trustStatus: hook.trust,
  };
}
