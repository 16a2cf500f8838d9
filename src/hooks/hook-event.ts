// The events at which hooks run, in the order in which hooks are listed and counted, with what each of them lets a hook do.
import type { HookEventName, HookScope } from '../protocol/hook.ts';

interface HookEventFacts {
  /** The name on the wire. */
  readonly wire: HookEventName;
  readonly scope: HookScope;
  /** A matcher is compared with the tool's name, or with one word that says what began; other events take no matcher. */
  readonly matches: 'tool' | 'word' | 'nothing';
  /** A hook may refuse what is about to happen: by exit code 2, by decision "block", by continue false. */
  readonly guards: boolean;
  /** Plain text on stdout is context for the model; elsewhere it is ignored. */
  readonly plainText: 'context' | 'ignored';
}

export const HOOK_EVENTS = {
  PreToolUse: { wire: 'preToolUse', scope: 'turn', matches: 'tool', guards: true, plainText: 'ignored' },
  PermissionRequest: { wire: 'permissionRequest', scope: 'turn', matches: 'tool', guards: true, plainText: 'ignored' },
  PostToolUse: { wire: 'postToolUse', scope: 'turn', matches: 'tool', guards: true, plainText: 'ignored' },
  PreCompact: { wire: 'preCompact', scope: 'turn', matches: 'word', guards: true, plainText: 'ignored' },
  PostCompact: { wire: 'postCompact', scope: 'turn', matches: 'word', guards: false, plainText: 'ignored' },
  SessionStart: { wire: 'sessionStart', scope: 'thread', matches: 'word', guards: true, plainText: 'context' },
  SessionEnd: { wire: 'sessionEnd', scope: 'thread', matches: 'word', guards: false, plainText: 'ignored' },
  UserPromptSubmit: { wire: 'userPromptSubmit', scope: 'turn', matches: 'nothing', guards: true, plainText: 'context' },
  SubagentStart: { wire: 'subagentStart', scope: 'turn', matches: 'word', guards: false, plainText: 'context' },
  SubagentStop: { wire: 'subagentStop', scope: 'turn', matches: 'word', guards: true, plainText: 'ignored' },
  Stop: { wire: 'stop', scope: 'turn', matches: 'nothing', guards: true, plainText: 'ignored' },
  Interrupt: { wire: 'interrupt', scope: 'turn', matches: 'nothing', guards: false, plainText: 'ignored' },
} as const satisfies Record<string, HookEventFacts>;

export type HookEvent = keyof typeof HOOK_EVENTS;
export const HOOK_EVENT_NAMES = Object.keys(HOOK_EVENTS) as HookEvent[];

export const factsOf = (event: HookEvent): HookEventFacts => HOOK_EVENTS[event];
export const isHookEvent = (name: string): name is HookEvent => Object.hasOwn(HOOK_EVENTS, name);

/** `pre_tool_use`, `pre-tool-use`: the forms inside keys and run ids. */
export const spelled = (event: HookEvent, joint: '_' | '-'): string =>
  event.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => joint + letter).toLowerCase();
