// From configuration to what a thread is built with.
import { invalidRequest } from '../common/errors.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { providerOf } from '../config/provider.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { sandboxPolicyFor, type ThreadSettings } from '../session/settings.ts';
import type { ThreadSetup } from '../session/thread-manager.ts';
import type { HookServices } from './hook-services.ts';
import { type ModelClients, modelSource } from './model-source.ts';
import type { ThreadToolbox } from './thread-toolbox.ts';

export interface ConfigSource {
  home: string;
  env: NodeJS.ProcessEnv;
  /** The texts of `-c`. */
  overrides: readonly string[];
  profile: string | null;
}

/** The configuration for a folder. Throws an RpcError that names key, file and line. */
export async function configFor(source: ConfigSource, cwd: string | null, thread: Record<string, unknown> | null): Promise<LoadedConfig> {
  const loaded = await loadConfig({ ...source, cwd, thread });
  if (!loaded.ok) throw invalidRequest(`configuration error: ${loaded.error.message}`);
  return loaded;
}

type Granular = Extract<ThreadSettings['approvalPolicy'], object>;

/** `on-failure` is the older name of asking when it is needed. */
function approvalPolicyOf(config: EffectiveConfig): ThreadSettings['approvalPolicy'] {
  const policy = config.approval_policy ?? 'on-request';
  if (typeof policy === 'string') return policy === 'on-failure' ? 'on-request' : policy;
  const { granular } = policy;
  return { granular: { ...granular } } as Granular;
}

export function settingsOf(config: EffectiveConfig, cwd: string): ThreadSettings {
  const provider = config.model_provider;
  const workspace = config.sandbox_workspace_write;
  return {
    model: config.model ?? providerOf(config, provider)?.defaultModel ?? 'scripted',
    modelProvider: provider,
    cwd,
    approvalPolicy: approvalPolicyOf(config),
    approvalsReviewer: 'user',
    sandbox: sandboxPolicyFor(config.sandbox_mode ?? 'read-only', {
      writableRoots: [...(workspace?.writable_roots ?? [])],
      networkAccess: workspace?.network_access,
      excludeTmpdirEnvVar: workspace?.exclude_tmpdir_env_var,
      excludeSlashTmp: workspace?.exclude_slash_tmp,
    }),
    effort: config.model_reasoning_effort ?? null,
    summary: (config.model_reasoning_summary as ThreadSettings['summary']) ?? null,
    personality: (config.personality as ThreadSettings['personality']) ?? null,
    serviceTier: config.service_tier ?? null,
    baseInstructions: config.instructions ?? null,
    developerInstructions: config.developer_instructions ?? null,
    collaborationMode: null,
  };
}

export async function setupThread(
  source: ConfigSource,
  clients: ModelClients,
  toolbox: ThreadToolbox,
  hooks: HookServices,
  cwd: string | null,
  thread: Record<string, unknown> | null,
): Promise<ThreadSetup> {
  const folder = cwd ?? process.cwd();
  const loaded = await configFor(source, folder, thread);
  const { config } = loaded;
  const hookSet = await hooks.load(loaded);
  return {
    config,
    settings: settingsOf(config, folder),
    models: modelSource(config, clients),
    tools: (host) => toolbox.forThread(host, config, hookSet),
  };
}
