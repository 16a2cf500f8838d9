// From a server's catalogue and its table to the tools of a step: names, schemas, exposure, approval. A tool that no model could take
// is left out and named, once.
import type { McpServerTable } from '../config/schema.ts';
import type { Catalogue } from '../mcp/catalogue.ts';
import { namespaceOf, toolNameOf } from '../mcp/names.ts';
import type { PooledServer } from '../mcp/server.ts';
import type { ToolDefinition } from '../mcp/tool-definition.ts';
import type { FrontendPort } from '../tools/events.ts';
import type { Exposure, ToolRuntime } from '../tools/runtime.ts';
import { normaliseSchema } from '../tools/schema-normalise.ts';
import { mcpRuntime } from '../tools/sources/mcp.ts';
import type { McpApprovalRules } from '../tools/sources/mcp-approval.ts';
import { type McpServerPlan, toolAllowed } from './mcp-specs.ts';

/** Approvals for good, over all threads. */
export interface Remember {
  /** One was given in this process. */
  holds(server: string, serverKey: string, tool: ToolDefinition): boolean;
  /** Null when the server is not in the user's own file. */
  forServer(server: string): ((serverKey: string, tool: ToolDefinition) => Promise<string | null>) | null;
}

/** What of the model decides the form of the offer. */
export interface OfferAbilities {
  /** It finds deferred tools by search. */
  readonly canDefer: boolean;
  /** It reads the description of a namespace. */
  readonly namespaces: boolean;
}

export interface OfferPorts {
  server: PooledServer;
  frontend: FrontendPort;
  abilities: OfferAbilities;
  remember: Remember;
}

export interface OfferedTools {
  readonly catalogue: Catalogue;
  readonly abilities: OfferAbilities;
  readonly runtimes: readonly ToolRuntime[];
  readonly warnings: readonly string[];
}

/** Found by search where that is possible; the table can take a server's tools off each of the three surfaces. */
export function exposureOf({ omit_tools_from: omit = [] }: McpServerTable, canDefer: boolean): Exposure {
  const inCode = !omit.includes('code_mode');
  if (canDefer && !omit.includes('deferred')) return inCode ? 'deferred' : 'deferredModelOnly';
  if (!omit.includes('direct')) return inCode ? 'direct' : 'directModelOnly';
  return inCode ? 'codeModeOnly' : 'hidden';
}

function approvalRules(plan: McpServerPlan, tool: ToolDefinition, { server, remember }: OfferPorts): McpApprovalRules {
  const { name, table } = plan;
  const own = table.tools?.[tool.name];
  const configured = own?.approval_mode ?? table.default_tools_approval_mode ?? 'auto';
  const digest = own?.approval_mode === 'approve' ? own.approved_digest : undefined;
  const store = remember.forServer(name);
  return {
    server: name,
    serverKey: server.key,
    get mode() {
      return remember.holds(name, server.key, tool) ? 'approve' : configured;
    },
    get approvedDigest() {
      return typeof digest === 'string' && !remember.holds(name, server.key, tool) ? digest : null;
    },
    remember: store ? () => store(server.key, tool) : null,
  };
}

export function offerTools(plan: McpServerPlan, catalogue: Catalogue, ports: OfferPorts): OfferedTools {
  const { name, table } = plan;
  const namespace = namespaceOf(name);
  const exposure = exposureOf(table, ports.abilities.canDefer);
  const runtimes: ToolRuntime[] = [];
  const leftOut: string[] = [...catalogue.problems];
  // Without namespaces there is no place for what the server says of its tools together, so the first of them carries it.
  let about = ports.abilities.namespaces || !catalogue.instructions ? '' : `\n\nAbout the tools of ${name}: ${catalogue.instructions}`;
  for (const definition of catalogue.tools) {
    if (!toolAllowed(table, definition.name)) continue;
    const schema = normaliseSchema(definition.inputSchema);
    if (!schema.ok) {
      leftOut.push(`the tool ${definition.name} is left out, ${schema.problem}`);
      continue;
    }
    const runtime = mcpRuntime(
      {
        server: name,
        namespace,
        namespaceDescription: catalogue.instructions || table.description || `Tools of the MCP server ${name}.`,
        name: toolNameOf(namespace, definition.name),
        definition,
        about,
        parameters: schema.schema,
        exposure,
        parallel: table.supports_parallel_tool_calls ?? definition.annotations?.readOnlyHint === true,
        timeoutMs: plan.toolTimeoutMs,
        approval: approvalRules(plan, definition, ports),
      },
      { server: ports.server, frontend: ports.frontend },
    );
    runtimes.push(runtime as unknown as ToolRuntime);
    about = '';
  }
  const warnings = leftOut.length ? [`MCP server ${name}: ${leftOut.join('; ')}.`] : [];
  return { catalogue, abilities: ports.abilities, runtimes, warnings };
}
