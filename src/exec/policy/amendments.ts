// Prefixes that an approval may turn into a lasting allow rule: which one to propose, and which one sent back is accepted.
// A proposal is never wider than the work it stands for, and never a program that runs whatever it is given.
import { findDanger } from './danger.ts';
import type { ParsedScript, SimpleCommand } from './syntax.ts';
import { argvOf, programOf } from './syntax.ts';
import { isWrapperName, SHELLS } from './wrappers.ts';

const INTERPRETER =
  /^(?:python|pypy|perl|ruby|irb|node|nodejs|deno|bun|php|lua|luajit|awk|gawk|mawk|sed|osascript|tclsh|expect|pwsh|powershell|java|R|Rscript|julia|ghci|emacs|vim?|nvim|psql|sqlite3|mysql)[\d.]*$/;
/** Programs whose first word says next to nothing: what they do is in the second. */
const BY_SUBCOMMAND = new Set([
  'git',
  'docker',
  'podman',
  'kubectl',
  'npm',
  'npx',
  'pnpm',
  'yarn',
  'pip',
  'pip3',
  'uv',
  'uvx',
  'poetry',
  'conda',
  'cargo',
  'rustup',
  'go',
  'gh',
  'glab',
  'make',
  'just',
  'aws',
  'gcloud',
  'az',
  'terraform',
  'helm',
  'apt',
  'apt-get',
  'brew',
  'dnf',
  'yum',
  'pacman',
  'systemctl',
  'service',
  'launchctl',
  'mvn',
  'gradle',
  'dotnet',
  'bundle',
  'gem',
  'composer',
  'hg',
  'svn',
  'openssl',
  'tar',
  'curl',
  'wget',
  'rm',
  'dd',
  'chmod',
  'chown',
]);
/** Subcommands that run a further program, so that the prefix must reach at least to its name. */
const RUNNERS = new Set(['run', 'exec', 'x', 'dlx', 'eval', 'tool', 'alias', 'config', '-m']);
/** Programs that do the same harmless thing to any operand: the proposal stops after the leading options. */
const SAME_FOR_ANY = new Set([
  'mkdir',
  'ls',
  'cat',
  'head',
  'tail',
  'wc',
  'echo',
  'pwd',
  'stat',
  'file',
  'which',
  'basename',
  'dirname',
  'realpath',
  'rg',
  'grep',
]);
/** Subcommands that are a useful prefix by themselves. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  git: ['status', 'log', 'diff', 'show', 'add', 'commit', 'fetch', 'blame', 'ls-files', 'rev-parse'],
  npm: ['test', 'ci', 'ls', 'outdated'],
  pnpm: ['test', 'install', 'ls'],
  yarn: ['test', 'install'],
  cargo: ['build', 'check', 'test', 'clippy', 'fmt', 'doc', 'tree'],
  go: ['build', 'test', 'vet', 'fmt', 'list'],
  dotnet: ['build', 'test'],
  mvn: ['test', 'compile'],
  gradle: ['test', 'build'],
};
const MAX_WORDS = 16;
const MAX_CHARACTERS = 400;

/** Why `prefix` must not become a rule, or undefined. */
export function bannedPrefix(prefix: readonly string[]): string | undefined {
  const [program, second, third] = prefix;
  if (program === undefined || prefix.some((w) => w === '')) return 'it is empty or holds an empty word';
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (SHELLS.has(name) || name === 'eval' || name === 'source' || name === '.') return `${name} runs any script it is given`;
  if (isWrapperName(name)) return `${name} runs any program it is given`;
  const isOption = second === undefined || (second.startsWith('-') && !(second === '-m' && third !== undefined));
  if (INTERPRETER.test(name) && isOption) return `${name} without a script file runs any code it is given`;
  if (BY_SUBCOMMAND.has(name) && isOption) return `${name} alone covers all that it can do`;
  if (BY_SUBCOMMAND.has(name) && RUNNERS.has(second) && (third === undefined || third.startsWith('-')))
    return `${name} ${second} runs any program it is given`;
  return undefined;
}

function prefixOf(argv: readonly string[]): string[] {
  const [program, second] = argv;
  if (SAME_FOR_ANY.has(program)) {
    const operand = argv.findIndex((w, i) => i > 0 && !w.startsWith('-'));
    return argv.slice(0, operand < 0 ? argv.length : operand);
  }
  if (Object.hasOwn(TASKS, program) && TASKS[program].includes(second)) return [program, second];
  if ((program === 'npm' || program === 'pnpm' || program === 'yarn') && second === 'run' && argv[2] !== undefined) return argv.slice(0, 3);
  return [...argv];
}

const isPrefix = (prefix: readonly string[], argv: readonly string[]): boolean =>
  prefix.length <= argv.length && prefix.every((w, i) => w === argv[i]);

/** The prefix to offer for the first command that no rule covers yet, or undefined when there is none worth offering. */
export function proposeAmendment(
  parsed: ParsedScript,
  uncovered: readonly SimpleCommand[],
  wished?: readonly string[],
): string[] | undefined {
  if (!parsed.ok || !parsed.plain || findDanger(parsed) !== undefined) return undefined;
  if (wished !== undefined && validateAmendment(wished, parsed) === undefined) return [...wished];
  const argv = uncovered[0] === undefined ? undefined : argvOf(uncovered[0]);
  if (argv === undefined) return undefined;
  const prefix = prefixOf(argv);
  if (bannedPrefix(prefix) !== undefined || prefix.length > MAX_WORDS || prefix.join(' ').length > MAX_CHARACTERS) return undefined;
  return prefix;
}

/** Checks a prefix that came back with an answer. Gives the reason for refusing it, or undefined when it may be stored. */
export function validateAmendment(amendment: readonly string[], parsed: ParsedScript): string | undefined {
  const banned = bannedPrefix(amendment);
  if (banned !== undefined) return `the rule ${JSON.stringify(amendment)} is too wide: ${banned}`;
  if (!parsed.ok || !parsed.plain) return 'a script that is not a chain of simple commands cannot be covered by a rule';
  if (findDanger(parsed) !== undefined) return 'a destructive command cannot be covered by a rule from an approval';
  const fits = parsed.commands.some((c) => isPrefix(amendment, argvOf(c) ?? []) && programOf(c.words[0]) !== '');
  return fits ? undefined : `the rule ${JSON.stringify(amendment)} is not the beginning of any command in the request`;
}
