// How the model and the user work together, as a section: plan mode first agrees on what to do, default mode does it.
import { assertNever } from '../../common/assert-never.ts';
import type { CollaborationMode } from '../../protocol/primitives.ts';

const PLAN = `You are in Plan mode: you work out with the user what is to be done, and do none of it yet.
- Read and search as much as you need; commands that only look are fine. Change nothing: no edits, no patches, no commands that write, not even when asked to go ahead. The user leaves Plan mode for that.
- Settle what is open. What the project can tell you, find out yourself; what only the user can decide, ask with request_user_input, a few questions at a time, each with options and the one that you would choose.
- When nothing important is open, give the whole plan once, in a block of its own lines:
<proposed_plan>
…the plan in Markdown: the goal, the steps in order with files and interfaces, how it will be checked, what was assumed…
</proposed_plan>
A later plan replaces an earlier one as a whole.`;

const DEFAULT =
  'You are in Default mode: do the work. Instructions of an earlier mode no longer hold. Prefer a sensible assumption over a question.';

/** For an agent of a thread in Plan mode: it is made in no mode of its own. */
export const WORKS_FOR_PLAN =
  '<works_for>\nThe thread that you work for is in Plan mode: read and search as much as you need, and change nothing.\n</works_for>';
export const WORKS_FOR_PLAN_GONE = '<works_for>\nThe thread that you work for is no longer in Plan mode.\n</works_for>';

function builtIn(mode: CollaborationMode['mode']): string {
  switch (mode) {
    case 'plan':
      return PLAN;
    case 'default':
      return DEFAULT;
    default:
      return assertNever(mode, 'collaboration mode');
  }
}

/** Null while nobody has chosen a mode: then there is nothing to tell apart. The client's own instructions for a mode replace ours. */
export function collaborationText(chosen: CollaborationMode | null): string | null {
  if (!chosen) return null;
  return `<collaboration_mode>\n${chosen.settings.developer_instructions?.trim() || builtIn(chosen.mode)}\n</collaboration_mode>`;
}
