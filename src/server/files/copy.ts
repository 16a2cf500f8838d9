// Copies a file, a link or a tree. A tree is copied only when told to, and never into itself.
import { constants, type Dirent, type Stats } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, opendir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { invalidParams, systemCode } from '../../common/errors.ts';
import { onPath } from './host-path.ts';

const METHOD = 'fs/copy';

export interface CopyRequest {
  source: string;
  destination: string;
  recursive: boolean;
  signal: AbortSignal;
}

const orMissing = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
  throw error;
};

/** Where a path that need not exist yet would be, links in its existing part followed. */
async function realPlace(target: string): Promise<string> {
  const found = await realpath(target).catch(orMissing);
  if (found !== undefined) return found;
  const parent = path.dirname(target);
  return parent === target ? target : path.join(await realPlace(parent), path.basename(target));
}

async function refuseCopyIntoItself(source: string, destination: string): Promise<void> {
  const from = await realPlace(source);
  const to = await realPlace(destination);
  if (to === from || to.startsWith(from.endsWith(path.sep) ? from : from + path.sep))
    throw invalidParams(`params.destinationPath: ${destination} is ${source} itself or lies inside it; a directory cannot be copied there`);
}

async function copyOne(entry: Dirent | Stats, source: string, destination: string): Promise<void> {
  if (entry.isSymbolicLink()) return onPath(METHOD, destination, async () => symlink(await readlink(source), destination));
  if (!entry.isFile()) throw invalidParams(`${METHOD}: ${source} is neither a file, a directory nor a link`);
  await onPath(METHOD, source, async () => {
    const [from, to] = await Promise.all([stat(source), stat(destination).catch(orMissing)]);
    if (to && to.dev === from.dev && to.ino === from.ino)
      throw invalidParams(`params.destinationPath: ${destination} is the same file as ${source}`);
    if (to?.isDirectory()) throw invalidParams(`params.destinationPath: ${destination} is a directory; name the file inside it`);
    if (to && !to.isFile()) throw invalidParams(`params.destinationPath: ${destination} is not a regular file`);
  });
  // The system does not tell which of the two it means; the source could be looked at a moment ago.
  await onPath(METHOD, `${source} to ${destination}`, () => copyFile(source, destination, constants.COPYFILE_FICLONE));
}

/** True when the directory is new. One that exists takes the entries in. */
async function makeDirectory(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return false;
    throw error;
  }
}

async function copyTree(source: string, destination: string, signal: AbortSignal): Promise<void> {
  const pending = [''];
  /** Modes are set when all is copied: a directory may be one that its owner cannot write to. */
  const modes: [string, number][] = [];
  for (let relative = pending.pop(); relative !== undefined; relative = pending.pop()) {
    const [from, to] = [path.join(source, relative), path.join(destination, relative)];
    const made = await onPath(METHOD, to, () => makeDirectory(to));
    if (made) modes.push([to, (await onPath(METHOD, from, () => stat(from))).mode & 0o7777]);
    await onPath(METHOD, from, async () => {
      for await (const entry of await opendir(from)) {
        signal.throwIfAborted();
        if (entry.isDirectory()) pending.push(path.join(relative, entry.name));
        else await copyOne(entry, path.join(from, entry.name), path.join(to, entry.name));
      }
    });
  }
  for (const [directory, mode] of modes.reverse()) await onPath(METHOD, directory, () => chmod(directory, mode));
}

/** What was copied before an error stays. Throws an RpcError that names the path. */
export async function copyPath({ source, destination, recursive, signal }: CopyRequest): Promise<void> {
  const found = await onPath(METHOD, source, () => lstat(source));
  if (!found.isDirectory()) return copyOne(found, source, destination);
  if (!recursive) throw invalidParams(`params.recursive: ${source} is a directory; copying it needs recursive: true`);
  await onPath(METHOD, destination, () => refuseCopyIntoItself(source, destination));
  await copyTree(source, destination, signal);
}
