// The settings of a thread: what sticks from request to request, and how overrides change it.
import { invalidParams } from '../common/errors.ts';
import { EFFORTS, type ModelCard } from '../model/card.ts';
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
import type { ModelSource } from './ports.ts';

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

export interface SettingsPatch extends Partial<ThreadSettings> {
  /** A sandbox by its short name: what it means in full depends on the configuration of the thread. */
  sandboxMode?: SandboxMode;
}

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

/** Writes the policy of a named sandbox out. */
export function withSandbox({ sandboxMode, ...patch }: SettingsPatch, policyOf: (mode: SandboxMode) => SandboxPolicy): SettingsPatch {
  return sandboxMode === undefined || patch.sandbox ? patch : { ...patch, sandbox: policyOf(sandboxMode) };
}

/** A collaboration mode brings its model and its effort; they win over what the same patch says apart. */
function withMode(patch: SettingsPatch): SettingsPatch {
  const chosen = patch.collaborationMode?.settings;
  if (!chosen) return patch;
  return {
    ...patch,
    ...(chosen.model ? { model: chosen.model } : {}),
    ...(chosen.reasoning_effort ? { effort: chosen.reasoning_effort } : {}),
  };
}

/** Applies a patch; undefined and null leave a setting as it is. Gives the same object when nothing changed. */
export function patchSettings(settings: ThreadSettings, given: SettingsPatch): ThreadSettings {
  const patch = withMode(given);
  let next = settings;
  for (const key of Object.keys(settings) as (keyof ThreadSettings)[]) {
    const value = patch[key];
    if (value === undefined || value === null || JSON.stringify(settings[key]) === JSON.stringify(value)) continue;
    next = { ...next, [key]: value };
  }
  return inStep(next);
}

/** The mode says the model and the effort once more; they never differ from the settings. */
function inStep(settings: ThreadSettings): ThreadSettings {
  const { collaborationMode: chosen, model, effort } = settings;
  if (!chosen || (chosen.settings.model === model && (chosen.settings.reasoning_effort ?? null) === effort)) return settings;
  return { ...settings, collaborationMode: { ...chosen, settings: { ...chosen.settings, model, reasoning_effort: effort } } };
}

/** A word that any model knows passes, as a provider may know more of its model than a card; anything else must be on the card. */
export function checkEffort(where: string, effort: string, card: () => ModelCard): void {
  if (EFFORTS.includes(effort)) return;
  const { id, efforts } = card();
  if (efforts.includes(effort)) return;
  const known = efforts.length > 0 ? efforts : EFFORTS;
  throw invalidParams(`${where}: ${JSON.stringify(effort)} is no reasoning effort of ${id}; expected one of ${known.join(', ')}`);
}

/** Throws an RpcError for a patch that no request to a model could follow. */
export function checkPatch(patch: SettingsPatch, next: ThreadSettings, models: ModelSource): void {
  const { effort, model, modelProvider } = withMode(patch);
  if (model?.trim() === '') throw invalidParams('params.model: expected the name of a model, got an empty text');
  if (!effort && !model && !modelProvider) return;
  const { card } = models.bind(next.modelProvider, next.model);
  if (effort) checkEffort('params.effort', effort, () => card);
}

export const wireSettings = (settings: ThreadSettings): WireSettings => ({
  approvalPolicy: settings.approvalPolicy,
  approvalsReviewer: settings.approvalsReviewer,
  collaborationMode: {
    mode: settings.collaborationMode?.mode ?? 'default',
    settings: {
      model: settings.model,
      reasoning_effort: settings.effort,
      developer_instructions: settings.collaborationMode?.settings.developer_instructions ?? null,
    },
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
