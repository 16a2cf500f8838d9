// The streaming parser: text in as it arrives, changes known so far out, a patch or one teaching error at the end.
// Each line is looked at once, when it is complete: the cost of a delta does not grow with the patch.
import { assertNever } from '../common/assert-never.ts';
import { anchorOf, heredocDelimiter, isFence, type Marker, markerOf } from './markers.ts';
import type { ParseError } from './parse-error.ts';
import * as errors from './parse-error.ts';
import type { LineEnding, Patch } from './patch.ts';
import { Section, type SectionPreview } from './sections.ts';

export type ParseResult = { ok: true; patch: Patch } | { ok: false; error: ParseError };

/** start: before the begin marker · header: a file header must follow · body: inside an added or updated file · ended: after the end marker. */
type State = 'start' | 'header' | 'body' | 'ended';

export class PatchParser {
  /** Text after the last line break: the line that is still coming. */
  #tail = '';
  #lineNumber = 0;
  #state: State = 'start';
  /** Each section is closed when the next one begins; only the last may be open. */
  readonly #sections: Section[] = [];
  /** The first error; nothing is parsed after it. */
  #error: ParseError | undefined;
  /** Written by finish(), which may be called again and gives the same. */
  #result: ParseResult | undefined;
  /** What closes the wrapping around the whole patch, a here-document or a code fence. */
  #closer: string | undefined;
  /** White space before the begin marker, and whether the line after it showed that the whole patch has it. */
  #indent = '';
  #indented: boolean | undefined;
  /** The last line with text: an error at the end may have to quote it. */
  #last = { number: 1, text: '' };

