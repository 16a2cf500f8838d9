// A verified patch: what every file is and what it will be. Made by the planner, shown by changes.ts, carried out by the writer.
import type { FileStat } from './fs.ts';

export interface FileImage {
  readonly bytes: Uint8Array;
  readonly stat: FileStat;
}

interface Planned {
  /** Absolute, as the patch names it. */
  readonly path: string;
  /** Every real path that is written or removed, links followed: what an approval has to judge. */
  readonly affected: readonly string[];
}

export type PlannedFile =
  | (Planned & { readonly type: 'add'; readonly target: string; readonly after: Uint8Array })
  /** `overwrite`: an added file that exists already. `target` is the end of the link when the path is one. */
  | (Planned & {
      readonly type: 'update';
      readonly target: string;
      readonly before: FileImage;
      readonly after: Uint8Array;
      readonly overwrite: boolean;
    })
  /** Of a link only the link goes: `link` is what it holds, `before` what it leads to. */
  | (Planned & {
      readonly type: 'delete';
      readonly entry: string;
      readonly before: FileImage | undefined;
      readonly link: string | undefined;
    })
  | (Planned & {
      readonly type: 'move';
      readonly entry: string;
      readonly before: FileImage;
      readonly link: string | undefined;
      readonly to: string;
      readonly target: string;
      readonly after: Uint8Array;
    });

export interface SummaryLine {
  readonly letter: 'A' | 'M' | 'D';
  /** As written in the patch. */
  readonly path: string;
  readonly overwrote: boolean;
}

export interface Plan {
  /** The net change of each file, in the order in which the patch first names them. */
  readonly files: readonly PlannedFile[];
  /** One line a file section, in patch order. */
  readonly summary: readonly SummaryLine[];
}

export interface PlanError {
  /** Text for the model, without the prefix that summary.ts puts in front. */
  readonly message: string;
  /** Absolute paths of the files that failed. */
  readonly paths: readonly string[];
  /** The system's code when reading failed (EACCES, …). */
  readonly code?: string;
}

export type PlanResult = { ok: true; plan: Plan } | { ok: false; error: PlanError };

/** What happened to one path on disk: the before-image for an undo, both images for a diff. A move is two of them. */
export interface AppliedFile {
  readonly path: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  readonly mode: number;
  /** Set on the new path of a move. */
  readonly movedFrom?: string;
  /** The path was a symbolic link and is gone; what it held. */
  readonly link?: string;
}
