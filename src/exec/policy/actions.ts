// What a command does, in the four kinds a frontend can draw: it reads a file, lists a folder, searches, or something else. For
// display only; no judgement rests on it. One part that is not understood makes the whole command `unknown`.
import os from 'node:os';
import path from 'node:path';
import { parseScript } from './parse.ts';
import type { ParsedScript, SimpleCommand } from './syntax.ts';

export type CommandAction =
  | { readonly type: 'read'; readonly command: string; readonly name: string; readonly path: string }
  | { readonly type: 'listFiles'; readonly command: string; readonly path: string | null }
  | { readonly type: 'search'; readonly command: string; readonly query: string | null; readonly path: string | null }
  | { readonly type: 'unknown'; readonly command: string };

/** null: a part that only shapes what the others print, or moves between folders. */
type Part = { readonly actions: readonly CommandAction[]; readonly cwd?: string } | null | undefined;

/** Options of a program that take the next word. */
const VALUED: Readonly<Record<string, string>> = {
  head: 'nc',
  tail: 'nc',
  nl: 'bdfhilnsvw',
  ls: 'IwT',
  tree: 'LIPo',
  grep: 'efmABCdD',
  egrep: 'efmABCdD',
  fgrep: 'efmABCdD',
  rg: 'egtTmABCMrdEjf',
  fd: 'edtEx',
  ag: 'ABCmG',
  du: 'dB',
};
const LONG_VALUED =
  /^--(?:regexp|file|glob|iglob|type|type-not|max-count|after-context|before-context|context|max-columns|replace|max-depth|lines|bytes|ignore|threads|sort|sortr|level|extension|exclude)$/;
/** In a pipe, or without operands, these only pass on what they are given. */
const SHAPERS = new Set([
  'head',
  'tail',
  'wc',
  'sort',
  'uniq',
  'cut',
  'tr',
  'nl',
  'column',
  'cat',
  'less',
  'more',
  'sed',
  'awk',
  'tee',
  'xargs',
]);
const QUIET = new Set(['true', ':', 'pwd']);

interface Arguments {
  readonly operands: readonly string[];
  readonly options: readonly string[];
  /** Values of -e / --regexp, which take the place of the first operand. */
  readonly patterns: readonly string[];
}

function split(name: string, args: readonly string[]): Arguments {
  const operands: string[] = [];
  const options: string[] = [];
  const patterns: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg === '--') {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (!arg.startsWith('-') || arg === '-') {
      operands.push(arg);
      continue;
    }
    options.push(arg);
    const takesNext = arg.startsWith('--') ? LONG_VALUED.test(arg) : VALUED[name]?.includes(arg.slice(-1)) === true && !/^-\d+$/.test(arg);
    if (!takesNext) continue;
    i++;
    if (arg === '--regexp' || /^-[a-zA-Z]*e$/.test(arg)) patterns.push(args[i] ?? '');
  }
  return { operands, options, patterns };
}

function readsOf(files: readonly string[], command: string, cwd: string): Part {
  if (files.length === 0) return null;
  return {
    actions: files.map((file) => ({
      type: 'read',
      command,
      name: path.basename(file),
      path: path.resolve(cwd, file.replace(/^~(?=\/|$)/, os.homedir())),
    })),
  };
}

function searchOf(name: string, args: readonly string[], command: string, piped: boolean): Part {
  const { operands, options, patterns } = split(name, args);
  if (options.some((o) => o === '--files' || o === '--type-list'))
    return { actions: [{ type: 'listFiles', command, path: operands[0] ?? null }] };
  const [query, place] = patterns.length > 0 ? [patterns[0], operands[0]] : [operands[0], operands[1]];
  if (piped && place === undefined) return null;
  return { actions: [{ type: 'search', command, query: query ?? null, path: place ?? null }] };
}

