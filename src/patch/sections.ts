// Builders of the parser: the file section and the hunk that lines are being added to, with the preview that grows beside them.
import { emptyChunkError, emptyUpdateError, type ParseError } from './parse-error.ts';
import type { Chunk, FileHunk, LineEnding, PatchLine } from './patch.ts';

/** A file section as far as it is known: what a client may be shown while the text still comes. */
export interface SectionPreview {
  readonly type: 'add' | 'delete' | 'update';
  /** As written in the patch. */
  readonly path: string;
  readonly moveTo: string | undefined;
  readonly diff: string;
}

class ChunkBuilder {
  readonly line: number;
  readonly anchors: string[] = [];
  readonly lines: PatchLine[] = [];
  /** The following four are written by the section while lines arrive, each at most once. */
  lineHint: number | undefined;
  endOfFile = false;
  oldUnterminated = false;
  newUnterminated = false;

  constructor(line: number) {
    this.line = line;
  }

  /** Blank lines at the edges of a hunk that only adds are gaps, those between added lines are added blank lines. */
  finish(): Chunk {
    let lines = this.lines;
    if (!lines.some((l) => l.sign !== '+' && !l.bare)) {
      const first = lines.findIndex((l) => !l.bare);
      const last = lines.findLastIndex((l) => !l.bare);
      lines = lines.slice(Math.max(0, first), last + 1).map((l): PatchLine => (l.bare ? { sign: '+', text: '', eol: l.eol } : l));
    }
    const { line, anchors, endOfFile, oldUnterminated, newUnterminated, lineHint } = this;
    return { line, anchors, lines, endOfFile, oldUnterminated, newUnterminated, ...(lineHint === undefined ? {} : { lineHint }) };
  }
}

export class Section {
  readonly type: 'add' | 'delete' | 'update';
  readonly path: string;
  readonly line: number;
  /** Set by a move line before the first hunk. */
  moveTo: string | undefined;
  /** Grows by whole lines; never rewritten, so that a preview costs what is new. */
  #diff = '';
  /** Of an added file. Invariant: a blank line without a plus waits in #gap until another line of the file follows. */
  #content = '';
  #gap = '';
  readonly #chunks: Chunk[] = [];
  #chunk: ChunkBuilder | undefined;

  constructor(type: 'add' | 'delete' | 'update', path: string, line: number) {
    this.type = type;
    this.path = path;
    this.line = line;
  }

  get started(): boolean {
    return this.#chunk !== undefined || this.#chunks.length > 0;
  }

  get atEndOfFile(): boolean {
    return this.#chunk?.endOfFile ?? false;
  }

  preview(): SectionPreview {
    return { type: this.type, path: this.path, moveTo: this.moveTo, diff: this.#diff };
  }

  addContent(text: string, eol: LineEnding): void {
    const added = `${this.#gap}${text}${eol}`;
    this.#gap = '';
    this.#content += added;
    this.#diff += added;
  }

  addGap(eol: LineEnding): void {
    this.#gap += eol;
  }

  dropFinalNewline(): void {
    this.#content = this.#content.replace(/\r?\n$/, '');
  }

  /** A `@@` line: one more anchor while the hunk has no lines yet, else the next hunk. */
  openChunk(line: number, at: { anchor?: string; lineHint?: number }): ParseError | undefined {
    const open = this.#chunk;
    const nested = open !== undefined && !open.endOfFile && open.lines.every((l) => l.bare);
    if (open && !nested) {
      const error = this.#closeChunk();
      if (error) return error;
    }
    const chunk = nested ? open : new ChunkBuilder(line);
    if (nested) chunk.lines.length = 0;
    this.#chunk = chunk;
    if (at.anchor !== undefined) chunk.anchors.push(at.anchor);
    if (at.lineHint !== undefined) chunk.lineHint = at.lineHint;
    this.#diff += at.anchor === undefined ? '@@\n' : `@@ ${at.anchor}\n`;
    return undefined;
  }

  addLine(line: number, body: PatchLine): void {
    this.#chunk ??= new ChunkBuilder(line);
    this.#chunk.lines.push(body);
    this.#diff += `${body.bare ? ' ' : body.sign}${body.text}\n`;
  }

  endOfFile(line: number): void {
    this.#chunk ??= new ChunkBuilder(line);
    this.#chunk.endOfFile = true;
  }

  /** `\ No newline at end of file` speaks of the line before it. */
  unterminated(): void {
    const chunk = this.#chunk;
    const sign = chunk?.lines.at(-1)?.sign;
    if (!chunk || sign === undefined) return;
    if (sign !== '+') chunk.oldUnterminated = true;
    if (sign !== '-') chunk.newUnterminated = true;
  }

  /** Takes a last line that turned out to be an indented end marker out of the hunk. */
  takeLastIf(test: (line: PatchLine) => boolean): boolean {
    const lines = this.#chunk?.lines;
    const last = lines?.findLastIndex((l) => !l.bare) ?? -1;
    if (!lines || last < 0 || !test(lines[last])) return false;
    lines.length = last;
    return true;
  }

  #closeChunk(): ParseError | undefined {
    const open = this.#chunk;
    if (!open) return undefined;
    this.#chunk = undefined;
    const chunk = open.finish();
    if (chunk.lines.length === 0) return emptyChunkError(open.line);
    this.#chunks.push(chunk);
    return undefined;
  }

  /** Called once, when the next header or the end of the patch is reached. */
  close(): ParseError | undefined {
    const error = this.#closeChunk();
    if (error) return error;
    const isEmpty = this.type === 'update' && this.#chunks.length === 0 && this.moveTo === undefined;
    return isEmpty ? emptyUpdateError(this.line, this.path) : undefined;
  }

  build(): FileHunk {
    const { type, path, line } = this;
    if (type === 'delete') return { type, path, line };
    if (type === 'add') return { type, path, line, content: this.#content };
    return { type, path, line, chunks: this.#chunks, ...(this.moveTo === undefined ? {} : { moveTo: this.moveTo }) };
  }
}
