// Walks one syntax tree and lists its simple commands. Everything that is not on the short list of plain constructs makes the script
// "not plain"; source text that the tree does not account for makes it unread.
import type { Node } from 'web-tree-sitter';
import type { Redirect, SimpleCommand, Word } from './syntax.ts';
import { wordOf } from './words.ts';

export interface Collected {
  readonly commands: SimpleCommand[];
  /** Cleared by the first construct that is not plain. */
  plain: boolean;
  usesSubstitution: boolean;
  usesFunctions: boolean;
  /** Set when tree and source disagree: the reason why the script is not understood. */
  unread: string | undefined;
  /** Literal values of assignments, loop lists and arrays. */
  readonly loose: string[];
  /** Bodies of here documents and here strings. */
  readonly bodies: string[];
}

interface Place {
  readonly nested: boolean;
  readonly background: boolean;
}

const PLAIN = new Set([
  'program',
  'list',
  'pipeline',
  'redirected_statement',
  'command',
  'command_name',
  'comment',
  'word',
  'number',
  'string',
  'string_content',
  'raw_string',
  'ansi_c_string',
  'concatenation',
  'file_redirect',
  'file_descriptor',
]);
const WORDS = new Set([
  'word',
  'number',
  'string',
  'raw_string',
  'ansi_c_string',
  'translated_string',
  'concatenation',
  'simple_expansion',
  'expansion',
  'command_substitution',
  'process_substitution',
  'arithmetic_expansion',
  'brace_expression',
  'variable_name',
]);
const SUBSTITUTIONS = new Set(['command_substitution', 'process_substitution']);
/** Nodes whose text between children belongs to them. */
const LOOSE_TEXT = new Set([
  'string',
  'translated_string',
  'heredoc_body',
  'expansion',
  'arithmetic_expansion',
  'test_command',
  'ansi_c_string',
  'regex',
]);
/** Constructs whose commands may run never, later or more than once. */
const NESTING = new Set([
  'subshell',
  'compound_statement',
  'function_definition',
  'if_statement',
  'while_statement',
  'for_statement',
  'c_style_for_statement',
  'case_statement',
  'command_substitution',
  'process_substitution',
  'heredoc_redirect',
  'negated_command',
]);

const isBlank = (gap: string): boolean => /^(?:[ \t\n]|\\\n)*$/.test(gap) && (!gap.includes('\\\n') || /[ \t]/.test(gap));

/** Words, and the lone $ that the grammar leaves without a name. */
const isWordLike = (node: Node): boolean =>
  WORDS.has(node.type) || node.type === 'command_name' || node.type === '$' || node.type.endsWith('_redirect');

/** A tree that skips characters, or a blank that the shell would not take for one, is not to be trusted. */
function checkGaps(node: Node, source: string, out: Collected): void {
  if (LOOSE_TEXT.has(node.type) || node.childCount === 0) return;
  let at = node.type === 'program' ? 0 : node.startIndex;
  let before: Node | undefined;
  for (const child of node.children) {
    if (child.startIndex > at && !isBlank(source.slice(at, child.startIndex))) {
      // A continuation directly before an operator is harmless; between two words it would join them.
      if (child.isNamed || !/^(?:[ \t\n]|\\\n)*$/.test(source.slice(at, child.startIndex)))
        out.unread ??= 'there is text that no part of its syntax accounts for';
    }
    if (
      node.type !== 'concatenation' &&
      isWordLike(child) &&
      before !== undefined &&
      isWordLike(before) &&
      before.endIndex === child.startIndex
    ) {
      // The shell reads two words without a blank between them as one.
      out.unread ??= 'one of its words cannot be told from the next';
    }
    before = child;
    at = Math.max(at, child.endIndex);
  }
  if (node.type === 'program' && !isBlank(source.slice(at))) out.unread ??= 'there is text after its end';
}

const DUPLICATE_TARGET = /^(?:\d+-?|-)$/;

function fileRedirect(node: Node, out: Collected): { redirect: Redirect; rest: Word[] } {
  const operator = node.children.find((c) => !c.isNamed)?.text ?? '';
  const [target = { text: '', kind: 'dynamic' } as Word, ...rest] = node.children.filter((c) => WORDS.has(c.type)).map(wordOf);
  const duplicate = (operator === '>&' || operator === '<&') && DUPLICATE_TARGET.test(target.text);
  const kind =
    duplicate || operator.endsWith('&-')
      ? 'duplicate'
      : operator === '<' || operator === '<&'
        ? 'read'
        : operator === '<>'
          ? 'readWrite'
          : 'write';
  const harmless = kind === 'duplicate' || (target.kind === 'literal' && target.text === '/dev/null');
  if (!harmless) out.plain = false;
  return { redirect: { operator, kind, target, writes: !harmless && kind !== 'read' }, rest };
}

function textRedirect(node: Node, out: Collected): { redirect: Redirect; rest: Word[] } {
  out.plain = false;
  if (node.type === 'herestring_redirect') {
    const target = wordOf(node.children[node.childCount - 1]);
    out.bodies.push(target.text);
    return { redirect: { operator: '<<<', kind: 'hereString', target, writes: false }, rest: [] };
  }
  const body = node.children.find((c) => c.type === 'heredoc_body');
  out.bodies.push(body?.text ?? '');
  const target: Word = { text: body?.text ?? '', kind: body !== undefined && body.namedChildCount > 0 ? 'dynamic' : 'literal' };
  const rest = node.children.filter((c) => WORDS.has(c.type)).map(wordOf);
  return { redirect: { operator: '<<', kind: 'heredoc', target, writes: false }, rest };
}

