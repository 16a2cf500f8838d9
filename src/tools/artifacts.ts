// What was cut from a result is kept whole in a file under the thread, and named in the result. Ids are the file names without ending.
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';

export interface ArtifactPort {
  /** Keeps a text and gives its path, or null when nothing may be kept (an ephemeral thread) or the disk refuses. Never throws. */
  save(callId: string, text: string): Promise<string | null>;
}

export const noArtifacts: ArtifactPort = { save: async () => null };

const safe = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 80) || 'result';

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

  /** Reads a range in bytes, moved to character boundaries. */
  async read(id: string, offset: number, limit: number): Promise<ArtifactReading> {
    const name = path.basename(id).replace(/\.txt$/, '');
    try {
      const handle = await open(path.join(this.#dir, `${safe(name)}.txt`), 'r');
      try {
        const totalBytes = (await handle.stat()).size;
        const start = Math.min(Math.max(0, offset), totalBytes);
        const buffer = Buffer.alloc(Math.min(Math.max(1, limit), READ_LIMIT, Math.max(1, totalBytes - start)));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
        const text = new TextDecoder().decode(buffer.subarray(0, bytesRead));
        const end = start + bytesRead;
        return { type: 'text', text, offset: start, nextOffset: end < totalBytes ? end : null, totalBytes };
      } finally {
        await handle.close();
      }
    } catch {
      return { type: 'unknown', known: await this.#known() };
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
