// Whether a tool of an MCP server asks first. Hints are the server's own word: without them effects are assumed, and they never open
// what the policy shuts. An approval holds for the definition that was approved: a tool that changed since asks anew.
import type { ToolDefinition } from '../../mcp/tool-definition.ts';
import type { ApprovalNeed, StepFacts } from '../runtime.ts';

export type McpApprovalMode = 'auto' | 'prompt' | 'writes' | 'approve';

export interface McpApprovalRules {
  /** As the client knows it. */
  readonly server: string;
  /** Tells servers of one name apart. */
  readonly serverKey: string;
  readonly mode: McpApprovalMode;
  /** With the mode `approve`: the definition it was given for; null for whatever the tool is. */
  readonly approvedDigest: string | null;
  /** Stores an approval for good; null when it cannot be stored. */
  readonly remember: ((tool: ToolDefinition) => Promise<string | null>) | null;
}

function asks(mode: McpApprovalMode, { annotations }: ToolDefinition): boolean {
  switch (mode) {
    case 'approve':
      return false;
    case 'prompt':
      return true;
    case 'writes':
      return annotations?.readOnlyHint !== true;
    case 'auto':
      return annotations?.readOnlyHint !== true && !(annotations?.destructiveHint === false && annotations.openWorldHint === false);
  }
}

/** May a person be asked at all? The reason when not. */
export function elicitationsForbidden(step: Pick<StepFacts, 'approvalPolicy'>): string | null {
  const policy = step.approvalPolicy;
  if (policy === 'never') return 'approval policy is never';
  if (typeof policy === 'object' && !policy.granular.mcp_elicitations) return 'the approval policy allows no questions of MCP servers';
  return null;
}

const display = (args: Record<string, unknown>) => Object.entries(args).map(([name, value]) => ({ name, value, display_name: name }));

export function mcpApprovalNeed(
  tool: ToolDefinition,
  args: Record<string, unknown>,
  rules: McpApprovalRules,
  step: StepFacts,
): ApprovalNeed {
  const changed = rules.mode === 'approve' && rules.approvedDigest !== null && rules.approvedDigest !== tool.digest;
  const mode = changed ? 'auto' : rules.mode;
  if (!asks(mode, tool)) return { type: 'skip' };
  const forbidden = elicitationsForbidden(step);
  if (forbidden) {
    return {
      type: 'forbidden',
      reason: `MCP tool call requires approval, but ${forbidden}: ${rules.server}/${tool.name} was not called. Choose a way that needs no approval, or say what is missing.`,
    };
  }
  const remember = rules.remember;
  return {
    type: 'needsApproval',
    keys: mode === 'prompt' ? [] : [JSON.stringify(['mcp', rules.server, rules.serverKey, tool.name, tool.digest])],
    ask: {
      kind: 'elicitation',
      server: rules.server,
      message: `Allow the ${rules.server} MCP server to run tool "${tool.name}"?`,
      meta: {
        tool_name: tool.name,
        tool_annotations: tool.annotations,
        tool_title: tool.title ?? tool.annotations?.title ?? null,
        tool_description: tool.description,
        tool_params: args,
        tool_params_display: display(args),
      },
      remember: remember ? () => remember(tool) : null,
      scope: `the tool ${tool.name} of the server ${rules.server}, with any arguments, as long as its definition stays as it is`,
    },
  };
}
