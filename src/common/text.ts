// Cutting text without breaking a character. Lengths are UTF-16 code units unless a name says bytes.

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The first `length` code units, one fewer when that would split a surrogate pair. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length <= 0) return '';
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last `length` code units, one fewer when that would split a surrogate pair. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length <= 0) return '';
  const start = text.length - length;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

/** A bounded echo for error texts: never longer than `length` plus an ellipsis. */
export function preview(text: string, length = 200): string {
  return text.length <= length ? text : `${headOf(text, length)}…`;
}

const continuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** The largest n ≤ length such that the first n bytes of UTF-8 do not end inside a character. */
export function utf8HeadLength(bytes: Uint8Array, length: number): number {
  if (length >= bytes.length) return bytes.length;
  let n = Math.max(0, length);
  while (n > 0 && continuation(bytes[n])) n--;
  return n;
}

/** The smallest offset ≥ bytes.length − length at which a character begins. */
export function utf8TailStart(bytes: Uint8Array, length: number): number {
  let start = Math.max(0, bytes.length - Math.max(0, length));
  while (start < bytes.length && continuation(bytes[start])) start++;
  return start;
}
