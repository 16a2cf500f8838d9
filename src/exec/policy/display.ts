// A form of a command that is safe to show: what would move the cursor, hide text or turn its direction is spelled out. Shown beside
// the exact string, never run.

/** Control characters except tab and new line, and the characters that change or hide the order of text. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

export function spelledOut(command: string): string {
  return command.replace(HIDDEN, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}
