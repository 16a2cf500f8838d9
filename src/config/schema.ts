// The keys of config.toml that mean something here, with their types, and the names that are accepted without meaning. The type of the
// merged configuration is derived from this table, so that a key cannot be read that is not declared.
import {
  anyTable,
  anyValue,
  either,
  filePath,
  flag,
  type Holds,
  integer,
  list,
  map,
  oneOf,
  openTable,
  type Shape,
  seconds,
  table,
  tableWith,
  text,
} from './shape.ts';

const granular = tableWith(
  { sandbox_approval: flag, rules: flag, mcp_elicitations: flag, skill_approval: flag, request_permissions: flag },
  ['sandbox_approval', 'rules', 'mcp_elicitations'],
);
/** `on-failure` is read as `on-request`; whoever uses the value says so. */
const approvalPolicy = either(oneOf('untrusted', 'on-failure', 'on-request', 'never'), tableWith({ granular }, ['granular']));

const sandboxWorkspaceWrite = table({
  writable_roots: list(filePath),
  network_access: flag,
  exclude_tmpdir_env_var: flag,
  exclude_slash_tmp: flag,
});

const shellEnvironmentPolicy = table({
  inherit: oneOf('all', 'core', 'none'),
  ignore_default_excludes: flag,
  exclude: list(text),
  set: map(text),
  include_only: list(text),
  experimental_use_profile: flag,
});

const modelProvider = table({
  name: text,
  base_url: text,
  wire_api: oneOf('responses', 'chat', 'anthropic', 'scripted'),
  env_key: text,
  env_key_instructions: text,
  /** Program and arguments; its standard output is the key. Wins over env_key. */
  api_key_command: list(text),
  http_headers: map(text),
  env_http_headers: map(text),
  query_params: map(text),
  request_max_retries: integer,
  stream_max_retries: integer,
  stream_idle_timeout_ms: integer,
  requires_openai_auth: flag,
  supports_websockets: flag,
  script: filePath,
  experimental_bearer_token: text,
});

/** A user's capability card; the names that a card reads beyond these are open. */
const modelCard = openTable(
  {
    display_name: text,
    description: text,
    provider: text,
    context_window: integer,
    auto_compact_token_limit: integer,
    max_output_tokens: integer,
    max_tools: integer,
    namespaces: flag,
    freeform: flag,
    tool_search: flag,
    web_search: flag,
    parallel_tool_calls: flag,
    images: flag,
    reasoning: flag,
    reasoning_replay: flag,
    reasoning_efforts: list(text),
    default_reasoning_effort: text,
  },
  anyValue,
);

const toolApproval = oneOf('auto', 'prompt', 'writes', 'approve');
const mcpServer = table({
  command: text,
  args: list(text),
  env: map(text),
  env_vars: list(either(text, anyTable)),
  cwd: text,
  url: text,
  bearer_token_env_var: text,
  http_headers: map(text),
  env_http_headers: map(text),
  startup_timeout_sec: seconds,
  startup_timeout_ms: integer,
  tool_timeout_sec: seconds,
  enabled: flag,
  required: flag,
  enabled_tools: list(text),
  disabled_tools: list(text),
  default_tools_approval_mode: toolApproval,
  tools: map(openTable({ approval_mode: toolApproval }, anyValue)),
  omit_tools_from: list(oneOf('direct', 'deferred', 'code_mode')),
  supports_parallel_tool_calls: flag,
  description: text,
  scopes: list(text),
  oauth: anyTable,
  oauth_resource: text,
  environment_id: text,
});

const hookHandler = table({
  type: text,
  command: text,
  commandWindows: text,
  command_windows: text,
  timeout: seconds,
  timeout_sec: seconds,
  statusMessage: text,
  status_message: text,
  async: flag,
  fail_closed: flag,
  additionalContextLimit: integer,
  server: text,
  tool: text,
  input: anyTable,
});
const hookGroups = list(table({ matcher: text, hooks: list(hookHandler) }));
const hooks = table({
  PreToolUse: hookGroups,
  PermissionRequest: hookGroups,
  PostToolUse: hookGroups,
  UserPromptSubmit: hookGroups,
  SessionStart: hookGroups,
  SessionEnd: hookGroups,
  Stop: hookGroups,
  SubagentStart: hookGroups,
  SubagentStop: hookGroups,
  PreCompact: hookGroups,
  PostCompact: hookGroups,
  Interrupt: hookGroups,
  PreModelRequest: hookGroups,
  PostModelRequest: hookGroups,
  state: map(table({ enabled: flag, trusted_hash: text })),
});

const toolSwitch = either(flag, openTable({ enabled: flag }, anyValue));
const tools = openTable(
  { web_search: toolSwitch, view_image: toolSwitch, update_plan: toolSwitch, suggest: toolSwitch, strict: flag },
  toolSwitch,
);

