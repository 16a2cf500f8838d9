// The names under [features] that something here reads. A name that nothing reads is not a feature and is not listed.
import { invalidParams } from '../common/errors.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import type { ExperimentalFeature } from '../protocol/catalog.ts';

type Feature = Pick<ExperimentalFeature, 'name' | 'stage' | 'displayName' | 'description' | 'defaultEnabled'>;

export const FEATURES: readonly Feature[] = [
  {
    name: 'apply_patch_streaming_events',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Shows the changes of a patch while the model still writes it.',
    defaultEnabled: false,
  },
  {
    name: 'default_mode_request_user_input',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Lets the model ask the user questions outside plan mode, too.',
    defaultEnabled: false,
  },
  {
    name: 'exec_permission_approvals',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Lets a command ask for single folders or the network instead of running outside the sandbox.',
    defaultEnabled: false,
  },
  {
    name: 'mcp_tool_list_changed',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Takes over changed tools of an MCP server at the next step.',
    defaultEnabled: false,
  },
  {
    name: 'multi_agent',
    stage: 'beta',
    displayName: null,
    description: 'Gives the model tools to make agents that work for it in threads of their own.',
    defaultEnabled: true,
  },
  {
    name: 'request_permissions_tool',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Gives the model a tool that asks for permissions ahead of the commands that need them.',
    defaultEnabled: false,
  },
  {
    name: 'token_budget',
    stage: 'underDevelopment',
    displayName: null,
    description: 'Gives the model tools that tell what is left of its context and begin a new one.',
    defaultEnabled: false,
  },
];

/** What a client has switched while the daemon runs. Counts for threads that are made afterwards, where the configuration says nothing. */
export class FeatureSwitches {
  readonly #switched = new Map<string, boolean>();

  /** All or none. Throws an RpcError for a name that is no feature. */
  set(enablement: Readonly<Record<string, boolean>>): void {
    const known = FEATURES.map((feature) => feature.name);
    const unknown = Object.keys(enablement).find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw invalidParams(`params.enablement: there is no feature ${JSON.stringify(unknown)}; known: ${known.join(', ')}`);
    for (const [name, isOn] of Object.entries(enablement)) this.#switched.set(name, isOn);
  }

  applyTo(config: EffectiveConfig): EffectiveConfig {
    if (this.#switched.size === 0) return config;
    return { ...config, features: { ...Object.fromEntries(this.#switched), ...config.features } };
  }
}
