// Script text → its simple commands, also those inside substitutions, functions, and strings given to a shell. First step of every
// judgement on a command; a script that cannot be read completely is returned as such and is never taken for safe.
import type { Parser } from 'web-tree-sitter';
import type { Collected } from './collect.ts';
import { visit } from './collect.ts';
import { shellGrammar } from './grammar.ts';
import type { ParsedScript, SimpleCommand } from './syntax.ts';
import { programOf } from './syntax.ts';
import { embeddedScripts, readsScriptFromStdin, wrappedScript } from './wrappers.ts';

const MAX_LENGTH = 200_000;
const MAX_DEPTH = 6;
/** Bounds the work on scripts made of scripts. */
const MAX_COMMANDS = 5_000;

function collect(parser: Parser, source: string): Collected {
  const out: Collected = {
    commands: [],
    plain: true,
    usesSubstitution: false,
    usesFunctions: false,
    unread: undefined,
    loose: [],
    bodies: [],
  };
  const tree = parser.parse(source);
  if (tree === null) return { ...out, unread: 'the parser gave up' };
  try {
    visit(tree.rootNode, { nested: false, background: false }, source, out, false);
    if (tree.rootNode.hasError) out.unread ??= 'its syntax is not understood';
    return out;
  } finally {
    tree.delete();
  }
}

/** The script as one with every script inside it. Shells called with exactly one script are replaced by its commands. */
function expand(parser: Parser, source: string, depth: number, budget: { left: number }): Collected {
  const out = collect(parser, source);
  budget.left -= out.commands.length;
  if (depth >= MAX_DEPTH || budget.left <= 0) return { ...out, unread: out.unread ?? 'scripts are nested too deeply' };
  const commands: SimpleCommand[] = [];
  const nest = (text: string): void => {
    const inner = expand(parser, text, depth + 1, budget);
    commands.push(...inner.commands.map((c) => ({ ...c, nested: true })));
    out.loose.push(...inner.loose);
  };
  for (const command of out.commands) {
    const script = wrappedScript(command);
    if (script !== undefined) {
      const inner = expand(parser, script, depth + 1, budget);
      out.plain &&= inner.plain;
      out.usesSubstitution ||= inner.usesSubstitution;
      out.usesFunctions ||= inner.usesFunctions;
      out.unread ??= inner.unread;
      out.loose.push(...inner.loose);
      commands.push(
        ...inner.commands.map((c) => ({ ...c, nested: c.nested || command.nested, background: c.background || command.background })),
      );
      continue;
    }
    commands.push(command);
    for (const text of embeddedScripts(command)) nest(text);
  }
  if (out.commands.some(readsScriptFromStdin)) {
    for (const body of out.bodies) nest(body);
    for (const c of out.commands)
      if (/^(?:echo|printf)$/.test(programOf(c.words[0])))
        nest(
          c.words
            .slice(1)
            .map((w) => w.text)
            .join(' '),
        );
  }
  return { ...out, commands };
}

export async function parseScript(source: string): Promise<ParsedScript> {
  const none = { source, commands: [], loose: [] };
  if (source.length > MAX_LENGTH) return { ok: false, reason: `it is longer than ${MAX_LENGTH} characters`, ...none };
  // The shell drops or refuses such bytes; whatever the parser makes of them is not what runs.
  if (source.includes('\0')) return { ok: false, reason: 'it holds a NUL character', ...none };
  const out = expand(await shellGrammar(), source, 0, { left: MAX_COMMANDS });
  const { commands, loose } = out;
  if (out.unread !== undefined) return { ok: false, reason: out.unread, source, commands, loose };
  const plain = out.plain && commands.length > 0;
  return { ok: true, source, commands, plain, usesSubstitution: out.usesSubstitution, usesFunctions: out.usesFunctions, loose };
}
