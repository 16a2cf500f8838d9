// A code review as a turn of its own: a second conversation with its own history and few tools reads the change, and only its findings
// enter the thread. The client sees the work, entered and left by two items.
import { newId } from '../common/ids.ts';
import type { ThreadItem } from '../protocol/item.ts';
import type { MessageItem } from '../protocol/response-item.ts';
import type { ReviewTarget } from '../protocol/review.ts';
import type { ItemHandle, StartOptions } from '../tools/events.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { History, type HistoryEntry } from './history.ts';
import { inputMessage } from './input-message.ts';
import { ItemLedger } from './item-ledger.ts';
import { messageText } from './response-items.ts';
import { findingsText } from './review-findings.ts';
import type { StepContext, ToolSources } from './step-context.ts';
import type { TurnContext } from './turn-context.ts';
import { type LoopPorts, type LoopResult, runTurn } from './turn-loop.ts';

export const REVIEW_INSTRUCTIONS = `You review a change to a code base for the person who wrote it. You read; you change nothing.

Report a finding only when all of this holds: it is a fault that the change itself brings in; it affects correctness, security, speed or upkeep in a way its author would want to fix; you can say in which situation it shows; you have looked at the code around it. Do not report matters of taste, and do not guess. No finding at all is a good answer.

Begin each title with its weight: [P0] everything breaks, [P1] fix before the next release, [P2] fix some time, [P3] nice to have. Keep the range of lines as short as it can be and inside the change.

Answer, at the end, with one JSON object and nothing around it:
{"findings":[{"title":"…","body":"one paragraph: what, when, why","confidence_score":0.0,"priority":0,"code_location":{"absolute_file_path":"…","line_range":{"start":1,"end":1}}}],"overall_correctness":"patch is correct" | "patch is incorrect","overall_explanation":"…","overall_confidence_score":0.0}`;

/** What the reviewer may use: it reads, and runs what it needs for that. */
const REVIEWER_TOOLS: ReadonlySet<string> = new Set(['exec_command', 'write_stdin', 'view_image']);

/** The change in a few words, for people. */
export function reviewHint(target: ReviewTarget): string {
  switch (target.type) {
    case 'uncommittedChanges':
      return 'current changes';
    case 'baseBranch':
      return `changes against '${target.branch}'`;
    case 'commit':
      return target.title ? `commit ${target.sha.slice(0, 7)}: ${target.title}` : `commit ${target.sha.slice(0, 7)}`;
    case 'custom':
      return target.instructions.trim();
  }
}

function taskOf(target: ReviewTarget): string {
  switch (target.type) {
    case 'uncommittedChanges':
      return 'Review the uncommitted changes of this repository: staged, unstaged and untracked files. Begin with git status and git diff HEAD.';
    case 'baseBranch':
      return `Review the changes of the current branch against the branch ${target.branch}. Find where they part (git merge-base HEAD ${target.branch}), then read git diff from there.`;
    case 'commit':
      return `Review the commit ${target.sha}${target.title ? ` ("${target.title}")` : ''}. Begin with git show ${target.sha}.`;
    case 'custom':
      return target.instructions.trim();
  }
}

/** What is wrong with a target, or null. */
export function targetProblem(target: ReviewTarget): string | null {
  if (target.type === 'baseBranch' && target.branch.trim() === '')
    return 'params.target.branch: expected the name of a branch, got an empty text';
  if (target.type === 'commit' && target.sha.trim() === '') return 'params.target.sha: expected a commit, got an empty text';
  if (target.type === 'custom' && target.instructions.trim() === '')
    return 'params.target.instructions: expected what to review, got an empty text';
  return null;
}

/** The reviewer's own words are material for the findings: while it works, the client sees what it does only. */
export class ReviewLedger extends ItemLedger {
  /** Written once, when the reviewer has ended. */
  showsMessages = false;

  override startItem(item: ThreadItem, options: StartOptions): ItemHandle {
    return item.type === 'agentMessage' && !this.showsMessages ? unseen(item) : super.startItem(item, options);
  }

