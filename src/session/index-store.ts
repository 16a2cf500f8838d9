// The index of stored threads: one row a rollout, in an SQLite file that several daemons share. A cache and nothing more: it is made anew
// when it is missing, of another version or damaged, and each row says of which state of its file it tells.
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Database, Statement } from 'libsql';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { FileState, StoredThread } from './rollout/summary.ts';
import { searchable, sourceKindOf, type ThreadQuery } from './thread-query.ts';

/** Raised with every change of the tables: an index of another version is thrown away. */
const VERSION = 2;
/** Another daemon holds the file: waited for this long, as nothing else runs meanwhile. */
const BUSY_MS = 200;

const TABLES = `
CREATE TABLE folders (dir TEXT PRIMARY KEY, mtime REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE threads (
  id TEXT PRIMARY KEY, dir TEXT NOT NULL, file TEXT NOT NULL, archived INTEGER NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL,
  created INTEGER NOT NULL, updated INTEGER NOT NULL, turns INTEGER NOT NULL, cwd TEXT NOT NULL, model TEXT, provider TEXT NOT NULL,
  kind TEXT NOT NULL, originator TEXT NOT NULL, parent TEXT, preview TEXT NOT NULL, name TEXT, hay TEXT NOT NULL, meta TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX threads_dir ON threads (dir);
CREATE INDEX threads_created ON threads (archived, created, id);
CREATE INDEX threads_updated ON threads (archived, updated, id);
CREATE VIRTUAL TABLE texts USING fts5 (body, thread UNINDEXED, turn UNINDEXED, tokenize = 'trigram');
CREATE TABLE read_to (thread TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE outlines (thread TEXT PRIMARY KEY, outline TEXT NOT NULL);
PRAGMA user_version = ${VERSION};
`;

const PUT = `INSERT OR REPLACE INTO threads
  (id, dir, file, archived, size, mtime, created, updated, turns, cwd, model, provider, kind, originator, parent, preview, name, hay, meta)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export interface IndexedThread extends FileState {
  /** Null for a file that holds no thread. */
  thread: StoredThread | null;
}

interface Row {
  id: string;
  file: string;
  archived: number;
  size: number;
  mtime: number;
  updated: number;
  turns: number;
  cwd: string;
  model: string | null;
  provider: string;
  preview: string;
  name: string | null;
  meta: string;
}

function fromRow(row: Row): IndexedThread & { thread: StoredThread } {
  return {
    size: row.size,
    mtimeMs: row.mtime,
    thread: {
      threadId: row.id,
      file: row.file,
      archived: row.archived === 1,
      ...(JSON.parse(row.meta) as Pick<StoredThread, 'meta' | 'gitInfo' | 'external'>),
      preview: row.preview,
      name: row.name,
      updatedAt: row.updated,
      cwd: row.cwd,
      model: row.model,
      modelProvider: row.provider,
      turns: row.turns,
    },
  };
}

/** The WHERE of a page, with what its marks stand for. */
function conditions(query: ThreadQuery): { sql: string; values: unknown[] } {
  const parts = ['archived = ?', 'turns > 0'];
  const values: unknown[] = [query.archived ? 1 : 0];
  const isIn = (column: string, wanted: readonly string[] | null, not = ''): void => {
    if (!wanted) return;
    parts.push(`${column} ${not} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(wanted));
  };
  if (query.kinds) isIn('kind', query.kinds);
  else parts.push("kind NOT LIKE 'subAgent%'");
  isIn('cwd', query.cwds);
  isIn('provider', query.providers);
  isIn('originator', query.originators);
  isIn('id', query.included);
  isIn('id', query.excluded, 'NOT');
  if (query.parentThreadId !== null) {
    parts.push('parent = ?');
    values.push(query.parentThreadId);
  }
  if (query.term !== null) {
    parts.push('instr(hay, ?) > 0');
    values.push(query.term.toLowerCase());
  }
  if (query.after) {
    const column = query.sortKey === 'createdAt' ? 'created' : 'updated';
    parts.push(`(${column}, id) ${query.descending ? '<' : '>'} (?, ?)`);
    values.push(query.after.at, query.after.id);
  }
  return { sql: parts.join(' AND '), values };
}

export class ThreadIndex {
  readonly #db: Database;
  readonly #put: Statement;

  private constructor(db: Database) {
    this.#db = db;
    this.#put = db.prepare(PUT);
  }

  /** Null when this machine cannot have one: then lists look at the files. */
  static async open(home: string): Promise<ThreadIndex | null> {
    const file = path.join(home, 'index.sqlite');
    let Sqlite: typeof import('libsql');
    try {
      Sqlite = (await import('libsql')).default;
    } catch (error) {
      logger().info({ error: messageOf(error) }, 'no index of threads on this machine');
      return null;
    }
    for (const attempt of [1, 2]) {
      try {
        return new ThreadIndex(openDatabase(new Sqlite(file, { timeout: BUSY_MS })));
      } catch (error) {
        logger().warn({ error: messageOf(error), attempt }, 'the index of threads cannot be used');
        if (attempt === 2 || !removed(file)) return null;
      }
    }
    return null;
  }

