// Reads and extends the rule files ($HOME/rules/*.rules). One broken rule is a warning with file and line and is skipped; the other
// rules live. Reading happens for each judgement's snapshot, so that a rule stored by another daemon holds from then on.
import fs from 'node:fs';
import path from 'node:path';
import { messageOf, systemCode } from '../../common/errors.ts';
import type { PrefixRule, RuleDecision } from './rules.ts';

export interface RuleWarning {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface RuleSet {
  readonly rules: readonly PrefixRule[];
  readonly warnings: readonly RuleWarning[];
}

type Token = { readonly type: 'name' | 'string' | 'mark'; readonly text: string; readonly line: number };
type Value = string | Value[];

class RuleSyntaxError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

const TOKEN =
  /(?<blank>[ \t\r\n]+|#[^\n]*)|(?<name>[A-Za-z_]\w*)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<mark>[()[\],=])|(?<other>[\s\S])/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unquote(raw: string): string {
  return raw
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, c: string) =>
      code === undefined ? (ESCAPES[c] ?? c) : String.fromCharCode(Number.parseInt(code, 16)),
    );
}

function tokens(text: string): Token[] {
  const list: Token[] = [];
  let line = 1;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match?.groups !== undefined; match = TOKEN.exec(text)) {
    const { name, string, other } = match.groups;
    if (match.groups.blank === undefined) {
      const type = name !== undefined ? 'name' : string !== undefined ? 'string' : 'mark';
      list.push({ type, text: type === 'string' ? unquote(match[0]) : match[0], line });
      if (other !== undefined) list[list.length - 1] = { type: 'mark', text: `unexpected ${JSON.stringify(other)}`, line };
    }
    for (const c of match[0]) if (c === '\n') line++;
  }
  return list;
}

/** Reads calls of the form name(key=value, …) one after another. */
class RuleReader {
  readonly #tokens: readonly Token[];
  /** Index of the next token; only #take and recover move it. */
  #at = 0;

  constructor(list: readonly Token[]) {
    this.#tokens = list;
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  #take(type: Token['type'], text?: string): Token {
    const token = this.#tokens[this.#at];
    const wanted = text === undefined ? `a ${type}` : `"${text}"`;
    if (token === undefined) throw new RuleSyntaxError(`expected ${wanted}, found the end of the file`, this.#tokens.at(-1)?.line ?? 1);
    if (token.type !== type || (text !== undefined && token.text !== text))
      throw new RuleSyntaxError(`expected ${wanted}, found ${JSON.stringify(token.text)}`, token.line);
    this.#at++;
    return token;
  }

  #next(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.type !== 'mark' || token.text !== text) return false;
    this.#at++;
    return true;
  }

  #value(): Value {
    if (!this.#next('[')) return this.#take('string').text;
    const list: Value[] = [];
    while (!this.#next(']')) {
      list.push(this.#value());
      if (!this.#next(',')) {
        this.#take('mark', ']');
        break;
      }
    }
    return list;
  }

  call(): { name: string; line: number; fields: Map<string, Value> } {
    const { text: name, line } = this.#take('name');
    this.#take('mark', '(');
    const fields = new Map<string, Value>();
    while (!this.#next(')')) {
      const key = this.#take('name').text;
      this.#take('mark', '=');
      fields.set(key, this.#value());
      if (!this.#next(',')) {
        this.#take('mark', ')');
        break;
      }
    }
    return { name, line, fields };
  }

  /** After an error: goes on at the next rule that starts a call. */
  recover(): void {
    this.#at++;
    while (!this.done && !(this.#tokens[this.#at].type === 'name' && this.#tokens[this.#at + 1]?.text === '(')) this.#at++;
  }
}

const DECISIONS: readonly RuleDecision[] = ['allow', 'prompt', 'forbidden'];

function patternOf(value: Value | undefined, line: number): string[][] {
  const wrong = new RuleSyntaxError('pattern must be a list of words, each a string or a list of alternative strings', line);
  if (!Array.isArray(value) || value.length === 0) throw wrong;
  return value.map((element) => {
    const alternatives = typeof element === 'string' ? [element] : element;
    if (alternatives.length === 0 || alternatives.some((a) => typeof a !== 'string' || a === '')) throw wrong;
    return alternatives.map(String);
  });
}

function ruleOf(call: { name: string; line: number; fields: Map<string, Value> }, file: string): PrefixRule {
  const { name, line, fields } = call;
  if (name !== 'prefix_rule') throw new RuleSyntaxError(`unknown rule ${name}; known is prefix_rule`, line);
  const decision = DECISIONS.find((d) => d === (fields.get('decision') ?? 'allow'));
  if (decision === undefined)
    throw new RuleSyntaxError(`decision must be one of ${DECISIONS.join(', ')}, not ${JSON.stringify(fields.get('decision'))}`, line);
  const justification = fields.get('justification');
  if (justification !== undefined && typeof justification !== 'string') throw new RuleSyntaxError('justification must be a string', line);
  return { pattern: patternOf(fields.get('pattern'), line), decision, justification, origin: { file, line } };
}

export function parseRules(text: string, file: string): RuleSet {
  const rules: PrefixRule[] = [];
  const warnings: RuleWarning[] = [];
  const reader = new RuleReader(tokens(text));
  while (!reader.done) {
    let call: ReturnType<RuleReader['call']>;
    try {
      call = reader.call();
    } catch (error) {
      warnings.push({ file, line: error instanceof RuleSyntaxError ? error.line : 1, message: messageOf(error) });
      reader.recover();
      continue;
    }
    try {
      rules.push(ruleOf(call, file));
    } catch (error) {
      warnings.push({ file, line: error instanceof RuleSyntaxError ? error.line : call.line, message: messageOf(error) });
    }
  }
  return { rules, warnings };
}

/** All rules under `homeDir`/rules, by file name. A missing folder is no rules; an unreadable file is a warning. */
export async function loadRules(homeDir: string): Promise<RuleSet> {
  const folder = path.join(homeDir, 'rules');
  let names: string[];
  try {
    names = await fs.promises.readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { rules: [], warnings: [] };
    return { rules: [], warnings: [{ file: folder, line: 1, message: messageOf(error) }] };
  }
  const files = names
    .filter((n) => n.endsWith('.rules'))
    .sort()
    .map((n) => path.join(folder, n));
  const sets = await Promise.all(
    files.map(async (file): Promise<RuleSet> => {
      try {
        return parseRules(await fs.promises.readFile(file, 'utf8'), file);
      } catch (error) {
        return { rules: [], warnings: [{ file, line: 1, message: messageOf(error) }] };
      }
    }),
  );
  return { rules: sets.flatMap((s) => s.rules), warnings: sets.flatMap((s) => s.warnings) };
}

/** Adds an allow rule to rules/default.rules in one append, so that several daemons may do it at once. A rule already there is left. */
export async function appendAllowRule(homeDir: string, prefix: readonly string[]): Promise<void> {
  const file = path.join(homeDir, 'rules', 'default.rules');
  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  const rule = `prefix_rule(pattern=[${prefix.map((w) => JSON.stringify(w)).join(', ')}], decision="allow")`;
  const before = await fs.promises.readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  });
  if (before.split('\n').includes(rule)) return;
  await fs.promises.appendFile(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}${rule}\n`);
}
