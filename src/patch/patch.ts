// The parsed patch: what the parser hands to the planner. Plain data, paths exactly as the author wrote them.

export type LineEnding = '\n' | '\r\n';

/** One line of a hunk, its sign and any carriage return taken off. */
export interface PatchLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  /** The ending this line has in the patch text; only a file without any ending of its own takes it over. */
  readonly eol: LineEnding;
  /** A blank line written without its leading space: perhaps context, perhaps only a gap between hunks. */
  readonly bare?: true;
}

export interface Chunk {
  /** Line of the patch at which the hunk begins, from 1. */
  readonly line: number;
  /** Texts of the `@@` lines before the hunk, outermost first. */
  readonly anchors: readonly string[];
  /** Zero-based line of the old file from a `@@ -a,b +c,d @@` header: a hint among equal places, nothing more. */
  readonly lineHint?: number;
  readonly lines: readonly PatchLine[];
  readonly endOfFile: boolean;
  /** `\ No newline at end of file` after a removed or context line, and after an added or context one. */
  readonly oldUnterminated: boolean;
  readonly newUnterminated: boolean;
}

export type FileHunk =
  /** Content with the line endings of the patch text itself. */
  | { readonly type: 'add'; readonly path: string; readonly line: number; readonly content: string }
  | { readonly type: 'delete'; readonly path: string; readonly line: number }
  | { readonly type: 'update'; readonly path: string; readonly line: number; readonly moveTo?: string; readonly chunks: readonly Chunk[] };

export interface Patch {
  readonly hunks: readonly FileHunk[];
}

/** What a client is shown of one file: the wire form of a change. */
export interface FileChange {
  path: string;
  kind: { type: 'add' } | { type: 'delete' } | { type: 'update'; move_path: string | null };
  diff: string;
}
