// Says whether a script provably only reads: every command on the table of safe programs, every option on the list of its program.
// Asked where no sandbox stands behind a wrong answer, so doubt means no.
import type { SafeProgram } from './safe-programs.ts';
import { SAFE_FIND, SAFE_GIT, SAFE_PROGRAMS } from './safe-programs.ts';
import type { ParsedScript, SimpleCommand } from './syntax.ts';

const ownEntry = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** How many words an option takes (1, or 2 with its value), or 0 when it is not on the list. */
function optionLength(program: SafeProgram, option: string): number {
  if (option.startsWith('--')) {
    const [name] = option.split('=', 1);
    if (program.longValued?.includes(name)) return name === option ? 2 : 1;
    return program.long?.includes(name) ? 1 : 0;
  }
  if (program.digits && /^-\d+$/.test(option)) return 1;
  for (let i = 1; i < option.length; i++) {
    const letter = option[i];
    if (program.letters?.includes(letter)) continue;
    if (program.valued?.includes(letter)) return i === option.length - 1 ? 2 : 1;
    return 0;
  }
  return 1;
}

function onlyListed(program: SafeProgram, args: readonly string[]): boolean {
  let operands = 0;
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') {
      operands += args.length - i - 1;
      break;
    }
    if (args[i].startsWith('-') && args[i] !== '-') {
      const length = optionLength(program, args[i]);
      if (length === 0) return false;
      i += length - 1;
    } else operands++;
  }
  return operands <= (program.maxOperands ?? Number.POSITIVE_INFINITY);
}

function safeFind(args: readonly string[]): boolean {
  for (let i = 0; i < args.length; i++) {
    if (!/^[-!(),]/.test(args[i])) continue;
    const takesValue = SAFE_FIND.get(args[i]);
    if (takesValue === undefined) return false;
    if (takesValue) i++;
  }
  return true;
}

/** Only `sed -n 'N,Mp' files`: sed's other commands write files and run programs. */
function safeSed(args: readonly string[]): boolean {
  const [option, script, ...files] = args;
  return option === '-n' && /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(script ?? '') && files.every((f) => !f.startsWith('-'));
}

/** Any option before the subcommand can name a program to run (-c, --config-env, --exec-path, -p), so none is accepted. */
function safeGit(args: readonly string[]): boolean {
  const program = ownEntry(SAFE_GIT, args[0] ?? '');
  return program !== undefined && onlyListed(program, args.slice(1));
}

function safeArgv(argv: readonly string[]): boolean {
  const [name, ...args] = argv;
  if (name === 'find') return safeFind(args);
  if (name === 'sed') return safeSed(args);
  if (name === 'git') return safeGit(args);
  if (name === 'echo' || name === 'test' || name === '[' || name === 'true' || name === 'false' || name === ':') return true;
  // printf -v assigns a variable of the shell.
  if (name === 'printf') return args[0] !== '-v';
  if (name === 'date' && args.some((a, i) => !/^[+-]/.test(a) && !/^-[dr]$|^--(?:date|reference)$/.test(args[i - 1] ?? ''))) return false;
  const program = ownEntry(SAFE_PROGRAMS, name);
  return program !== undefined && onlyListed(program, args);
}

/** True when this one command only reads. Its words must be known before the run; globs may stand among the operands. */
export function isSafeCommand(command: SimpleCommand): boolean {
  if (command.assignments.length > 0 || command.words.length === 0) return false;
  if (command.redirects.some((r) => r.writes || r.target.kind === 'dynamic')) return false;
  const [program, ...rest] = command.words;
  if (program.kind !== 'literal' || rest.some((w) => w.kind === 'dynamic')) return false;
  return safeArgv(command.words.map((w) => w.text));
}

/** True when the whole script provably only reads. */
export function isReadOnlyScript(parsed: ParsedScript): boolean {
  return parsed.ok && parsed.plain && parsed.commands.every(isSafeCommand);
}
