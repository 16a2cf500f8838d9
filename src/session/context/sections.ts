// The world state as named sections. Each is told once, and again, at the end, only when its text has changed: what went before is never
// rewritten, so every request extends the one before it.
import type { AskForApproval, Personality, SandboxPolicy } from '../../protocol/primitives.ts';
import type { HistoryEntry } from '../history.ts';
import { inputMessage } from '../input-message.ts';

export interface Section {
  readonly key: string;
  readonly role: 'developer' | 'user';
  /** Null: nothing to tell. */
  readonly text: string | null;
  /** Told when a section that was told before has no text any more. */
  readonly gone?: string;
}

/** The text that was told last for each section, read from the history itself. */
export function toldSections(entries: readonly HistoryEntry[]): Map<string, string> {
  const told = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.section || entry.item.type !== 'message') continue;
    const [part] = entry.item.content;
    if (part?.type === 'input_text') told.set(entry.section, part.text);
  }
  return told;
}

/** What has to be added so that the model knows the sections as they are now. */
export function changedSections(sections: readonly Section[], told: ReadonlyMap<string, string>, turnId: string): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (const section of sections) {
    const text = section.text ?? (told.has(section.key) ? (section.gone ?? null) : null);
    if (text === null || told.get(section.key) === text) continue;
    entries.push({ origin: 'context', turnId, item: inputMessage(section.role, text), section: section.key });
  }
  return entries;
}

const xml = (tag: string, text: string): string => `  <${tag}>${text}</${tag}>`;

export interface EnvironmentFacts {
  cwd: string;
  shell: string;
  date: string;
  sandbox: SandboxPolicy;
}

export function environmentText({ cwd, shell, date, sandbox }: EnvironmentFacts): string {
  const lines = ['<environment_context>', xml('cwd', cwd), xml('shell', shell), xml('current_date', date)];
  if (sandbox.type === 'workspaceWrite' && sandbox.writableRoots?.length)
    lines.push(xml('writable_roots', [cwd, ...sandbox.writableRoots].join(', ')));
  lines.push('</environment_context>');
  return lines.join('\n');
}

function sandboxText(sandbox: SandboxPolicy, cwd: string): string {
  switch (sandbox.type) {
    case 'dangerFullAccess':
      return 'Sandbox: danger-full-access. Commands run without a sandbox, with all rights of the user.';
    case 'externalSandbox':
      return `Sandbox: external. The surroundings confine commands; network access is ${sandbox.networkAccess === 'enabled' ? 'on' : 'off'}.`;
    case 'readOnly':
      return `Sandbox: read-only. Commands may read files and write none; network access is ${sandbox.networkAccess ? 'on' : 'off'}.`;
    case 'workspaceWrite': {
      const roots = [cwd, ...(sandbox.writableRoots ?? [])].join(', ');
      return `Sandbox: workspace-write. Commands may read files and write under ${roots} and the temporary folders, but not into .git, .harnessd or .agents there; network access is ${sandbox.networkAccess ? 'on' : 'off'}.`;
    }
  }
}

function approvalText(policy: AskForApproval): string {
  if (typeof policy === 'object')
    return 'Approval policy: granular. Some kinds of requests are asked of the user, others are refused; a refusal says so.';
  switch (policy) {
    case 'never':
      return 'Approval policy: never. Nobody can be asked: what needs an approval is refused. Do not ask for more rights; find another way or say what is missing.';
    case 'untrusted':
      return 'Approval policy: untrusted. The user is asked before every command.';
    default:
      return 'Approval policy: on-request. What the sandbox allows runs unasked. For more, call exec_command with sandbox_permissions "require_escalated" and a justification in one sentence: the user is asked.';
  }
}

export const permissionsText = (sandbox: SandboxPolicy, policy: AskForApproval, cwd: string): string =>
  `<permissions>\n${sandboxText(sandbox, cwd)}\n${approvalText(policy)}\n</permissions>`;

export const deferredToolsText = (advertised: string): string | null =>
  advertised === '' ? null : `<tools>\nThese are not listed; find their tools with tool_search:\n${advertised}\n</tools>`;

export function personalityText(personality: Personality | null): string | null {
  switch (personality) {
    case 'friendly':
      return '<personality>\nBe warm and encouraging: explain your choices, and say what went well. Stay accurate.\n</personality>';
    case 'pragmatic':
      return '<personality>\nBe matter-of-fact: results first, few words, no praise.\n</personality>';
    default:
      return null;
  }
}

/** Told in few and coarse steps: each telling stays in the history. Null while there is plenty. */
export function contextLeftText({ used, window }: { used: number; window: number }): string | null {
  const left = window > 0 ? 1 - used / window : 1;
  if (left >= 0.5) return null;
  const share = left < 0.15 ? 'Less than 15 %' : left < 0.25 ? 'Less than a quarter' : 'Less than half';
  return `<context_left>\n${share} of the context window is left. get_context_remaining tells exactly; finish or note what you need before it is full.\n</context_left>`;
}
