// What a login shell's profile leaves behind, read with probes: exported variables, plain variables, functions. Everything else a
// profile may change (aliases, options, traps, limits, the folder) must be as without it, or the profile cannot be replayed.
import { decodeUtf8 } from './utf8.ts';

/** What one run of the probe printed, taken apart. */
export interface ShellState {
  /** Printed by the profile itself. */
  readonly noise: string;
  readonly environment: ReadonlyMap<string, string>;
  /** name → its declaration, for variables that are not exported. */
  readonly variables: ReadonlyMap<string, string>;
  readonly functions: string;
  /** Aliases, options, traps, limits, umask, folder. */
  readonly rest: string;
}

export type ProfileEffect =
  | { type: 'replay'; set: Readonly<Record<string, string>>; unset: readonly string[]; script: string }
  /** It never reaches the command: an `exit` or an `exec` in it. */
  | { type: 'swallows' }
  | { type: 'notReplayable' };

/** Differ from one shell to the next whatever the profile does. */
const VOLATILE_VARIABLES =
  /^(BASH.*|_|PIPESTATUS|RANDOM|SRANDOM|SECONDS|LINENO|EPOCH.*|PPID|SHELLOPTS|FUNCNAME|GROUPS|DIRSTACK|HISTCMD|COMP_.*|OPT.*)$/;
const VOLATILE_ENVIRONMENT = new Set(['_', 'SHLVL', 'HARNESSD_PROCESS']);
const MAX_SCRIPT = 512 * 1024;

/** A script for bash that prints its own state. The separator is a word no profile prints. */
export function probeScript(separator: string): string {
  return [
    `printf '\\0${separator}\\0'`,
    'env -0',
    `printf '\\0${separator}\\0'`,
    `for ${separator} in $(compgen -v); do declare -p "$${separator}" 2>/dev/null && printf '\\0'; done`,
    `printf '\\0${separator}\\0'`,
    'declare -f',
    `printf '\\0${separator}\\0'`,
    'alias -p; shopt -p; set +o; trap -p; umask; ulimit -Sa; pwd',
    `printf '\\0${separator}\\0'`,
  ].join('; ');
}

/** 'unreached': the probe was never begun. 'broken': it was, but something is missing, or printed after it. */
export function parseProbe(output: Uint8Array, separator: string): ShellState | 'unreached' | 'broken' {
  const parts = decodeUtf8(output).split(`\0${separator}\0`);
  if (parts.length === 1) return 'unreached';
  if (parts.length !== 6 || parts[5] !== '') return 'broken';
  const [noise, environment, variables, functions, rest] = parts;
  const entries = environment.split('\0').filter((entry) => entry.includes('='));
  return {
    noise,
    environment: new Map(
      entries
        .map((entry): [string, string] => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
        .filter(([name]) => !VOLATILE_ENVIRONMENT.has(name)),
    ),
    variables: new Map(variables.split('\0').flatMap((entry) => declaration(entry.trim(), separator))),
    functions,
    rest: rest.replace(/^shopt -[su] login_shell\n/m, ''),
  };
}

function declaration(text: string, separator: string): [string, string][] {
  const [, flags, name] = /^declare -(\S+) ([A-Za-z_]\w*)/.exec(text) ?? [];
  return name === undefined || flags.includes('x') || name === separator || VOLATILE_VARIABLES.test(name) ? [] : [[name, text]];
}

/** What the profile did, from a shell without it and two with it: only what is the same twice can be replayed. */
export function profileEffect(
  without: ShellState,
  first: ShellState | 'unreached' | 'broken',
  second: ShellState | 'unreached' | 'broken',
): ProfileEffect {
  if (first === 'unreached' && second === 'unreached') return { type: 'swallows' };
  if (typeof first === 'string' || typeof second === 'string' || !sameState(first, second)) return { type: 'notReplayable' };
  if (first.noise !== without.noise || first.rest !== without.rest) return { type: 'notReplayable' };
  if ([...without.variables.keys()].some((name) => !first.variables.has(name))) return { type: 'notReplayable' };
  const changed = [...first.variables].filter(([name, text]) => without.variables.get(name) !== text).map(([, text]) => text);
  const script = [...changed, ...(first.functions === without.functions ? [] : [first.functions])].join('\n');
  if (script.length > MAX_SCRIPT || script.includes('\uFFFD')) return { type: 'notReplayable' };
  const set = Object.fromEntries([...first.environment].filter(([name, value]) => without.environment.get(name) !== value));
  return { type: 'replay', set, unset: [...without.environment.keys()].filter((name) => !first.environment.has(name)), script };
}

function sameState(a: ShellState, b: ShellState): boolean {
  return (
    a.noise === b.noise &&
    a.functions === b.functions &&
    a.rest === b.rest &&
    sameMap(a.environment, b.environment) &&
    sameMap(a.variables, b.variables)
  );
}

const sameMap = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
