// The lists that clients ask for first. Each answer is true for the configuration as it is now, and empty where there is nothing.
import path from 'node:path';
import { invalidParams, messageOf } from '../../common/errors.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type ProviderSettings, providerIds, providerOf } from '../../config/provider.ts';
import type { EffectiveConfig, McpServerTable } from '../../config/schema.ts';
import { featureEnabled } from '../../config/switches.ts';
import type { SkillsListEntry } from '../../protocol/catalog.ts';
import type { HooksListEntry } from '../../protocol/hook.ts';
import type { McpServerStatus } from '../../protocol/mcp.ts';
import { discoverSkills, type SkillScan } from '../../session/skills.ts';
import { FEATURES } from '../features.ts';
import type { HandlersFor } from '../handler.ts';
import { modelsOf, providerCapabilities, providerSummaries } from '../model-catalog.ts';
import { permissionProfiles } from '../permission-profiles.ts';
import { pageOf } from './pages.ts';

export interface CatalogPorts {
  home: string;
  /** The configuration for a folder. Throws an RpcError that names key, file and line. */
  load(cwd: string | null): Promise<LoadedConfig>;
  /** The skills under a configuration; read from the disk each time when nobody else does. */
  skills?(loaded: LoadedConfig): Promise<SkillScan>;
  /** The hooks of a folder; without it there are none. */
  hooks?(cwd: string): Promise<Omit<HooksListEntry, 'cwd'>>;
  /** What is known of a server that was started, in a thread or in any; undefined when it was not. */
  mcpServer?(name: string, threadId: string | null): Promise<McpServerStatus | undefined>;
  /** Servers that a thread has beside those of the configuration here: of its folder, or its own. */
  mcpServerNames?(threadId: string): readonly string[];
}

interface ListRequest {
  cursor?: string | null;
  limit?: number | null;
}

/** Without a limit these short lists come whole. */
const WHOLE_LIST = 1000;

function page<T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
  { cursor, limit }: ListRequest,
): { data: T[]; nextCursor: string | null } {
  const { data, nextCursor } = pageOf(entries, keyOf, { cursor, limit: limit ?? WHOLE_LIST });
  return { data, nextCursor };
}

function knownProvider(config: EffectiveConfig, id: string): ProviderSettings {
  const provider = providerOf(config, id);
  if (!provider)
    throw invalidParams(`params.modelProvider: there is no provider ${JSON.stringify(id)}; known: ${providerIds(config).join(', ')}`);
  return provider;
}

async function skillsOf(ports: CatalogPorts, cwd: string): Promise<SkillsListEntry> {
  const failed = (message: string): SkillsListEntry => ({ cwd, skills: [], errors: [{ path: cwd, message }] });
  if (!path.isAbsolute(cwd)) return failed('expected an absolute path');
  let loaded: LoadedConfig;
  try {
    loaded = await ports.load(cwd);
  } catch (error) {
    return failed(messageOf(error));
  }
  const { skills, errors } = await (ports.skills?.(loaded) ?? discoverSkills(ports.home, loaded));
  return { cwd, skills: skills.map((skill) => ({ ...skill, pluginId: null })), errors: [...errors] };
}

function authStatusOf({ url, bearer_token_env_var: token, http_headers: headers }: McpServerTable): McpServerStatus['authStatus'] {
  if (url === undefined) return 'unsupported';
  const given = token !== undefined || Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
  return given ? 'bearerToken' : 'unknown';
}

/** A configured server that nobody has started. */
const idleServer = (name: string, server: McpServerTable): McpServerStatus => ({
  name,
  authStatus: authStatusOf(server),
  runtimeStatus: server.enabled === false ? 'disabled' : 'notStarted',
  httpOrigin: server.url !== undefined && URL.canParse(server.url) ? new URL(server.url).origin : null,
  serverInfo: null,
  tools: {},
  toolsError: null,
  resources: [],
  resourceTemplates: [],
});

async function mcpServersOf(ports: CatalogPorts, only: string | null, threadId: string | null): Promise<McpServerStatus[]> {
  const { config } = await ports.load(process.cwd());
  const tables = new Map(Object.entries(config.mcp_servers ?? {}));
  const names = [...new Set([...tables.keys(), ...((threadId && ports.mcpServerNames?.(threadId)) || [])])];
  const statuses = names
    .filter((name) => only === null || name === only)
    .map(async (name) => (await ports.mcpServer?.(name, threadId)) ?? idleServer(name, tables.get(name) ?? {}));
  return Promise.all(statuses);
}

const foldersOf = (cwds: readonly string[] | null | undefined): readonly string[] => (cwds?.length ? cwds : [process.cwd()]);

type Methods =
  | 'model/list'
  | 'modelProvider/list'
  | 'modelProvider/capabilities/read'
  | 'permissionProfile/list'
  | 'experimentalFeature/list'
  | 'collaborationMode/list'
  | 'skills/list'
  | 'hooks/list'
  | 'mcpServerStatus/list';

export function catalogHandlers(ports: CatalogPorts): HandlersFor<Methods> {
  return {
    'model/list': async (params) => {
      const { config } = await ports.load(process.cwd());
      const models = modelsOf(config, knownProvider(config, params.modelProvider ?? config.model_provider));
      const shown = params.includeHidden ? models : models.filter((model) => !model.hidden);
      return page(shown, (model) => model.id, params);
    },
    'modelProvider/list': async () => {
      const { config, origins } = await ports.load(process.cwd());
      return {
        data: providerSummaries(config),
        defaultProviderId: config.model_provider,
        // A write to the user's file would not count against the command line.
        canChangeDefault: origins.get('model_provider')?.layer.kind !== 'flags',
      };
    },
    'modelProvider/capabilities/read': async () => providerCapabilities((await ports.load(process.cwd())).config),
    'permissionProfile/list': (params) => page(permissionProfiles(), (profile) => profile.id, params),
    'experimentalFeature/list': async (params) => {
      const { config } = await ports.load(process.cwd());
      const features = FEATURES.map((feature) => ({
        ...feature,
        announcement: null,
        enabled: featureEnabled(config, feature.name, feature.defaultEnabled),
      }));
      return page(features, (feature) => feature.name, params);
    },
    'collaborationMode/list': async () => {
      const { config } = await ports.load(process.cwd());
      return {
        data: [
          { name: 'Plan', mode: 'plan', model: null, reasoning_effort: config.plan_mode_reasoning_effort ?? 'medium' },
          { name: 'Default', mode: 'default', model: null, reasoning_effort: null },
        ],
      };
    },
    'skills/list': async ({ cwds }) => ({ data: await Promise.all(foldersOf(cwds).map((cwd) => skillsOf(ports, cwd))) }),
    'hooks/list': async ({ cwds }) => {
      const none = { hooks: [], warnings: [], errors: [] };
      return { data: await Promise.all(foldersOf(cwds).map(async (cwd) => ({ cwd, ...((await ports.hooks?.(cwd)) ?? none) }))) };
    },
    'mcpServerStatus/list': async ({ serverName, threadId, ...params }) =>
      page(await mcpServersOf(ports, serverName ?? null, threadId ?? null), (server) => server.name, params),
  };
}
