// Lines of a file, their endings kept. A line ends at \n only: U+2028 and a lone \r are content.
import type { LineEnding } from './patch.ts';

export interface FileLine {
  /** Without its ending. */
  readonly text: string;
  /** '' for the last line of a file that does not end with a newline. */
  readonly eol: LineEnding | '';
}

export interface FileText {
  readonly bom: boolean;
  readonly lines: readonly FileLine[];
  /** The ending most lines have, of equally many the one that comes first; undefined when no line has one. */
  readonly eol: LineEnding | undefined;
}

const BOM = '\ufeff';

/** The pieces of a text, each with its ending: joined they are the text again. */
export function splitKeepingEnds(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

export function splitEnding(line: string): FileLine {
  if (line.endsWith('\r\n')) return { text: line.slice(0, -2), eol: '\r\n' };
  if (line.endsWith('\n')) return { text: line.slice(0, -1), eol: '\n' };
  return { text: line, eol: '' };
}

export function parseFileText(text: string): FileText {
  const bom = text.startsWith(BOM);
  const lines = splitKeepingEnds(bom ? text.slice(1) : text).map(splitEnding);
  let crlf = 0;
  let lf = 0;
  for (const line of lines) {
    if (line.eol === '\r\n') crlf++;
    else if (line.eol === '\n') lf++;
  }
  const first = lines[0]?.eol || undefined;
  const eol = crlf === lf ? first : crlf > lf ? '\r\n' : '\n';
  return { bom, lines, eol };
}

export function formatFileText(bom: boolean, lines: readonly FileLine[]): string {
  const parts: string[] = bom ? [BOM] : [];
  lines.forEach((line, i) => {
    // The mark is kept once, also when the new first line was written with it.
    parts.push(bom && i === 0 && line.text.startsWith(BOM) ? line.text.slice(1) : line.text, line.eol);
  });
  return parts.join('');
}

/** The text of UTF-8 bytes, the byte order mark kept as a character; undefined when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Half a surrogate pair has no UTF-8 form: it would be written as another character. */
export const hasLoneSurrogate = (text: string): boolean => /\p{Surrogate}/u.test(text);
