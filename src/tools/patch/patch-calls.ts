// Patches of one thread from call to disk, the same way for the tool and for a patch inside a command: verified when the call begins,
// judged, then written one at a time. A patch that another one has overtaken is verified again before it is written.
import { Mutex } from 'async-mutex';
import { monotonicMs } from '../../common/clock.ts';
import type { ApprovalPolicy } from '../../exec/policy/approval-policy.ts';
import { permissionsFor, type SandboxPermissions } from '../../exec/sandbox/permissions.ts';
import { changesOf, previewChanges } from '../../patch/changes.ts';
import type { PatchFs } from '../../patch/fs.ts';
import { PatchParser } from '../../patch/parser.ts';
import type { FileChange } from '../../patch/patch.ts';
import type { AppliedFile, Plan } from '../../patch/plan.ts';
import { planPatch } from '../../patch/planner.ts';
import { parseFailureText, planFailureText, successText, writeFailureText } from '../../patch/summary.ts';
import { TurnDiff } from '../../patch/turn-diff.ts';
import { writePlan } from '../../patch/writer.ts';
import type { ArtifactPort } from '../artifacts.ts';
import type { ToolEvents } from '../events.ts';
import { type ErrorCategory, failedOutput, ToolError, type ToolOutput, textOutput } from '../result.ts';
import type { ApprovalNeed, Invocation, StepFacts, ToolCall } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import { BeforeImages } from './before-images.ts';
import { judgePatch } from './patch-policy.ts';

export interface PatchRequest {
  readonly text: string;
  /** Absolute; what relative paths of the patch are taken from. */
  readonly base: string;
  /** It came inside a command: the model reads the output as one of a command. */
  readonly inCommand: boolean;
}

type Verdict =
  | { type: 'planned'; plan: Plan; need: ApprovalNeed }
  /** `text` is what the model reads. */
  | { type: 'refused'; category: ErrorCategory; text: string };

interface Prepared {
  readonly request: PatchRequest;
  readonly changes: FileChange[];
  readonly verdict: Verdict;
  /** How many patches had been written when it was verified. */
  readonly after: number;
}

type PatchRun = Pick<Invocation<unknown>, 'call' | 'step' | 'events' | 'approved'>;

interface TurnState {
  readonly diff: TurnDiff;
  readonly before: BeforeImages;
}

const SKIP: ApprovalNeed = { type: 'skip' };

export class PatchCalls {
  readonly #fs: PatchFs;
  readonly #artifacts: ArtifactPort;
  readonly #permissionsOf: (step: StepFacts) => SandboxPermissions;
  /** By item id, from begin to the end of the call. */
  readonly #prepared = new Map<string, Prepared>();
  /** By turn id, from its first written patch to its end. */
  readonly #turns = new Map<string, TurnState>();
  /** Held while a patch is verified again and written. */
  readonly #disk = new Mutex();
  /** Patches that have changed something on disk; only grows. */
  #written = 0;

  /** @param permissionsOf what a patch may write; by default the sandbox policy alone */
  constructor(fs: PatchFs, artifacts: ArtifactPort, permissionsOf = (step: StepFacts) => permissionsFor(step.sandbox, step.cwd)) {
    this.#fs = fs;
    this.#artifacts = artifacts;
    this.#permissionsOf = permissionsOf;
  }

  /** Verifies the patch and opens its item, or goes on with the one that a preview opened. Never rejects for what the patch holds. */
  async begin({ itemId }: ToolCall, request: PatchRequest, step: StepFacts, events: ToolEvents): Promise<void> {
    const prepared = await this.#verify(request, step);
    const { changes, verdict } = prepared;
    this.#prepared.set(itemId, prepared);
    const previewed = events.itemOf(itemId);
    const item = { type: 'fileChange', id: itemId, changes, status: 'inProgress' } as const;
    events.startItem(item, { abandoned: (current) => failedItem(current) }).revise(item);
    // Who is asked has to see what will really be written, not what the text seemed to say.
    if (previewed && verdict.type === 'planned' && verdict.need.type === 'needsApproval') events.patchUpdated(itemId, changes);
  }

  /** Whether a call is one of the patches here. */
  has({ itemId }: ToolCall): boolean {
    return this.#prepared.has(itemId);
  }

  need({ itemId }: ToolCall): ApprovalNeed {
    const verdict = this.#prepared.get(itemId)?.verdict;
    if (!verdict) return { type: 'forbidden', reason: 'The patch was not prepared. Nothing was written.' };
    return verdict.type === 'planned' ? verdict.need : SKIP; // a refused patch needs no approval: nothing of it is written
  }

  settled({ itemId }: ToolCall): void {
    this.#prepared.delete(itemId);
  }

  turnEnded(turnId: string): void {
    this.#turns.delete(turnId);
  }

