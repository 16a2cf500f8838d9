// Programs that run other programs, and the scripts that hide in their arguments. Used to look behind them for a ban or a danger;
// never to widen what is allowed, so a list that is too long only asks more often.
import type { SimpleCommand } from './syntax.ts';
import { programOf } from './syntax.ts';

export const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'dash', 'ksh', 'zsh', 'ash', 'rbash', 'mksh', 'fish']);
const SYSTEM_FOLDERS = ['', '/bin/', '/usr/bin/', '/usr/local/bin/', '/opt/homebrew/bin/'];
/** Shells whose language the parser knows, by the paths that a workspace cannot fill. */
const KNOWN_SHELLS: ReadonlySet<string> = new Set(
  SYSTEM_FOLDERS.flatMap((folder) => ['bash', 'sh', 'dash', 'ksh', 'zsh'].map((name) => folder + name)),
);

export const isKnownShell = (program: string): boolean => KNOWN_SHELLS.has(program);

const WRAPPERS: ReadonlySet<string> = new Set([
  'sudo',
  'doas',
  'su',
  'runuser',
  'pkexec',
  'env',
  'command',
  'builtin',
  'exec',
  'nohup',
  'nice',
  'ionice',
  'chrt',
  'taskset',
  'setsid',
  'timeout',
  'gtimeout',
  'time',
  'xargs',
  'gxargs',
  'find',
  'gfind',
  'fd',
  'fdfind',
  'parallel',
  'watch',
  'entr',
  'stdbuf',
  'unbuffer',
  'script',
  'busybox',
  'toybox',
  'chroot',
  'unshare',
  'nsenter',
  'setpriv',
  'setarch',
  'bwrap',
  'firejail',
  'strace',
  'ltrace',
  'gdb',
  'ssh',
  'coproc',
  'flock',
  'systemd-run',
  'at',
  'batch',
  'caffeinate',
  'faketime',
  'dbus-run-session',
  'xvfb-run',
  'start-stop-daemon',
  'chpst',
  'daemonize',
  'then',
  'do',
  'else',
]);

export const isWrapper = (command: SimpleCommand): boolean => WRAPPERS.has(programOf(command.words[0]));
export const isWrapperName = (name: string): boolean => WRAPPERS.has(name);

const PLAIN_SHELL_OPTION = /^(?:-[eulx]+|--login|--norc|--noprofile)$/;
const SCRIPT_OPTION = /^-[eulx]*c$/;

/** The script of exactly `shell [-l] -c 'script'`: such a command is its script and nothing more. */
export function wrappedScript(command: SimpleCommand): string | undefined {
  const { words } = command;
  if (words.some((w) => w.kind !== 'literal') || command.assignments.length > 0 || command.redirects.length > 0) return undefined;
  if (!isKnownShell(words[0]?.text ?? '')) return undefined;
  let at = 1;
  while (at < words.length && PLAIN_SHELL_OPTION.test(words[at].text)) at++;
  return SCRIPT_OPTION.test(words[at]?.text ?? '') && words.length === at + 2 ? words[at + 1].text : undefined;
}

const looksLikeScript = (text: string): boolean => /[\s;&|]/.test(text);

/** Texts among a command's arguments that some shell is going to run. */
export function embeddedScripts(command: SimpleCommand): string[] {
  const name = programOf(command.words[0]);
  const args = command.words.slice(1).map((w) => w.text);
  if (name === 'eval') return [args.join(' ')];
  if (name === 'trap') return args.slice(0, 1);
  if (name === 'alias') return args.map((a) => a.slice(a.indexOf('=') + 1));
  if (SHELLS.has(name)) {
    const at = args.findIndex((a) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(a));
    return at < 0 ? [] : args.slice(at + 1).filter((a) => !a.startsWith('-'));
  }
  if (!WRAPPERS.has(name)) return [];
  return args.filter((a, i) => looksLikeScript(a) || /^-[a-zA-Z]*[cS]$/.test(args[i - 1] ?? ''));
}

/** True for a shell (also behind a wrapper) that reads its script from stdin. */
export function readsScriptFromStdin(command: SimpleCommand): boolean {
  const at = command.words.findIndex((w, i) => SHELLS.has(programOf(w)) && (i === 0 || isWrapper(command)));
  if (at < 0) return false;
  const rest = command.words.slice(at + 1).map((w) => w.text);
  return rest.every((a) => a.startsWith('-') && !/^-[a-zA-Z]*c/.test(a)) || rest.includes('-s') || rest.includes('/dev/stdin');
}
