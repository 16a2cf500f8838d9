// The home folder: where configuration, rules, threads and caches live. Only its owner may look inside.
import { chmodSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { systemCode } from '../common/errors.ts';
import { sourceError } from './config-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const CONFIG_FILE = 'config.toml';
/** The folder of a project's own configuration. */
export const PROJECT_FOLDER = '.harnessd';

/** `$HARNESSD_HOME`, or `.harnessd` in the user's home. Links are kept as they are: clients compare this path with their own. */
export function resolveHome(env: Environment = process.env): string {
  const given = env.HARNESSD_HOME?.trim();
  return given ? path.resolve(given) : path.join(userHome(env), PROJECT_FOLDER);
}

export const userHome = (env: Environment): string => env.HOME || homedir();

/** Makes the folder (0700) when it is missing; the mode of an existing one is left alone. Throws ConfigError that names it. */
export function ensureHome(home: string): void {
  try {
    // The umask may have taken bits away from the mode; the call tells whether the folder is new.
    if (mkdirSync(home, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(home, 0o700);
  } catch (error) {
    const reason = systemCode(error) ?? 'unknown error';
    throw sourceError(`the home folder cannot be made (${reason}); set HARNESSD_HOME to a folder that can be written`, home);
  }
}

/** `~` and `~/…` are the user's home; everything else stays as it is. */
export function expandTilde(given: string, env: Environment): string {
  if (given === '~') return userHome(env);
  return given.startsWith('~/') ? path.join(userHome(env), given.slice(2)) : given;
}
