// The extensions of the daemon: each module once, in a thread of its own, shared by the threads whose configuration names it. One that
// does not start is left out with one clear notice; the next thread that names it tries again.
import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, systemCode } from '../common/errors.ts';
import type { LoadedConfig } from '../config/load.ts';
import { realPath } from '../config/trust.ts';
import type { FunctionHook } from '../hooks/definitions.ts';
import type { EventSink } from '../session/ports.ts';
import type { ModelAbilities } from '../tools/plan.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { type Extension, extensionHooks, extensionTools } from '../tools/sources/extension.ts';
import { EXTENSION_LIMITS, type ExtensionLimits, ExtensionThread } from '../tools/sources/extension-thread.ts';
import type { OutsideTools } from './thread-toolbox.ts';

/** What the extensions of one configuration offer. */
export interface ExtensionSet {
  /** Keeps its identity while no extension of it ends. */
  tools(): readonly ToolRuntime[];
  readonly hooks: readonly FunctionHook[];
  /** A thread has them from now on; the returned function says that it is put away. */
  hold(): () => void;
}

const NO_TOOLS: readonly ToolRuntime[] = [];
const NO_EXTENSIONS: ExtensionSet = { tools: () => NO_TOOLS, hooks: [], hold: () => () => {} };

/** A module at one state of its file. */
interface Loaded {
  readonly path: string;
  /** Of the file when it was loaded. */
  readonly stamp: string;
  readonly started: Promise<Started | null>;
  /** Threads that have it. */
  users: number;
  /** The file has changed since, or it ended: nobody gets it any more. */
  outdated: boolean;
}

interface Started {
  readonly extension: Extension;
  readonly tools: readonly ToolRuntime[];
  readonly hooks: readonly FunctionHook[];
}

/** Extensions of all layers, lowest first: a project must not switch off what the user guards with. */
function pathsOf({ layers }: LoadedConfig): string[] {
  const named = layers.filter(({ disabledReason }) => disabledReason === null).flatMap(({ table }) => table.extensions ?? []);
  return [...new Set(named.map(realPath))];
}

function stampOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  return `${mtimeMs}:${size}:${ino}`;
}

export class ExtensionServices {
  readonly #sink: EventSink;
  readonly #limits: ExtensionLimits;
  /** The current module of each path. */
  readonly #current = new Map<string, Loaded>();
  /** Everything that was started and not stopped. */
  readonly #running = new Set<ExtensionThread>();
  /** Problems that were told, by path. */
  readonly #told = new Map<string, string>();

  constructor(sink: EventSink, limits: ExtensionLimits = EXTENSION_LIMITS) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Starts what a configuration names and is not there yet. Never rejects: what does not start is told and left out. */
  async forConfig(config: LoadedConfig): Promise<ExtensionSet> {
    const paths = pathsOf(config);
    if (paths.length === 0) return NO_EXTENSIONS;
    const loaded = paths.map((file) => this.#load(file)).filter((one): one is Loaded => one !== null);
    const started = (await Promise.all(loaded.map((one) => one.started))).filter((one): one is Started => one !== null);
    return {
      tools: aliveTools(started),
      hooks: started.flatMap(({ hooks }) => hooks),
      hold: () => {
        const held = [...loaded];
        for (const one of held) one.users++;
        return () => {
          for (const one of held.splice(0)) this.#leave(one);
        };
      },
    };
  }

  /** Hooks of the extensions that a configuration names and that run already; nothing is started. */
  async runningHooks(config: LoadedConfig): Promise<readonly FunctionHook[]> {
    const started = await Promise.all(pathsOf(config).map((file) => this.#current.get(file)?.started ?? null));
    return started.flatMap((one) => one?.hooks ?? []);
  }

  #load(file: string): Loaded | null {
    let stamp: string;
    try {
      stamp = stampOf(file);
    } catch (error) {
      this.#tell(file, systemCode(error) === 'ENOENT' ? 'there is no such file' : messageOf(error));
      return null;
    }
    const known = this.#current.get(file);
    if (known && known.stamp === stamp && !known.outdated) return known;
    if (known) this.#supersede(known);
    const loaded: Loaded = { path: file, stamp, users: 0, outdated: false, started: this.#start(file) };
    this.#current.set(file, loaded);
    void loaded.started.then((started) => {
      if (started === null) this.#forget(loaded);
    });
    return loaded;
  }

  async #start(file: string): Promise<Started | null> {
    let thread: ExtensionThread | null = null;
    try {
      const own = new ExtensionThread(file, (problem) => this.#gone(file, own, problem), this.#limits);
      thread = own;
      this.#running.add(own);
      const manifest = await own.start();
      this.#told.delete(file);
      const extension = { path: file, manifest, thread: own };
      return { extension, tools: extensionTools(extension), hooks: extensionHooks(extension) };
    } catch (error) {
      if (thread) this.#running.delete(thread);
      this.#tell(file, messageOf(error));
      return null;
    }
  }

  #gone(file: string, thread: ExtensionThread, problem: string): void {
    this.#running.delete(thread);
    const current = this.#current.get(file);
    if (current) this.#forget(current);
    this.#sink.all('configWarning', {
      summary: `Extension ended: ${path.basename(file)}: ${problem}. Its tools are gone from the running threads; a new thread starts it again.`,
      details: null,
      path: file,
    });
  }

  #forget(loaded: Loaded): void {
    loaded.outdated = true;
    if (this.#current.get(loaded.path) === loaded) this.#current.delete(loaded.path);
  }

  #supersede(loaded: Loaded): void {
    this.#forget(loaded);
    if (loaded.users === 0) void this.#stop(loaded);
  }

  #leave(loaded: Loaded): void {
    loaded.users--;
    if (loaded.users === 0 && loaded.outdated) void this.#stop(loaded);
  }

  async #stop(loaded: Loaded): Promise<void> {
    const started = await loaded.started;
    if (!started) return;
    await started.extension.thread.stop();
    this.#running.delete(started.extension.thread);
  }

  /** Each problem of a file once, as long as it is the same. */
  #tell(file: string, problem: string): void {
    if (this.#told.get(file) === problem) return;
    this.#told.set(file, problem);
    this.#sink.all('configWarning', { summary: `Extension left out: ${path.basename(file)}: ${problem}`, details: null, path: file });
  }

  /** Stops all of them; a thread that does not end by itself is ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((thread) => thread.stop()));
  }
}

/** The list is made anew only when an extension has ended since. */
function aliveTools(started: readonly Started[]): () => readonly ToolRuntime[] {
  let alive = started;
  let tools = alive.flatMap((one) => one.tools);
  return () => {
    const now = alive.filter(({ extension }) => extension.thread.alive);
    if (now.length !== alive.length) {
      alive = now;
      tools = alive.flatMap((one) => one.tools);
    }
    return tools;
  };
}

/** The tools of extensions beside others from outside. The list keeps its identity while both do. */
export function withExtensions(outside: OutsideTools, extensions: ExtensionSet): OutsideTools {
  const release = extensions.hold();
  let last: { own: readonly ToolRuntime[]; other: readonly ToolRuntime[]; all: readonly ToolRuntime[] } | null = null;
  return {
    started: () => outside.started(),
    announced: () => outside.announced(),
    ready: (text, signal) => outside.ready(text, signal),
    tools: (abilities: ModelAbilities) => {
      const own = extensions.tools();
      const other = outside.tools(abilities);
      if (own.length === 0) return other;
      if (last?.own !== own || last.other !== other) last = { own, other, all: [...own, ...other] };
      return last.all;
    },
    close: () => {
      release();
      outside.close();
    },
  };
}
