// The settings of a thread: what sticks from request to request, and how overrides change it.
import type {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  Personality,
  ReasoningEffort,
  ReasoningSummary,
  SandboxMode,
  SandboxPolicy,
} from '../protocol/primitives.ts';
import type { ThreadSettings as WireSettings } from '../protocol/thread-lifecycle.ts';

export interface ThreadSettings {
  model: string;
  modelProvider: string;
  cwd: string;
  approvalPolicy: AskForApproval;
  approvalsReviewer: ApprovalsReviewer;
  sandbox: SandboxPolicy;
  effort: ReasoningEffort | null;
  summary: ReasoningSummary | null;
  personality: Personality | null;
  serviceTier: string | null;
  baseInstructions: string | null;
  developerInstructions: string | null;
  collaborationMode: CollaborationMode | null;
}

export type SettingsPatch = Partial<ThreadSettings>;

/** The policy behind a mode's short name, with the roots of the configuration. */
export function sandboxPolicyFor(
  mode: SandboxMode,
  workspace: { writableRoots?: string[]; networkAccess?: boolean; excludeTmpdirEnvVar?: boolean; excludeSlashTmp?: boolean } = {},
): SandboxPolicy {
  switch (mode) {
    case 'read-only':
      return { type: 'readOnly', networkAccess: false };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots: workspace.writableRoots ?? [],
        networkAccess: workspace.networkAccess ?? false,
        excludeTmpdirEnvVar: workspace.excludeTmpdirEnvVar ?? false,
        excludeSlashTmp: workspace.excludeSlashTmp ?? false,
      };
  }
}

/** Applies a patch; undefined and null leave a setting as it is. Gives the same object when nothing changed. */
export function patchSettings(settings: ThreadSettings, patch: SettingsPatch): ThreadSettings {
  let next = settings;
  for (const key of Object.keys(patch) as (keyof ThreadSettings)[]) {
    const value = patch[key];
    if (value === undefined || value === null || JSON.stringify(settings[key]) === JSON.stringify(value)) continue;
    next = { ...next, [key]: value };
  }
  return next;
}

export const wireSettings = (settings: ThreadSettings): WireSettings => ({
  approvalPolicy: settings.approvalPolicy,
  approvalsReviewer: settings.approvalsReviewer,
  collaborationMode: settings.collaborationMode ?? {
    mode: 'default',
    settings: { model: settings.model, reasoning_effort: settings.effort, developer_instructions: null },
  },
  cwd: settings.cwd,
  effort: settings.effort,
  model: settings.model,
  modelProvider: settings.modelProvider,
  personality: settings.personality,
  sandboxPolicy: settings.sandbox,
  serviceTier: settings.serviceTier,
  summary: settings.summary,
});
