// What a command may touch, derived once from the thread's sandbox policy and folder. The launcher turns it into the argv of a
// sandbox, the denial reader asks it whether a path was out of bounds.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The sandbox policy as it crosses the wire. */
export type SandboxPolicy =
  | { readonly type: 'dangerFullAccess' }
  | { readonly type: 'readOnly'; readonly networkAccess?: boolean }
  | { readonly type: 'externalSandbox'; readonly networkAccess?: 'restricted' | 'enabled' }
  | {
      readonly type: 'workspaceWrite';
      readonly writableRoots?: readonly string[];
      readonly networkAccess?: boolean;
      readonly excludeTmpdirEnvVar?: boolean;
      readonly excludeSlashTmp?: boolean;
    };

export interface RestrictedPermissions {
  readonly type: 'restricted';
  /** Absolute and real; parents before children; the working folder's root first of all. */
  readonly writableRoots: readonly string[];
  /** Writable as well, but no workspace: nothing in them is guarded by name. */
  readonly scratchRoots: readonly string[];
  readonly readAll: true;
  readonly network: boolean;
}

/** fullAccess: no sandbox of ours, because none is wanted or another one stands around the daemon. */
export type SandboxPermissions = { readonly type: 'fullAccess' } | RestrictedPermissions;

/** What an approved request adds; the same shape on the wire. */
export interface AdditionalPermissions {
  readonly fileSystem?: { readonly read?: readonly string[] | null; readonly write?: readonly string[] | null } | null;
  readonly network?: { readonly enabled?: boolean | null } | null;
}

/** The real path; for one that does not exist, that of its nearest existing ancestor with the rest put back. */
export function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPath(parent), path.basename(file));
  }
}

/** True when `file` is `root` or lies below it. Both absolute. */
export function isWithin(root: string, file: string): boolean {
  return file === root || file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

const unique = (paths: readonly string[], real: (file: string) => string): string[] => [
  ...new Set(paths.filter((p) => path.isAbsolute(p)).map(real)),
];

/**
 * `env` is the daemon's or the command's environment; only TMPDIR is read. `real` says where a path leads.
 */
export function permissionsFor(
  policy: SandboxPolicy,
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  real: (file: string) => string = realPath,
): SandboxPermissions {
  switch (policy.type) {
    case 'dangerFullAccess':
    case 'externalSandbox':
      return { type: 'fullAccess' };
    case 'readOnly':
      return { type: 'restricted', writableRoots: [], scratchRoots: [], readAll: true, network: policy.networkAccess === true };
    case 'workspaceWrite': {
      const scratch: string[] = [];
      if (policy.excludeSlashTmp !== true) scratch.push('/tmp');
      if (policy.excludeTmpdirEnvVar !== true && env['TMPDIR']) scratch.push(env['TMPDIR']);
      const writableRoots = unique([cwd, ...(policy.writableRoots ?? [])], real);
      const scratchRoots = unique(scratch, real).filter((p) => !writableRoots.includes(p) && fs.existsSync(p));
      return { type: 'restricted', writableRoots, scratchRoots, readAll: true, network: policy.networkAccess === true };
    }
  }
}

/** The permissions widened by exactly what was approved. Relative paths are taken from `cwd`. Reading is open already. */
export function withAdditional(
  permissions: SandboxPermissions,
  more: AdditionalPermissions,
  cwd: string,
  real: (file: string) => string = realPath,
): SandboxPermissions {
  if (permissions.type === 'fullAccess') return permissions;
  const added = (more.fileSystem?.write ?? []).map((p) => path.resolve(cwd, p.replace(/^~(?=\/|$)/, os.homedir())));
  const network = permissions.network || more.network?.enabled === true;
  return { ...permissions, writableRoots: [...new Set([...permissions.writableRoots, ...unique(added, real)])], network };
}

/**
 * The same without roots that lead elsewhere by now: whoever could put a link in the place of a root would choose what it opens.
 */
export function withoutMoved(permissions: RestrictedPermissions): RestrictedPermissions {
  const stands = (root: string): boolean => realPath(root) === root;
  return {
    ...permissions,
    writableRoots: permissions.writableRoots.filter(stands),
    scratchRoots: permissions.scratchRoots.filter(stands),
  };
}

/** A stable, readable name for approval keys: equal permissions, equal text. */
export function permissionsLabel(permissions: SandboxPermissions): string {
  if (permissions.type === 'fullAccess') return 'full access';
  const roots = [...permissions.writableRoots, ...permissions.scratchRoots].sort();
  return `writing ${JSON.stringify(roots)}, network ${permissions.network ? 'on' : 'off'}`;
}

/** True when the permissions let a command write `file` (absolute), guarded paths aside. */
export function mayWrite(permissions: SandboxPermissions, file: string): boolean {
  if (permissions.type === 'fullAccess') return true;
  const real = realPath(file);
  return [...permissions.writableRoots, ...permissions.scratchRoots].some((root) => isWithin(root, real));
}
