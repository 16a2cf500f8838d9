// A folder of its own with a client in front of the handlers of fs/*.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type FsHandlers, fsHandlers } from '../../src/server/handlers/fs.ts';
import { Served } from '../handlers/served.ts';

export interface Folder {
  root: string;
  at(name: string): string;
  client: Served;
  fs: FsHandlers;
}

export const b64 = (text: string): string => Buffer.from(text).toString('base64');

/** @param files name → content; a name with a slash at its end is a directory */
export function folder(files: Record<string, string> = {}): Folder {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fs-')));
  const at = (name: string): string => path.join(root, name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(name.endsWith('/') ? at(name) : path.dirname(at(name)), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(at(name), content);
  }
  const fs = fsHandlers();
  onTestFinished(() => {
    fs.endAll();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, at, client: new Served(fs.handlers), fs };
}
