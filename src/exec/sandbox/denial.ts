// Tells a denial by the sandbox from an ordinary failure. Conservative: the output must hold an error line of the operating system
// with a path or host, the permissions must forbid just that, and for a path the daemon itself must be able to do it.
import fs from 'node:fs';
import path from 'node:path';
import { isGuarded } from './guarded-paths.ts';
import type { SandboxPermissions } from './permissions.ts';
import { isWithin, mayWrite, realPath } from './permissions.ts';

export type Denial =
  | { readonly denied: false }
  | { readonly denied: true; readonly kind: 'write'; readonly path: string }
  | { readonly denied: true; readonly kind: 'network'; readonly host: string };

export interface RunResult {
  readonly exitCode: number;
  /** stdout and stderr as one text; only its last part is looked at. */
  readonly output: string;
  readonly cwd: string;
  readonly permissions: SandboxPermissions;
  /** False when the command ran outside the sandbox: then nothing is a denial. */
  readonly sandboxed: boolean;
  /** Further paths that the launcher keeps read-only. */
  readonly alwaysGuarded?: readonly string[];
}

const LOOKED_AT = 32_768;
const MAX_LINE = 1_000;
const NOT_DENIED: Denial = { denied: false };

/** touch: cannot touch 'x': Read-only file system · bash: line 1: x: Permission denied · [Errno 30] Read-only file system: 'x' · EROFS: …, open 'x' */
const REFUSED =
  /Read-only file system|read-only file system|Permission denied|permission denied|Operation not permitted|operation not permitted|Device or resource busy/;
const QUOTED = /['"‘`]([^'"’`]+)['"’`]/g;

function pathsIn(line: string, at: number): string[] {
  const quoted = [...line.matchAll(QUOTED)].map((m) => m[1]);
  const before = /(?:^|[:\s])([^:\s'"]+):\s*$/.exec(line.slice(0, at))?.[1];
  return [...quoted, ...(before === undefined ? [] : [before])].filter((p) => p.includes('/') || quoted.includes(p) || before === p);
}

/** Whether the daemon could write there: a path that nobody can write was not shut off by the sandbox. */
function writableOutside(file: string): boolean {
  let target = file;
  while (!fs.existsSync(target) && target !== path.dirname(target)) target = path.dirname(target);
  try {
    fs.accessSync(target, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isShut(run: RunResult, file: string): boolean {
  const { permissions } = run;
  if (permissions.type === 'fullAccess') return false;
  const real = realPath(file);
  const guarded = isGuarded(permissions.writableRoots, real) || (run.alwaysGuarded ?? []).some((g) => isWithin(realPath(g), real));
  return guarded || !mayWrite(permissions, real);
}

function deniedWrite(run: RunResult, line: string): Denial | undefined {
  const match = REFUSED.exec(line);
  if (match === null) return undefined;
  // A name alone (`echo "x: permission denied"`) is too thin unless the system says that the whole file system is read-only.
  for (const name of pathsIn(line, match.index)) {
    const file = path.resolve(run.cwd, name);
    const known = fs.existsSync(file) || fs.existsSync(path.dirname(file));
    if (known && !isWithin('/dev', file) && !isWithin('/proc', file) && isShut(run, file) && writableOutside(file))
      return { denied: true, kind: 'write', path: file };
  }
  return undefined;
}

const NETWORK_LINES: readonly RegExp[] = [
  /\/dev\/(?:tcp|udp)\/([^/\s:]+)\/\d+: (?:Connection refused|Network is unreachable|Cannot assign)/,
  /[Cc]ould not resolve host(?:name)?:? ([\w.-]+)/,
  /getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)/,
  /connect (?:ECONNREFUSED|ENETUNREACH|EHOSTUNREACH) ([\w.:-]+)/,
  /(?:unable to resolve host address|unknown host:?) [‘'"]?([\w.-]+)/,
  /(?:connect to|connecting to|Failed to connect to) ([\w.:-]+)(?: port \d+)?.*(?:refused|unreachable|Couldn't connect|Could not connect)/,
  /lookup ([\w.-]+)(?: on [\w.:[\]]+)?: .*(?:network is unreachable|connection refused|no such host|server misbehaving)/,
  /(Temporary failure in name resolution|Name or service not known|Network is unreachable)/,
];

function deniedNetwork(line: string): Denial | undefined {
  for (const pattern of NETWORK_LINES) {
    const host = pattern.exec(line)?.[1];
    if (host !== undefined) return { denied: true, kind: 'network', host: host.replace(/[.:]+$/, '') };
  }
  return undefined;
}

/** The first denial in the output of a finished command. A command that succeeded was not denied, whatever it printed. */
export function recogniseDenial(run: RunResult): Denial {
  const { permissions } = run;
  if (!run.sandboxed || run.exitCode === 0 || permissions.type === 'fullAccess') return NOT_DENIED;
  for (const line of run.output.slice(-LOOKED_AT).split(/\r?\n/)) {
    if (line.length > MAX_LINE) continue;
    const denial = deniedWrite(run, line) ?? (permissions.network ? undefined : deniedNetwork(line));
    if (denial !== undefined) return denial;
  }
  return NOT_DENIED;
}

/** A text for the model, to stand beside the output: what was stopped, by what, and the way on. */
export function denialHint(denial: Denial, canAsk: boolean, policyName: string): string {
  if (!denial.denied) return '';
  const what = denial.kind === 'write' ? `writing ${denial.path}` : `network access (${denial.host})`;
  const way = canAsk
    ? 'If the command needs it, call again with sandbox_permissions "require_escalated" and a justification; note that the whole command runs again.'
    : `Under ${policyName} this cannot be asked for; find a way within the sandbox, or say what you could not do.`;
  return `The sandbox stopped this command: ${what} is not allowed in it. ${way}`;
}