  override messageDelta(itemId: string, delta: string): void {
    if (this.showsMessages) super.messageDelta(itemId, delta);
  }
}

function unseen(first: ThreadItem): ItemHandle {
  let current = first;
  let completed = false;
  return {
    id: first.id,
    outlives: false,
    get current() {
      return current;
    },
    get completed() {
      return completed;
    },
    revise: (item) => {
      current = item;
    },
    complete: (item) => {
      if (completed) return false;
      completed = true;
      current = item;
      return true;
    },
  };
}

const NONE: readonly never[] = [];

/** The tools of a thread as its reviewer gets them. The list keeps its identity while the thread's does. */
export function reviewerSources(sources: Omit<ToolSources, 'external'>): ToolSources {
  let given: readonly ToolRuntime[] = NONE;
  let kept: readonly ToolRuntime[] = NONE;
  return {
    strict: sources.strict,
    builtins: (abilities) => {
      const all = sources.builtins(abilities);
      if (all !== given) {
        given = all;
        kept = all.filter(({ name }) => !name.namespace && REVIEWER_TOOLS.has(name.name));
      }
      return kept;
    },
    external: () => NONE,
    hosted: () => NONE,
  };
}

const assistantMessage = (text: string): MessageItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });

const shownMessage = (text: string): ThreadItem => ({
  type: 'agentMessage',
  id: newId(),
  text,
  phase: null,
  memoryCitation: null,
  moderation: null,
  delivery: null,
  questions: null,
});

/** The last thing that the reviewer said. */
function verdictOf(history: History): string {
  const last = history.entries.findLast(({ item }) => item.type === 'message' && item.role === 'assistant');
  return last?.item.type === 'message' ? messageText(last.item) : '';
}

/** The reviewer's conversation beside the thread's: same turn, same items, another history. */
function reviewerContext(context: TurnContext): TurnContext {
  const history = new History();
  return {
    ...context,
    history,
    record: (origin, item, section) => history.append({ origin, turnId: context.turn.id, item, ...(section ? { section } : {}) }),
    keepResult: () => {},
    replaceHistory: (entries) => history.replace(entries),
  };
}

export interface Review {
  ledger: ReviewLedger;
  target: ReviewTarget;
  /** What the reviewer has to be told of the world before a step. */
  changes(step: StepContext, told: readonly HistoryEntry[]): Promise<HistoryEntry[]>;
}

/** Runs a review to its end; the ports give the reviewer's steps. Never rejects. */
export async function runReview(context: TurnContext, ports: LoopPorts, { ledger, target, changes }: Review): Promise<LoopResult> {
  const hint = reviewHint(target);
  ledger.addItem({ type: 'enteredReviewMode', id: newId(), review: hint });
  const reviewer = reviewerContext(context);
  context.turn.add({ id: newId(), clientId: null, input: [{ type: 'text', text: taskOf(target) }], context: [] });
  const result = await runTurn(reviewer, {
    ...ports,
    makeRoom: async () => {},
    beforeMessage: async () => {},
    describeWorld: async (step) => {
      for (const { origin, item, section } of await changes(step, reviewer.history.entries)) reviewer.record(origin, item, section);
    },
  });
  finish(context, ledger, hint, result, verdictOf(reviewer.history));
  return result;
}

function finish(context: TurnContext, ledger: ReviewLedger, hint: string, result: LoopResult, verdict: string): void {
  const found = result.end === 'completed' ? findingsText(verdict) : null;
  ledger.showsMessages = true;
  ledger.addItem({ type: 'exitedReviewMode', id: newId(), review: found ?? `The review was ${result.end} before it had a result.` });
  context.record('marker', inputMessage('user', `<code_review>\nThe user had ${hint} reviewed.\n</code_review>`));
  if (found === null) {
    context.record('marker', inputMessage('user', `<code_review>\nThe review was ${result.end} before it had a result.\n</code_review>`));
    return;
  }
  ledger.addItem(shownMessage(found));
  context.record('model', assistantMessage(found));
}
