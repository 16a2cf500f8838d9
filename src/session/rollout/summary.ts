// What a list shows of a stored thread, read from the two ends of its file: no list reads whole files.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
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

/** What is read of each end at first: header and settings, and the lines since the last summary. */
const FIRST_BYTES = 8 * 1024;
const END_BYTES = 64 * 1024;

function readRange(file: number, start: number, length: number): string {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.toString('utf8', 0, readSync(file, buffer, 0, length, start));
}

function parsed(lines: readonly string[]): RolloutLine[] {
  const read: RolloutLine[] = [];
  for (const text of lines) {
    if (text === '') continue;
    const reading = readRolloutLine(text);
    if (reading.type === 'line') read.push(reading.line);
  }
  return read;
}

interface Ends {
  head: RolloutLine[];
  tail: RolloutLine[];
}

/** The summary of a record and what is behind it say all, where the header is at hand; null when it takes more to tell. */
function quickEnds(head: string, tail: string): Ends | null {
  const lines = tail.split('\n');
  const at = lines.findLastIndex((text) => text.includes('"type":"summary"'));
  const first = parsed([head.slice(0, head.indexOf('\n'))]);
  const last = at < 0 ? [] : parsed(lines.slice(at));
  return first[0]?.type === 'meta' && last[0]?.type === 'summary' ? { head: first, tail: last } : null;
}

function readEnds(file: number, size: number): Ends {
  const begin = readRange(file, 0, Math.min(size, FIRST_BYTES));
  const quick = quickEnds(begin, size <= FIRST_BYTES ? begin : readRange(file, size - FIRST_BYTES, FIRST_BYTES));
  if (quick) return quick;
  // A header may be long: it holds the configuration of its thread.
  let length = Math.min(size, END_BYTES);
  let first = readRange(file, 0, length);
  while (length < size && !first.includes('\n')) {
    length = Math.min(size, length * 4);
    first = readRange(file, 0, length);
  }
  const head = parsed(first.split('\n'));
  if (size <= END_BYTES) return { head, tail: head };
  return { head, tail: parsed(readRange(file, size - END_BYTES, END_BYTES).split('\n')) };
}

function firstText(lines: readonly RolloutLine[]): string {
  for (const line of lines) {
    if (line.type !== 'item' || line.item.type !== 'userMessage') continue;
    const text = line.item.content.find((part) => part.type === 'text');
    if (text?.type === 'text') return previewOf(text.text);
  }
  return '';
}

/** What was said of it last, where that was after the summary. */
function gitInfoOf(tail: readonly RolloutLine[]): GitInfo | null {
  const last = tail.findLast((line) => line.type === 'gitInfo' || line.type === 'summary');
  return last?.type === 'gitInfo' ? (last.gitInfo as GitInfo | null) : null;
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

/** The state of a file that a summary tells of. */
export interface FileState {
  size: number;
  mtimeMs: number;
}

/** Null for a file that is gone, or is none. `thread` is null where it has not a single readable line. */
export function readSummary(stored: StoredFile): (FileState & { thread: StoredThread | null }) | null {
  let file: number | null = null;
  let state: FileState | null = null;
  try {
    // Opening a pipe could wait for ever.
    file = openSync(stored.file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile()) return null;
    state = { size: found.size, mtimeMs: found.mtimeMs };
    return { ...state, thread: state.size === 0 ? null : threadOf(stored, readEnds(file, state.size), state) };
  } catch {
    return state && { ...state, thread: null }; // gone since its name was read, or not readable: no list fails for it
  } finally {
    if (file !== null) closeSync(file);
  }
}

function threadOf(stored: StoredFile, { head, tail }: Ends, { mtimeMs }: FileState): StoredThread | null {
  if (head.length === 0) return null;
  const found = head.find((line) => line.type === 'meta');
  // The name of the file says which thread it is, and of when.
  const meta = { ...(found ?? lostMeta(stored)), id: stored.threadId, createdAt: createdAtOf(stored.file) || (found?.createdAt ?? 0) };
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
    gitInfo: gitInfoOf(tail) ?? (summary?.gitInfo as GitInfo | undefined) ?? null,
    external: summary?.external ?? false,
  };
}
