// What the model is told about the world at a step: sections from settings, files and tools. Told again only when they change.
import { advertise } from '../tools/runtimes/tool-search.ts';
import { readProjectDocs } from './context/agents-md.ts';
import { changedSections, deferredToolsText, environmentText, permissionsText, type Section, toldSections } from './context/sections.ts';
import type { HistoryEntry } from './history.ts';
import type { StepContext } from './step-context.ts';

export interface WorldOptions {
  /** The daemon's home, for its AGENTS.md. */
  home: string;
  shellName: string;
  maxDocBytes: number;
  docFallbackNames: readonly string[];
  /** Told to the client once each. */
  warn(message: string): void;
}

/** Follows the world state of one thread. */
export class World {
  readonly #options: WorldOptions;
  /** AGENTS.md for a folder: read once per folder. */
  #docs: { cwd: string; text: string | null } | null = null;
  /** The sections as they were told last; null until history was looked at. */
  #told: Map<string, string> | null = null;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  /** The AGENTS.md files in force for a folder. */
  async sources(cwd: string): Promise<string[]> {
    const docs = await readProjectDocs(this.#options.home, cwd, {
      maxBytes: this.#options.maxDocBytes,
      fallbackNames: this.#options.docFallbackNames,
    });
    return docs.sources;
  }

  /** History was replaced: what was told counts no more unless it is still there. */
  forget(): void {
    this.#told = null;
  }

  async changes(step: StepContext, entries: readonly HistoryEntry[], turnId: string): Promise<HistoryEntry[]> {
    this.#told ??= toldSections(entries);
    const changed = changedSections(await this.#sections(step), this.#told, turnId);
    for (const entry of changed) {
      const part = entry.item.type === 'message' ? entry.item.content[0] : undefined;
      if (entry.section && part?.type === 'input_text') this.#told.set(entry.section, part.text);
    }
    return changed;
  }

  async #sections(step: StepContext): Promise<Section[]> {
    const { settings, router } = step;
    return [
      { key: 'developer_instructions', role: 'developer', text: settings.developerInstructions },
      { key: 'permissions', role: 'developer', text: permissionsText(settings.sandbox, settings.approvalPolicy, settings.cwd) },
      {
        key: 'tools',
        role: 'developer',
        text: deferredToolsText(advertise(router.plan.deferred)),
        gone: '<tools>\nNo tools are deferred any more.\n</tools>',
      },
      {
        key: 'project_docs',
        role: 'user',
        text: await this.#projectDocs(settings.cwd),
        gone: '# AGENTS.md instructions\n\nNone apply in the folder of this thread any more.',
      },
      {
        key: 'environment',
        role: 'user',
        text: environmentText({
          cwd: settings.cwd,
          shell: this.#options.shellName,
          date: new Date().toISOString().slice(0, 10),
          sandbox: settings.sandbox,
        }),
      },
    ];
  }

  async #projectDocs(cwd: string): Promise<string | null> {
    if (this.#docs?.cwd !== cwd) {
      const { home, maxDocBytes, docFallbackNames, warn } = this.#options;
      const docs = await readProjectDocs(home, cwd, { maxBytes: maxDocBytes, fallbackNames: docFallbackNames });
      for (const warning of docs.warnings) warn(warning);
      this.#docs = { cwd, text: docs.text };
    }
    return this.#docs.text;
  }
}