function findOf(args: readonly string[], command: string): Part {
  if (args.some((a) => /^-(?:exec|ok|delete|fprint|fls)/.test(a))) return undefined;
  const start = args.findIndex((a) => /^[-!(]/.test(a));
  const place = (start < 0 ? args : args.slice(0, start))[0] ?? null;
  const at = args.findIndex((a) => /^-i?(?:name|path|regex)$/.test(a));
  return {
    actions: [at < 0 ? { type: 'listFiles', command, path: place } : { type: 'search', command, query: args[at + 1] ?? null, path: place }],
  };
}

function sedOf(args: readonly string[], command: string, cwd: string, piped: boolean): Part {
  const [option, script, ...files] = args;
  if (option !== '-n' || !/^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(script ?? ''))
    return piped && !args.some((a) => /^-.*i/.test(a)) && args.length === 1 ? null : undefined;
  return readsOf(files, command, cwd);
}

function partOf(command: SimpleCommand, cwd: string, piped: boolean): Part {
  const { source } = command;
  if (command.redirects.some((r) => r.writes || r.kind === 'heredoc') || command.words.some((w) => w.kind === 'dynamic')) return undefined;
  const [name, ...args] = command.words.map((w) => w.text);
  const { operands } = split(name, args);
  switch (name) {
    case 'cd':
      return { actions: [], cwd: path.resolve(cwd, (operands[0] ?? '~').replace(/^~(?=\/|$)/, os.homedir())) };
    case 'cat':
    case 'bat':
    case 'head':
    case 'tail':
    case 'nl':
    case 'less':
    case 'more':
      return (
        readsOf(
          operands.filter((f) => f !== '-'),
          source,
          cwd,
        ) ?? (piped ? null : undefined)
      );
    case 'sed':
      return sedOf(args, source, cwd, piped);
    case 'ls':
    case 'eza':
    case 'tree':
    case 'du':
      return { actions: [{ type: 'listFiles', command: source, path: operands[0] ?? null }] };
    case 'find':
      return findOf(args, source);
    case 'fd':
      return {
        actions: [
          {
            type: operands.length > 0 ? 'search' : 'listFiles',
            command: source,
            query: operands[0] ?? null,
            path: operands[1] ?? null,
          } as CommandAction,
        ],
      };
    case 'grep':
    case 'egrep':
    case 'fgrep':
    case 'rg':
    case 'ag':
      return searchOf(name, args, source, piped);
    case 'git':
      if (args[0] === 'grep') return searchOf('grep', args.slice(1), source, false);
      return args[0] === 'ls-files'
        ? { actions: [{ type: 'listFiles', command: source, path: args.find((a, i) => i > 0 && !a.startsWith('-')) ?? null }] }
        : undefined;
    default:
      if (QUIET.has(name)) return null;
      return piped && SHAPERS.has(name) && name !== 'tee' && name !== 'xargs' ? null : undefined;
  }
}

/** True when the command at `index` reads from a pipe: the text between it and the command before ends in a |. */
function pipedFlags(script: string, commands: readonly SimpleCommand[]): boolean[] {
  let at = 0;
  return commands.map((command) => {
    const start = script.indexOf(command.source, at);
    const piped = start >= 0 && /(?:^|[^|])\|&?\s*$/.test(script.slice(at, start));
    if (start >= 0) at = start + command.source.length;
    return piped;
  });
}

export const commandActions = async (script: string, cwd: string): Promise<CommandAction[]> => actionsOf(await parseScript(script), cwd);

/** `cwd` is where the command starts; a `cd` in it moves the files that follow. */
export function actionsOf(parsed: ParsedScript, cwd: string): CommandAction[] {
  const script = parsed.source;
  const unknown: CommandAction[] = [{ type: 'unknown', command: script }];
  if (
    !parsed.ok ||
    parsed.usesSubstitution ||
    parsed.usesFunctions ||
    parsed.commands.some((c) => c.nested || c.assignments.length > 0 || c.words.length === 0)
  )
    return unknown;
  const piped = pipedFlags(script, parsed.commands);
  const actions: CommandAction[] = [];
  let folder = cwd;
  for (const [i, command] of parsed.commands.entries()) {
    const part = partOf(command, folder, piped[i]);
    if (part === undefined) return unknown;
    actions.push(...(part?.actions ?? []));
    folder = part?.cwd ?? folder;
  }
  return actions.length === 0 ? unknown : actions;
}
