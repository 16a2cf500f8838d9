// Tool specs: what a model reads. Five forms; the sixth member of the story, the runtime, lives in tools/runtime.ts.

/** A JSON Schema as it came; the daemon keeps what it does not understand. */
export type JsonSchema = Record<string, unknown> | boolean;

export interface FunctionSpec {
  type: 'function';
  name: string;
  description: string;
  parameters: JsonSchema;
  strict?: boolean;
  outputSchema?: JsonSchema;
  /** Set on results of a tool search only. */
  deferLoading?: boolean;
}

/** One raw text argument, constrained by a grammar where the provider can. */
export interface FreeformSpec {
  type: 'freeform';
  name: string;
  description: string;
  grammar: { syntax: 'lark' | 'regex'; definition: string };
}

export interface NamespaceSpec {
  type: 'namespace';
  name: string;
  description: string;
  tools: FunctionSpec[];
}

/** Executed by the daemon ("client"), not by the provider. */
export interface ToolSearchSpec {
  type: 'toolSearch';
  description: string;
  parameters: JsonSchema;
}

/** Runs at the provider: no runtime here, only the spec and its history item. */
export interface HostedSpec {
  type: 'hosted';
  /** The provider's own type, `web_search` for one. */
  name: string;
  options?: Record<string, unknown>;
}

export type ToolSpec = FunctionSpec | FreeformSpec | NamespaceSpec | ToolSearchSpec | HostedSpec;

/** Canonical identity of a tool. `namespace__name` is only a way to show it to models without namespaces. */
export interface ToolName {
  namespace?: string;
  name: string;
}

export const flatName = (tool: ToolName): string => (tool.namespace ? `${tool.namespace}__${tool.name}` : tool.name);
/** A key for maps: no two different names share one, as neither part may hold a slash. */
export const nameKey = (tool: ToolName): string => `${tool.namespace ?? ''}/${tool.name}`;
export const sameName = (a: ToolName, b: ToolName): boolean => a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '');
