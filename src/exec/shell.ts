// From a command text to an argv, and to the form the client and the log show. The text is passed as one argument, never quoted again.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join } from 'node:path';

export interface Shell {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'bash' | 'zsh' | 'sh' | 'powershell' | 'cmd';
}

export type ShellChoice = { type: 'found'; shell: Shell } | { type: 'missing'; reason: string };

const FALLBACKS = ['/bin/bash', '/bin/sh'];

/** The user's shell if it is one whose syntax models write, else the usual ones. */
export async function findShell(env: Readonly<Record<string, string | undefined>>): Promise<Shell> {
  if (process.platform === 'win32') return { path: env.COMSPEC ?? 'cmd.exe', kind: 'cmd' };
  const own = env.SHELL;
  const candidates = own && isAbsolute(own) && ['bash', 'zsh', 'sh'].includes(basename(own)) ? [own, ...FALLBACKS] : FALLBACKS;
  for (const path of candidates) if (await isProgram(path)) return shellAt(path);
  return shellAt('/bin/sh');
}

/** The shell a call asks for, by name or by path. A missing one is an error: another would read the command differently. */
export async function requestedShell(name: string, env: Readonly<Record<string, string | undefined>>): Promise<ShellChoice> {
  const candidates = name.includes('/')
    ? [name]
    : (env.PATH ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name));
  if (name.trim() !== '' && (!name.includes('/') || isAbsolute(name))) {
    for (const path of candidates) if (await isProgram(path)) return { type: 'found', shell: shellAt(path) };
  }
  const usual = await findShell(env);
  return { type: 'missing', reason: `the shell ${JSON.stringify(name)} does not exist here; leave \`shell\` out to use ${usual.path}` };
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function shellAt(path: string): Shell {
  const name = basename(path)
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (name === 'cmd') return { path, kind: 'cmd' };
  if (name === 'powershell' || name === 'pwsh') return { path, kind: 'powershell' };
  return { path, kind: name.includes('bash') ? 'bash' : name.includes('zsh') ? 'zsh' : 'sh' };
}

/** A login shell reads the user's profile first. */
export function shellArgv(shell: Shell, command: string, login: boolean): string[] {
  switch (shell.kind) {
    case 'cmd':
      return [shell.path, '/d', '/s', '/c', command];
    case 'powershell':
      return [shell.path, ...(login ? [] : ['-NoProfile']), '-NonInteractive', '-Command', command];
    default:
      return [shell.path, login ? '-lc' : '-c', command];
  }
}

/** An argv as a person would type it: `/bin/bash -lc 'echo hi'`. Pasted into a POSIX shell it gives the same argv. */
export function displayCommand(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}

/** Double quotes where the word holds single ones and nothing that double quotes would change; it stays readable that way. */
export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (word.includes("'") && !/["$`\\!]/.test(word)) return `"${word}"`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
