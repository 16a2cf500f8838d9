// The second phase: carries a plan out. All content is staged first, then each file is replaced in one step; after a failure those
// already replaced are put back.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import { systemCode } from '../common/errors.ts';
import type { FileStat, PatchFs } from './fs.ts';
import { reasonOf } from './fs-error.ts';
import { inParallel } from './in-parallel.ts';
import { isInside, realTarget } from './paths.ts';
import type { AppliedFile, FileImage, Plan, PlannedFile } from './plan.ts';

export interface WriteError {
  /** Text for the model: what failed and what is on disk now. */
  readonly message: string;
  /** Absolute path of the file that failed. */
  readonly path: string;
  readonly code?: string;
  /** False when some file could not be put back. */
  readonly restored: boolean;
}

/** `files` is what is changed on disk: all of the plan, or what could not be put back. */
export type WriteResult = { ok: true; files: AppliedFile[] } | { ok: false; error: WriteError; files: AppliedFile[] };

/** One change of one directory entry. `path` is the path as the patch names it; `shown` the file that a diff names, the end of a link. */
interface Step {
  readonly path: string;
  readonly shown: string;
  readonly real: string;
  readonly before: FileImage | undefined;
  /** undefined: the entry goes. */
  readonly after: Uint8Array | undefined;
  /** Whose mode and owner the file takes. */
  readonly like: FileStat | undefined;
  readonly link: string | undefined;
  readonly movedFrom: string | undefined;
}

/** New files of mode 644 as far as a diff is concerned. */
const NEW_MODE = 0o644;

function stepsOf(file: PlannedFile): Step[] {
  const none = { shown: file.path, before: undefined, after: undefined, like: undefined, link: undefined, movedFrom: undefined };
  switch (file.type) {
    case 'add':
    case 'update': {
      const before = file.type === 'add' ? undefined : file.before;
      const shown = file.affected.length > 1 ? file.target : file.path;
      return [{ ...none, path: file.path, shown, real: file.target, before, after: file.after, like: before?.stat }];
    }
    case 'delete':
      return [{ ...none, path: file.path, real: file.entry, before: file.before, link: file.link }];
    case 'move':
      return [
        { ...none, path: file.to, shown: file.to, real: file.target, after: file.after, like: file.before.stat, movedFrom: file.path },
        { ...none, path: file.path, real: file.entry, before: file.before, link: file.link },
      ];
    default:
      return assertNever(file);
  }
}

/** Removals that make room for a folder come first, other removals last: a crash in between leaves a file twice rather than nowhere. */
function inOrder(plan: Plan): { clearing: Step[]; writes: Step[]; removals: Step[] } {
  const steps = plan.files.flatMap(stepsOf);
  const writes = steps.filter((step) => step.after !== undefined && step.after !== step.before?.bytes);
  const gone = steps.filter((step) => step.after === undefined);
  const clearing = gone.filter((removal) => writes.some((write) => isInside(removal.real, write.real)));
  return { clearing, writes, removals: gone.filter((removal) => !clearing.includes(removal)) };
}

/** Never rejects for what the disk does; everything that was changed before a failure is put back where possible. */
export async function writePlan(plan: Plan, fs: PatchFs): Promise<WriteResult> {
  const { clearing, writes, removals } = inOrder(plan);
  const steps = [...clearing, ...writes, ...removals];
  const changed = await firstChanged(steps, fs);
  if (changed) return { ok: false, files: [], error: { ...changed, restored: true } };
  const writer = new Writer(fs);
  try {
    for (const step of clearing) await writer.commit(step);
    await writer.stage(writes);
    for (const step of [...writes, ...removals]) await writer.commit(step);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { kept, undone } = await writer.undo();
    const { step, reason } = error;
    const code = systemCode(reason);
    const message = failureText(step, reasonOf(reason), kept, undone);
    const files = kept.map(appliedFile);
    return { ok: false, files, error: { message, path: step.path, restored: kept.length === 0, ...(code === undefined ? {} : { code }) } };
  }
  return { ok: true, files: steps.map(appliedFile) };
}

class StepFailure extends Error {
  readonly step: Step;
  readonly reason: unknown;

  constructor(step: Step, reason: unknown) {
    super(reasonOf(reason));
    this.step = step;
    this.reason = reason;
  }
}

function failureText(step: Step, reason: string, kept: readonly Step[], undone: readonly Step[]): string {
  const what = step.after === undefined ? 'delete' : 'write';
  const names = (list: readonly Step[]): string => list.map((s) => s.path).join(', ');
  const state =
    kept.length > 0
      ? `NOT put back, and still changed: ${names(kept)}. Not applied: everything else in the patch.`
      : undone.length > 0
        ? `The files changed before it were put back (${names(undone)}): nothing of the patch is applied.`
        : 'Nothing of the patch is applied.';
  return `Failed to ${what} file ${step.path}: ${reason}. ${state}`;
}

