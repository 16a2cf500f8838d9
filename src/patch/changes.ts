// The wire form of a patch: previews while it streams, and the changes of a plan. Paths are absolute, sorted.
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import { unifiedHunks } from './diff.ts';
import { decodeUtf8 } from './lines.ts';
import type { FileChange } from './patch.ts';
import type { Plan, PlannedFile } from './plan.ts';
import type { SectionPreview } from './sections.ts';

const CONTEXT = 1;

const byPath = (changes: FileChange[]): FileChange[] => changes.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));

/** A move is told by `move_path`, never inside the diff. */
export const changesOf = (plan: Plan): FileChange[] => byPath(plan.files.map(changeOf));

function changeOf(file: PlannedFile): FileChange {
  switch (file.type) {
    case 'add':
      return { path: file.path, kind: { type: 'add' }, diff: content(file.after) };
    case 'delete':
      return { path: file.path, kind: { type: 'delete' }, diff: file.before ? content(file.before.bytes) : '' };
    case 'update':
      return { path: file.path, kind: { type: 'update', move_path: null }, diff: hunks(file.before.bytes, file.after) };
    case 'move':
      return { path: file.path, kind: { type: 'update', move_path: file.to }, diff: hunks(file.before.bytes, file.after) };
    default:
      return assertNever(file);
  }
}

const content = (bytes: Uint8Array): string => decodeUtf8(bytes) ?? `Binary file, ${bytes.length} bytes\n`;

function hunks(before: Uint8Array, after: Uint8Array): string {
  if (before === after) return '';
  const old = decodeUtf8(before);
  const now = decodeUtf8(after);
  if (old === undefined || now === undefined) return `Binary file, ${before.length} bytes before, ${after.length} bytes after\n`;
  return unifiedHunks(old, now, CONTEXT);
}

/** What the text of a patch says so far, or said before it failed: nothing is read from disk, sections of one file are joined. */
export function previewChanges(sections: readonly SectionPreview[], cwd: string): FileChange[] {
  const changes = new Map<string, FileChange>();
  const absolute = (written: string): string => path.resolve(cwd, written);
  for (const { type, path: written, moveTo, diff } of sections) {
    const at = absolute(written);
    const known = changes.get(at);
    if (type === 'update' && known && known.kind.type !== 'delete') {
      known.diff += diff;
      if (moveTo !== undefined && known.kind.type === 'update') known.kind.move_path = absolute(moveTo);
      continue;
    }
    const kind: FileChange['kind'] = type === 'update' ? { type, move_path: moveTo === undefined ? null : absolute(moveTo) } : { type };
    changes.set(at, { path: at, kind, diff });
  }
  return byPath([...changes.values()]);
}
