// The key of a session approval: what exactly was approved, so that nothing else is covered by it. Shown to the user as it is.
import type { ParsedScript } from './syntax.ts';
import { argvOf } from './syntax.ts';

export interface ApprovalSubject {
  readonly parsed: ParsedScript;
  readonly scriptText: string;
  /** The argv that runs the script; its last word is the script. */
  readonly shellArgv: readonly string[];
  readonly cwd: string;
  /** The sandbox permissions the command would run under, in words that differ whenever they do. */
  readonly permissions: string;
}

/**
 * One plain command counts by its arguments, however it is quoted or wrapped. Everything else (chains, redirections, expansions)
 * counts by its exact text: an approval of a part never adds up to an approval of the whole.
 */
export function approvalKey(subject: ApprovalSubject): string {
  const { parsed, shellArgv } = subject;
  const [only, ...others] = parsed.commands;
  const argv = parsed.ok && parsed.plain && others.length === 0 && only.redirects.length === 0 ? argvOf(only) : undefined;
  const what = argv === undefined ? `script ${JSON.stringify(subject.scriptText)}` : `command ${JSON.stringify(argv)}`;
  return `${what} by ${JSON.stringify(shellArgv.slice(0, -1))} in ${JSON.stringify(subject.cwd)} under ${subject.permissions}`;
}