  get database(): Database {
    return this.#db;
  }

  /** Runs `work` as one change. */
  change(work: () => void): void {
    this.#db.transaction(work)();
  }

  put(stored: { threadId: string; file: string; archived: boolean }, { size, mtimeMs, thread }: IndexedThread): void {
    const { threadId, file } = stored;
    const place = [threadId, path.dirname(file), file, stored.archived ? 1 : 0, size, mtimeMs];
    if (!thread) {
      // Remembered, so that the file is not opened again while it stays as it is.
      this.#put.run(...place, 0, 0, -1, '', null, '', '', '', null, '', null, '', '{}');
      return;
    }
    const { meta, updatedAt, turns, cwd, model, modelProvider, preview, name, gitInfo, external } = thread;
    const said = [updatedAt, turns, cwd, model, modelProvider, sourceKindOf(meta.source), meta.originator ?? '', meta.parentThreadId];
    this.#put.run(...place, meta.createdAt, ...said, preview, name, searchable(thread), JSON.stringify({ meta, gitInfo, external }));
  }

  remove(threadId: string): void {
    this.#db.prepare('DELETE FROM threads WHERE id = ?').run(threadId);
    this.#db.prepare('DELETE FROM read_to WHERE thread = ?').run(threadId);
    this.#db.prepare('DELETE FROM texts WHERE thread = ?').run(threadId);
    this.#db.prepare('DELETE FROM outlines WHERE thread = ?').run(threadId);
  }

  /** Where the turns of a thread lie in its file, as it was last kept. */
  outline(threadId: string): string | null {
    const row = this.#db.prepare('SELECT outline FROM outlines WHERE thread = ?').raw().get(threadId) as [string] | undefined;
    return row?.[0] ?? null;
  }

  putOutline(threadId: string, outline: string): void {
    this.#db.prepare('INSERT OR REPLACE INTO outlines VALUES (?, ?)').run(threadId, outline);
  }

  /** The file and the state of each row among these. */
  states(threadIds: readonly string[]): (FileState & { threadId: string; file: string; archived: boolean })[] {
    if (threadIds.length === 0) return [];
    const sql = 'SELECT id, file, archived, size, mtime FROM threads WHERE id IN (SELECT value FROM json_each(?))';
    const rows = this.#db.prepare(sql).all(JSON.stringify(threadIds)) as Row[];
    return rows.map((row) => ({ threadId: row.id, file: row.file, archived: row.archived === 1, size: row.size, mtimeMs: row.mtime }));
  }

  filesIn(dir: string): Map<string, string> {
    const rows = this.#db.prepare('SELECT id, file FROM threads WHERE dir = ?').raw().all(dir) as [string, string][];
    return new Map(rows.map(([id, file]) => [file, id]));
  }

  /** Folders whose names were read, by the time of change that they had then. */
  folders(): Map<string, number> {
    return new Map(this.#db.prepare('SELECT dir, mtime FROM folders').raw().all() as [string, number][]);
  }

  folderRead(dir: string, mtimeMs: number): void {
    this.#db.prepare('INSERT OR REPLACE INTO folders VALUES (?, ?)').run(dir, mtimeMs);
  }

  folderGone(dir: string): void {
    this.#db.prepare('DELETE FROM threads WHERE dir = ?').run(dir);
    this.#db.prepare('DELETE FROM folders WHERE dir = ?').run(dir);
  }

  /** Rows in the order asked for: one more than the limit, to tell whether more follow. */
  page(query: ThreadQuery): (IndexedThread & { thread: StoredThread })[] {
    const { sql, values } = conditions(query);
    const direction = query.descending ? 'DESC' : 'ASC';
    const column = query.sortKey === 'createdAt' ? 'created' : 'updated';
    const text = `SELECT * FROM threads WHERE ${sql} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`;
    return (this.#db.prepare(text).all(...values, query.limit + 1) as Row[]).map(fromRow);
  }

  close(): void {
    this.#db.close();
  }
}

/** False when what lies there is not ours to take away. */
function removed(file: string): boolean {
  try {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    return true;
  } catch {
    return false;
  }
}

function openDatabase(db: Database): Database {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`);
  const version = db.prepare('PRAGMA user_version').raw().get() as [number] | undefined;
  if (version?.[0] === VERSION) return db;
  db.transaction(() => {
    const tables = db.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'texts_%'",
    );
    for (const [name] of tables.raw().all() as [string][]) db.exec(`DROP TABLE IF EXISTS "${name}"`);
    db.exec(TABLES);
  })();
  return db;
}
