// The one environment policy for every child: pipes, terminals, hooks, MCP servers. Secrets of the daemon stay with the daemon, and
// nothing a command starts may wait for a pager, an editor or a password prompt that nobody sees.

/** The names are those of `[shell_environment_policy]` in config.toml. */
export interface EnvironmentPolicy {
  /** What a child gets of the daemon's own environment before the filters. Default 'all'. */
  readonly inherit?: 'all' | 'core' | 'none' | undefined;
  /** True switches the default excludes off; nothing else does. */
  readonly ignore_default_excludes?: boolean | undefined;
  /** Globs (`*`, `?`, any case) of inherited names to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** Added as written, whatever the name: who writes a secret here means it. Wins over everything below. */
  readonly set?: Readonly<Record<string, string>> | undefined;
  /** When not empty, only inherited and set names that match one of these globs are kept. */
  readonly include_only?: readonly string[] | undefined;
}

export interface EnvironmentExtras {
  readonly tty: boolean;
  /** Names the daemon tells every command, HARNESSD_THREAD_ID for instance. They are not filtered. */
  readonly values?: Readonly<Record<string, string>>;
}

export const DEFAULT_EXCLUDES: readonly string[] = ['*KEY*', '*SECRET*', '*TOKEN*', '*PASSWORD*', '*PASSWD*', '*CREDENTIAL*'];

const CORE = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'USER',
  'USERNAME',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LANG',
  'LC_*',
  'TZ',
  'SYSTEMROOT',
  'COMSPEC',
  'PATHEXT',
];

/** Belongs to the place the daemon was started from, not to a command it runs. */
const NEVER = [
  'OLDPWD',
  'PWD',
  'SHLVL',
  '_',
  'COLUMNS',
  'LINES',
  'TERMCAP',
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'BASH_ENV',
  'ENV',
  'SUDO_ASKPASS',
  'PROMPT_COMMAND',
];

/** No pager, no editor, no prompt, no colours. */
const QUIET: Readonly<Record<string, string>> = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  AWS_PAGER: 'cat',
  BAT_PAGER: 'cat',
  DELTA_PAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  // Empty means "no helper", and keeps git from falling back to the next one.
  GIT_ASKPASS: '',
  SSH_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  GCM_INTERACTIVE: 'never',
  GH_PROMPT_DISABLED: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  NO_COLOR: '1',
  COLORTERM: '',
};

export function buildEnvironment(
  policy: EnvironmentPolicy,
  base: Readonly<Record<string, string | undefined>>,
  extras: EnvironmentExtras,
): Record<string, string> {
  const set = policy.set ?? {};
  const included = (name: string) => !policy.include_only?.length || matchesAny(name, policy.include_only);
  const excludes = [...(policy.ignore_default_excludes === true ? [] : DEFAULT_EXCLUDES), ...(policy.exclude ?? [])];
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined || NEVER.includes(name) || !inherits(policy.inherit ?? 'all', name)) continue;
    if (!matchesAny(name, excludes) && included(name)) result[name] = value;
  }
  Object.assign(result, QUIET, { TERM: extras.tty ? 'xterm-256color' : 'dumb' });
  if (!result.LANG && !result.LC_ALL) Object.assign(result, { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' });
  Object.assign(result, extras.values);
  for (const [name, value] of Object.entries(set)) if (included(name)) result[name] = value;
  return result;
}

function inherits(inherit: 'all' | 'core' | 'none', name: string): boolean {
  return inherit === 'all' || (inherit === 'core' && matchesAny(name, CORE));
}

const matchesAny = (name: string, globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(name, glob));

/** `*` is any text, `?` any one character; the case does not count. */
export function matchesGlob(name: string, glob: string): boolean {
  const [text, pattern] = [name.toUpperCase(), glob.toUpperCase()];
  // Greedy with one step back: linear in practice, and no pattern can make it explode.
  let [i, p, star, from] = [0, 0, -1, 0];
  while (i < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      from = i;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[i])) {
      p++;
      i++;
    } else if (star >= 0) {
      p = star + 1;
      i = ++from;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
