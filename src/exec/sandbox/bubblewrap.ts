// Builds the argv that runs a command under bubblewrap. Pure but for existence checks; the order of the mounts is the policy: the
// whole system read-only, sockets of services that would act for us hidden, writable roots on top, guarded paths over those.
import fs from 'node:fs';
import path from 'node:path';
import type { RestrictedPermissions } from './permissions.ts';

export interface BubblewrapInput {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly permissions: RestrictedPermissions;
  /** Existing paths kept read-only under the writable roots. */
  readonly guarded: readonly string[];
  readonly tty: boolean;
  readonly uid: number;
  /** A bash outside the workspace, for terminals; none found: undefined. */
  readonly bash: string | undefined;
}

/** Doors to services that run outside the sandbox and take orders through a socket. */
export const serviceSockets = (uid: number): string[] => [
  '/run/docker.sock',
  '/run/containerd',
  '/run/podman',
  '/run/crio',
  '/run/libvirt',
  '/run/snapd.socket',
  '/run/dbus',
  '/run/systemd/private',
  `/run/user/${uid}`,
];

/**
 * Settings of the running kernel, which its files let root write even from a user namespace: /proc/sys/kernel/core_pattern alone is
 * a way to run a program outside. An ordinary user is kept out by the files themselves.
 */
const KERNEL_SETTINGS = ['sys', 'sysrq-trigger', 'fs', 'irq', 'bus', 'scsi', 'acpi', 'driver', 'mtrr', 'dynamic_debug', 'latency_stats'];

function shutKernelSettings(): string[] {
  const existing = KERNEL_SETTINGS.map((name) => `/proc/${name}`).filter((p) => fs.existsSync(p));
  return existing.flatMap((p) => ['--ro-bind', p, p]);
}

function hideServices(uid: number): string[] {
  return serviceSockets(uid).flatMap((door) => {
    const stat = fs.statSync(door, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isDirectory() ? ['--tmpfs', door] : ['--ro-bind', '/dev/null', door];
  });
}

/**
 * As root bubblewrap leaves the command every capability inside its user namespace, and with them it could unmount a guarded path
 * or make the system writable again. What remains is what an owner of files expects to be able to do with them.
 */
const ROOT_CAPABILITIES = [
  '--cap-drop',
  'ALL',
  ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL'].flatMap((c) => ['--cap-add', `CAP_${c}`]),
];

/**
 * In a terminal the command runs as the foreground job of a small shell: Ctrl-C then reaches the command's own process group and not
 * bubblewrap, which would die of it and take along a command that handles the signal. The outer shell needs its stderr for that, so
 * a second one, which no key ends, stands between to swallow what a shell says about a child that died ("Killed"). A command stopped
 * by Ctrl-Z ends, with 148: nobody is there to continue it.
 */
const FOREGROUND_JOB = 'set -m; "$@"; exit $?';
const SILENT_DEATH = 'trap : INT QUIT; { "$@" 2>&3 3>&-; } 3>&2 2>/dev/null; exit $?';

function foregroundJob(bash: string): string[] {
  // -p: neither BASH_ENV nor exported functions get a word in.
  return [FOREGROUND_JOB, SILENT_DEATH].flatMap((script) => [bash, '-p', '-c', script, path.basename(bash)]);
}

/** Parents first, as a later mount covers an earlier one: a root granted inside a guarded folder lies over it, the rest stays shut. */
function mounts(permissions: RestrictedPermissions, guarded: readonly string[]): string[] {
  const roots = new Set([...permissions.scratchRoots, ...permissions.writableRoots]);
  const all = [
    ...[...roots].map((file) => ({ file, how: '--bind-try' })),
    ...guarded.filter((g) => !roots.has(g)).map((file) => ({ file, how: '--ro-bind-try' })),
  ];
  return all.sort((a, b) => a.file.length - b.file.length).flatMap(({ file, how }) => [how, file, file]);
}

/**
 * A bare program name goes through a small shell, so that one that does not exist ends with 127 and its name instead of a complaint of
 * bubblewrap.
 */
export function bubblewrapArgv(program: string, input: BubblewrapInput): string[] {
  const { permissions, tty, uid, bash } = input;
  const args = [program, '--unshare-user', '--unshare-pid', '--unshare-ipc', '--die-with-parent'];
  // Without a terminal of its own the command must not reach one of ours. With one it keeps it: that terminal has no other reader, so
  // pushing characters into its input reaches nobody but the command.
  if (!tty) args.push('--new-session');
  if (!permissions.network) args.push('--unshare-net');
  if (uid === 0) args.push(...ROOT_CAPABILITIES);
  args.push('--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc');
  if (uid === 0) args.push(...shutKernelSettings());
  args.push(...hideServices(uid));
  args.push(...mounts(permissions, input.guarded), '--chdir', input.cwd, '--');
  if (tty && bash !== undefined) args.push(...foregroundJob(bash));
  else if (!fs.existsSync(input.argv[0] ?? '')) args.push('/bin/sh', '-c', 'exec "$@"', 'sh');
  return [...args, ...input.argv];
}
