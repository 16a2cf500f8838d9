// The port to the file system, and its plain implementation. A sandboxed one may stand in its place: the engine uses nothing else.
import { constants } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import { systemCode } from '../common/errors.ts';

export interface FileStat {
  readonly type: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly dev: number;
  readonly ino: number;
}

/**
 * Contract: paths are absolute. Every method may reject, with the system's code (ENOENT, EACCES, …) on the error where there is one;
 * what is said to give undefined for a missing file does not reject for it.
 */
export interface PatchFs {
  /** Of what the path leads to; undefined when there is nothing. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Of the entry itself, a link included; undefined when there is none. */
  lstat(path: string): Promise<FileStat | undefined>;
  /** undefined when the path does not lead to anything that exists. */
  realPath(path: string): Promise<string | undefined>;
  readLink(path: string): Promise<string>;
  readFile(path: string): Promise<Uint8Array>;
  /** Makes a file that must not exist yet; with mode and owner of `like` when it is given, else as a new file gets them. */
  writeNew(path: string, bytes: Uint8Array, like?: FileStat): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a link, never a folder. */
  remove(path: string): Promise<void>;
  makeLink(target: string, path: string): Promise<void>;
  /** One level. */
  makeFolder(path: string): Promise<void>;
  /** Only an empty one. */
  removeFolder(path: string): Promise<void>;
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function statWith(read: (path: string) => ReturnType<typeof nodeFs.stat>, path: string): Promise<FileStat | undefined> {
  const found = await orMissing(read(path));
  if (!found) return undefined;
  const type = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other';
  const { size, uid, gid, dev, ino } = found;
  return {
    type,
    size: Number(size),
    mode: Number(found.mode) & 0o7777,
    uid: Number(uid),
    gid: Number(gid),
    dev: Number(dev),
    ino: Number(ino),
  };
}

async function writeNew(path: string, bytes: Uint8Array, like?: FileStat): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  // Private until its mode is set, so that the content of a secret file is never readable on the way.
  const file = await nodeFs.open(path, flags, like ? 0o600 : 0o666);
  try {
    await file.writeFile(bytes);
    if (like) {
      const differs = like.uid !== process.getuid?.() || like.gid !== process.getgid?.();
      // Only root may give a file away; for anyone else the new file is their own, as with any editor.
      if (differs) await file.chown(like.uid, like.gid).catch(() => {});
      await file.chmod(like.mode);
    }
  } finally {
    await file.close();
  }
}

export function nodePatchFs(): PatchFs {
  return {
    stat: (path) => statWith((p) => nodeFs.stat(p), path),
    lstat: (path) => statWith((p) => nodeFs.lstat(p), path),
    realPath: (path) => orMissing(nodeFs.realpath(path)),
    readLink: (path) => nodeFs.readlink(path),
    readFile: (path) => nodeFs.readFile(path),
    writeNew,
    rename: (from, to) => nodeFs.rename(from, to),
    remove: (path) => nodeFs.unlink(path),
    makeLink: (target, path) => nodeFs.symlink(target, path),
    makeFolder: async (path) => {
      await nodeFs.mkdir(path);
    },
    removeFolder: (path) => nodeFs.rmdir(path),
  };
}
