// AGENTS.md files: from the home, then from the project root down to the folder of the thread, outermost first, within a budget of bytes.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { utf8HeadLength } from '../../common/text.ts';

export const DEFAULT_BUDGET = 32 * 1024;
const NAMES = ['AGENTS.override.md', 'AGENTS.md'];

export interface ProjectDocs {
  /** Absolute paths, outermost first. */
  sources: string[];
  text: string | null;
  warnings: string[];
}

/** The nearest ancestor with a .git, or null. */
function projectRoot(cwd: string): string | null {
  for (let dir = cwd; ; dir = path.dirname(dir)) {
    if (existsSync(path.join(dir, '.git'))) return dir;
    if (path.dirname(dir) === dir) return null;
  }
}

function foldersFrom(root: string, cwd: string): string[] {
  const below = path.relative(root, cwd).split(path.sep).filter(Boolean);
  return [root, ...below.map((_, i) => path.join(root, ...below.slice(0, i + 1)))];
}

async function firstFile(dir: string, names: readonly string[]): Promise<{ file: string; bytes: Buffer } | null> {
  for (const name of names) {
    const file = path.join(dir, name);
    try {
      return { file, bytes: await readFile(file) };
    } catch {}
  }
  return null;
}

export async function readProjectDocs(
  home: string,
  cwd: string,
  options: { maxBytes: number; fallbackNames: readonly string[] },
): Promise<ProjectDocs> {
  const docs: ProjectDocs = { sources: [], text: null, warnings: [] };
  if (options.maxBytes <= 0) return docs;
  const names = [...NAMES, ...options.fallbackNames];
  const root = projectRoot(cwd);
  const parts: string[] = [];
  let left = options.maxBytes;
  for (const [i, dir] of [home, ...(root ? foldersFrom(root, cwd) : [cwd])].entries()) {
    const found = await firstFile(dir, i === 0 ? NAMES : names);
    if (!found || found.bytes.length === 0) continue;
    const length = utf8HeadLength(found.bytes, left);
    docs.sources.push(found.file);
    if (length < found.bytes.length)
      docs.warnings.push(`${found.file} was cut: project_doc_max_bytes allows ${options.maxBytes} bytes for all AGENTS.md files together.`);
    left -= length;
    if (length > 0) parts.push(`# AGENTS.md instructions for ${dir}\n\n${found.bytes.subarray(0, length).toString('utf8').trim()}`);
    if (left <= 0) break;
  }
  if (parts.length) docs.text = parts.join('\n\n');
  return docs;
}
