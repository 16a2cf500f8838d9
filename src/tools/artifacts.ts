// What was cut from a result is kept whole in a file under the thread, and named in the result. Ids are the file names without ending.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { utf8HeadLength, utf8TailStart } from '../common/text.ts';

export interface ArtifactPort {
  /** Keeps a text and gives its path, or null when nothing may be kept (an ephemeral thread) or the disk refuses. Never throws. */
  save(callId: string, text: string): Promise<string | null>;
}

export const noArtifacts: ArtifactPort = { save: async () => null };

const NAME_LENGTH = 80;

/** A name for a file: an id that had to change carries a hash of the whole, so that two ids never share a file. */
function safe(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_LENGTH);
  if (clean === name && clean !== '') return clean;
  return `${clean.slice(0, NAME_LENGTH - 13)}_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}

/** At most this much of one artifact is read at once. */
const READ_LIMIT = 64 * 1024;

export type ArtifactReading =
  | { type: 'text'; text: string; offset: number; nextOffset: number | null; totalBytes: number }
  | { type: 'unknown'; known: string[] };

export class ArtifactStore implements ArtifactPort {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Where the artifact of a call lies, whether it exists or not. */
  pathOf(callId: string): string {
    return path.join(this.#dir, `${safe(callId)}.txt`);
  }

  async save(callId: string, text: string): Promise<string | null> {
    const file = this.pathOf(callId);
    try {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await writeFile(file, text, { mode: 0o600 });
      return file;
    } catch (error) {
      logger().warn({ file, error: messageOf(error) }, 'artifact not kept');
      return null;
    }
  }

  /** Reads a range in bytes, moved inwards to whole characters. `id`: the name of the file, with or without its folder and ending, or the id of the call. */
  async read(id: string, offset: number, limit: number): Promise<ArtifactReading> {
    const name = path.basename(id).replace(/\.txt$/, '');
    const handle = (await openOrNull(path.join(this.#dir, `${safe(name)}.txt`))) ?? (await openOrNull(this.pathOf(id)));
    if (!handle) return { type: 'unknown', known: await this.#known() };
    try {
      return await readRange(handle, offset, limit);
    } finally {
      await handle.close();
    }
  }

  async #known(): Promise<string[]> {
    try {
      return (await readdir(this.#dir)).map((file) => file.replace(/\.txt$/, '')).slice(0, 50);
    } catch {
      return [];
    }
  }
}

async function openOrNull(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'r');
  } catch {
    return null;
  }
}

/** The longest character of UTF-8. */
const CHARACTER = 4;

async function readRange(handle: FileHandle, offset: number, limit: number): Promise<ArtifactReading> {
  const totalBytes = (await handle.stat()).size;
  const from = Math.min(Math.max(0, offset), totalBytes);
  const wanted = Math.min(Math.max(CHARACTER, limit), READ_LIMIT, totalBytes - from);
  const buffer = Buffer.alloc(Math.min(wanted + CHARACTER, totalBytes - from));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  const bytes = buffer.subarray(0, bytesRead);
  const start = from === 0 ? 0 : utf8TailStart(bytes, bytes.length);
  const end = Math.max(start, utf8HeadLength(bytes, wanted));
  const nextOffset = from + end < totalBytes ? from + end : null;
  return { type: 'text', text: bytes.toString('utf8', start, end), offset: from + start, nextOffset, totalBytes };
}
