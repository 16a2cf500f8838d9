// apply_patch: changes files by a patch text. Its calls stand in line before they are verified, so each is planned against the files as
// the calls before it left them.
import path from 'node:path';
import { PATCH_DESCRIPTION, PATCH_GRAMMAR } from '../../patch/grammar.ts';
import { parsePatch } from '../../patch/parser.ts';
import { commandOf } from '../gates/hooks.ts';
import { readFreeformPayload } from '../gates/validate.ts';
import type { PatchCalls, PatchRequest } from '../patch/patch-calls.ts';
import { PatchPreview } from '../patch/patch-preview.ts';
import type { StepFacts, ToolRuntime } from '../runtime.ts';

export interface PatchArgs {
  input: string;
}

const requestOf = ({ input }: PatchArgs, step: StepFacts): PatchRequest => ({ text: input, base: step.cwd, inCommand: false });

/**
 * What a patch touches, by path. The base folder is not known here, so an absolute path also claims each of its tails: it then conflicts
 * with every relative path that may mean it. Links are seen only when the patch is planned; the writer makes sure of those.
 */
export function claimsOf(input: string): string[] {
  const parsed = parsePatch(input);
  if (!parsed.ok) return []; // it writes nothing
  const written = parsed.patch.hunks.flatMap((hunk) => (hunk.type === 'update' && hunk.moveTo ? [hunk.path, hunk.moveTo] : [hunk.path]));
  return [...new Set(written.flatMap(claims))];
}

function claims(written: string): string[] {
  const normal = path.normalize(written);
  const parts = normal.split(path.sep).filter((part) => part !== '' && part !== '..');
  const open = path.isAbsolute(normal) || normal.startsWith('..');
  return open ? parts.map((_, i) => parts.slice(i).join(path.sep)) : [normal];
}

export function applyPatch(patches: PatchCalls): ToolRuntime<PatchArgs> {
  return {
    name: { name: 'apply_patch' },
    spec: {
      type: 'freeform',
      name: 'apply_patch',
      description: PATCH_DESCRIPTION,
      grammar: { syntax: 'lark', definition: PATCH_GRAMMAR },
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: false,
    waitsForCleanup: true,
    external: false,
    gateFirst: true,
    hooked: {
      name: 'apply_patch',
      input: ({ input }) => ({ command: input }),
      payload: (_args, input) => ({ type: 'function', arguments: JSON.stringify({ input: commandOf(input) }) }),
    },
    resources: ({ input }) => claimsOf(input),
    validate: (payload) => {
      const read = readFreeformPayload('apply_patch', payload);
      return read.ok ? { ok: true, args: { input: read.args } } : read;
    },
    streamArguments: (call, step, events) => new PatchPreview(call, step.cwd, events),
    begin: (call, args, step, events) => patches.begin(call, requestOf(args, step), step, events),
    approvalNeed: (call) => patches.need(call),
    run: (invocation, signal) => patches.run(invocation, signal),
    settled: (call) => patches.settled(call),
  };
}
