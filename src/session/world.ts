// What the model is told about the world at a step: sections from settings, files and tools. Told again only when they change.
import { messageOf } from '../common/errors.ts';
import type { ModelCard } from '../model/card.ts';
import { advertise } from '../tools/runtimes/tool-search.ts';
import { type DocOptions, readProjectDocs } from './context/agents-md.ts';
import { type Brought, broughtBy } from './context/brought.ts';
import { collaborationText, WORKS_FOR_PLAN, WORKS_FOR_PLAN_GONE } from './context/collaboration.ts';
import {
  changedSections,
  contextLeftText,
  deferredToolsText,
  environmentText,
  permissionsText,
  personalityText,
  type Section,
  toldSections,
} from './context/sections.ts';
import { skillsBudget, skillsSection } from './context/skills-section.ts';
import type { HistoryEntry } from './history.ts';
import type { Skill, SkillScan } from './skills.ts';
import type { StepContext } from './step-context.ts';
import type { UserMessage } from './user-input.ts';

export interface WorldOptions {
  /** The daemon's home, for its AGENTS.md. */
  home: string;
  shellName: string;
  docs: DocOptions;
  /** Tells the model when its window fills; only where it has tools to act on it. */
  tellsContextLeft: boolean;
  /** A thread that this one works for is in Plan mode. */
  worksForPlan(): boolean;
  /** The skills that a folder may use. May reject: a folder's configuration can be broken. */
  skills(cwd: string): Promise<SkillScan>;
  /** Told to the client once each. */
  warn(message: string): void;
}

/** What is read from the disk for a turn: all its steps see the same files. */
interface OnDisk {
  readonly key: string;
  readonly docs: string | null;
  readonly skills: readonly Skill[];
}

/** For a conversation whose window nobody counts. */
const UNMEASURED = () => ({ used: 0, window: 0 });

const textOf = (item: HistoryEntry['item']): string | null => {
  const part = item.type === 'message' ? item.content[0] : undefined;
  return part?.type === 'input_text' ? part.text : null;
};

const unknownModel = ({ id, contextWindow }: ModelCard): string =>
  `The model ${id} is not in the catalogue: plain tools and a context of ${contextWindow} tokens are assumed. [models.${JSON.stringify(id)}] in config.toml can say what it does.`;

/** Follows the world state of one thread. */
export class World {
  readonly #options: WorldOptions;
  /** Read anew for each turn and each folder. */
  #onDisk: OnDisk = { key: '', docs: null, skills: [] };
  /** The sections as they were told last; null until history was looked at. */
  #told: Map<string, string> | null = null;
  readonly #warned: Set<string>;

  constructor(options: WorldOptions, warned = new Set<string>()) {
    this.#options = options;
    this.#warned = warned;
  }

  /** The same world for another conversation, of which nothing was told yet. */
  another(): World {
    return new World(this.#options, this.#warned);
  }

  /** The AGENTS.md files in force for a folder. */
  async sources(cwd: string): Promise<string[]> {
    return (await readProjectDocs(this.#options.home, cwd, this.#options.docs)).sources;
  }

  /** History was replaced: what was told counts no more unless it is still there. */
  forget(): void {
    this.#told = null;
  }

  async changes(
    step: StepContext,
    entries: readonly HistoryEntry[],
    turnId: string,
    standing: () => { used: number; window: number } = UNMEASURED,
  ): Promise<HistoryEntry[]> {
    if (!step.binding.card.known) this.#warnOnce(unknownModel(step.binding.card));
    await this.#read(step.settings.cwd, turnId);
    this.#told ??= toldSections(entries);
    const changed = changedSections(this.#sections(step, standing), this.#told, turnId);
    for (const { section, item } of changed) {
      const text = textOf(item);
      if (section && text !== null) this.#told.set(section, text);
    }
    return changed;
  }

  /** What a message brings along; `changes` has read the skills of its step before. */
  async brings(message: UserMessage, entries: readonly HistoryEntry[]): Promise<Omit<Brought, 'problems'>> {
    const isTold = (text: string) => entries.some(({ origin, item }) => origin === 'context' && textOf(item) === text);
    const { items, external, problems } = await broughtBy(message, this.#onDisk.skills, isTold);
    for (const problem of problems) this.#options.warn(problem);
    return { items, external };
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.warn(message);
  }

  async #read(cwd: string, turnId: string): Promise<void> {
    const key = `${turnId}\n${cwd}`;
    if (this.#onDisk.key === key) return;
    const [docs, skills] = await Promise.all([this.#readDocs(cwd), this.#readSkills(cwd)]);
    this.#onDisk = { key, docs, skills };
  }

  async #readDocs(cwd: string): Promise<string | null> {
    const { text, warnings } = await readProjectDocs(this.#options.home, cwd, this.#options.docs);
    for (const warning of warnings) this.#warnOnce(warning);
    return text;
  }

  async #readSkills(cwd: string): Promise<readonly Skill[]> {
    try {
      return (await this.#options.skills(cwd)).skills;
    } catch (error) {
      this.#warnOnce(`No skills are offered in ${cwd}: ${messageOf(error)}`);
      return [];
    }
  }

  #sections(step: StepContext, standing: () => { used: number; window: number }): Section[] {
    const { settings, router } = step;
    const { docs } = this.#onDisk;
    return [
      { key: 'developer_instructions', role: 'developer', text: settings.developerInstructions },
      { key: 'permissions', role: 'developer', text: permissionsText(settings.sandbox, settings.approvalPolicy, settings.cwd) },
      { key: 'collaboration_mode', role: 'developer', text: collaborationText(settings.collaborationMode) },
      { key: 'works_for_plan', role: 'developer', text: this.#options.worksForPlan() ? WORKS_FOR_PLAN : null, gone: WORKS_FOR_PLAN_GONE },
      {
        key: 'personality',
        role: 'developer',
        text: personalityText(settings.personality),
        gone: '<personality>\nNo particular manner is wanted any more.\n</personality>',
      },
      this.#skillsSection(step),
      {
        key: 'tools',
        role: 'developer',
        text: deferredToolsText(advertise(router.plan.deferred)),
        gone: '<tools>\nNo tools are deferred any more.\n</tools>',
      },
      {
        key: 'context_left',
        role: 'developer',
        text: this.#options.tellsContextLeft ? contextLeftText(standing()) : null,
        gone: '<context_left>\nThere is room in the context window again.\n</context_left>',
      },
      {
        key: 'project_docs',
        role: 'user',
        text: docs,
        gone: '# AGENTS.md instructions\n\nNone apply in the folder of this thread any more.',
      },
      { key: 'environment', role: 'user', text: this.#environment(step) },
    ];
  }

  #environment({ settings: { cwd, sandbox } }: StepContext): string {
    return environmentText({ cwd, shell: this.#options.shellName, date: new Date().toISOString().slice(0, 10), sandbox });
  }

  #skillsSection({ binding }: StepContext): Section {
    const { text, leftOut } = skillsSection(this.#onDisk.skills, skillsBudget(binding.card.contextWindow));
    if (leftOut > 0) this.#warnOnce(`${leftOut} skills are not listed to the model: the list of skills has no room for them.`);
    return { key: 'skills', role: 'developer', text, gone: '<skills>\nThere are no skills any more.\n</skills>' };
  }
}
