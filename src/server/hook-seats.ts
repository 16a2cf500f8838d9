// The hooks of one thread in their seats: what each event tells them, and what their combined verdict means there.
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { CommandPort } from '../hooks/command.ts';
import { type HookSet, nameOf } from '../hooks/definitions.ts';
import { type Hook, matches } from '../hooks/hook.ts';
import type { HookEvent } from '../hooks/hook-event.ts';
import { HookRunner } from '../hooks/runner.ts';
import { combine, NO_VERDICT, reasonsOf, type Verdict } from '../hooks/verdict.ts';
import type { HookRunSummary } from '../protocol/hook.ts';
import type { EventSink } from '../session/ports.ts';
import type { CompactionTrigger, PromptVerdict, StopVerdict, ThreadHooks } from '../session/thread-hooks.ts';
import type { ToolHost } from '../session/thread-tools.ts';
import {
  commandOf,
  type HookedCall,
  type PermissionDecision,
  type PostToolDecision,
  type PreToolDecision,
  SHELL_TOOL,
} from '../tools/gates/hooks.ts';
import type { ToolOutput } from '../tools/result.ts';

export interface HookSeatParts {
  host: ToolHost;
  set: HookSet;
  commands: CommandPort;
  sink: EventSink;
  /** Warnings about the set that nobody was told yet. */
  takeWarnings(): string[];
}

interface Occasion {
  event: HookEvent;
  turnId: string | null;
  /** What matchers are compared with. */
  subjects?: readonly string[];
  fields?: Readonly<Record<string, unknown>>;
  cwd?: string;
  /** Of a tool call; other runs are numbered. */
  callId?: string;
}

/** The end of a thread waits no longer than this for its hooks. */
const SESSION_END_MS = 1_000;

export class HookSeats implements ThreadHooks {
  readonly #parts: HookSeatParts;
  /** Aborted when the thread is closed: ends what nobody waits for. */
  readonly #lifetime = new AbortController();
  /** Set by the first SessionStart that was not refused; SessionEnd comes only then. */
  #started = false;
  /** Numbers the runs that have no call id. */
  #runs = 0;
  /** Failures that were shown: one sentence for each hook and problem. */
  readonly #shown = new Set<string>();

  constructor(parts: HookSeatParts) {
    this.#parts = parts;
  }

  // ---- around a call ----

  async preToolUse(call: HookedCall, signal: AbortSignal): Promise<PreToolDecision> {
    const verdict = await this.#ofCall('PreToolUse', call, {}, signal);
    const { context, refusals, rewrite } = verdict;
    if (refusals.length > 0) return { type: 'block', reason: blockedText(call, reasonsOf(refusals)), context };
    return rewrite ? { type: 'rewrite', input: rewrite.input, context } : { type: 'continue', context };
  }

  async permissionRequest(call: HookedCall, signal: AbortSignal): Promise<PermissionDecision> {
    const { refusals, allowed } = await this.#ofCall('PermissionRequest', call, {}, signal);
    if (refusals.length > 0) return { type: 'deny', reason: `Denied by PermissionRequest hook: ${reasonsOf(refusals)}. Nothing was run.` };
    return { type: allowed ? 'allow' : 'ask' };
  }

  async postToolUse(call: HookedCall, output: ToolOutput, signal: AbortSignal): Promise<PostToolDecision> {
    const verdict = await this.#ofCall('PostToolUse', call, { tool_response: responseOf(output) }, signal);
    const { context, refusals, replacement } = verdict;
    if (refusals.length > 0) return { type: 'replace', text: reasonsOf(refusals), context };
    return replacement === null ? { type: 'keep', context } : { type: 'replace', text: replacement, context };
  }

