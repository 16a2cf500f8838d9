// From configuration to what a thread is built with.
import { readFileSync } from 'node:fs';
import { invalidRequest, messageOf, systemCode } from '../common/errors.ts';
import type { ConfigWarning } from '../config/layer.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { providerOf } from '../config/provider.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { checkEffort, sandboxPolicyFor, type ThreadSettings } from '../session/settings.ts';
import type { SkillCatalog } from '../session/skill-catalog.ts';
import type { ThreadSetup } from '../session/thread-requests.ts';
import { type ExtensionServices, withExtensions } from './extension-services.ts';
import type { FeatureSwitches } from './features.ts';
import type { HookServices } from './hook-services.ts';
import type { McpServices } from './mcp-services.ts';
import { type ModelClients, modelSource } from './model-source.ts';
import type { ThreadToolbox } from './thread-toolbox.ts';

export interface ConfigSource {
  home: string;
  env: NodeJS.ProcessEnv;
  /** The texts of `-c`. */
  overrides: readonly string[];
  profile: string | null;
  /** Switches of clients, under the configuration. */
  features?: FeatureSwitches;
}

/** The configuration for a folder. Throws an RpcError that names key, file and line. */
export async function configFor(source: ConfigSource, cwd: string | null, thread: Record<string, unknown> | null): Promise<LoadedConfig> {
  const { features, ...options } = source;
  const loaded = await loadConfig({ ...options, cwd, thread });
  if (!loaded.ok) throw invalidRequest(`configuration error: ${loaded.error.message}`);
  return features ? { ...loaded, config: features.applyTo(loaded.config) } : loaded;
}

type Granular = Extract<ThreadSettings['approvalPolicy'], object>;

/** `on-failure` is the older name of asking when it is needed. */
function approvalPolicyOf(config: EffectiveConfig): ThreadSettings['approvalPolicy'] {
  const policy = config.approval_policy;
  if (typeof policy === 'string') return policy === 'on-failure' ? 'on-request' : policy;
  const { granular } = policy;
  return { granular: { ...granular } } as Granular;
}

/** The policy behind a mode, with the roots and switches of `[sandbox_workspace_write]`. */
function sandboxOf(config: EffectiveConfig, mode: EffectiveConfig['sandbox_mode']): ThreadSettings['sandbox'] {
  const workspace = config.sandbox_workspace_write;
  return sandboxPolicyFor(mode, {
    writableRoots: [...(workspace?.writable_roots ?? [])],
    networkAccess: workspace?.network_access,
    excludeTmpdirEnvVar: workspace?.exclude_tmpdir_env_var,
    excludeSlashTmp: workspace?.exclude_slash_tmp,
  });
}

/** A file of its own wins over the text in the configuration. */
function baseInstructionsOf({ model_instructions_file: file, instructions }: EffectiveConfig): string | null {
  if (file === undefined) return instructions ?? null;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw invalidRequest(`configuration error: model_instructions_file: ${file} cannot be read (${systemCode(error) ?? messageOf(error)})`);
  }
}

export function settingsOf(config: EffectiveConfig, cwd: string): ThreadSettings {
  const provider = config.model_provider;
  return {
    model: config.model ?? providerOf(config, provider)?.defaultModel ?? 'scripted',
    modelProvider: provider,
    cwd,
    approvalPolicy: approvalPolicyOf(config),
    approvalsReviewer: config.approvals_reviewer,
    sandbox: sandboxOf(config, config.sandbox_mode),
    effort: config.model_reasoning_effort ?? null,
    summary: config.model_reasoning_summary ?? null,
    personality: config.personality ?? null,
    serviceTier: config.service_tier ?? null,
    baseInstructions: baseInstructionsOf(config),
    developerInstructions: config.developer_instructions ?? null,
    collaborationMode: null,
  };
}

export interface SetupPorts {
  source: ConfigSource;
  clients: ModelClients;
  toolbox: ThreadToolbox;
  hooks: HookServices;
  mcp: McpServices;
  extensions: ExtensionServices;
  skills: SkillCatalog;
  /** Told to clients, each once. */
  warn(warnings: readonly ConfigWarning[]): void;
}

export async function setupThread(ports: SetupPorts, cwd: string | null, thread: Record<string, unknown> | null): Promise<ThreadSetup> {
  const { source, clients, toolbox, hooks, mcp, skills } = ports;
  const folder = cwd ?? process.cwd();
  const loaded = await configFor(source, folder, thread);
  const { config } = loaded;
  ports.warn(loaded.warnings);
  const settings = settingsOf(config, folder);
  const models = modelSource(config, clients);
  if (settings.effort !== null)
    checkEffort(
      'configuration error: model_reasoning_effort',
      settings.effort,
      () => models.bind(settings.modelProvider, settings.model).card,
    );
  const extensions = await ports.extensions.forConfig(loaded);
  const hookSet = await hooks.load(loaded, extensions.hooks);
  return {
    config,
    settings,
    models,
    tools: (host) => {
      const outside = mcp.forThread(host, loaded, () => configFor(source, folder, thread));
      return toolbox.forThread(host, config, hookSet, withExtensions(outside, extensions));
    },
    sandbox: (mode) => sandboxOf(config, mode),
    skills: async (at) => skills.scan(at === folder ? loaded : await configFor(source, at, thread)),
  };
}
