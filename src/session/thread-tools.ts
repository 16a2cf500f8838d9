// The tools of one thread and what they keep alive, as a port. The composition root builds them; the thread only asks.
import type { ThreadBackgroundTerminal } from '../protocol/exec.ts';
import type { AgentPort } from '../tools/agents.ts';
import type { ArtifactPort } from '../tools/artifacts.ts';
import type { FrontendPort, ToolEvents } from '../tools/events.ts';
import type { Identity } from '../tools/exposure.ts';
import type { ApprovalGate } from '../tools/gates/approval.ts';
import type { CallTrace } from '../tools/trace.ts';
import type { ThreadSettings } from './settings.ts';
import type { ToolSources } from './step-context.ts';
import type { ThreadHooks } from './thread-hooks.ts';

/** What the tools of a thread may know of it. */
export interface ToolHost {
  readonly threadId: string;
  readonly frontend: FrontendPort;
  readonly artifacts: ArtifactPort;
  /** What the thread is: the root, or an agent below it. */
  readonly identity: Identity;
  readonly agents: AgentPort;
  /** False for an ephemeral thread: nothing of it is kept on disk. */
  readonly keepsArtifacts: boolean;
  settings(): ThreadSettings;
  /** The file of its record; null for one that is not kept. */
  rolloutPath(): string | null;
  /** Tokens used in the model's window, and its size. */
  tokens(): { used: number; window: number };
}

export interface UserShellRun {
  turnId: string;
  command: string;
  timeoutMs: number | null;
  events: ToolEvents;
  signal: AbortSignal;
}

export interface ThreadTools {
  /** Its external tools come beside the dynamic ones, which the thread itself has. */
  readonly sources: ToolSources;
  readonly approvals: ApprovalGate;
  readonly hooks: ThreadHooks;
  onTrace(trace: CallTrace): void;
  /** Starts what runs beside the thread. Rejects with an RpcError when something that the thread requires did not come up. */
  started(): Promise<void>;
  /** The client knows the thread from now on: what happened so far may be told. */
  announced(): void;
  /** Called before each step with the text that its input adds: waits, for a bounded time, for tools that are still coming up. */
  ready(text: string, signal: AbortSignal): Promise<void>;
  terminals(): Promise<ThreadBackgroundTerminal[]>;
  terminate(processId: string): Promise<boolean>;
  terminateAll(): Promise<void>;
  /** An interrupt ends what its turn started; a normal end leaves it running. */
  turnEnded(turnId: string, interrupted: boolean): Promise<void>;
  /** Runs a command of the user; resolves with what the model reads of it. */
  runUserShell(run: UserShellRun): Promise<string>;
  /** Ends everything. */
  close(): Promise<void>;
}

export type ThreadToolsFactory = (host: ToolHost) => ThreadTools;
