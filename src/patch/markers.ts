// The `***` and `@@` lines of the patch language, recognised with any white space around and inside them.

export type Marker =
  | { readonly type: 'begin' | 'end' | 'endOfFile' }
  | { readonly type: 'add' | 'delete' | 'update' | 'moveTo'; readonly path: string };

export const BEGIN = '*** Begin Patch';
export const END = '*** End Patch';
const FILE_HEADER = /^(Add|Delete|Update)\s+File\s*:(.*)$/s;
const MOVE = /^Move\s+to\s*:(.*)$/s;

export function markerOf(line: string): Marker | undefined {
  const text = line.trim();
  if (!text.startsWith('***')) return undefined;
  const body = text.slice(3).trim();
  if (/^Begin\s+Patch$/.test(body)) return { type: 'begin' };
  if (/^End\s+Patch$/.test(body)) return { type: 'end' };
  if (/^End\s+of\s+File$/.test(body)) return { type: 'endOfFile' };
  const file = FILE_HEADER.exec(body);
  if (file) return { type: file[1].toLowerCase() as 'add' | 'delete' | 'update', path: file[2].trim() };
  const move = MOVE.exec(body);
  return move ? { type: 'moveTo', path: move[1].trim() } : undefined;
}

const RANGE = /^-(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/;

/** The text after `@@`: an anchor, a line hint (the header of a unified diff), or nothing. */
export function anchorOf(line: string): { anchor?: string; lineHint?: number } {
  const text = line.slice(2);
  const range = RANGE.exec(text.trim());
  if (range) {
    const start = Number(range[1]);
    // A range of no lines names the line after which text is added; any other names its first line.
    return { lineHint: range[2] === '0' ? start : Math.max(0, start - 1) };
  }
  const anchor = (text.startsWith(' ') ? text.slice(1) : text).trimEnd().replace(/\s+@@$/, '');
  return anchor.trim() === '' ? {} : { anchor };
}

/** The opening line of a here-document, with or without the command in front: its delimiter. */
export function heredocDelimiter(line: string): string | undefined {
  return /^\s*(?:apply_?patch\s+)?<<-?\s*(['"]?)([A-Za-z_][\w.-]*)\1\s*$/.exec(line)?.[2];
}

export const isFence = (line: string): boolean => /^\s*```[\w-]*\s*$/.test(line);
