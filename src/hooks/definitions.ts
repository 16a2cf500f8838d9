// From tables (config.toml, hooks.json) and extensions to hooks in their order. What is odd is told, never dropped in silence: a hook
// that guards must not vanish because of a typing mistake.
import { createHash } from 'node:crypto';
import { preview } from '../common/text.ts';
import { active, type Hook, type HookHandler, type HookOrigin, trusted } from './hook.ts';
import { factsOf, HOOK_EVENT_NAMES, type HookEvent, isHookEvent, spelled } from './hook-event.ts';

/** One source of hooks: event name → groups, as written. */
export interface HookTable {
  readonly origin: HookOrigin;
  readonly table: unknown;
}

/** What the user's own file says of single hooks, by key. */
export type HookStates = Readonly<Record<string, { readonly enabled?: boolean; readonly trusted_hash?: string }>>;

/** A hook of an extension, already checked by its source. */
export interface FunctionHook {
  readonly event: HookEvent;
  readonly origin: HookOrigin;
  readonly matcher?: string;
  readonly timeoutSec?: number;
  readonly failClosed?: boolean;
  readonly statusMessage?: string;
  readonly handler: Extract<HookHandler, { type: 'function' }>;
}

export interface HookSet {
  readonly hooks: readonly Hook[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

export const NO_HOOKS: HookSet = { hooks: [], errors: [] };

const DEFAULT_TIMEOUT_SEC = 600;
const MIN_TIMEOUT_MS = 100;

type Raw = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

interface Written {
  event: HookEvent;
  origin: HookOrigin;
  /** Group and handler, counted within the event of its source. */
  place: string;
  matcher: string | null;
  raw: Raw;
  /** Given for a hook that is not a command. */
  handler?: HookHandler;
}

/** JSON with its keys in order, so that equal definitions have equal hashes. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(',')}}`;
}

const hashOf = ({ event, matcher, raw }: Written): string =>
  `sha256:${createHash('sha256')
    .update(canonical({ event, matcher, handler: raw }))
    .digest('hex')}`;

/** A leading (?i) is taken as the flag that it means; the language here knows it only as a flag. */
function patternOf(matcher: string | null): { pattern: RegExp | null; problem: string | null } {
  if (matcher === null || matcher === '' || matcher === '*') return { pattern: null, problem: null };
  const ignoreCase = matcher.startsWith('(?i)');
  try {
    return { pattern: new RegExp(ignoreCase ? matcher.slice(4) : matcher, ignoreCase ? 'iu' : 'u'), problem: null };
  } catch {
    return { pattern: null, problem: `its matcher ${JSON.stringify(preview(matcher, 80))} is not a regular expression` };
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function commandOf(raw: Raw): string | null {
  const windows = process.platform === 'win32' ? (textOf(raw.commandWindows) ?? textOf(raw.command_windows)) : null;
  const command = windows ?? textOf(raw.command);
  return command?.trim() ? command : null;
}

function faultOf(written: Written, matcherProblem: string | null): string | null {
  if (matcherProblem) return matcherProblem;
  if (written.handler) return null;
  const { raw } = written;
  if (raw.type !== 'command') return `hooks of type ${JSON.stringify(raw.type ?? null)} are not supported, only "command"`;
  if (commandOf(raw) === null) return 'it has no command';
  if (raw.async === true && raw.fail_closed === true) return 'async and fail_closed exclude each other: nobody waits for an async hook';
  return null;
}

function timeoutOf(raw: Raw): number {
  const given = raw.timeout ?? raw.timeout_sec;
  const seconds = typeof given === 'number' && Number.isFinite(given) && given > 0 ? given : DEFAULT_TIMEOUT_SEC;
  return Math.max(MIN_TIMEOUT_MS, Math.round(seconds * 1000));
}

function trustOf(key: string, hash: string, origin: HookOrigin, states: HookStates): Hook['trust'] {
  if (origin.trust === 'own') return 'trusted';
  const known = Object.hasOwn(states, key) ? states[key].trusted_hash : undefined;
  if (known === undefined) return 'untrusted';
  return known === hash ? 'trusted' : 'modified';
}

function build(written: Written, order: number, states: HookStates): Hook {
  const { event, origin, raw, matcher } = written;
  const key = `${origin.path}:${spelled(event, '_')}:${written.place}`;
  const hash = hashOf(written);
  const { pattern, problem } = patternOf(matcher);
  const limit = raw.additionalContextLimit;
  return {
    key,
    event,
    matcher,
    pattern,
    handler: written.handler ?? { type: 'command', command: commandOf(raw) ?? '' },
    timeoutMs: timeoutOf(raw),
    statusMessage: textOf(raw.statusMessage) ?? textOf(raw.status_message),
    failClosed: raw.fail_closed === true,
    async: raw.async === true,
    contextLimit: typeof limit === 'number' && limit >= 0 ? limit : null,
    origin,
    order,
    hash,
    enabled: (Object.hasOwn(states, key) ? states[key].enabled : undefined) !== false,
    trust: trustOf(key, hash, origin, states),
    fault: faultOf(written, problem),
  };
}

/** The handlers of one source as they are written, with what cannot be read as one. */
function readTable({ origin, table }: HookTable, errors: { path: string; message: string }[]): Written[] {
  const found: Written[] = [];
  const odd = (message: string) => errors.push({ path: origin.path, message });
  if (!isObject(table)) {
    odd('hooks: expected a table from event names to lists');
    return found;
  }
  for (const [event, groups] of Object.entries(table)) {
    if (event === 'state') continue;
    if (!isHookEvent(event)) {
      odd(`hooks.${event}: hooks of this event never run here; events are ${HOOK_EVENT_NAMES.join(', ')}`);
      continue;
    }
    if (!Array.isArray(groups)) {
      odd(`hooks.${event}: expected a list of groups`);
      continue;
    }
    for (const [g, group] of groups.entries()) {
      if (!isObject(group) || !Array.isArray(group.hooks)) {
        odd(`hooks.${event}[${g}]: expected a group with a list "hooks"`);
        continue;
      }
      const matcher = typeof group.matcher === 'string' ? group.matcher : null;
      for (const [h, raw] of group.hooks.entries()) {
        if (isObject(raw)) found.push({ event, origin, place: `${g}:${h}`, matcher, raw });
        else odd(`hooks.${event}[${g}].hooks[${h}]: expected a table`);
      }
    }
  }
  return found;
}

const ofFunction = (hook: FunctionHook, index: number): Written => ({
  event: hook.event,
  origin: hook.origin,
  place: `0:${index}`,
  matcher: hook.matcher ?? null,
  raw: {
    type: 'function',
    timeout: hook.timeoutSec,
    fail_closed: hook.failClosed ?? false,
    ...(hook.statusMessage === undefined ? {} : { statusMessage: hook.statusMessage }),
  },
  handler: hook.handler,
});

/** Hooks of all sources, lowest source first, within a source in the order of the events. */
export function readHooks(tables: readonly HookTable[], states: HookStates, functions: readonly FunctionHook[] = []): HookSet {
  const errors: { path: string; message: string }[] = [];
  const written = [...tables.flatMap((table) => inEventOrder(readTable(table, errors))), ...functions.map(ofFunction)];
  const hooks = written.map((one, order) => build(one, order, states));
  for (const hook of hooks) if (hook.fault) errors.push({ path: hook.origin.path, message: `${nameOf(hook)}: ${hook.fault}` });
  return { hooks, errors };
}

const inEventOrder = (written: readonly Written[]): Written[] =>
  HOOK_EVENT_NAMES.flatMap((event) => written.filter((one) => one.event === event));

/** A hook in words. */
export const nameOf = (hook: Hook): string => `the ${hook.event} hook ${hook.key}`;

/** One sentence for each hook or table that is not in force although somebody wrote it. */
export function warningsOf({ hooks, errors }: HookSet): string[] {
  const skipped = hooks
    .filter((hook) => hook.enabled && !trusted(hook) && hook.fault === null)
    .map((hook) => {
      const why = hook.trust === 'modified' ? 'it has changed since it was trusted' : 'it is not trusted';
      return `Hook skipped: ${nameOf(hook)} does not run because ${why}. To trust it, put [hooks.state.${JSON.stringify(hook.key)}] trusted_hash = "${hook.hash}" into your own config.toml.`;
    });
  const odd = errors.map(({ path, message }) => `Hook problem in ${path}: ${message}.`);
  const shut = hooks
    .filter((hook) => hook.fault !== null && active(hook) && factsOf(hook.event).guards)
    .map((hook) => `${nameOf(hook)} cannot run and has fail_closed = true, so it blocks everything that it guards.`);
  return [...skipped, ...odd, ...shut];
}
