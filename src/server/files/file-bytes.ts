// The bytes of host files to base64 and back, in pieces, so that a large file holds nobody up.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { invalidParams } from '../../common/errors.ts';

/** An answer is one message, and a client reads it whole. */
export const MAX_READ_BYTES = 128 * 1024 * 1024;
/** A multiple of three, so that pieces of base64 can be put together. */
const PIECE_BYTES = 3 * 256 * 1024;

// Without O_NONBLOCK a FIFO that nobody writes to would keep a thread of the pool for ever.
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;

async function withFile<T>(file: string, flags: number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, 0o666);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, piece: Buffer): Promise<number> {
  let length = 0;
  while (length < piece.length) {
    const { bytesRead } = await handle.read(piece, length, piece.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

/** Throws system errors as they are, and RpcError for what is no regular file or too large. */
export function readAsBase64(file: string, signal: AbortSignal): Promise<string> {
  return withFile(file, O_RDONLY | (O_NONBLOCK ?? 0), async (handle) => {
    const stats = await handle.stat();
    if (!stats.isFile()) throw invalidParams(`params.path: ${file} is ${stats.isDirectory() ? 'a directory' : 'not a regular file'}`);
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(3 * 1024, stats.size + 3 - (stats.size % 3))));
    const pieces: string[] = [];
    // The size is a hint only: files of /proc have none, and a log grows meanwhile.
    for (let total = 0; ; ) {
      signal.throwIfAborted();
      const length = await fill(handle, piece);
      total += length;
      if (total > MAX_READ_BYTES || stats.size > MAX_READ_BYTES)
        throw invalidParams(`params.path: ${file} has ${Math.max(total, stats.size)} bytes, at most ${MAX_READ_BYTES} can be read at once`);
      pieces.push(piece.toString('base64', 0, length));
      if (length < piece.length) return pieces.join('');
    }
  });
}

/** Standard base64 with padding. Undefined for anything else. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return /[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding)) ? undefined : Buffer.from(text, 'base64');
}

/** Replaces the content in place: links, owner and mode of the file stay. */
export function writeBytes(file: string, bytes: Buffer): Promise<void> {
  return withFile(file, O_WRONLY | O_CREAT | O_TRUNC | (O_NONBLOCK ?? 0), (handle) => handle.writeFile(bytes));
}
