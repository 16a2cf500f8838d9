// AGENTS.md files: from the home, then from the project root down to the folder of the thread, outermost first, within a budget of bytes.

import { constants, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { utf8HeadLength } from '../../common/text.ts';

export interface DocOptions {
  /** For all files together. */
  maxBytes: number;
  /** Looked for where a folder of the project has no AGENTS.md. */
  fallbackNames: readonly string[];
  /** A folder that holds one of these is a project root. */
  rootMarkers: readonly string[];
}

const NAMES = ['AGENTS.override.md', 'AGENTS.md'];

export interface ProjectDocs {
  /** Absolute paths, outermost first. */
  sources: string[];
  text: string | null;
  warnings: string[];
}

/** The nearest folder, from cwd upwards, with a marker; or null. */
function projectRoot(cwd: string, markers: readonly string[]): string | null {
  for (let dir = cwd; ; dir = path.dirname(dir)) {
    if (markers.some((marker) => existsSync(path.join(dir, marker)))) return dir;
    if (path.dirname(dir) === dir) return null;
  }
}

function foldersFrom(root: string, cwd: string): string[] {
  const below = path.relative(root, cwd).split(path.sep).filter(Boolean);
  return [root, ...below.map((_, i) => path.join(root, ...below.slice(0, i + 1)))];
}

interface Doc {
  file: string;
  /** At most as many as there is room for, whole characters. */
  text: string;
  bytes: number;
  isCut: boolean;
}

/** Null when there is no such file, or something else of that name. Non-blocking, as opening a pipe could wait for ever. */
async function readDoc(file: string, room: number): Promise<Doc | null> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return null;
      const buffer = Buffer.alloc(Math.min(found.size, room + 4));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      const bytes = utf8HeadLength(buffer.subarray(0, bytesRead), room);
      return { file, text: buffer.toString('utf8', 0, bytes).trim(), bytes, isCut: found.size > bytes };
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

async function firstDoc(dir: string, names: readonly string[], room: number): Promise<Doc | null> {
  for (const name of names) {
    const doc = await readDoc(path.join(dir, name), room);
    if (doc) return doc;
  }
  return null;
}

/** An empty file says nothing and is not a source. */
export async function readProjectDocs(
  home: string,
  cwd: string,
  { maxBytes, fallbackNames, rootMarkers }: DocOptions,
): Promise<ProjectDocs> {
  const docs: ProjectDocs = { sources: [], text: null, warnings: [] };
  if (maxBytes <= 0) return docs;
  const root = projectRoot(cwd, rootMarkers);
  const parts: string[] = [];
  let room = maxBytes;
  for (const [i, dir] of [home, ...(root ? foldersFrom(root, cwd) : [cwd])].entries()) {
    const doc = await firstDoc(dir, i === 0 ? NAMES : [...NAMES, ...fallbackNames], room);
    if (!doc || (doc.text === '' && !doc.isCut)) continue;
    if (doc.isCut) {
      const what = doc.bytes === 0 ? 'left out' : 'cut';
      docs.warnings.push(`${doc.file} was ${what}: project_doc_max_bytes allows ${maxBytes} bytes for all AGENTS.md files together.`);
    }
    if (doc.bytes === 0) continue;
    docs.sources.push(doc.file);
    room -= doc.bytes;
    parts.push(`# AGENTS.md instructions for ${dir}\n\n${doc.text}`);
  }
  if (parts.length) docs.text = parts.join('\n\n');
  return docs;
}