  async run(invocation: PatchRun, signal: AbortSignal): Promise<ToolOutput> {
    const prepared = this.#prepared.get(invocation.call.itemId);
    if (!prepared) throw new ToolError('tool_error', 'The patch was not prepared. Nothing was written.');
    return this.#disk.runExclusive(() => this.#apply(prepared, invocation, signal));
  }

  async #verify(request: PatchRequest, step: StepFacts): Promise<Prepared> {
    const after = this.#written;
    const parser = new PatchParser();
    parser.push(request.text);
    const parsed = parser.finish();
    const told = (category: ErrorCategory, text: string): Prepared => ({
      request,
      changes: previewChanges(parser.snapshot(), request.base),
      verdict: { type: 'refused', category, text },
      after,
    });
    if (!parsed.ok) return told('invalid_arguments', parseFailureText(parsed.error));
    const planned = await planPatch(parsed.patch, this.#fs, request.base);
    if (!planned.ok) return told('tool_error', planFailureText(planned.error));
    const need = judgePatch({
      approvalPolicy: step.approvalPolicy as ApprovalPolicy,
      permissions: this.#permissionsOf(step),
      affected: planned.plan.files.flatMap((file) => file.affected),
    });
    return { request, changes: changesOf(planned.plan), verdict: { type: 'planned', plan: planned.plan, need }, after };
  }

  async #apply(prepared: Prepared, invocation: PatchRun, signal: AbortSignal): Promise<ToolOutput> {
    const began = monotonicMs();
    const { step } = invocation;
    let current = prepared;
    if (prepared.after !== this.#written) {
      current = await this.#verify(prepared.request, step);
      if (!isCovered(current, prepared, invocation.approved)) return this.#refuse(prepared, invocation, 'tool_error', OVERTAKEN);
    }
    const { verdict, changes, request } = current;
    if (verdict.type === 'refused') return this.#refuse(current, invocation, verdict.category, verdict.text);
    const turn = this.#turn(step);
    await turn.before.keep(verdict.plan);
    if (signal.aborted) return failedOutput('cancelled', 'aborted by user before the patch was written. Nothing of it is applied.');
    const result = await writePlan(verdict.plan, this.#fs);
    const seconds = (monotonicMs() - began) / 1000;
    const text = result.ok ? successText(verdict.plan) : writeFailureText(result.error);
    this.#complete(invocation, changes, result.ok ? 'completed' : 'failed', text);
    this.#tellDiff(turn, result.files, invocation.events);
    const output = outputText(request, result.ok ? 0 : 1, seconds, text);
    return result.ok ? textOutput(output) : failedOutput('tool_error', output, { uncertainOutcome: !result.error.restored });
  }

  #refuse(prepared: Prepared, invocation: PatchRun, category: ErrorCategory, text: string): ToolOutput {
    this.#complete(invocation, prepared.changes, 'failed', text);
    return failedOutput(category, text);
  }

  #complete({ call, events }: PatchRun, changes: FileChange[], status: 'completed' | 'failed', text: string): void {
    events.fileOutput(call.itemId, text);
    events.itemOf(call.itemId)?.complete({ type: 'fileChange', id: call.itemId, changes, status });
  }

  #tellDiff(turn: TurnState, files: readonly AppliedFile[], events: ToolEvents): void {
    if (files.length === 0) return;
    this.#written++;
    turn.diff.record(files);
    events.diffUpdated(turn.diff.render());
  }

  #turn({ turnId, cwd }: StepFacts): TurnState {
    let turn = this.#turns.get(turnId);
    if (!turn) {
      turn = { diff: new TurnDiff(cwd), before: new BeforeImages(turnId, this.#artifacts) };
      this.#turns.set(turnId, turn);
    }
    return turn;
  }
}

const OVERTAKEN =
  'apply_patch failed: the files of the patch were changed by another call after it was verified, and what it would do now is not what was let through. Nothing of the patch is applied. Read the files again and send a new patch.';

/** An approval given once is for the changes that were shown; one for the session is for the paths. */
function isCovered(now: Prepared, then: Prepared, approved: Invocation<unknown>['approved']): boolean {
  if (now.verdict.type === 'refused' || now.verdict.need.type === 'skip') return true;
  const need = then.verdict.type === 'planned' ? then.verdict.need : SKIP;
  if (now.verdict.need.type !== 'needsApproval' || need.type !== 'needsApproval' || approved === 'notNeeded') return false;
  if (!now.verdict.need.keys.every((key) => need.keys.includes(key))) return false;
  return approved === 'session' || JSON.stringify(now.changes) === JSON.stringify(then.changes);
}

function outputText({ inCommand }: PatchRequest, exitCode: number, seconds: number, text: string): string {
  const output = `Exit code: ${exitCode}\nWall time: ${seconds.toFixed(1)} seconds\nOutput:\n${text}`;
  return inCommand ? `Wall time: ${seconds.toFixed(4)} seconds\nOutput:\n${output}` : output;
}
