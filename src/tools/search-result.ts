// The answer to a provider's own search call: whole specs marked as deferred, in the provider's form, grouped by namespace.
import type { ToolSearchOutputItem } from '../protocol/response-item.ts';
import type { FunctionSpec, NamespaceSpec } from '../protocol/tool-spec.ts';
import type { ToolOutput } from './result.ts';
import type { ToolRuntime } from './runtime.ts';
import { shownSpec } from './shown-spec.ts';

/** Groups found tools by namespace, in order of the first hit of each. */
export function groupFound(runtimes: readonly ToolRuntime[]): (NamespaceSpec | FunctionSpec)[] {
  const groups: (NamespaceSpec | FunctionSpec)[] = [];
  const byName = new Map<string, NamespaceSpec>();
  for (const runtime of runtimes) {
    if (runtime.spec.type !== 'function') continue;
    const spec: FunctionSpec = { ...shownSpec(runtime.spec), deferLoading: true };
    const { namespace } = runtime.name;
    if (!namespace) {
      groups.push(spec);
      continue;
    }
    let group = byName.get(namespace);
    if (!group) {
      group = {
        type: 'namespace',
        name: namespace,
        description: runtime.namespaceDescription || `Tools in the ${namespace} namespace.`,
        tools: [],
      };
      byName.set(namespace, group);
      groups.push(group);
    }
    group.tools.push(spec);
  }
  return groups;
}

const functionForm = (spec: FunctionSpec): Record<string, unknown> => ({
  type: 'function',
  name: spec.name,
  description: spec.description,
  parameters: spec.parameters,
  strict: spec.strict ?? false,
  defer_loading: true,
});

export function toSearchResult(callId: string, output: ToolOutput): ToolSearchOutputItem {
  const tools = (output.found ?? []).map((spec) =>
    spec.type === 'function'
      ? functionForm(spec)
      : { type: 'namespace', name: spec.name, description: spec.description, tools: spec.tools.map(functionForm) },
  );
  return { type: 'tool_search_output', call_id: callId, status: 'completed', execution: 'client', tools };
}
