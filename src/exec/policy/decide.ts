// The one place where a command is judged: skip, ask, or refuse. Pure; the caller asks the user, keeps session approvals and runs.
// The order of the questions is the policy: bans, then escalation, then danger and prompts, then the sandbox.
import type { AdditionalPermissions } from '../sandbox/permissions.ts';
import { proposeAmendment } from './amendments.ts';
import { approvalKey } from './approval-key.ts';
import type { ApprovalPolicy, UnrequestablePolicy } from './approval-policy.ts';
import { canAskFor, policyName, refusal } from './approval-policy.ts';
import type { Danger } from './danger.ts';
import { dangerOfCommand, findDanger } from './danger.ts';
import type { PrefixRule, RuleReport } from './rules.ts';
import { allowsForce, consultRules } from './rules.ts';
import { isReadOnlyScript } from './safe-commands.ts';
import type { ParsedScript } from './syntax.ts';
import { isKnownShell } from './wrappers.ts';

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access' | 'external';

export type Escalation = 'useDefault' | 'requireEscalated' | { readonly additional: AdditionalPermissions };

export interface JudgeInput {
  readonly parsed: ParsedScript;
  readonly scriptText: string;
  /** The argv that would run, without the sandbox: [shell, option…, script]. */
  readonly shellArgv: readonly string[];
  readonly cwd: string;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxMode: SandboxMode;
  readonly sandboxAvailable: boolean;
  readonly escalation: Escalation;
  /** Names the sandbox permissions in the approval key, e.g. permissionsLabel() of the sandbox; the mode by default. */
  readonly permissions?: string;
  readonly justification?: string;
  readonly prefixRule?: readonly string[];
  readonly rules: readonly PrefixRule[];
}

export type SandboxChoice = 'sandboxed' | 'unsandboxed';

export type Verdict =
  | { readonly type: 'skip'; readonly sandbox: SandboxChoice }
  | {
      readonly type: 'needsApproval';
      /** Shown to the user; null when there is nothing to say beyond the command. */
      readonly reason: string | null;
      readonly sandboxAfter: SandboxChoice;
      readonly proposedAmendment?: string[];
      readonly keys: string[];
    }
  /** The reason is a text for the model: what was refused, by which policy, and what to do instead. */
  | { readonly type: 'forbidden'; readonly reason: string };

const DANGER_WORDS: Readonly<Record<Danger['kind'], string>> = {
  forcedRemoval: 'rm -f style commands are',
  disk: 'commands that write to a disk device or make a file system are',
  power: 'commands that switch the machine off are',
};
const DANGER_REASON: Readonly<Record<Danger['kind'], string>> = {
  forcedRemoval: 'removes files by force',
  disk: 'writes to a disk device or makes a file system',
  power: 'switches the machine off or restarts it',
};

/** The first danger that no rule of the user allows by name. */
function openDanger(input: JudgeInput): Danger | undefined {
  const { parsed, rules } = input;
  const found = findDanger(parsed);
  if (found === undefined || !parsed.ok || !parsed.plain) return found;
  for (const command of parsed.commands) {
    const danger = dangerOfCommand(command, parsed);
    if (danger !== undefined && !allowsForce(rules, command)) return danger;
  }
  return undefined;
}

class Judge {
  readonly #input: JudgeInput;
  readonly #report: RuleReport;
  readonly #after: SandboxChoice;
  readonly #isolated: boolean;
  /** A shell that the parser does not speak, or one from the workspace, can make anything of the script. */
  readonly #readable: boolean;

  constructor(input: JudgeInput) {
    this.#input = input;
    this.#report = consultRules(input.rules, input.parsed);
    this.#isolated = input.sandboxMode === 'read-only' || input.sandboxMode === 'workspace-write';
    this.#readable = isKnownShell(input.shellArgv[0] ?? '');
    const inside = this.#isolated && input.sandboxAvailable && input.escalation !== 'requireEscalated';
    this.#after = inside ? 'sandboxed' : 'unsandboxed';
  }

