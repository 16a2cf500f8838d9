// The model providers that a configuration knows: the built-in ones and those under [model_providers]. Plain data; the composition root
// hands it to the model layer.
import type { ConfigTable, EffectiveConfig, ModelProviderTable } from './schema.ts';
import { mergeOver } from './table.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type ProviderWire = NonNullable<ModelProviderTable['wire_api']>;

export interface ProviderSettings {
  readonly id: string;
  readonly name: string;
  /** Up to and including the version: `https://host/v1`. Empty for `scripted`. */
  readonly baseUrl: string;
  readonly wireApi: ProviderWire;
  /** The environment variable that holds the key; undefined when the provider needs none. */
  readonly envKey?: string;
  /** What to tell a user who has not set that variable. */
  readonly envKeyInstructions?: string;
  /** Program and arguments of a program that prints the key. */
  readonly keyCommand?: readonly string[];
  /** Present only for a key written into the configuration. A function, so that a dump of this object shows no secret. */
  readonly apiKey?: () => string;
  readonly httpHeaders: Readonly<Record<string, string>>;
  readonly envHttpHeaders: Readonly<Record<string, string>>;
  readonly queryParams: Readonly<Record<string, string>>;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  /** Absolute path of the file that a scripted provider plays. */
  readonly script?: string;
  readonly builtIn: boolean;
  /** Used when no `model` is configured. */
  readonly defaultModel: string;
  /** Why this provider cannot be used as configured; undefined when it can. */
  readonly fault?: string;
}

const BUILT_IN: Readonly<Record<string, ModelProviderTable & { defaultModel: string }>> = {
  openai: {
    name: 'OpenAI',
    base_url: 'https://api.openai.com/v1',
    wire_api: 'responses',
    env_key: 'OPENAI_API_KEY',
    defaultModel: 'gpt-5.5',
  },
  anthropic: {
    name: 'Anthropic',
    base_url: 'https://api.anthropic.com/v1',
    wire_api: 'anthropic',
    env_key: 'ANTHROPIC_API_KEY',
    defaultModel: 'claude-sonnet-4-5',
  },
  ollama: { name: 'Ollama', base_url: 'http://localhost:11434/v1', wire_api: 'chat', defaultModel: 'gpt-oss:20b' },
  lmstudio: { name: 'LM Studio', base_url: 'http://localhost:1234/v1', wire_api: 'chat', defaultModel: 'openai/gpt-oss-20b' },
  scripted: { name: 'Scripted', wire_api: 'scripted', defaultModel: 'scripted' },
};
const DEFAULT_MODEL_OF_WIRE: Readonly<Record<ProviderWire, string>> = {
  responses: 'gpt-5.5',
  chat: 'gpt-5.5',
  anthropic: 'claude-sonnet-4-5',
  scripted: 'scripted',
};
const REQUEST_MAX_RETRIES = 4;
const STREAM_MAX_RETRIES = 5;
const STREAM_IDLE_TIMEOUT_MS = 300_000;

/** The provider of a configuration that names none: a key in the environment means OpenAI, else nothing leaves the machine. */
export const defaultProviderId = (env: Environment): string => (env.OPENAI_API_KEY ? 'openai' : 'scripted');

const faultOf = (wireApi: ProviderWire, baseUrl: string): string | undefined => {
  if (wireApi === 'scripted') return undefined;
  if (baseUrl === '') return 'base_url is missing';
  return /^https?:\/\//.test(baseUrl) && URL.canParse(baseUrl) ? undefined : 'base_url is not an http or https URL';
};

function settingsOf(id: string, config: ConfigTable): ProviderSettings {
  const builtIn = Object.hasOwn(BUILT_IN, id) ? BUILT_IN[id] : undefined;
  const own = config.model_providers && Object.hasOwn(config.model_providers, id) ? config.model_providers[id] : {};
  const moved = id === 'openai' && config.openai_base_url ? { base_url: config.openai_base_url } : {};
  const merged = mergeOver(mergeOver(builtIn ?? {}, moved), own) as ModelProviderTable & { defaultModel?: string };
  const wireApi = merged.wire_api ?? 'responses';
  const baseUrl = merged.base_url ?? '';
  const fault = faultOf(wireApi, baseUrl);
  const token = merged.experimental_bearer_token;
  return {
    id,
    name: merged.name ?? id,
    baseUrl,
    wireApi,
    ...(merged.env_key === undefined ? {} : { envKey: merged.env_key }),
    ...(merged.env_key_instructions === undefined ? {} : { envKeyInstructions: merged.env_key_instructions }),
    ...(merged.api_key_command === undefined ? {} : { keyCommand: merged.api_key_command }),
    ...(token === undefined ? {} : { apiKey: () => token }),
    httpHeaders: merged.http_headers ?? {},
    envHttpHeaders: merged.env_http_headers ?? {},
    queryParams: merged.query_params ?? {},
    requestMaxRetries: merged.request_max_retries ?? REQUEST_MAX_RETRIES,
    streamMaxRetries: merged.stream_max_retries ?? STREAM_MAX_RETRIES,
    streamIdleTimeoutMs: merged.stream_idle_timeout_ms ?? STREAM_IDLE_TIMEOUT_MS,
    ...(merged.script === undefined ? {} : { script: merged.script }),
    builtIn: builtIn !== undefined,
    defaultModel: merged.defaultModel ?? DEFAULT_MODEL_OF_WIRE[wireApi],
    ...(fault === undefined ? {} : { fault: `model provider ${JSON.stringify(id)}: ${fault}` }),
  };
}

/** All providers, the configured ones first, each group in its own order. */
export function providersOf(config: EffectiveConfig): ProviderSettings[] {
  const ids = new Set([...Object.keys(config.model_providers ?? {}), ...Object.keys(BUILT_IN)]);
  return [...ids].map((id) => settingsOf(id, config));
}

export function providerOf(config: ConfigTable, id: string): ProviderSettings | undefined {
  const known = Object.hasOwn(BUILT_IN, id) || (config.model_providers !== undefined && Object.hasOwn(config.model_providers, id));
  return known ? settingsOf(id, config) : undefined;
}

/** For the text that answers an unknown name. */
export const providerIds = (config: ConfigTable): string[] => [
  ...new Set([...Object.keys(config.model_providers ?? {}), ...Object.keys(BUILT_IN)]),
];
