// Shared by the patch tests: patch texts, a scratch folder, and the whole way from text to disk.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { changesOf } from '../../src/patch/changes.ts';
import { nodePatchFs, type PatchFs } from '../../src/patch/fs.ts';
import { parsePatch } from '../../src/patch/parser.ts';
import type { FileChange } from '../../src/patch/patch.ts';
import type { AppliedFile, Plan } from '../../src/patch/plan.ts';
import { planPatch } from '../../src/patch/planner.ts';
import { parseFailureText, planFailureText, successText, writeFailureText } from '../../src/patch/summary.ts';
import { writePlan } from '../../src/patch/writer.ts';

export const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
export const update = (file: string, ...lines: string[]): string => patch(`*** Update File: ${file}`, ...lines);
export const add = (file: string, ...lines: string[]): string => patch(`*** Add File: ${file}`, ...lines.map((line) => `+${line}`));

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** A fresh real folder with these files; removed after the test. */
export function scratch(files: Record<string, string | Uint8Array> = {}): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'patch-')));
  folders.push(root);
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), content);
  }
  return root;
}

/** All files below a folder, as binary text; links show where they lead. */
export function tree(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const at = path.join(folder, entry.name);
      const name = path.relative(root, at);
      if (entry.isSymbolicLink()) found[name] = `-> ${fs.readlinkSync(at)}`;
      else if (entry.isDirectory()) walk(at);
      else found[name] = fs.readFileSync(at, 'utf8');
    }
  };
  walk(root);
  return found;
}

export interface Outcome {
  text: string;
  ok: boolean;
  changes: FileChange[];
  files: AppliedFile[];
  plan?: Plan;
}

export async function applyText(cwd: string, text: string, port: PatchFs = nodePatchFs()): Promise<Outcome> {
  const none = { ok: false, changes: [], files: [] };
  const parsed = parsePatch(text);
  if (!parsed.ok) return { ...none, text: parseFailureText(parsed.error) };
  const planned = await planPatch(parsed.patch, port, cwd);
  if (!planned.ok) return { ...none, text: planFailureText(planned.error) };
  const { plan } = planned;
  const changes = changesOf(plan);
  const written = await writePlan(plan, port);
  if (!written.ok) return { text: writeFailureText(written.error), ok: false, changes, files: written.files, plan };
  return { text: successText(plan), ok: true, changes, files: written.files, plan };
}
