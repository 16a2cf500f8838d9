// What a request may override of a thread's settings, as a patch. Names of modes become policies here.

import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { invalidParams } from '../../common/errors.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  Personality,
  ReasoningSummary,
  SandboxMode,
  SandboxPolicy,
} from '../../protocol/primitives.ts';
import type { SettingsPatch } from '../../session/settings.ts';
import { modeOfProfile, profileIds } from '../permission-profiles.ts';

interface Overrides {
  model?: string | null;
  modelProvider?: string | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  approvalsReviewer?: ApprovalsReviewer | null;
  sandbox?: SandboxMode | null;
  sandboxPolicy?: SandboxPolicy | null;
  /** The id of a permission profile. */
  permissions?: string | null;
  effort?: string | null;
  summary?: ReasoningSummary | null;
  personality?: Personality | null;
  serviceTier?: string | null;
  baseInstructions?: string | null;
  developerInstructions?: string | null;
  collaborationMode?: CollaborationMode | null;
}

function checkCwd(cwd: string): string {
  if (!isAbsolute(cwd)) throw invalidParams(`params.cwd: expected an absolute path, got ${JSON.stringify(cwd)}`);
  const found = statSync(cwd, { throwIfNoEntry: false });
  if (!found) throw invalidParams(`params.cwd: the folder ${cwd} does not exist`);
  if (!found.isDirectory()) throw invalidParams(`params.cwd: ${cwd} is not a folder`);
  return cwd;
}

const POLICY_DEFAULTS = { writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false };

/** Fills in what a client may leave out of a policy. */
function wholePolicy(policy: SandboxPolicy): SandboxPolicy {
  return policy.type === 'workspaceWrite'
    ? { ...POLICY_DEFAULTS, ...policy }
    : policy.type === 'readOnly'
      ? { networkAccess: false, ...policy }
      : policy;
}

function modeOf(profile: string): SandboxMode {
  const mode = modeOfProfile(profile);
  if (!mode) throw invalidParams(`params.permissions: unknown profile ${JSON.stringify(profile)}; known: ${profileIds().join(', ')}`);
  return mode;
}

/** Throws an RpcError that names a field whose value cannot be meant. */
export function patchOf(overrides: Overrides): SettingsPatch {
  const { sandbox, sandboxPolicy, permissions, cwd, ...rest } = overrides;
  const patch: SettingsPatch = {};
  const copy = (key: keyof SettingsPatch, value: unknown) => {
    if (value !== undefined && value !== null) Object.assign(patch, { [key]: value });
  };
  copy('model', rest.model);
  copy('modelProvider', rest.modelProvider);
  copy('approvalPolicy', rest.approvalPolicy);
  copy('approvalsReviewer', rest.approvalsReviewer);
  copy('effort', rest.effort);
  copy('summary', rest.summary);
  copy('personality', rest.personality);
  copy('serviceTier', rest.serviceTier);
  copy('baseInstructions', rest.baseInstructions);
  copy('developerInstructions', rest.developerInstructions);
  copy('collaborationMode', rest.collaborationMode);
  if (cwd) patch.cwd = checkCwd(cwd);
  if ([sandbox, sandboxPolicy, permissions].filter(Boolean).length > 1)
    throw invalidParams('params: sandbox, sandboxPolicy and permissions say the same thing; give one of them');
  if (sandbox) patch.sandboxMode = sandbox;
  if (permissions) patch.sandboxMode = modeOf(permissions);
  if (sandboxPolicy) patch.sandbox = wholePolicy(sandboxPolicy);
  return patch;
}
