// What threads are made and opened with: what is asked for, and what the layers above provide.
import type { EffectiveConfig } from '../config/schema.ts';
import type { SandboxMode, SandboxPolicy } from '../protocol/primitives.ts';
import type { DynamicTool } from '../tools/sources/dynamic-specs.ts';
import type { EventSink, FrontendRequests, ModelSource } from './ports.ts';
import type { SettingsPatch, ThreadSettings } from './settings.ts';
import type { SkillScan } from './skills.ts';
import type { Thread } from './thread.ts';
import type { ThreadToolsFactory } from './thread-tools.ts';

/** What a thread is built with, from its configuration. */
export interface ThreadSetup {
  config: EffectiveConfig;
  settings: ThreadSettings;
  models: ModelSource;
  tools: ThreadToolsFactory;
  /** The skills that a folder may use. May reject: a folder's configuration can be broken. */
  skills(cwd: string): Promise<SkillScan>;
  /** What a sandbox by its short name means under this configuration. */
  sandbox(mode: SandboxMode): SandboxPolicy;
}

export interface ManagerPorts {
  home: string;
  sink: EventSink;
  frontends: FrontendRequests;
  shellName: string;
  /** Some client listens to the thread. */
  isHeard(threadId: string): boolean;
  /** Whoever listens to a thread listens to this one, too, which works for it; when it is new, everyone hears that it is there. */
  joined(parentId: string, thread: Thread, isNew: boolean): void;
  /** A thread was put away: nobody listens to it any more. */
  left(threadId: string): void;
  /** The configuration for a folder and the overrides of one thread. Throws an RpcError that names key and file. */
  setup(cwd: string | null, threadConfig: Record<string, unknown> | null): Promise<ThreadSetup>;
}

export interface StartRequest {
  cwd: string | null;
  config: Record<string, unknown> | null;
  patch: SettingsPatch;
  ephemeral: boolean;
  dynamicTools: readonly DynamicTool[];
  originator: string | null;
}

export interface ResumeOptions {
  patch: SettingsPatch;
  config: Record<string, unknown> | null;
  /** The turns and the history of a long thread may be read afterwards: whoever needs them waits for `whole`. */
  restLater?: boolean;
}
