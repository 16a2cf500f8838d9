// Which tools the searches of a thread have found, read from its history: that is where a find lives, and with it what the next step lists
// where a provider has no search of its own.
import { wireName } from '../model/flat-tools.ts';
import type { ResponseItem } from '../protocol/response-item.ts';
import { foundIn, SEARCH_TOOL } from './runtimes/tool-search.ts';

const nameOf = (value: unknown): string | null => {
  const { name } = (typeof value === 'object' && value !== null ? value : {}) as { name?: unknown };
  return typeof name === 'string' ? name : null;
};

/** Names in the answer to a provider's search call: functions, alone or in a namespace. */
function namesIn(tools: readonly unknown[]): string[] {
  return tools.flatMap((tool) => {
    const name = nameOf(tool);
    const { type, tools: members } = (tool ?? {}) as { type?: unknown; tools?: unknown };
    if (name === null) return [];
    if (type !== 'namespace') return [wireName({ name })];
    return (Array.isArray(members) ? members : []).flatMap((member) => {
      const inner = nameOf(member);
      return inner === null ? [] : [wireName({ namespace: name, name: inner })];
    });
  });
}

/** Flat names, each once, the latest find last. */
export function foundTools(items: Iterable<ResponseItem>): string[] {
  const searches = new Set<string>();
  const names = new Set<string>();
  const add = (found: readonly string[]) => {
    for (const name of found) {
      names.delete(name);
      names.add(name);
    }
  };
  for (const item of items) {
    if (item.type === 'function_call' && item.name === SEARCH_TOOL && !item.namespace) searches.add(item.call_id);
    else if (item.type === 'tool_search_output') add(namesIn(item.tools));
    else if (item.type === 'function_call_output' && searches.has(item.call_id) && typeof item.output === 'string')
      add(foundIn(item.output));
  }
  return [...names];
}
