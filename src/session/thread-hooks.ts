// The seats of hooks outside of tool calls, as a port with one method a seat. With the seats of a call it is all a thread knows of hooks.
import type { HookPort } from '../tools/gates/hooks.ts';

export type PromptVerdict = { type: 'pass'; context: readonly string[] } | { type: 'refuse'; reason: string };
export type StopVerdict =
  | { type: 'end' }
  /** The model is to go on, with these reasons. */
  | { type: 'goOn'; reasons: readonly { runId: string; text: string }[] };
export type CompactionTrigger = 'manual' | 'auto';

/**
 * Contract: never throws; a hook that fails decides as its own `fail_closed` says, inside the port. When the signal aborts, every seat
 * settles soon, with the answer that changes nothing, or as a refusal where a hook that fails closed had not decided.
 */
export interface ThreadHooks extends HookPort {
  /** Once for each time the thread is loaded, before its first prompt; refused, it comes again with the next one. */
  sessionStart(turnId: string, source: 'startup' | 'resume', signal: AbortSignal): Promise<PromptVerdict>;
  userPromptSubmit(turnId: string, prompt: string, signal: AbortSignal): Promise<PromptVerdict>;
  /** `active`: the turn goes on because of this seat already. */
  stop(turnId: string, state: { active: boolean; lastMessage: string | null }, signal: AbortSignal): Promise<StopVerdict>;
  /** Null, or why there is to be no compaction. */
  preCompact(turnId: string, trigger: CompactionTrigger, signal: AbortSignal): Promise<string | null>;
  postCompact(turnId: string, trigger: CompactionTrigger, signal: AbortSignal): Promise<void>;
  /** The turn was interrupted. Nobody waits for these hooks. */
  interrupted(turnId: string): void;
  /** What is to be told to the model of a new sub-agent. */
  subagentStart(turnId: string, agent: { id: string; kind: string }, signal: AbortSignal): Promise<readonly string[]>;
  subagentStop(
    turnId: string,
    agent: { id: string; kind: string },
    state: { active: boolean; lastMessage: string | null },
    signal: AbortSignal,
  ): Promise<StopVerdict>;
}
