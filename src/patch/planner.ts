// The first phase: every section of every file is verified against the disk and its result computed in memory. Nothing is written here.
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import { applyChunks, loneSurrogateText } from './edit.ts';
import type { PatchFs } from './fs.ts';
import { decodeUtf8, encodeUtf8, hasLoneSurrogate } from './lines.ts';
import type { FileHunk, Patch } from './patch.ts';
import type { PlannedFile, PlanResult, SummaryLine } from './plan.ts';
import { type FileState, PlanFailure, Workspace } from './workspace.ts';

type Hunk<T extends FileHunk['type']> = Extract<FileHunk, { type: T }>;

/** Failures reported at once: enough to mend a patch in one go. */
const MAX_FAILURES = 5;

/** Never rejects for what the patch or the disk holds; rejects only when the port itself breaks its contract. */
export async function planPatch(patch: Patch, fs: PatchFs, cwd: string): Promise<PlanResult> {
  if ((await fs.stat(cwd))?.type !== 'folder') {
    return { ok: false, error: { message: `The base folder ${cwd} does not exist; paths of a patch are relative to it`, paths: [cwd] } };
  }
  const workspace = new Workspace(fs, cwd);
  await workspace.readAhead(
    patch.hunks.flatMap((hunk) => (hunk.type === 'update' && hunk.moveTo !== undefined ? [hunk.path, hunk.moveTo] : [hunk.path])),
  );
  const planner = new Planner(workspace);
  const failures: PlanFailure[] = [];
  const failed = new Set<string>();
  const summary: SummaryLine[] = [];
  for (const hunk of patch.hunks) {
    const abs = path.resolve(cwd, hunk.path.replaceAll('\0', ''));
    // What follows a failed section of the same file would only fail in its wake.
    if (failed.has(abs)) continue;
    try {
      summary.push(await planner.take(hunk));
    } catch (error) {
      if (!(error instanceof PlanFailure)) throw error;
      failures.push(error);
      failed.add(abs);
      if (hunk.type === 'update' && hunk.moveTo !== undefined) failed.add(path.resolve(cwd, hunk.moveTo.replaceAll('\0', '')));
      if (failures.length === MAX_FAILURES) break;
    }
  }
  if (failures.length > 0) {
    const code = failures[0].code;
    const message = failures.map((failure) => failure.message).join('\n\n');
    return { ok: false, error: { message, paths: failures.map((failure) => failure.path), ...(code === undefined ? {} : { code }) } };
  }
  return { ok: true, plan: { files: netFiles(workspace.states.filter((state) => state.touched)), summary } };
}

class Planner {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  async take(hunk: FileHunk): Promise<SummaryLine> {
    switch (hunk.type) {
      case 'add':
        return this.#add(hunk);
      case 'delete':
        return this.#delete(hunk);
      case 'update':
        return this.#update(hunk);
      default:
        return assertNever(hunk);
    }
  }

