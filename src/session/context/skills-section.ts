// The list of skills as the model reads it: what there is and when to use it, never the skills themselves. Within a budget of bytes, as the
// list is part of every prompt.
import { headOf } from '../../common/text.ts';
import type { Skill } from '../skills.ts';

const HEAD = `<skills>
A skill is a folder with instructions for one kind of task. When the user names one as $name, or the task is clearly what its description says, read its SKILL.md before you begin and follow it; open further files of the folder only as it asks for them. If it cannot be read, say so and go on without it.`;

const SHARE_OF_WINDOW = 0.02;
const BYTES_PER_TOKEN = 4;
const LEAST_BYTES = 4_000;
const MOST_BYTES = 24_000;
const SHORT_DESCRIPTION = 160;

/** What the list may take of a window of so many tokens. */
export const skillsBudget = (contextWindow: number): number =>
  Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(contextWindow * SHARE_OF_WINDOW * BYTES_PER_TOKEN)));

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function line({ name, description, path }: Skill, mostChars: number): string {
  const text = oneLine(description);
  return `- ${name}: ${text.length > mostChars ? `${headOf(text, mostChars)}…` : text} (${path})`;
}

export interface SkillsSection {
  /** Null when there is no skill to tell of. */
  readonly text: string | null;
  /** Skills that the budget left out. */
  readonly leftOut: number;
}

/** Whole descriptions where they fit, else short ones, and then as many skills as fit. */
export function skillsSection(skills: readonly Skill[], budget: number): SkillsSection {
  const shown = skills.filter((skill) => skill.enabled);
  if (shown.length === 0) return { text: null, leftOut: 0 };
  const sized = (lines: string[]) => lines.reduce((bytes, one) => bytes + Buffer.byteLength(one) + 1, 0);
  let lines = shown.map((skill) => line(skill, Number.POSITIVE_INFINITY));
  if (sized(lines) > budget) lines = shown.map((skill) => line(skill, SHORT_DESCRIPTION));
  let left = budget;
  const fitting = lines.findIndex((one) => {
    left -= Buffer.byteLength(one) + 1;
    return left < 0;
  });
  const kept = fitting < 0 ? lines : lines.slice(0, fitting);
  const leftOut = lines.length - kept.length;
  const more = leftOut > 0 ? [`${leftOut} more are not listed here; the user can name them all the same.`] : [];
  return { text: [HEAD, ...kept, ...more, '</skills>'].join('\n'), leftOut };
}
