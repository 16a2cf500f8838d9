// The built-in permission profiles: other names for the sandbox modes. There are no others.
import type { PermissionProfileSummary } from '../protocol/catalog.ts';
import type { SandboxMode } from '../protocol/primitives.ts';

const MODES: Readonly<Record<string, SandboxMode>> = {
  ':read-only': 'read-only',
  ':workspace': 'workspace-write',
  ':danger-full-access': 'danger-full-access',
};

const DESCRIPTIONS: Readonly<Record<SandboxMode, string>> = {
  'read-only': 'Commands may read files and write none.',
  'workspace-write': 'Commands may write in the working folder and in folders for temporary files.',
  'danger-full-access': 'Commands run without a sandbox.',
};

export const permissionProfiles = (): PermissionProfileSummary[] =>
  Object.entries(MODES).map(([id, mode]) => ({ id, description: DESCRIPTIONS[mode], allowed: true }));

export const profileIds = (): string[] => Object.keys(MODES);

export const modeOfProfile = (id: string): SandboxMode | undefined => (Object.hasOwn(MODES, id) ? MODES[id] : undefined);