  #ofCall(event: HookEvent, call: HookedCall, more: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Verdict> {
    const { turnId, callId, names, input, cwd } = call;
    const fields = { tool_name: names[0], tool_input: input, tool_use_id: callId, ...more };
    return this.#fire({ event, turnId, subjects: names, fields, cwd, callId }, signal);
  }

  // ---- around a turn ----

  async sessionStart(turnId: string, source: 'startup' | 'resume', signal: AbortSignal): Promise<PromptVerdict> {
    if (this.#started) return { type: 'pass', context: [] };
    for (const warning of this.#parts.takeWarnings()) this.#warn(warning);
    const verdict = promptVerdict(await this.#fire({ event: 'SessionStart', turnId, subjects: [source], fields: { source } }, signal));
    this.#started = verdict.type === 'pass' && !signal.aborted;
    return verdict;
  }

  async userPromptSubmit(turnId: string, prompt: string, signal: AbortSignal): Promise<PromptVerdict> {
    return promptVerdict(await this.#fire({ event: 'UserPromptSubmit', turnId, fields: { prompt } }, signal));
  }

  async stop(turnId: string, state: { active: boolean; lastMessage: string | null }, signal: AbortSignal): Promise<StopVerdict> {
    return stopVerdict(await this.#fire({ event: 'Stop', turnId, fields: stopFields(state) }, signal));
  }

  async preCompact(turnId: string, trigger: CompactionTrigger, signal: AbortSignal): Promise<string | null> {
    const { refusals } = await this.#fire({ event: 'PreCompact', turnId, subjects: [trigger], fields: { trigger } }, signal);
    return refusals.length > 0 ? reasonsOf(refusals) : null;
  }

  async postCompact(turnId: string, trigger: CompactionTrigger, signal: AbortSignal): Promise<void> {
    await this.#fire({ event: 'PostCompact', turnId, subjects: [trigger], fields: { trigger } }, signal);
  }

  interrupted(turnId: string): void {
    void this.#fire({ event: 'Interrupt', turnId }, this.#lifetime.signal);
  }

  async subagentStart(turnId: string, agent: { id: string; kind: string }, signal: AbortSignal): Promise<readonly string[]> {
    const occasion = { event: 'SubagentStart', turnId, subjects: [agent.kind], fields: agentFields(agent) } as const;
    return (await this.#fire(occasion, signal)).context;
  }

  async subagentStop(
    turnId: string,
    agent: { id: string; kind: string },
    state: { active: boolean; lastMessage: string | null },
    signal: AbortSignal,
  ): Promise<StopVerdict> {
    const fields = { ...agentFields(agent), ...stopFields(state) };
    return stopVerdict(await this.#fire({ event: 'SubagentStop', turnId, subjects: [agent.kind], fields }, signal));
  }

  /** The thread is put away. */
  async close(): Promise<void> {
    if (this.#started) {
      const enough = AbortSignal.timeout(SESSION_END_MS);
      await this.#fire({ event: 'SessionEnd', turnId: null, subjects: ['other'], fields: { reason: 'other' } }, enough);
    }
    this.#lifetime.abort();
  }

  // ---- the run itself ----

  async #fire(occasion: Occasion, signal: AbortSignal): Promise<Verdict> {
    const { event, turnId, subjects = [] } = occasion;
    const hooks = this.#parts.set.hooks.filter((hook) => matches(hook, event, subjects));
    if (hooks.length === 0) return NO_VERDICT;
    try {
      const { host, commands } = this.#parts;
      const runner = new HookRunner(commands, this.#report(turnId), this.#lifetime.signal);
      const input = { ...this.#base(occasion), ...occasion.fields };
      const values = { HARNESSD_THREAD_ID: host.threadId, HARNESSD_HOOK_EVENT: event };
      const mark = occasion.callId ?? String(++this.#runs);
      return combine(await runner.run(hooks, { input, values, mark, cwd: input.cwd }, signal));
    } catch (error) {
      logger().error({ event, error: messageOf(error) }, 'hooks failed unexpectedly');
      const closed = hooks.find((hook) => hook.failClosed);
      const reason = `hooks failed unexpectedly (${messageOf(error)}), and one of them is set to block when it fails`;
      return closed ? { ...NO_VERDICT, refusals: [{ type: 'block', reason, runId: closed.key }] } : NO_VERDICT;
    }
  }

  #base({ event, turnId, cwd }: Occasion) {
    const { host } = this.#parts;
    const settings = host.settings();
    return {
      session_id: host.threadId,
      turn_id: turnId,
      transcript_path: host.rolloutPath(),
      cwd: cwd ?? settings.cwd,
      hook_event_name: event,
      model: settings.model,
      permission_mode: permissionMode(settings),
    };
  }

  #report(turnId: string | null) {
    const { sink, host } = this.#parts;
    const { threadId } = host;
    return {
      started: (run: HookRunSummary) => sink.thread(threadId, 'hook/started', { threadId, turnId, run }),
      completed: (run: HookRunSummary) => sink.thread(threadId, 'hook/completed', { threadId, turnId, run }),
      failed: (hook: Hook, problem: string) => this.#tellFailure(hook, problem),
    };
  }

  #tellFailure(hook: Hook, problem: string): void {
    const effect = hook.failClosed
      ? 'What it guards is blocked (fail_closed = true).'
      : 'What it guards goes on; fail_closed = true would block it.';
    const text = `Hook failed: ${nameOf(hook)}: ${problem}. ${effect}`;
    if (this.#shown.has(text)) return;
    this.#shown.add(text);
    this.#warn(text);
  }

  #warn(message: string): void {
    const { sink, host } = this.#parts;
    sink.thread(host.threadId, 'warning', { threadId: host.threadId, message });
  }
}

function promptVerdict({ refusals, context }: Verdict): PromptVerdict {
  return refusals.length > 0 ? { type: 'refuse', reason: reasonsOf(refusals) } : { type: 'pass', context };
}

/** `continue: false` means that nothing is to follow, so it wins over a wish for more. */
function stopVerdict({ refusals }: Verdict): StopVerdict {
  if (refusals.length === 0 || refusals.some(({ type }) => type === 'stop')) return { type: 'end' };
  return { type: 'goOn', reasons: refusals.map(({ runId, reason }) => ({ runId, text: reason })) };
}

const stopFields = ({ active, lastMessage }: { active: boolean; lastMessage: string | null }) => ({
  stop_hook_active: active,
  last_assistant_message: lastMessage,
});
const agentFields = ({ id, kind }: { id: string; kind: string }) => ({ agent_id: id, agent_type: kind });

function blockedText({ names, input }: HookedCall, reason: string): string {
  const command = names[0] === SHELL_TOOL ? commandOf(input) : undefined;
  return typeof command === 'string'
    ? `Command blocked by PreToolUse hook: ${reason}. Command: ${command}`
    : `Tool call blocked by PreToolUse hook: ${reason}. Tool: ${names[0]}`;
}

/** Texts as they are; pictures only as a fact, since a hook reads its input as one line. */
function responseOf({ content }: ToolOutput): unknown {
  if (content.every((part) => part.type === 'text')) return content.map((part) => part.text).join('');
  return content.map((part) => (part.type === 'text' ? part : { type: 'image', bytes: part.imageUrl.length }));
}

function permissionMode({ approvalPolicy, sandbox, collaborationMode }: ReturnType<ToolHost['settings']>): string {
  if (collaborationMode?.mode === 'plan') return 'plan';
  return approvalPolicy === 'never' && sandbox.type === 'dangerFullAccess' ? 'bypassPermissions' : 'default';
}
