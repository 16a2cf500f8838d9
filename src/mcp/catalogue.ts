// What a server offers: its tools over all pages, and its instructions. Immutable: a change makes a new one, so whoever holds one can
// tell by identity that nothing has changed.
import type { Json, McpClient, ServerIdentity } from './client.ts';
import { cleanInstructions, readTool, type ToolDefinition } from './tool-definition.ts';

export interface Catalogue {
  readonly server: ServerIdentity;
  readonly instructions: string;
  readonly tools: readonly ToolDefinition[];
  /** Entries that could not be read, in words. */
  readonly problems: readonly string[];
}

/** A server that gives pages without end is cut off. */
const MAX_PAGES = 200;
const MAX_TOOLS = 10_000;

/** All entries of a paged list. */
export async function listAll(client: McpClient, method: string, member: string, signal: AbortSignal): Promise<unknown[]> {
  const entries: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES && entries.length < MAX_TOOLS; page++) {
    const result: Json = await client.request(method, cursor === undefined ? {} : { cursor }, { signal });
    if (Array.isArray(result[member])) entries.push(...result[member]);
    if (typeof result.nextCursor !== 'string' || result.nextCursor === '' || result.nextCursor === cursor) return entries;
    cursor = result.nextCursor;
  }
  return entries;
}

/** The other list under the same identity, or the given one when nothing in it differs. */
function sameOr(before: Catalogue | null, tools: ToolDefinition[], next: Catalogue): Catalogue {
  if (!before || before.tools.length !== tools.length || before.problems.length !== next.problems.length) return next;
  if (JSON.stringify(before.server) !== JSON.stringify(next.server)) return next;
  const same = tools.every((tool, i) => tool.digest === before.tools[i].digest && tool.name === before.tools[i].name);
  return same ? before : next;
}

export async function readCatalogue(client: McpClient, before: Catalogue | null, signal: AbortSignal): Promise<Catalogue> {
  const { server } = client;
  const problems: string[] = [];
  const tools = new Map<string, ToolDefinition>();
  const entries = server.capabilities.tools === undefined ? [] : await listAll(client, 'tools/list', 'tools', signal);
  for (const [i, entry] of entries.entries()) {
    const tool = readTool(entry);
    if (!tool) problems.push(`entry ${i} of its tool list has no name`);
    else if (tools.has(tool.name)) problems.push(`it lists the tool ${tool.name} twice; the first counts`);
    else tools.set(tool.name, tool);
  }
  const list = [...tools.values()];
  return sameOr(before, list, { server, instructions: cleanInstructions(server.instructions), tools: list, problems });
}