const isRedirect = (node: Node): boolean => node.type.endsWith('_redirect');
const redirectOf = (node: Node, out: Collected) => (node.type === 'file_redirect' ? fileRedirect(node, out) : textRedirect(node, out));

function assignmentOf(node: Node, out: Collected): { name: string; value: Word } {
  const name = node.children[0]?.text ?? '';
  const last = node.children[node.childCount - 1];
  const value: Word = last === undefined || !last.isNamed || node.childCount < 3 ? { text: '', kind: 'literal' } : wordOf(last);
  out.loose.push(value.text, ...(last?.type === 'array' ? last.children.filter((c) => WORDS.has(c.type)).map((c) => wordOf(c).text) : []));
  return { name, value };
}

/** A command node, with the redirections that stand around it. */
function commandOf(node: Node, outer: readonly Node[], place: Place, out: Collected): SimpleCommand {
  const words: Word[] = [];
  const assignments: { name: string; value: Word }[] = [];
  const redirects: Redirect[] = [];
  const take = (child: Node): void => {
    if (isRedirect(child)) {
      const { redirect, rest } = redirectOf(child, out);
      redirects.push(redirect);
      words.push(...rest);
    } else if (child.type === 'variable_assignment') {
      out.plain = false;
      assignments.push(assignmentOf(child, out));
    } else if (child.type === 'command_name' || WORDS.has(child.type)) words.push(wordOf(child));
    // A lone $ and the like: a part of the command that is no word of the grammar.
    else words.push({ text: child.text, kind: 'dynamic' });
  };
  for (const child of node.children) take(child);
  for (const child of outer) take(child);
  const source = outer.length === 0 ? node.text : [node.text, ...outer.map((n) => n.text)].join(' ');
  return { words, assignments, redirects, source, nested: place.nested, background: place.background };
}

/** `[ … ]`, `export A=b`, `unset x`, bare assignments: commands to a judge, though not to the grammar. */
function odd(node: Node, place: Place, out: Collected): SimpleCommand {
  const base = { source: node.text, redirects: [], nested: place.nested, background: place.background };
  if (node.type === 'variable_assignment') return { ...base, words: [], assignments: [assignmentOf(node, out)] };
  const words: Word[] = [];
  for (const child of node.children) {
    if (child.type === 'variable_assignment') {
      words.push({ text: child.text, kind: 'dynamic' });
      assignmentOf(child, out);
    } else words.push(WORDS.has(child.type) ? wordOf(child) : { text: child.text, kind: child.isNamed ? 'dynamic' : 'literal' });
  }
  return { ...base, words, assignments: [] };
}

const ODD = new Set(['test_command', 'declaration_command', 'unset_command', 'variable_assignment']);

function visitCommand(node: Node, outer: readonly Node[], place: Place, source: string, out: Collected): void {
  out.commands.push(commandOf(node, outer, place, out));
  checkGaps(node, source, out);
  const inside: Place = { nested: true, background: place.background };
  for (const child of node.children)
    visit(child, isRedirect(child) || child.type === 'variable_assignment' ? inside : place, source, out, true);
}

function visitRedirected(node: Node, place: Place, source: string, out: Collected): void {
  const body = node.children.find((c) => !isRedirect(c));
  const redirects = node.children.filter(isRedirect);
  if (body?.type === 'command') visitCommand(body, redirects, place, source, out);
  else {
    if (body !== undefined) visit(body, place, source, out, false);
    if (body?.type !== 'pipeline' && body?.type !== 'list') out.plain = false;
    const added = redirects.map((r) => redirectOf(r, out).redirect);
    const last = out.commands.pop();
    if (last !== undefined)
      out.commands.push({
        ...last,
        redirects: [...last.redirects, ...added],
        source: [last.source, ...redirects.map((n) => n.text)].join(' '),
      });
  }
  for (const redirect of redirects) visit(redirect, place, source, out, true);
}

/** `inCommand`: the node is a part of a command already listed, so its own assignments and words are not listed again. */
export function visit(node: Node, place: Place, source: string, out: Collected, inCommand: boolean): void {
  if (node.isError || node.isMissing) out.unread ??= 'its syntax is not understood';
  // The grammar takes it for the end of any command; to bash it ends nothing but a case.
  if (node.type === ';;' && node.parent?.type !== 'case_item') out.unread ??= 'its syntax is not understood';
  if (!PLAIN.has(node.type) && node.isNamed) out.plain = false;
  if (SUBSTITUTIONS.has(node.type)) out.usesSubstitution = true;
  if (node.type === 'function_definition') out.usesFunctions = true;
  if (node.type === 'for_statement') out.loose.push(...node.children.filter((c) => WORDS.has(c.type)).map((c) => wordOf(c).text));
  if (node.type === 'command') {
    visitCommand(node, [], place, source, out);
    return;
  }
  if (node.type === 'redirected_statement') {
    checkGaps(node, source, out);
    visitRedirected(node, place, source, out);
    return;
  }
  const nested = place.nested || NESTING.has(node.type);
  if (ODD.has(node.type) && !inCommand) out.commands.push(odd(node, place, out));
  checkGaps(node, source, out);
  const within = inCommand ? !SUBSTITUTIONS.has(node.type) && node.type !== 'heredoc_redirect' : ODD.has(node.type);
  node.children.forEach((child, i) => {
    const background = place.background || node.children[i + 1]?.type === '&';
    visit(child, { nested, background }, source, out, within && child.type !== 'pipeline' && child.type !== 'list');
  });
}
