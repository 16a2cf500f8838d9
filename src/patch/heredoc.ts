// Recognises a patch inside a shell command, so that it goes the way of the tool: verified, approved, shown. Never partly: a script
// that does more than patch is refused whole, with a text that says what to call instead.
import path from 'node:path';
import { looksLikePatch } from './parser.ts';
import { type ShellCommand, type ShellWord, scanShell } from './shell-scan.ts';

export type CommandPatch =
  | { readonly type: 'none' }
  /** `cd`: the folder the paths are relative to, itself relative to the working folder of the command. It must exist. */
  | { readonly type: 'patch'; readonly patchText: string; readonly cd?: string }
  /** The patch alone, given as if it were a command. */
  | { readonly type: 'rawPatch'; readonly patchText: string; readonly reason: string }
  | { readonly type: 'refuse'; readonly reason: string };

const CALL_THE_TOOL = 'Call the apply_patch tool with the patch text as its argument';
const NOTHING_RAN = 'Nothing was run.';
export const RAW_PATCH_REASON = `A patch was given as a shell command, without a call of apply_patch. ${NOTHING_RAN} ${CALL_THE_TOOL}, or run apply_patch <<'EOF' with the patch as its here-document and nothing after it.`;

const NONE: CommandPatch = { type: 'none' };
const NAMES = new Set(['apply_patch', 'applypatch']);
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh']);
/** Words after which a command still follows. */
const PREFIXES = new Set('then do else elif if while until ! { time sudo env exec command builtin nohup'.split(' '));
const MAX_NESTING = 3;

const refuse = (why: string): CommandPatch => ({ type: 'refuse', reason: `${why} ${NOTHING_RAN} ${CALL_THE_TOOL}` });
const refuseMore = (): CommandPatch =>
  refuseWith(
    'The script calls apply_patch together with other commands or redirections.',
    ', and run the other commands in a call of their own.',
  );
const refuseWith = (why: string, end: string): CommandPatch => ({ type: 'refuse', reason: `${why} ${NOTHING_RAN} ${CALL_THE_TOOL}${end}` });

export function findPatchInCommand(script: string): CommandPatch {
  return find(script, 0);
}

/** The same for a command that was already split: `["apply_patch", patch]`, or a shell with its script. */
export function findPatchInArgv(argv: readonly string[]): CommandPatch {
  const [name, ...rest] = argv;
  if (name === undefined) return NONE;
  if (NAMES.has(name) && rest.length === 1) return { type: 'patch', patchText: rest[0] };
  if (argv.length === 1) return looksLikePatch(name) ? find(name, 0) : NONE;
  const command: ShellCommand = { words: argv.map((text) => ({ text, expands: false })), heredocs: [], redirects: [], operator: '' };
  const script = shellScript(command);
  if (script) return find(script.text, 1);
  return callsPatch(command) ? refuse('apply_patch takes one argument, the patch.') : NONE;
}

