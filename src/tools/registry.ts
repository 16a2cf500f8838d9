// All runtimes of one step by canonical name. Trusted duplicates are a programming error; what comes from outside may neither take a
// name that is there nor one that is reserved, and is left out with one warning that names both owners.
import { flatName, nameKey, type ToolName } from '../protocol/tool-spec.ts';
import { FatalToolError } from './result.ts';
import { describeSource, type ToolRuntime } from './runtime.ts';
import { readSchema } from './schema-normalise.ts';

/** Byte budgets of namespace descriptions, by source. A tool over budget is not registered. */
const NAMESPACE_DESCRIPTION_LIMIT = { mcp: 512 * 1024, extension: 1024, dynamic: 64 * 1024, builtin: Number.POSITIVE_INFINITY } as const;

/** What any provider takes as a name. Sources bring theirs into this form; one that did not is left out here. */
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

interface NamespaceOwner {
  owner: string;
  description: string;
}

/** A conflict in strict mode: the step does not begin. */
export class ToolConflictError extends FatalToolError {}

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
    if (runtime.source.type !== 'builtin') {
      const problem = this.#outsideProblem(runtime);
      if (problem) return `The tool ${name} of ${owner} was left out: ${problem}.`;
    }
    return runtime.name.namespace ? this.#namespaceConflict(runtime, runtime.name.namespace, owner) : null;
  }

  /** What is wrong with a tool from outside, apart from who else is there. */
  #outsideProblem({ name, spec }: ToolRuntime): string | null {
    if (!name.namespace && this.#reserved.has(name.name)) return 'the name is reserved for a built-in tool';
    if (![name.name, name.namespace ?? 'none'].every((part) => NAME.test(part))) return `its name must match ${NAME.source}`;
    if (spec.type !== 'function') return null;
    const read = readSchema(spec.parameters);
    return read.ok ? null : read.problem;
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