  push(text: string): void {
    if (this.#result) return;
    let start = 0;
    for (;;) {
      const newline = text.indexOf('\n', start);
      if (newline < 0) break;
      const line = this.#tail + text.slice(start, newline);
      this.#tail = '';
      start = newline + 1;
      this.#takeLine(line);
    }
    this.#tail += text.slice(start);
  }

  /** The file sections seen so far, in patch order. */
  snapshot(): SectionPreview[] {
    return this.#sections.map((section) => section.preview());
  }

  finish(): ParseResult {
    this.#result ??= this.#end();
    return this.#result;
  }

  #end(): ParseResult {
    if (this.#tail !== '') {
      this.#takeLine(this.#tail);
      this.#tail = '';
    }
    if (!this.#error && this.#state !== 'ended') this.#error = this.#endWithoutMarker();
    if (!this.#error && this.#sections.length === 0) this.#error = errors.emptyPatchError(this.#lineNumber);
    return this.#error ? { ok: false, error: this.#error } : { ok: true, patch: { hunks: this.#sections.map((s) => s.build()) } };
  }

  #endWithoutMarker(): ParseError | undefined {
    if (this.#state === 'start') return errors.firstLineError(1, '');
    // In a hunk an indented end marker reads as a context line, until nothing follows it.
    const section = this.#sections.at(-1);
    if (section?.takeLastIf((line) => line.sign === ' ' && markerOf(line.text)?.type === 'end')) return section.close();
    return errors.lastLineError(this.#last.number, this.#last.text);
  }

  #takeLine(raw: string): void {
    this.#lineNumber++;
    if (this.#error) return;
    const eol: LineEnding = raw.endsWith('\r') ? '\r\n' : '\n';
    const line = eol === '\r\n' ? raw.slice(0, -1) : raw;
    this.#error = this.#parse(line, eol);
    if (line.trim() !== '') this.#last = { number: this.#lineNumber, text: line };
  }

  #parse(line: string, eol: LineEnding): ParseError | undefined {
    switch (this.#state) {
      case 'start':
        return this.#parseStart(line);
      case 'ended':
        return this.#parseAfterEnd(line);
      case 'header':
      case 'body': {
        if (line.trim() !== '') this.#indented ??= this.#indent !== '' && line.startsWith(this.#indent);
        const text = this.#indented ? this.#unindent(line) : line;
        if (text === undefined) return errors.indentError(this.#lineNumber, line);
        return this.#state === 'header' ? this.#parseHeader(text) : this.#parseBody(text, eol);
      }
      default:
        return assertNever(this.#state);
    }
  }

  /** undefined: the line breaks the indentation that the patch began with. */
  #unindent(line: string): string | undefined {
    if (line.startsWith(this.#indent)) return line.slice(this.#indent.length);
    if (line.trim() === '') return '';
    return markerOf(line) ? line.trim() : undefined;
  }

  #parseStart(line: string): ParseError | undefined {
    if (line.trim() === '') return undefined;
    const marker = markerOf(line);
    if (marker?.type === 'begin') {
      this.#indent = /^[ \t]*/.exec(line)?.[0] ?? '';
      this.#state = 'header';
      return undefined;
    }
    const closer = heredocDelimiter(line) ?? (isFence(line) ? '```' : undefined);
    if (closer !== undefined && this.#closer === undefined) {
      this.#closer = closer;
      return undefined;
    }
    return errors.firstLineError(this.#lineNumber, line);
  }

  #parseAfterEnd(line: string): ParseError | undefined {
    const text = line.trim();
    if (text === '') return undefined;
    if (text === this.#closer) {
      this.#closer = undefined;
      return undefined;
    }
    return errors.afterEndError(this.#lineNumber, line);
  }

  #parseHeader(line: string): ParseError | undefined {
    if (line.trim() === '') return undefined;
    const marker = markerOf(line);
    return marker ? this.#takeMarker(marker, line) : errors.headerError(this.#lineNumber, line);
  }

  /** Every marker but those that belong inside an update. */
  #takeMarker(marker: Marker, line: string): ParseError | undefined {
    switch (marker.type) {
      case 'add':
      case 'delete':
      case 'update': {
        if (marker.path === '') return errors.pathError(this.#lineNumber, line);
        const error = this.#sections.at(-1)?.close();
        if (error) return error;
        this.#sections.push(new Section(marker.type, marker.path, this.#lineNumber));
        this.#state = marker.type === 'delete' ? 'header' : 'body';
        return undefined;
      }
      case 'end': {
        this.#state = 'ended';
        return this.#sections.at(-1)?.close();
      }
      case 'begin':
      case 'endOfFile':
      case 'moveTo':
        return errors.headerError(this.#lineNumber, line);
      default:
        return assertNever(marker);
    }
  }

  #parseBody(line: string, eol: LineEnding): ParseError | undefined {
    const section = this.#sections[this.#sections.length - 1];
    return section.type === 'add' ? this.#parseAdded(section, line, eol) : this.#parseUpdate(section, line, eol);
  }

  #parseAdded(section: Section, line: string, eol: LineEnding): ParseError | undefined {
    if (line.startsWith('+')) {
      section.addContent(line.slice(1), eol);
      return undefined;
    }
    if (line.trim() === '') {
      section.addGap(eol);
      return undefined;
    }
    if (line.startsWith('\\ No newline')) {
      section.dropFinalNewline();
      return undefined;
    }
    const marker = markerOf(line);
    if (marker?.type === 'endOfFile') return undefined;
    if (marker) return this.#takeMarker(marker, line);
    return line.startsWith('***') ? errors.headerError(this.#lineNumber, line) : errors.addLineError(this.#lineNumber, line);
  }

  #parseUpdate(section: Section, line: string, eol: LineEnding): ParseError | undefined {
    // Once a hunk has begun, white space before a marker makes it a context line.
    const marker = line.startsWith('***') || !section.started ? markerOf(line) : undefined;
    if (marker) return this.#takeUpdateMarker(section, marker, line);
    if (line.startsWith('***')) return errors.headerError(this.#lineNumber, line);
    if (line.startsWith('@@')) return section.openChunk(this.#lineNumber, anchorOf(line));
    if (line === '') {
      if (section.started && !section.atEndOfFile) section.addLine(this.#lineNumber, { sign: ' ', text: '', eol, bare: true });
      return undefined;
    }
    if (line.startsWith('\\ No newline')) {
      section.unterminated();
      return undefined;
    }
    if (section.atEndOfFile) return line.trim() === '' ? undefined : errors.afterEndOfFileError(this.#lineNumber, line);
    const sign = line[0];
    if (sign !== ' ' && sign !== '+' && sign !== '-') return errors.hunkLineError(this.#lineNumber, line);
    section.addLine(this.#lineNumber, { sign, text: line.slice(1), eol });
    return undefined;
  }

  #takeUpdateMarker(section: Section, marker: Marker, line: string): ParseError | undefined {
    if (marker.type === 'endOfFile') {
      section.endOfFile(this.#lineNumber);
      return undefined;
    }
    if (marker.type !== 'moveTo') return this.#takeMarker(marker, line);
    if (section.started || section.moveTo !== undefined) return errors.headerError(this.#lineNumber, line);
    if (marker.path === '') return errors.pathError(this.#lineNumber, line);
    section.moveTo = marker.path;
    return undefined;
  }
}

export function parsePatch(text: string): ParseResult {
  const parser = new PatchParser();
  parser.push(text);
  return parser.finish();
}

/** Whether a text is a patch given as it is, as a command for instance. */
export function looksLikePatch(text: string): boolean {
  const first = /\S[^\n]*/.exec(text)?.[0];
  return first !== undefined && markerOf(first)?.type === 'begin';
}