function find(script: string, depth: number): CommandPatch {
  if (looksLikePatch(script)) return { type: 'rawPatch', patchText: script, reason: RAW_PATCH_REASON };
  if (!/apply_?patch/.test(script)) return NONE;
  const commands = scanShell(script);
  if (!commands) {
    const intended = /(?:^|[\n;&|(])\s*apply_?patch\b/.test(script) && script.includes('Begin Patch');
    return intended ? refuse('The script calls apply_patch, but a quote in it is not closed.') : NONE;
  }
  const concerned = commands.some((command) => callsPatch(command) || wrapsPatch(command, depth));
  if (!concerned) return NONE;
  return interpret(commands, depth);
}

/** What the command runs, past assignments and words such as `sudo`. */
function commandName(words: readonly ShellWord[]): string | undefined {
  return words.find((word) => !PREFIXES.has(word.text) && !/^[A-Za-z_]\w*=/.test(word.text))?.text;
}

const callsPatch = (command: ShellCommand): boolean => NAMES.has(commandName(command.words) ?? '');

/** The script of `bash -lc SCRIPT` and its like, with nothing else on the command. */
function shellScript(command: ShellCommand): ShellWord | undefined {
  const [shell, ...args] = command.words;
  if (!shell || !SHELLS.has(path.posix.basename(shell.text)) || command.heredocs.length + command.redirects.length > 0) return undefined;
  const flags = args.slice(0, -1).map((word) => word.text);
  return flags.length > 0 && flags.every((flag) => /^-[a-z]+$/.test(flag)) && flags.some((flag) => flag.includes('c'))
    ? args.at(-1)
    : undefined;
}

function wrapsPatch(command: ShellCommand, depth: number): boolean {
  const script = shellScript(command);
  return script !== undefined && depth < MAX_NESTING && find(script.text, depth + 1).type !== 'none';
}

/** The commands hold a patch somewhere: the forms that are taken over, and a refusal for all others. */
function interpret(commands: readonly ShellCommand[], depth: number): CommandPatch {
  let cd: string | undefined;
  let at = 0;
  for (; at < commands.length - 1; at++) {
    const command = commands[at];
    const name = command.words[0]?.text;
    if (!['&&', ';', '\n'].includes(command.operator) || command.heredocs.length + command.redirects.length > 0) break;
    if (name === 'set') continue;
    if (name !== 'cd') break;
    const folder = folderOf(command);
    if (folder === undefined) return refuse('The folder of the cd before apply_patch is not a plain path.');
    cd = cd === undefined || path.isAbsolute(folder) ? folder : path.join(cd, folder);
  }
  const found = patchOf(commands.slice(at), depth);
  if (found.type !== 'patch' || cd === undefined) return found;
  const inner = found.cd;
  return { ...found, cd: inner === undefined ? cd : path.isAbsolute(inner) ? inner : path.join(cd, inner) };
}

function folderOf(command: ShellCommand): string | undefined {
  const args = command.words.slice(1).filter((word, i) => !(i === 0 && word.text === '--'));
  const [folder] = args;
  if (args.length !== 1 || folder.expands || folder.text === '' || folder.text === '-') return undefined;
  return folder.text;
}

/** One command with the patch as here-document or argument, `cat` with a here-document into it, or a shell around one of these. */
function patchOf(commands: readonly ShellCommand[], depth: number): CommandPatch {
  const [first, second] = commands;
  const redirects = commands.flatMap((command) => command.redirects).filter((redirect) => redirect !== '2>&1');
  if (redirects.length > 0) return refuseMore();
  if (
    commands.length === 2 &&
    first.operator === '|' &&
    second.operator.trim() === '' &&
    isBareCall(second) &&
    second.heredocs.length === 0
  ) {
    return first.words.length === 1 && first.words[0].text === 'cat' ? fromHeredoc(first) : refuseMore();
  }
  // A single `;` at the end starts nothing.
  if (commands.length !== 1 || !['', '\n', ';'].includes(first.operator)) return refuseMore();
  if (isBareCall(first)) return fromHeredoc(first);
  const script = shellScript(first);
  if (script)
    return script.expands
      ? refuse('The script around apply_patch holds variables or substitutions that the shell would replace.')
      : find(script.text, depth + 1);
  const [name, argument] = first.words;
  if (first.words.length === 2 && first.heredocs.length === 0 && NAMES.has(name.text)) {
    if (looksLikePatch(argument.text) && !argument.expands) return { type: 'patch', patchText: argument.text };
    return refuse('The argument of apply_patch is not a patch in plain text.');
  }
  return refuseMore();
}

const isBareCall = (command: ShellCommand): boolean => command.words.length === 1 && NAMES.has(command.words[0].text);

function fromHeredoc(command: ShellCommand): CommandPatch {
  const [heredoc] = command.heredocs;
  if (!heredoc || command.heredocs.length > 1)
    return refuse('apply_patch was called in the shell without a here-document that holds the patch.');
  // Without quotes the shell would take these backslashes off. Whoever wrote them meant that, or did not think of it: both are likely.
  if (!heredoc.quoted && /\\[\\$`\n]/.test(heredoc.body)) {
    return refuse(
      "The here-document has an unquoted delimiter and holds backslashes that the shell would remove. Write <<'EOF', with quotes, to have the text taken as it is.",
    );
  }
  return { type: 'patch', patchText: heredoc.body };
}
