// Reads the sources as the architecture test sees them: a text, its imports, and its code without comments.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** Path from the repository's root, with slashes → text. */
export type SourceTree = Map<string, string>;

export function readTree(...folders: string[]): SourceTree {
  const tree: SourceTree = new Map();
  for (const folder of folders) {
    for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
      const file = path.join(entry.parentPath, entry.name);
      tree.set(path.relative(ROOT, file).split(path.sep).join('/'), readFileSync(file, 'utf8'));
    }
  }
  return tree;
}

/** Good enough for code formatted by one formatter: a `//` after a colon is an address inside a string. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\w])\/\/.*$/gm, '$1');
}

const FROM = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])([^'"]+)\1/gm;
const BARE = /^\s*import\s*(['"])([^'"]+)\1/gm;
const DYNAMIC = /\bimport\(\s*(['"])([^'"]+)\1/g;

/** What a file imports in any way, type-only and dynamic imports included: relative ones as paths from the root, others as they stand. */
export function importsOf(file: string, text: string): string[] {
  const code = withoutComments(text);
  const found = [FROM, BARE, DYNAMIC].flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[2] ?? ''));
  return found.map((target) => (target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target));
}
