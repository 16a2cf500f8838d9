// The user's own command rules: prefixes that are allowed, asked about or forbidden. Matching only; files are read in rule-file.ts.

import { isForceFlag } from './danger.ts';
import type { ParsedScript, SimpleCommand } from './syntax.ts';
import { programOf } from './syntax.ts';
import { isWrapper } from './wrappers.ts';

export type RuleDecision = 'allow' | 'prompt' | 'forbidden';

export interface PrefixRule {
  /** One list of alternatives for each leading word. */
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  readonly justification: string | undefined;
  readonly origin: { readonly file: string; readonly line: number };
}

export interface RuleFinding {
  readonly rule: PrefixRule;
  readonly command: SimpleCommand;
}

export interface RuleReport {
  readonly forbidden: RuleFinding | undefined;
  readonly prompt: RuleFinding | undefined;
  /** True when the script is plain and an allow rule covers each of its commands: then, and only then, rules permit it. */
  readonly allowsAll: boolean;
  /** Commands that no allow rule covers, in order. */
  readonly uncovered: readonly SimpleCommand[];
}

/**
 * Bans are matched by the program's name wherever it lies, and behind wrappers at any word. Leave is given only to the words as
 * written: an allow rule for `ls` says nothing of `./ls`.
 */
function bans(rule: PrefixRule, command: SimpleCommand): boolean {
  const starts = isWrapper(command) ? command.words.keys() : [0];
  for (const start of starts) {
    const words = command.words.slice(start);
    if (
      rule.pattern.every(
        (any, i) => words[i] !== undefined && (any.includes(words[i].text) || (i === 0 && any.includes(programOf(words[i])))),
      )
    )
      return true;
  }
  return false;
}

export function allows(rule: PrefixRule, command: SimpleCommand): boolean {
  if (rule.decision !== 'allow' || command.assignments.length > 0 || command.redirects.some((r) => r.writes)) return false;
  if (command.words.some((w) => w.kind === 'dynamic')) return false;
  return rule.pattern.every((any, i) => command.words[i]?.kind === 'literal' && any.includes(command.words[i].text));
}

/** An allow rule covers forced removal only when it spells the force flag out: leave for `rm` is not leave for `rm -rf`. */
export function allowsForce(rules: readonly PrefixRule[], command: SimpleCommand): boolean {
  return rules.some((r) => allows(r, command) && r.pattern.some((any) => any.every(isForceFlag)));
}

/** The strictest rule wins: forbidden over prompt over allow. */
export function consultRules(rules: readonly PrefixRule[], parsed: ParsedScript): RuleReport {
  const first = (decision: RuleDecision): RuleFinding | undefined => {
    for (const command of parsed.commands) {
      const rule = rules.find((r) => r.decision === decision && bans(r, command));
      if (rule !== undefined) return { rule, command };
    }
    return undefined;
  };
  const uncovered = parsed.commands.filter((command) => !rules.some((r) => allows(r, command)));
  return {
    forbidden: first('forbidden'),
    prompt: first('prompt'),
    allowsAll: parsed.ok && parsed.plain && uncovered.length === 0,
    uncovered,
  };
}
