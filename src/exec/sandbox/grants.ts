// What the user granted of what a model asked for ahead of its commands: never more than was asked, and gone with the turn or the
// thread it was granted for. Commands and patches widen their permissions by it.
import os from 'node:os';
import path from 'node:path';
import {
  type AdditionalPermissions,
  isWithin,
  permissionsFor,
  realPath,
  type SandboxPermissions,
  type SandboxPolicy,
  withAdditional,
} from './permissions.ts';

export type GrantScope = 'turn' | 'session';

/** Absolute paths as they were asked for; reading, and what else is open anyway, counts as well. */
export interface Grant {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: boolean;
}

export const NO_GRANT: Grant = { read: [], write: [], network: false };

export const isEmptyGrant = ({ read, write, network }: Grant): boolean => read.length === 0 && write.length === 0 && !network;

const absolute = (paths: readonly string[] | null | undefined, cwd: string): string[] => [
  ...new Set((paths ?? []).map((p) => path.resolve(cwd, p.replace(/^~(?=\/|$)/, os.homedir())))),
];

/** A relative path is taken from `cwd`. */
export const grantOf = ({ fileSystem, network }: AdditionalPermissions, cwd: string): Grant => ({
  read: absolute(fileSystem?.read, cwd),
  write: absolute(fileSystem?.write, cwd),
  network: network?.enabled === true,
});

/** Real paths: a link leads to where it leads, whatever it is called. */
const covers = (root: string, file: string): boolean => isWithin(realPath(root), realPath(file));

/** Of two lists of folders the parts that lie in both. */
function common(asked: readonly string[], given: readonly string[]): string[] {
  const narrowed = given.filter((file) => asked.some((root) => covers(root, file)));
  return [...new Set([...asked.filter((file) => given.some((root) => covers(root, file))), ...narrowed])];
}

/** What is in both. Leave to write a folder is no leave that was not asked for, and whoever may write may read. */
export const intersection = (asked: Grant, given: Grant): Grant => ({
  read: common(asked.read, [...given.read, ...given.write]),
  write: common(asked.write, given.write),
  network: asked.network && given.network,
});

const join = (a: Grant, b: Grant): Grant => ({
  read: [...new Set([...a.read, ...b.read])],
  write: [...new Set([...a.write, ...b.write])],
  network: a.network || b.network,
});

/** What one thread may touch: its sandbox policy and what was granted on top. */
export class PermissionGrants {
  /**
   * Where a folder led when the thread first used it. It stays so: a command that moves the folder away and puts a link in its place
   * opens nothing by it.
   */
  readonly #real = new Map<string, string>();
  /** Holds as long as the thread is loaded; only grows. */
  #session: Grant = NO_GRANT;
  /** By turn; gone when it ends. */
  readonly #turns = new Map<string, Grant>();

  add(turnId: string, scope: GrantScope, grant: Grant): void {
    for (const file of grant.write) this.#realOf(file);
    if (scope === 'session') this.#session = join(this.#session, grant);
    else this.#turns.set(turnId, join(this.#turns.get(turnId) ?? NO_GRANT, grant));
  }

  turnEnded(turnId: string): void {
    this.#turns.delete(turnId);
  }

  /** What a command or a patch of a turn may touch. */
  permissions(policy: SandboxPolicy, cwd: string, turnId: string): SandboxPermissions {
    const real = (file: string) => this.#realOf(file);
    return this.widen(permissionsFor(policy, cwd, process.env, real), turnId);
  }

  #realOf(file: string): string {
    const known = this.#real.get(file);
    if (known !== undefined) return known;
    const real = realPath(file);
    this.#real.set(file, real);
    return real;
  }

  /** The permissions of a turn with everything that was granted for it. */
  widen(permissions: SandboxPermissions, turnId: string): SandboxPermissions {
    const { write, network } = join(this.#session, this.#turns.get(turnId) ?? NO_GRANT);
    if (write.length === 0 && !network) return permissions;
    return withAdditional(permissions, { fileSystem: { write }, network: { enabled: network } }, '/', (file) => this.#realOf(file));
  }
}
