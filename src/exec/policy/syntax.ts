// What the policy knows of a shell script: its simple commands, wherever they stand. Made by parse.ts, read by every judge.
// Absence: no judgement here, and nothing that a caller could mistake for one.

/**
 * literal: the text is what the program will get. pattern: an unquoted glob or tilde after a fixed first character, so it expands to
 * file names that cannot become an option. dynamic: only the running shell knows; `text` is the source with its quotes taken off.
 */
export interface Word {
  readonly text: string;
  readonly kind: 'literal' | 'pattern' | 'dynamic';
}

export interface Redirect {
  readonly operator: string;
  readonly kind: 'read' | 'write' | 'readWrite' | 'duplicate' | 'heredoc' | 'hereString';
  readonly target: Word;
  /** True when a file may be made or changed. /dev/null and copies of a descriptor do not count. */
  readonly writes: boolean;
}

export interface SimpleCommand {
  /** words[0] is the program; empty for a bare assignment. */
  readonly words: readonly Word[];
  readonly assignments: readonly { readonly name: string; readonly value: Word }[];
  readonly redirects: readonly Redirect[];
  readonly source: string;
  /** Inside a substitution, function, string given to a shell, or any construct that is not a plain chain. */
  readonly nested: boolean;
  readonly background: boolean;
}

interface Found {
  readonly source: string;
  /** In order of appearance; commands of nested scripts follow the command that holds them. */
  readonly commands: readonly SimpleCommand[];
}

/**
 * plain: nothing but simple commands joined by && || ; | & or a new line, without assignments, expansions of any command, or
 * redirections other than to /dev/null and between descriptors. Only a plain script can be allowed by a rule.
 */
export interface ReadScript extends Found {
  readonly ok: true;
  readonly plain: boolean;
  readonly usesSubstitution: boolean;
  readonly usesFunctions: boolean;
  /** Literal values that the script itself could put into a dynamic word. */
  readonly loose: readonly string[];
}

/** Not provably safe. The commands that could be found are still listed, so that a ban can catch them. */
export interface UnreadScript extends Found {
  readonly ok: false;
  readonly reason: string;
  readonly loose: readonly string[];
}

export type ParsedScript = ReadScript | UnreadScript;

/** The arguments as the program gets them, or undefined when one of them is not known before the run. */
export function argvOf(command: SimpleCommand): string[] | undefined {
  return command.words.every((w) => w.kind === 'literal') ? command.words.map((w) => w.text) : undefined;
}

/** Last part of a program's path: /bin/rm and rm are one program to a ban. */
export function programOf(word: Word | undefined): string {
  return word === undefined ? '' : word.text.slice(word.text.lastIndexOf('/') + 1);
}