function appliedFile(step: Step): AppliedFile {
  const mode = step.like?.mode ?? step.before?.stat.mode ?? NEW_MODE;
  const image = { path: step.shown, before: step.before?.bytes ?? null, after: step.after ?? null, mode };
  return {
    ...image,
    ...(step.movedFrom === undefined ? {} : { movedFrom: step.movedFrom }),
    ...(step.link === undefined ? {} : { link: step.link }),
  };
}

// ---------- between the phases ----------

/** An approval may have taken an hour: a file that is no longer what was verified and shown stops the whole patch. */
async function firstChanged(steps: readonly Step[], fs: PatchFs): Promise<{ message: string; path: string } | undefined> {
  const same = await inParallel(steps, (step) => isUnchanged(step, fs).catch(() => false));
  const changed = steps[same.indexOf(false)];
  if (!changed) return undefined;
  const message = `${changed.path} changed after the patch was verified; nothing of the patch is applied. Read the file again and send a new patch`;
  return { message, path: changed.path };
}

async function isUnchanged(step: Step, fs: PatchFs): Promise<boolean> {
  if (step.link !== undefined) return (await fs.readLink(step.real)) === step.link;
  if ((await realTarget(step.path, fs)) !== step.real) return false;
  const stat = await fs.stat(step.real);
  if (!step.before) return stat === undefined;
  if (stat?.type !== 'file' || stat.size !== step.before.bytes.length) return false;
  return Buffer.compare(await fs.readFile(step.real), step.before.bytes) === 0;
}

class Writer {
  readonly #fs: PatchFs;
  /** Files written beside their targets and not yet renamed. */
  readonly #staged = new Map<Step, string>();
  /** Steps done, oldest first; an undo takes them back from the end. */
  readonly #done: Step[] = [];
  /** Folders made here, outermost first. */
  readonly #made: string[] = [];
  /** Folders known to exist. */
  readonly #folders = new Set<string>();

  constructor(fs: PatchFs) {
    this.#fs = fs;
  }

  /** All new content goes to disk before the first file changes: a full disk or a locked folder is found out here. */
  async stage(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await guard(step, this.#makeFolders(path.dirname(step.real)));
    await inParallel(steps, (step) => guard(step, this.#stageOne(step)));
  }

  async #stageOne(step: Step): Promise<void> {
    const temporary = temporaryName(step.real);
    this.#staged.set(step, temporary);
    await this.#fs.writeNew(temporary, step.after ?? new Uint8Array(), step.like);
  }

  /** A reader sees the old file or the new one, never a part. */
  async commit(step: Step): Promise<void> {
    const temporary = this.#staged.get(step);
    await guard(step, temporary === undefined ? this.#fs.remove(step.real) : this.#fs.rename(temporary, step.real));
    this.#staged.delete(step);
    this.#done.push(step);
  }

  /** Puts everything back; `kept` are the steps for which that failed. */
  async undo(): Promise<{ kept: Step[]; undone: Step[] }> {
    const kept: Step[] = [];
    const undone: Step[] = [];
    for (const temporary of this.#staged.values()) await this.#fs.remove(temporary).catch(() => {});
    for (const step of this.#done.toReversed()) {
      try {
        await this.#takeBack(step);
        undone.unshift(step);
      } catch {
        kept.unshift(step);
      }
    }
    for (const folder of this.#made.toReversed()) await this.#fs.removeFolder(folder).catch(() => {});
    return { kept, undone };
  }

  async #takeBack(step: Step): Promise<void> {
    if (step.link !== undefined) return this.#fs.makeLink(step.link, step.real);
    if (!step.before) return this.#fs.remove(step.real);
    const temporary = temporaryName(step.real);
    try {
      await this.#fs.writeNew(temporary, step.before.bytes, step.before.stat);
      await this.#fs.rename(temporary, step.real);
    } catch (error) {
      await this.#fs.remove(temporary).catch(() => {});
      throw error;
    }
  }

  async #makeFolders(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return;
    const stat = await this.#fs.stat(folder);
    if (stat?.type !== 'folder') {
      const parent = path.dirname(folder);
      if (parent !== folder) await this.#makeFolders(parent);
      await this.#fs.makeFolder(folder);
      this.#made.push(folder);
    }
    this.#folders.add(folder);
  }
}

const temporaryName = (target: string): string => path.join(path.dirname(target), `.harnessd-${randomBytes(8).toString('hex')}.tmp`);

async function guard(step: Step, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw new StepFailure(step, error);
  }
}
