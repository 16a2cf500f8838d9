// fs/*: files of the machine for the client itself, outside the sandbox as the protocol has it. Paths are absolute, bytes are base64.
import type { Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { invalidParams, systemCode } from '../../common/errors.ts';
import { KeyedLock } from '../../common/keyed-lock.ts';
import type { FsGetMetadataResponse, FsReadDirectoryEntry } from '../../protocol/fs.ts';
import type { ClientSession } from '../client-session.ts';
import { copyPath } from '../files/copy.ts';
import { decodeBase64, readAsBase64, writeBytes } from '../files/file-bytes.ts';
import { hostPath, onPath } from '../files/host-path.ts';
import { FileWatches } from '../files/watches.ts';
import type { HandlersFor } from '../handler.ts';

async function metadataOf(target: string): Promise<FsGetMetadataResponse> {
  const own = await lstat(target);
  const isSymlink = own.isSymbolicLink();
  // A link that leads nowhere is there all the same; it is neither file nor directory.
  const found = isSymlink ? await stat(target).catch(() => own) : own;
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymlink,
    createdAtMs: Math.trunc(found.birthtimeMs),
    modifiedAtMs: Math.trunc(found.mtimeMs),
  };
}

async function entryOf(folder: string, entry: Dirent): Promise<FsReadDirectoryEntry> {
  const kind = entry.isSymbolicLink() ? await stat(path.join(folder, entry.name)).catch(() => entry) : entry;
  return { fileName: entry.name, isDirectory: kind.isDirectory(), isFile: kind.isFile() };
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1);

async function entriesOf(folder: string): Promise<FsReadDirectoryEntry[]> {
  const entries: FsReadDirectoryEntry[] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort(byName)) entries.push(await entryOf(folder, entry));
  return entries;
}

async function remove(target: string, { recursive, force }: { recursive: boolean; force: boolean }): Promise<void> {
  if (path.dirname(target) === target) throw invalidParams(`params.path: ${target} is the root of the file system and is not removed`);
  try {
    if (!(await lstat(target)).isDirectory()) await unlink(target);
    else if (recursive) await rm(target, { recursive: true, maxRetries: 2 });
    else await rmdir(target);
  } catch (error) {
    if (!force || systemCode(error) !== 'ENOENT') throw error;
  }
}

type Methods =
  | 'fs/readFile'
  | 'fs/writeFile'
  | 'fs/createDirectory'
  | 'fs/getMetadata'
  | 'fs/readDirectory'
  | 'fs/remove'
  | 'fs/copy'
  | 'fs/watch'
  | 'fs/unwatch';

export interface FsHandlers {
  handlers: HandlersFor<Methods>;
  /** Ends the watches of one client; for when it leaves. */
  endClient(client: ClientSession): void;
  endAll(): void;
}

export function fsHandlers(): FsHandlers {
  const watches = new FileWatches();
  /** Requests about one file are served in the order in which they came: what is read after a write is what was written. */
  const files = new KeyedLock();
  const handlers: HandlersFor<Methods> = {
    'fs/readFile': async (params, { signal }) => {
      const file = hostPath('path', params.path);
      return { dataBase64: await files.run(file, () => onPath('fs/readFile', file, () => readAsBase64(file, signal))) };
    },
    'fs/writeFile': async (params) => {
      const file = hostPath('path', params.path);
      const bytes = decodeBase64(params.dataBase64);
      if (!bytes) throw invalidParams('params.dataBase64: expected standard base64 with padding');
      await files.run(file, () => onPath('fs/writeFile', file, () => writeBytes(file, bytes)));
      return {};
    },
    'fs/createDirectory': async (params) => {
      const folder = hostPath('path', params.path);
      await files.run(folder, () => onPath('fs/createDirectory', folder, () => mkdir(folder, { recursive: params.recursive ?? true })));
      return {};
    },
    'fs/getMetadata': async (params) => {
      const target = hostPath('path', params.path);
      return files.run(target, () => onPath('fs/getMetadata', target, () => metadataOf(target)));
    },
    'fs/readDirectory': async (params) => {
      const folder = hostPath('path', params.path);
      return { entries: await files.run(folder, () => onPath('fs/readDirectory', folder, () => entriesOf(folder))) };
    },
    'fs/remove': async (params) => {
      const target = hostPath('path', params.path);
      const how = { recursive: params.recursive ?? true, force: params.force ?? true };
      await files.run(target, () => onPath('fs/remove', target, () => remove(target, how)));
      return {};
    },
    'fs/copy': async (params, { signal }) => {
      const source = hostPath('sourcePath', params.sourcePath);
      const destination = hostPath('destinationPath', params.destinationPath);
      // In one order for all, so that two copies never wait for each other.
      const [first, second] = [source, destination].sort();
      const copy = () => copyPath({ source, destination, recursive: params.recursive ?? false, signal });
      await files.run(first, () => (first === second ? copy() : files.run(second, copy)));
      return {};
    },
    'fs/watch': ({ watchId, path: given }, { client }) => {
      const target = hostPath('path', given);
      watches.open(client, watchId, target);
      return { path: target };
    },
    'fs/unwatch': ({ watchId }, { client }) => {
      watches.close(client, watchId);
      return {};
    },
  };
  return { handlers, endClient: (client) => watches.endClient(client), endAll: () => watches.endAll() };
}