  get #allowed(): boolean {
    return this.#readable && this.#report.allowsAll;
  }

  verdict(): Verdict {
    return (
      this.#banned() ??
      this.#unrequestable() ??
      this.#dangerous() ??
      this.#prompted() ??
      this.#escalated() ??
      this.#untrusted() ??
      this.#unguarded() ??
      this.#skip()
    );
  }

  #skip(): Verdict {
    return { type: 'skip', sandbox: this.#after };
  }

  #ask(reason: string | null, propose: boolean): Verdict {
    const { parsed, scriptText, shellArgv, cwd, escalation, prefixRule } = this.#input;
    const proposed = propose && this.#readable ? proposeAmendment(parsed, this.#report.uncovered, prefixRule) : undefined;
    const extra = typeof escalation === 'object' ? ` with ${JSON.stringify(escalation.additional)}` : '';
    const permissions = `${this.#after} ${this.#input.permissions ?? this.#input.sandboxMode}${extra}`;
    const keys = [approvalKey({ parsed, scriptText, shellArgv, cwd, permissions })];
    return {
      type: 'needsApproval',
      reason,
      sandboxAfter: this.#after,
      ...(proposed === undefined ? {} : { proposedAmendment: proposed }),
      keys,
    };
  }

  /** Asks, or refuses where the policy lets nobody be asked for this. */
  #askOr(policyFor: UnrequestablePolicy, reason: string | null, propose: boolean, what: string): Verdict {
    const { approvalPolicy } = this.#input;
    return canAskFor(approvalPolicy, policyFor)
      ? this.#ask(reason, propose)
      : { type: 'forbidden', reason: refusal(approvalPolicy, policyFor, what) };
  }

  #banned(): Verdict | undefined {
    const found = this.#report.forbidden;
    if (found === undefined) return undefined;
    const why = found.rule.justification ?? 'a command rule forbids it; do without this command';
    return { type: 'forbidden', reason: `\`${found.command.source}\` was rejected by a command rule: ${why}` };
  }

  /** An escalation that the policy cannot grant is refused before anything else is looked at: nothing of it runs. */
  #unrequestable(): Verdict | undefined {
    const { escalation, approvalPolicy } = this.#input;
    if (escalation === 'useDefault' || canAskFor(approvalPolicy, 'sandbox')) return undefined;
    const what =
      escalation === 'requireEscalated' ? 'a run outside the sandbox cannot be requested' : 'additional permissions cannot be requested';
    return { type: 'forbidden', reason: refusal(approvalPolicy, 'sandbox', what) };
  }

  #dangerous(): Verdict | undefined {
    const danger = openDanger(this.#input);
    if (danger === undefined) return undefined;
    const { justification, escalation, approvalPolicy } = this.#input;
    const reason = `\`${danger.command}\` ${DANGER_REASON[danger.kind]}`;
    if (canAskFor(approvalPolicy, 'rules'))
      return this.#ask(escalation !== 'useDefault' && justification ? `${justification} (${reason})` : reason, false);
    return {
      type: 'forbidden',
      reason: `\`${danger.command}\` rejected: ${DANGER_WORDS[danger.kind]} not permitted under ${policyName(approvalPolicy)}. Use a safer approach.`,
    };
  }

  #prompted(): Verdict | undefined {
    const found = this.#report.prompt;
    if (found === undefined) return undefined;
    const { justification } = found.rule;
    const reason = `a command rule asks for approval of \`${found.command.source}\`${justification === undefined ? '' : `: ${justification}`}`;
    return this.#askOr('rules', reason, false, reason);
  }

  #escalated(): Verdict | undefined {
    const { escalation, justification } = this.#input;
    if (escalation === 'useDefault') return undefined;
    return this.#allowed ? this.#skip() : this.#ask(justification ?? null, true);
  }

  #untrusted(): Verdict | undefined {
    if (this.#input.approvalPolicy !== 'untrusted' || this.#allowed) return undefined;
    return this.#ask(null, true);
  }

  /** A sandbox was meant to stand behind this command, and there is none. */
  #unguarded(): Verdict | undefined {
    const { sandboxAvailable, parsed } = this.#input;
    if (!this.#isolated || sandboxAvailable || this.#allowed || (this.#readable && isReadOnlyScript(parsed))) return undefined;
    const why = parsed.ok ? 'it is not known to only read' : parsed.reason;
    return this.#askOr(
      'sandbox',
      `no sandbox is available on this machine, so the command would run unprotected (${why})`,
      true,
      `no sandbox is available on this machine and the command is not provably read-only (${why})`,
    );
  }
}

export function judgeCommand(input: JudgeInput): Verdict {
  return new Judge(input).verdict();
}
