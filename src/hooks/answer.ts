// What a hook said: its exit code and output read as one answer. What cannot be understood is a failure that names the problem, since a
// refusal that is misread would let something through.
import * as z from 'zod';
import { preview } from '../common/text.ts';
import { type Infer, type Schema, schema } from '../protocol/schema.ts';
import { factsOf, type HookEvent } from './hook-event.ts';

export type HookVerdict =
  | { type: 'none' }
  | { type: 'allow' }
  /** This one thing is refused, and the model reads why. */
  | { type: 'block'; reason: string }
  /** `continue: false`: refused, and nothing is to follow from it. */
  | { type: 'stop'; reason: string };

export interface HookAnswer {
  readonly verdict: HookVerdict;
  /** For the model, beside what happens. */
  readonly context: string | null;
  /** For the person at the client. */
  readonly message: string | null;
  /** Present when the input of the tool is to be another one. */
  readonly rewrite?: { readonly input: unknown };
  /** What the model is to read in place of the tool's output. */
  readonly replacement?: string;
}

export type Reading = { ok: true; answer: HookAnswer } | { ok: false; problem: string };

export const SILENT: HookAnswer = { verdict: { type: 'none' }, context: null, message: null };

const common = schema(() =>
  z.strictObject({
    continue: z.boolean().nullish(),
    stopReason: z.string().nullish(),
    suppressOutput: z.boolean().nullish(),
    systemMessage: z.string().nullish(),
    decision: z.enum(['approve', 'block']).nullish(),
    reason: z.string().nullish(),
    hookSpecificOutput: z.unknown().optional(),
  }),
);

const named = schema(() => z.strictObject({ hookEventName: z.string() }));
const withContext = schema(() => named().extend({ additionalContext: z.string().nullish() }));
const ofPreToolUse = schema(() =>
  withContext().extend({
    permissionDecision: z.enum(['allow', 'deny', 'ask']).nullish(),
    permissionDecisionReason: z.string().nullish(),
    updatedInput: z.unknown().optional(),
  }),
);
const ofPermissionRequest = schema(() =>
  named().extend({ decision: z.strictObject({ behavior: z.enum(['allow', 'deny']), message: z.string().nullish() }).nullish() }),
);
const ofPostToolUse = schema(() =>
  withContext().extend({ updatedToolOutput: z.unknown().optional(), updatedMCPToolOutput: z.unknown().optional() }),
);

/** The members of hookSpecificOutput, by event. */
const SPECIFIC: Readonly<Record<HookEvent, Schema>> = {
  PreToolUse: ofPreToolUse,
  PermissionRequest: ofPermissionRequest,
  PostToolUse: ofPostToolUse,
  PreCompact: named,
  PostCompact: named,
  SessionStart: withContext,
  SessionEnd: named,
  UserPromptSubmit: withContext,
  SubagentStart: withContext,
  SubagentStop: named,
  Stop: named,
  Interrupt: named,
};

interface Specific {
  hookEventName: string;
  additionalContext?: string | null;
  permissionDecision?: 'allow' | 'deny' | 'ask' | null;
  permissionDecisionReason?: string | null;
  updatedInput?: unknown;
  decision?: { behavior: 'allow' | 'deny'; message?: string | null } | null;
  updatedToolOutput?: unknown;
  updatedMCPToolOutput?: unknown;
}

const NO_REASON = 'the hook gave no reason';
const given = (reason: string | null | undefined): string => reason?.trim() || NO_REASON;
const failed = (problem: string): Reading => ({ ok: false, problem });
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const problemOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.length ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');

/** Reads an answer in its JSON form. */
export function readAnswer(event: HookEvent, value: unknown): Reading {
  const top = common().safeParse(value);
  if (!top.success) return failed(`its answer is not one that hooks give: ${preview(problemOf(top.error), 300)}`);
  let own: Specific = { hookEventName: event };
  if (isSet(top.data.hookSpecificOutput)) {
    const read = SPECIFIC[event]().safeParse(top.data.hookSpecificOutput);
    if (!read.success) return failed(`hookSpecificOutput of its answer does not fit ${event}: ${preview(problemOf(read.error), 300)}`);
    own = read.data as Specific;
    if (own.hookEventName !== event)
      return failed(`its answer is for the event ${preview(JSON.stringify(own.hookEventName), 60)}, and this is ${event}`);
  }
  const verdict = verdictOf(event, top.data, own);
  if (typeof verdict === 'string') return failed(verdict);
  const replacement = [own.updatedToolOutput, own.updatedMCPToolOutput].find(isSet);
  return {
    ok: true,
    answer: {
      verdict,
      context: own.additionalContext?.trim() ? own.additionalContext : null,
      message: top.data.systemMessage?.trim() ? top.data.systemMessage : null,
      ...(isSet(own.updatedInput) ? { rewrite: { input: own.updatedInput } } : {}),
      ...(isSet(replacement) ? { replacement: typeof replacement === 'string' ? replacement : JSON.stringify(replacement) } : {}),
    },
  };
}

/** The verdict, or the problem with it. The strictest of what an answer says holds. */
function verdictOf(event: HookEvent, top: Infer<typeof common>, own: Specific): HookVerdict | string {
  const { guards } = factsOf(event);
  if (top.continue === false) {
    if (!guards) return `continue: false has no meaning for ${event}`;
    return { type: 'stop', reason: given(top.stopReason ?? top.reason) };
  }
  if (top.decision === 'block') {
    if (!guards) return `decision "block" has no meaning for ${event}`;
    return { type: 'block', reason: given(top.reason) };
  }
  switch (own.permissionDecision) {
    case 'deny':
      return { type: 'block', reason: given(own.permissionDecisionReason ?? top.reason) };
    case 'ask':
      // Somebody is to be asked and a hook cannot make that happen: to go on unasked would be what it wants least.
      return {
        type: 'block',
        reason: `${given(own.permissionDecisionReason)} (the hook wants the user to be asked, which hooks cannot bring about: ask the user yourself)`,
      };
    default:
      break;
  }
  if (own.decision?.behavior === 'deny') return { type: 'block', reason: given(own.decision.message) };
  return own.decision?.behavior === 'allow' || own.permissionDecision === 'allow' ? { type: 'allow' } : { type: 'none' };
}

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** It printed more than is read. */
  readonly truncated: boolean;
}

/** Exit code 0 with an answer, 2 as a refusal, anything else as a failure. */
export function readPrinted(event: HookEvent, { code, stdout, stderr, truncated }: Printed): Reading {
  const { guards, plainText } = factsOf(event);
  if (code === 2 && guards) {
    const reason = given(stderr.trim() || stdout.trim());
    return { ok: true, answer: { ...SILENT, verdict: { type: 'block', reason } } };
  }
  if (code !== 0) return failed(`it exited with code ${code}${stderr.trim() ? `: ${preview(stderr.trim(), 300)}` : ''}`);
  const printed = stdout.trim();
  if (!printed.startsWith('{')) {
    return { ok: true, answer: plainText === 'context' && printed !== '' ? { ...SILENT, context: printed } : SILENT };
  }
  if (truncated) return failed('it printed more than is read of a hook, so its answer is cut off');
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    return failed(`it printed something that begins like JSON and is not: ${preview(printed, 120)}`);
  }
  return readAnswer(event, value);
}

/** What a function gave back: nothing, a text, or an answer. */
export function readReturned(event: HookEvent, value: unknown): Reading {
  if (value === undefined || value === null) return { ok: true, answer: SILENT };
  if (typeof value === 'string') return readPrinted(event, { code: 0, stdout: value, stderr: '', truncated: false });
  return readAnswer(event, value);
}
