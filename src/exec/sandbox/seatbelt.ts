// The macOS counterpart of bubblewrap.ts: a profile for sandbox-exec from the same permissions. Pure text.
import type { RestrictedPermissions } from './permissions.ts';

export const SEATBELT_PROGRAM = '/usr/bin/sandbox-exec';

/** A string literal of the profile language. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const BASE = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow file-ioctl (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/ttys[0-9]+$"))
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.PowerManagement.control"))
`;

/** Name lookups and certificate checks go through these services. */
const NETWORK = `(allow network*)
(allow system-socket)
(allow mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.networkd") (global-name "com.apple.trustd.agent") (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd"))
`;

/** `guarded` lists existing and reserved paths alike: here a missing one is kept out by name, without a mount point. */
export function seatbeltProfile(permissions: RestrictedPermissions, guarded: readonly string[]): string {
  const roots = [...new Set([...permissions.scratchRoots, ...permissions.writableRoots])];
  const writes = roots.map((root) => `(allow file-write* (subpath ${quoted(root)}))\n`);
  // Later rules win, so the guarded paths come last. Renaming a folder above one would move it out from under its rule.
  const guards = guarded.map((p) => `(deny file-write* (subpath ${quoted(p)}))\n`);
  return BASE + (permissions.network ? NETWORK : '') + writes.join('') + guards.join('');
}

export function seatbeltArgv(permissions: RestrictedPermissions, guarded: readonly string[], argv: readonly string[]): string[] {
  return [SEATBELT_PROGRAM, '-p', seatbeltProfile(permissions, guarded), '--', ...argv];
}
