// Threads on disk: which exist, what a list shows of them, and where they lie. Summaries come from the ends of a file and are kept by its
// size and time; no list reads whole files.
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type MetaLine, type RolloutLine, readRolloutLine } from '../protocol/rollout.ts';
import { archivedPath, findRollouts, type StoredFile, unarchivedPath } from './rollout/paths.ts';
import { previewOf } from './thread-view.ts';

export interface StoredThread extends StoredFile {
  meta: MetaLine;
  preview: string;
  name: string | null;
  updatedAt: number;
  cwd: string;
  model: string | null;
  modelProvider: string;
  turns: number;
}

const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 64 * 1024;

async function readRange(handle: FileHandle, start: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, start);
  return buffer.toString('utf8', 0, bytesRead);
}

function linesOf(text: string): RolloutLine[] {
  const lines: RolloutLine[] = [];
  for (const part of text.split('\n')) {
    if (part === '') continue;
    const reading = readRolloutLine(part);
    if (reading.type === 'line') lines.push(reading.line);
  }
  return lines;
}

interface Ends {
  head: RolloutLine[];
  tail: RolloutLine[];
}

async function readEnds(file: string, size: number): Promise<Ends> {
  const handle = await open(file, 'r');
  try {
    const head = linesOf(await readRange(handle, 0, Math.min(size, HEAD_BYTES)));
    if (size <= HEAD_BYTES) return { head, tail: head };
    return { head, tail: linesOf(await readRange(handle, Math.max(0, size - TAIL_BYTES), TAIL_BYTES)) };
  } finally {
    await handle.close();
  }
}

function firstText(lines: readonly RolloutLine[]): string {
  for (const line of lines) {
    if (line.type !== 'item' || line.item.type !== 'userMessage') continue;
    const text = line.item.content.find((part) => part.type === 'text');
    if (text?.type === 'text') return previewOf(text.text);
  }
  return '';
}

function threadOf(stored: StoredFile, { head, tail }: Ends, mtimeMs: number): StoredThread | null {
  const meta = head.find((line) => line.type === 'meta');
  if (!meta) return null;
  const summary = tail.findLast((line) => line.type === 'summary') ?? head.findLast((line) => line.type === 'summary');
  const settings = (head.find((line) => line.type === 'settings')?.settings ?? {}) as {
    cwd?: string;
    model?: string;
    modelProvider?: string;
  };
  const name = tail.findLast((line) => line.type === 'name');
  const started = head.some((line) => line.type === 'turnStarted');
  return {
    ...stored,
    meta,
    preview: summary?.preview || firstText(head),
    name: name ? name.name : (summary?.name ?? null),
    updatedAt: summary?.updatedAt ?? Math.floor(mtimeMs / 1000),
    cwd: summary?.cwd ?? settings.cwd ?? '',
    model: summary?.model ?? settings.model ?? null,
    modelProvider: summary?.modelProvider ?? settings.modelProvider ?? '',
    turns: Math.max(summary?.turns ?? 0, started ? 1 : 0),
  };
}

interface Cached {
  size: number;
  mtimeMs: number;
  thread: StoredThread | null;
}

export class ThreadStore {
  readonly #home: string;
  /** By file: what its ends said when it had this size and time. */
  readonly #cache = new Map<string, Cached>();

  constructor(home: string) {
    this.#home = home;
  }

  /** Every stored thread that has a readable header. */
  async list(): Promise<StoredThread[]> {
    const files = await findRollouts(this.#home);
    const threads = await Promise.all(files.map((file) => this.#summary(file)));
    return threads.filter((thread) => thread !== null);
  }

  /** The file of a thread, wherever it lies. */
  async find(threadId: string): Promise<StoredFile | null> {
    return (await findRollouts(this.#home)).find((file) => file.threadId === threadId) ?? null;
  }

  async summaryOf(stored: StoredFile): Promise<StoredThread | null> {
    return this.#summary(stored);
  }

  async #summary(stored: StoredFile): Promise<StoredThread | null> {
    try {
      const { size, mtimeMs } = await stat(stored.file);
      const cached = this.#cache.get(stored.file);
      if (cached?.size === size && cached.mtimeMs === mtimeMs) return cached.thread;
      const thread = size === 0 ? null : threadOf(stored, await readEnds(stored.file, size), mtimeMs);
      this.#cache.set(stored.file, { size, mtimeMs, thread });
      return thread;
    } catch {
      return null; // gone since the folder was read, or not readable: no list fails for it
    }
  }

  async archive(stored: StoredFile): Promise<string> {
    return this.#move(stored.file, archivedPath(this.#home, stored.file));
  }

  async unarchive(stored: StoredFile): Promise<string> {
    return this.#move(stored.file, unarchivedPath(this.#home, stored.file));
  }

  async #move(from: string, to: string): Promise<string> {
    await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    this.#cache.delete(from);
    return to;
  }

  async remove(stored: StoredFile): Promise<void> {
    await rm(stored.file, { force: true });
    await rm(`${stored.file}.lock`, { force: true });
    await rm(this.artifactsOf(stored.threadId), { recursive: true, force: true });
    this.#cache.delete(stored.file);
  }

  /** Where the artifacts of a thread lie. */
  artifactsOf(threadId: string): string {
    return path.join(this.#home, 'artifacts', threadId);
  }
}