/** Accepted, so that an existing file works without a warning for each line; nothing here reads them. */
const WITHOUT_MEANING = [
  'analytics',
  'apps',
  'audio',
  'auto_review',
  'browser_use',
  'chatgpt_base_url',
  'check_for_update_on_startup',
  'cli_auth_credentials_store',
  'client_search_provider',
  'commit_attribution',
  'computer_use',
  'default_permissions',
  'desktop',
  'disable_paste_burst',
  'experimental_compact_prompt_file',
  'feedback',
  'forced_chatgpt_workspace_id',
  'forced_login_method',
  'ghost_snapshot',
  'marketplaces',
  'mcp_oauth_callback_port',
  'mcp_oauth_callback_url',
  'mcp_oauth_credentials_store',
  'memories',
  'model_catalog_json',
  'notice',
  'otel',
  'permissions',
  'plugins',
  'sqlite_home',
  'suppress_unstable_features_warning',
  'tool_suggest',
  'tui',
  'windows',
  'zsh_path',
] as const;
const withoutMeaning = Object.fromEntries(WITHOUT_MEANING.map((name) => [name, anyValue])) as Record<
  (typeof WITHOUT_MEANING)[number],
  Shape<unknown>
>;

/** The keys that a profile may set: all but the choice of a profile, trust and hooks. */
const profileKeys = {
  model: text,
  model_provider: text,
  model_reasoning_effort: text,
  model_reasoning_summary: oneOf('auto', 'concise', 'detailed', 'none'),
  model_verbosity: oneOf('low', 'medium', 'high'),
  model_context_window: integer,
  model_auto_compact_token_limit: integer,
  model_auto_compact_token_limit_scope: oneOf('total', 'body_after_prefix'),
  model_supports_reasoning_summaries: flag,
  model_instructions_file: filePath,
  review_model: text,
  plan_mode_reasoning_effort: text,
  approval_policy: approvalPolicy,
  approvals_reviewer: oneOf('user', 'auto_review', 'guardian_subagent'),
  sandbox_mode: oneOf('read-only', 'workspace-write', 'danger-full-access'),
  sandbox_workspace_write: sandboxWorkspaceWrite,
  shell_environment_policy: shellEnvironmentPolicy,
  allow_login_shell: flag,
  model_providers: map(modelProvider),
  models: map(modelCard),
  mcp_servers: map(mcpServer),
  features: map(either(flag, anyTable)),
  tools,
  web_search: oneOf('disabled', 'cached', 'indexed', 'live'),
  agents: openTable({ max_threads: integer, max_depth: integer }, anyValue),
  skills: openTable({ config: list(anyTable), extra_roots: list(filePath), enabled: flag }, anyValue),
  extensions: list(filePath),
  instructions: text,
  developer_instructions: text,
  compact_prompt: text,
  personality: oneOf('none', 'friendly', 'pragmatic'),
  service_tier: text,
  project_doc_max_bytes: integer,
  project_doc_fallback_filenames: list(text),
  project_root_markers: list(text),
  tool_output_token_limit: integer,
  background_terminal_max_timeout: integer,
  thread_unload_delay_secs: integer,
  hide_agent_reasoning: flag,
  show_raw_agent_reasoning: flag,
  openai_base_url: text,
  history: openTable({ persistence: oneOf('save-all', 'none'), max_bytes: integer }, anyValue),
  file_opener: text,
  log_dir: filePath,
  notify: list(text),
  ...withoutMeaning,
};

export const PROFILE_SHAPE = table(profileKeys);
export const CONFIG_SHAPE = table({
  ...profileKeys,
  hooks,
  profile: text,
  profiles: map(PROFILE_SHAPE),
  projects: map(table({ trust_level: oneOf('trusted', 'untrusted') })),
});

/** What one source may say. */
export type ConfigTable = Holds<typeof CONFIG_SHAPE>;
export type ApprovalPolicySetting = Holds<typeof approvalPolicy>;
export type SandboxMode = NonNullable<ConfigTable['sandbox_mode']>;
export type ModelProviderTable = Holds<typeof modelProvider>;
export type ModelCardTable = Holds<typeof modelCard>;
export type McpServerTable = Holds<typeof mcpServer>;
export type HooksTable = Holds<typeof hooks>;
export type HookGroupTable = Holds<typeof hookGroups>[number];
export type ShellEnvironmentPolicyTable = Holds<typeof shellEnvironmentPolicy>;

/** The values that hold when no source says otherwise. `model` and `model_provider` depend on the environment: see provider.ts. */
export const DEFAULTS = {
  approval_policy: 'on-request',
  approvals_reviewer: 'user',
  sandbox_mode: 'read-only',
  project_doc_max_bytes: 32_768,
  thread_unload_delay_secs: 1800,
} as const satisfies ConfigTable;

/** The merged configuration, deeply frozen. */
export type EffectiveConfig = ConfigTable & Required<Pick<ConfigTable, keyof typeof DEFAULTS | 'model' | 'model_provider'>>;
