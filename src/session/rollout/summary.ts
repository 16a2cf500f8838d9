// What a list shows of a stored thread, read from the two ends of its file: no list reads whole files.
import { type FileHandle, open } from 'node:fs/promises';
import { type MetaLine, ROLLOUT_VERSION, type RolloutLine, readRolloutLine } from '../../protocol/rollout.ts';
import type { GitInfo } from '../../protocol/thread.ts';
import { previewOf } from '../thread-view.ts';
import { createdAtOf, type StoredFile } from './paths.ts';

export interface StoredThread extends StoredFile {
  meta: MetaLine;
  preview: string;
  name: string | null;
  updatedAt: number;
  cwd: string;
  model: string | null;
  modelProvider: string;
  turns: number;
  gitInfo: GitInfo | null;
  external: boolean;
}

const END_BYTES = 64 * 1024;

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
    const head = linesOf(await readRange(handle, 0, Math.min(size, END_BYTES)));
    if (size <= END_BYTES) return { head, tail: head };
    return { head, tail: linesOf(await readRange(handle, Math.max(0, size - END_BYTES), END_BYTES)) };
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

/** The header of a thread that has lost it: what its file's name tells. */
export const lostMeta = (stored: StoredFile): MetaLine => ({
  type: 'meta',
  version: ROLLOUT_VERSION,
  id: stored.threadId,
  createdAt: createdAtOf(stored.file),
  cliVersion: 'unknown',
  source: 'unknown',
  originator: null,
  forkedFromId: null,
  parentThreadId: null,
  config: null,
});

/** Null for a file without a single readable line. */
export async function readSummary(stored: StoredFile, { size, mtimeMs }: { size: number; mtimeMs: number }): Promise<StoredThread | null> {
  if (size === 0) return null;
  const { head, tail } = await readEnds(stored.file, size);
  if (head.length === 0) return null;
  const found = head.find((line) => line.type === 'meta');
  const meta = found?.id === stored.threadId ? found : { ...(found ?? lostMeta(stored)), id: stored.threadId };
  const summary = tail.findLast((line) => line.type === 'summary') ?? head.findLast((line) => line.type === 'summary');
  const settings = (head.find((line) => line.type === 'settings')?.settings ?? {}) as {
    cwd?: string;
    model?: string;
    modelProvider?: string;
  };
  const name = tail.findLast((line) => line.type === 'name');
  const started = head.some((line) => line.type === 'turnStarted' || line.type === 'item');
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
    gitInfo: (summary?.gitInfo as GitInfo | undefined) ?? null,
    external: summary?.external ?? false,
  };
}
