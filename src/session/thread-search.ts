// Search in what was said in threads. The texts of messages lie in the index; before a search, what was appended to the files since the
// last one is read into it, each byte once.
import type { ThreadItem } from '../protocol/item.ts';
import { type RolloutLine, readRolloutLine } from '../protocol/rollout.ts';
import { inParallel } from './in-parallel.ts';
import type { ThreadIndex } from './index-store.ts';
import { type Chunk, eachLine, HeadReader, lineText } from './rollout/lines.ts';
import type { StoredThread } from './rollout/summary.ts';
import { positionOf, type ThreadQuery } from './thread-query.ts';
import { listedOf, type ThreadStore } from './thread-store.ts';

const READERS = 8;
/** Threads that are read into the index in one change. */
const BATCH = 256;
/** What the trigram index can look up; shorter terms are compared with every text. */
const MIN_INDEXED_TERM = 3;
/** Characters around what was found. */
const BEFORE = 40;
const AFTER = 100;

export interface SearchHit {
  thread: StoredThread;
  snippet: string;
}

interface Said {
  turnId: string;
  text: string;
}

/** What was said in an item; null for one that says nothing. */
export function spokenText(item: ThreadItem): string | null {
  if (item.type === 'agentMessage') return item.text || null;
  if (item.type !== 'userMessage') return null;
  const text = item.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  return text.trim() ? text : null;
}

function textOf(line: RolloutLine): Said | null {
  const text = line.type === 'item' ? spokenText(line.item) : null;
  return line.type === 'item' && text !== null ? { turnId: line.turnId, text } : null;
}

/** The messages in a file from a byte on; `reverted` when turns were taken back there, so that all has to be read anew. */
async function readTexts(file: string, from: number): Promise<{ said: Said[]; to: number; reverted: boolean }> {
  const said: Said[] = [];
  const heads = new HeadReader();
  let reverted = false;
  const take = (chunk: Chunk, start: number, end: number): void => {
    const head = heads.read(chunk, start, end);
    // Most lines are results and history: looked at without being parsed.
    if (head && head.type !== 'item' && head.type !== 'reverted') return;
    const reading = readRolloutLine(lineText(chunk, start, end));
    if (reading.type !== 'line') return;
    if (reading.line.type === 'reverted') {
      reverted = true;
      const { beforeTurnId } = reading.line;
      const first = said.findIndex(({ turnId }) => turnId === beforeTurnId);
      if (first >= 0) said.length = first;
    } else {
      const text = textOf(reading.line);
      if (text) said.push(text);
    }
  };
  const { to } = await eachLine(file, from, take);
  return { said, to, reverted };
}

interface Behind {
  id: string;
  file: string;
  offset: number;
}

async function catchUp(index: ThreadIndex): Promise<void> {
  const db = index.database;
  const sql = `SELECT t.id, t.file, coalesce(r.offset, 0) AS offset FROM threads t LEFT JOIN read_to r ON r.thread = t.id
    WHERE t.turns > 0 AND coalesce(r.offset, 0) <> t.size`;
  const behind = db.prepare(sql).all() as Behind[];
  if (behind.length === 0) return;
  const put = db.prepare('INSERT INTO texts (body, thread, turn) VALUES (?, ?, ?)');
  const readTo = db.prepare('INSERT OR REPLACE INTO read_to VALUES (?, ?)');
  const drop = db.prepare('DELETE FROM texts WHERE thread = ?');
  for (let next = 0; next < behind.length; next += BATCH) {
    const read = await inParallel(READERS, behind.slice(next, next + BATCH), readBehind);
    index.change(() => {
      for (const [i, texts] of read.entries()) {
        const { id } = behind[next + i];
        if (!texts) continue;
        if (texts.anew) drop.run(id);
        for (const { turnId, text } of texts.said) put.run(text, id, turnId);
        readTo.run(id, texts.to);
      }
    });
  }
}

/** What a thread has said since it was read last; null when that is nothing. */
async function readBehind({ file, offset }: Behind): Promise<{ said: Said[]; to: number; anew: boolean } | null> {
  try {
    const read = await readTexts(file, offset);
    if (read.to === offset && offset > 0) return null;
    return read.reverted && offset > 0 ? { ...(await readTexts(file, 0)), anew: true } : { ...read, anew: false };
  } catch {
    return null; // gone, or not readable: no search fails for it
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** A place in a text with what stands around it, on one line, and where in that the place is. */
export function snippetAt(text: string, at: number, length: number): { snippet: string; start: number; end: number } {
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(text.length, at + length + AFTER);
  const before = `${from > 0 ? '…' : ''}${oneLine(text.slice(from, at)).trimStart()}`;
  const found = oneLine(text.slice(at, at + length));
  const after = `${oneLine(text.slice(at + length, to)).trimEnd()}${to < text.length ? '…' : ''}`;
  return { snippet: before + found + after, start: before.length, end: before.length + found.length };
}

const patternOf = (term: string): RegExp => new RegExp(term.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');

/** Every place of a term in a text, whatever the case, with its length there. */
export const placesOf = (text: string, term: string): { at: number; length: number }[] =>
  [...text.matchAll(patternOf(term))].map((match) => ({ at: match.index, length: match[0].length }));

/** The first place of a term in a text with what stands around it, on one line. */
export function snippetOf(text: string, term: string): string {
  const { at, length } = placesOf(text, term).at(0) ?? { at: 0, length: 0 };
  return snippetAt(text, at, length).snippet.trim();
}

/** One text of each thread in which the term stands. */
function found(index: ThreadIndex, term: string): Map<string, string> {
  const byThread = new Map<string, string>();
  const rows =
    term.length >= MIN_INDEXED_TERM
      ? index.database.prepare('SELECT thread, body FROM texts WHERE texts MATCH ?').all(`"${term.replaceAll('"', '""')}"`)
      : index.database.prepare("SELECT thread, body FROM texts WHERE body LIKE ? ESCAPE '\\'").all(`%${term.replace(/[\\%_]/g, '\\$&')}%`);
  for (const { thread, body } of rows as { thread: string; body: string }[]) if (!byThread.has(thread)) byThread.set(thread, body);
  return byThread;
}

/** A page of the threads in which the term stands. `query.term` is not looked at. */
export async function searchThreads(store: ThreadStore, term: string, query: ThreadQuery): Promise<{ hits: SearchHit[]; more: boolean }> {
  const index = await store.freshIndex();
  const plain = { ...query, term: null };
  if (!index) return searchFiles(store, term, plain);
  await catchUp(index);
  const texts = found(index, term);
  const { page, more } = await store.page({ ...plain, included: [...texts.keys()] });
  return { hits: page.map((thread) => ({ thread, snippet: snippetOf(texts.get(thread.threadId) ?? '', term) })), more };
}

/** Without an index the files are read one after another, until the page is full. */
async function searchFiles(store: ThreadStore, term: string, query: ThreadQuery): Promise<{ hits: SearchHit[]; more: boolean }> {
  const hits: SearchHit[] = [];
  let { after } = query;
  for (;;) {
    const { page, more } = await store.page({ ...query, after });
    for (const thread of page) {
      if (hits.length === query.limit) return { hits, more: true };
      const { said } = await readTexts(thread.file, 0).catch(() => ({ said: [] as Said[] }));
      const hit = said.find(({ text }) => text.toLowerCase().includes(term.toLowerCase()));
      if (hit) hits.push({ thread, snippet: snippetOf(hit.text, term) });
    }
    const last = page.at(-1);
    if (!more || !last) return { hits, more: false };
    after = positionOf(listedOf(last), query.sortKey);
  }
}
