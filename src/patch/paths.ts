// Where a path of a patch really leads. Judged before anything is made: links are followed from the nearest ancestor that exists.
import path from 'node:path';
import type { PatchFs } from './fs.ts';

const MAX_LINKS = 40;

export class PathError extends Error {
  readonly path: string;

  constructor(message: string, at: string) {
    super(message);
    this.name = 'PathError';
    this.path = at;
  }
}

/** Absolute and without `.` and `..`; nothing is read. */
export function resolvePatchPath(cwd: string, written: string): string {
  if (written.includes('\0')) throw new PathError('the path holds a NUL character', written.replaceAll('\0', '\\0'));
  return path.resolve(cwd, written);
}

/** The path with every link followed, its missing rest appended: also the end of a link that leads to nothing yet. */
export async function realTarget(abs: string, fs: PatchFs, links = 0): Promise<string> {
  if (links > MAX_LINKS) throw new PathError('too many symbolic links', abs);
  const real = await fs.realPath(abs);
  if (real !== undefined) return real;
  const parent = path.dirname(abs);
  if (parent === abs) return abs;
  const realParent = await realTarget(parent, fs, links);
  const entry = path.join(realParent, path.basename(abs));
  const stat = await fs.lstat(entry);
  if (stat?.type !== 'link') return entry;
  return realTarget(path.resolve(realParent, await fs.readLink(entry)), fs, links + 1);
}

/** The directory entry itself: its folder's links followed, its own not. */
export async function realEntry(abs: string, fs: PatchFs): Promise<string> {
  const parent = path.dirname(abs);
  return parent === abs ? abs : path.join(await realTarget(parent, fs), path.basename(abs));
}

export const isInside = (folder: string, file: string): boolean => {
  const relative = path.relative(folder, file);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};

/** All folders above a path, the nearest first. */
export function ancestors(file: string): string[] {
  const folders: string[] = [];
  for (let at = path.dirname(file), below = file; at !== below; below = at, at = path.dirname(at)) folders.push(at);
  return folders;
}
