// The names under [features] that something here reads. A name that nothing reads is not a feature and is not listed.
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
