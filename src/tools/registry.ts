// All runtimes of one step by canonical name. Trusted duplicates are a programming error; what comes from outside may neither take a
// name that is there nor one that is reserved, and is left out with one warning that names both owners.
import { flatName, nameKey, type ToolName } from '../protocol/tool-spec.ts';
import { describeSource, type ToolRuntime } from './runtime.ts';

/** Byte budgets of namespace descriptions, by source. A tool over budget is not registered. */
const NAMESPACE_DESCRIPTION_LIMIT = { mcp: 512 * 1024, extension: 1024, dynamic: 64 * 1024, builtin: Number.POSITIVE_INFINITY } as const;

interface NamespaceOwner {
  owner: string;
  description: string;
}

export class ToolConflictError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolConflictError';
  }
}

export class ToolRegistry {
  readonly #byKey = new Map<string, ToolRuntime>();
  readonly #namespaces = new Map<string, NamespaceOwner>();
  readonly #warnings: string[] = [];
  readonly #reserved: ReadonlySet<string>;
  readonly #strict: boolean;

  /** `reserved`: flat names that only built-ins may have, whether or not they are registered in this step. */
  constructor(options: { reserved: ReadonlySet<string>; strict?: boolean }) {
    this.#reserved = options.reserved;
    this.#strict = options.strict ?? false;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  get runtimes(): IterableIterator<ToolRuntime> {
    return this.#byKey.values();
  }

  get size(): number {
    return this.#byKey.size;
  }

  find(name: ToolName): ToolRuntime | undefined {
    return this.#byKey.get(nameKey(name));
  }

  /** Registers a runtime; false when it was refused. Throws for a trusted duplicate, and for any conflict in strict mode. */
  add(runtime: ToolRuntime): boolean {
    const problem = this.#conflictOf(runtime);
    if (!problem) {
      this.#byKey.set(nameKey(runtime.name), runtime);
      return true;
    }
    if (runtime.source.type === 'builtin') throw new Error(`tool registered twice: ${flatName(runtime.name)}`);
    if (this.#strict) throw new ToolConflictError(problem);
    this.#warnings.push(problem);
    return false;
  }

  #conflictOf(runtime: ToolRuntime): string | null {
    const name = flatName(runtime.name);
    const owner = describeSource(runtime.source);
    const first = this.#byKey.get(nameKey(runtime.name));
    if (first) return `The tool ${name} of ${owner} was left out: the name belongs to ${describeSource(first.source)} already.`;
    if (runtime.source.type !== 'builtin' && !runtime.name.namespace && this.#reserved.has(runtime.name.name)) {
      return `The tool ${name} of ${owner} was left out: the name is reserved for a built-in tool.`;
    }
    return runtime.name.namespace ? this.#namespaceConflict(runtime, runtime.name.namespace, owner) : null;
  }

  #namespaceConflict(runtime: ToolRuntime, namespace: string, owner: string): string | null {
    const description = runtime.namespaceDescription ?? '';
    const limit = NAMESPACE_DESCRIPTION_LIMIT[runtime.source.type];
    if (Buffer.byteLength(description) > limit) {
      return `The tool ${flatName(runtime.name)} of ${owner} was left out: the description of its namespace has over ${limit} bytes.`;
    }
    const known = this.#namespaces.get(namespace);
    if (!known) {
      this.#namespaces.set(namespace, { owner, description });
      return null;
    }
    if (known.owner !== owner)
      return `The tool ${flatName(runtime.name)} of ${owner} was left out: the namespace ${namespace} belongs to ${known.owner}.`;
    if (known.description !== description)
      return `The tool ${flatName(runtime.name)} of ${owner} was left out: it gives the namespace ${namespace} another description.`;
    return null;
  }
}
