// A patch inside a shell command goes the way of the tool, or the command is refused whole: a shell that cannot find apply_patch would run
// the lines of the patch, or only what stands after it.
import path from 'node:path';
import { previewChanges } from '../../patch/changes.ts';
import { findPatchInCommand } from '../../patch/heredoc.ts';
import { PatchParser } from '../../patch/parser.ts';
import type { ToolEvents } from '../events.ts';
import { ToolError } from '../result.ts';
import type { StepFacts, ToolCall } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';
import type { PatchCalls } from './patch-calls.ts';

export interface ShellScript {
  readonly cmd: string;
  readonly workdir?: string;
}

/** True when the call is a patch now: `patches` has it. False for any other command. Throws what the model reads when it is refused. */
export async function takeOverPatch(
  patches: PatchCalls,
  call: ToolCall,
  script: ShellScript,
  step: StepFacts,
  events: ToolEvents,
): Promise<boolean> {
  const found = findPatchInCommand(script.cmd);
  const folder = path.resolve(step.cwd, script.workdir ?? '.');
  switch (found.type) {
    case 'none':
      return false;
    case 'patch':
      await patches.begin(call, { text: found.patchText, base: path.resolve(folder, found.cd ?? '.'), inCommand: true }, step, events);
      return true;
    case 'rawPatch':
      showRefused(call, found.patchText, folder, found.reason, events);
      throw new ToolError('invalid_arguments', found.reason);
    case 'refuse':
      events.warning(`A command with a patch in it was refused: ${found.reason}`);
      throw new ToolError('invalid_arguments', found.reason);
  }
}

function showRefused(call: ToolCall, text: string, folder: string, reason: string, events: ToolEvents): void {
  const parser = new PatchParser();
  parser.push(text);
  parser.finish();
  const changes = previewChanges(parser.snapshot(), folder);
  const handle = events.startItem(
    { type: 'fileChange', id: call.itemId, changes, status: 'inProgress' },
    { abandoned: (current) => failedItem(current) },
  );
  events.fileOutput(call.itemId, reason);
  handle.complete(failedItem(handle.current));
}