  async #add(hunk: Hunk<'add'>): Promise<SummaryLine> {
    const abs = this.#workspace.resolve(hunk.path);
    if (hasLoneSurrogate(hunk.content)) throw new PlanFailure(loneSurrogateText(abs, hunk.line), abs);
    const state = await this.#workspace.open(abs, 'Failed to write file');
    const existing = state.current;
    if (existing !== undefined && (state.original === undefined || existing !== state.original.bytes)) {
      throw new PlanFailure(
        `Failed to write file ${abs}: line ${hunk.line} of the patch adds it, but an earlier section of the patch already wrote it. Name each file once`,
        abs,
      );
    }
    if (existing !== undefined && decodeUtf8(existing) === undefined) {
      throw new PlanFailure(
        `Failed to write file ${abs}: it exists and is not UTF-8 text, so what would be lost cannot be shown. Delete it in a patch of its own first`,
        abs,
      );
    }
    await this.#workspace.checkFolders(state, 'Failed to write file');
    state.current = encodeUtf8(hunk.content);
    state.touched = true;
    state.overwrite = existing !== undefined;
    return { letter: state.overwrite ? 'M' : 'A', path: hunk.path, overwrote: state.overwrite };
  }

  async #delete(hunk: Hunk<'delete'>): Promise<SummaryLine> {
    const abs = this.#workspace.resolve(hunk.path);
    const state = await this.#workspace.openEntry(abs, 'Failed to delete file');
    if (state.current === undefined && state.link === undefined) throw new PlanFailure(`Failed to read ${abs}: ${missing(state)}`, abs);
    state.current = undefined;
    state.origin = undefined;
    state.touched = true;
    return { letter: 'D', path: hunk.path, overwrote: false };
  }

  async #update(hunk: Hunk<'update'>): Promise<SummaryLine> {
    const abs = this.#workspace.resolve(hunk.path);
    const source = await this.#workspace.open(abs, 'Failed to read file to update');
    const before = source.current;
    if (before === undefined) {
      const hint = source.original ? '' : ". To make a new file use '*** Add File: {path}'";
      throw new PlanFailure(`Failed to read file to update ${abs}: ${missing(source)}${hint}`, abs);
    }
    // Without hunks the bytes are moved as they are, whatever they hold.
    const after = hunk.chunks.length === 0 ? before : edited(abs, before, hunk);
    const destination = hunk.moveTo === undefined ? undefined : await this.#destination(hunk.moveTo, source, abs);
    if (destination === undefined) {
      source.current = after;
      source.touched = true;
      return { letter: 'M', path: hunk.path, overwrote: false };
    }
    const taken = await this.#workspace.openEntry(abs, 'Failed to move file');
    destination.current = after;
    destination.touched = true;
    destination.origin = taken.origin ?? taken;
    taken.current = undefined;
    taken.touched = true;
    taken.origin = undefined;
    return { letter: 'M', path: hunk.moveTo ?? hunk.path, overwrote: false };
  }

  /** undefined when the move leads back to the file itself, however the path is written. */
  async #destination(written: string, source: FileState, from: string): Promise<FileState | undefined> {
    const abs = this.#workspace.resolve(written);
    if (abs === from) return undefined;
    const destination = await this.#workspace.open(abs, `Failed to move ${from} to`);
    if (destination === source || isSameFile(destination, source)) return undefined;
    if (destination.current !== undefined) {
      throw new PlanFailure(
        `Failed to move ${from} to ${abs}: a file of that name exists already. Choose another name, or delete that file first`,
        abs,
      );
    }
    await this.#workspace.checkFolders(destination, `Failed to move ${from} to`);
    return destination;
  }
}

const missing = (state: FileState): string =>
  state.original ? 'an earlier section of this patch removes it' : 'No such file or directory';

/** On a file system without regard to case two spellings are one file; two hard links are not. */
function isSameFile(a: FileState, b: FileState): boolean {
  const [one, other] = [a.original?.stat, b.original?.stat];
  return (
    one !== undefined &&
    other !== undefined &&
    one.dev === other.dev &&
    one.ino === other.ino &&
    a.entry.toLowerCase() === b.entry.toLowerCase()
  );
}

function edited(abs: string, before: Uint8Array, hunk: Hunk<'update'>): Uint8Array {
  const text = decodeUtf8(before);
  if (text === undefined) {
    throw new PlanFailure(
      `Failed to update ${abs}: the file is not UTF-8 text and is left untouched, since its encoding would be lost. Change it with a command that knows the encoding`,
      abs,
    );
  }
  const result = applyChunks(text, hunk.chunks, abs);
  if (!result.ok) throw new PlanFailure(result.message, abs);
  return result.text === text ? before : encodeUtf8(result.text);
}

// ---------- the net change of each file ----------

function netFiles(states: readonly FileState[]): PlannedFile[] {
  const moved = new Map<FileState, FileState>();
  for (const state of states) {
    const from = state.origin;
    // A file is shown as moved when it left nothing behind and replaced nothing.
    if (from && state.current && !state.original && !from.current && from.original) moved.set(from, state);
  }
  const destinations = new Set(moved.values());
  const files: PlannedFile[] = [];
  for (const state of states) {
    const to = moved.get(state);
    const file = to ? movedFile(state, to) : destinations.has(state) ? undefined : netFile(state);
    if (file) files.push(file);
  }
  return files;
}

function movedFile(from: FileState, to: FileState): PlannedFile | undefined {
  if (!from.original || !to.current) return undefined;
  const affected = [...new Set([from.entry, to.entry, to.target])];
  const { path: at, entry, link, original } = from;
  return { type: 'move', path: at, affected, entry, link, before: original, to: to.path, target: to.target, after: to.current };
}

function netFile(state: FileState): PlannedFile | undefined {
  const { path: at, entry, target, original, current, link, overwrite } = state;
  const affected = [...new Set([entry, target])];
  if (current === undefined) {
    if (original === undefined && link === undefined) return undefined;
    return {
      type: 'delete',
      path: at,
      affected: link === undefined ? affected : [entry],
      entry: link === undefined ? target : entry,
      before: original,
      link,
    };
  }
  if (original === undefined) return { type: 'add', path: at, affected, target, after: current };
  return { type: 'update', path: at, affected, target, before: original, after: current, overwrite };
}
