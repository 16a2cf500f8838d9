// Models for threads: clients are shared by all threads whose provider is configured alike, cards come from the catalogue with the user's
// own entries laid over.
import { invalidRequest } from '../common/errors.ts';
import { type ProviderSettings, providerIds, providerOf } from '../config/provider.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { type CardOverrides, cardFor, type ModelCard } from '../model/card.ts';
import type { ModelClient } from '../model/client.ts';
import { createModelClient } from '../model/factory.ts';
import type { ModelBinding, ModelSource } from '../session/ports.ts';
import { KeyCommand, KeyedClient } from './key-command.ts';

type UserCard = NonNullable<EffectiveConfig['models']>[string];

function overridesOf(config: EffectiveConfig, model: string): CardOverrides {
  const own: UserCard | undefined = config.models && Object.hasOwn(config.models, model) ? config.models[model] : undefined;
  const contextWindow = own?.context_window ?? config.model_context_window;
  const limit = own?.auto_compact_token_limit ?? config.model_auto_compact_token_limit;
  const supports = {
    ...(config.model_verbosity === undefined ? {} : { verbosity: true }),
    ...(config.model_supports_reasoning_summaries ? { reasoning: true } : {}),
    ...(own?.namespaces === undefined ? {} : { namespaces: own.namespaces }),
    ...(own?.freeform === undefined ? {} : { freeform: own.freeform }),
    ...(own?.tool_search === undefined ? {} : { toolSearch: own.tool_search }),
    ...(own?.web_search === undefined ? {} : { webSearch: own.web_search }),
    ...(own?.parallel_tool_calls === undefined ? {} : { parallelToolCalls: own.parallel_tool_calls }),
    ...(own?.images === undefined ? {} : { images: own.images }),
    ...(own?.reasoning === undefined ? {} : { reasoning: own.reasoning }),
  };
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(limit === undefined ? {} : { autoCompactTokenLimit: limit }),
    ...(own?.max_tools === undefined ? {} : { maxTools: own.max_tools }),
    ...(own?.display_name === undefined ? {} : { displayName: own.display_name }),
    ...(own?.description === undefined ? {} : { description: own.description }),
    ...(own?.reasoning_efforts === undefined ? {} : { efforts: [...own.reasoning_efforts] }),
    ...(own?.default_reasoning_effort === undefined ? {} : { defaultEffort: own.default_reasoning_effort }),
    ...(config.model_verbosity === undefined ? {} : { defaultVerbosity: config.model_verbosity }),
    ...(own === undefined ? {} : { known: true }),
    supports,
  };
}

export const cardOf = (config: EffectiveConfig, model: string, provider?: ProviderSettings): ModelCard =>
  cardFor(model, provider, overridesOf(config, model));

/** Clients by what they were made from; closed with the daemon. */
export class ModelClients {
  readonly #clients = new Map<string, ModelClient>();
  /** A key that a client of ours stored, for providers that take it. */
  readonly #storedKey: () => string | undefined;

  readonly #env: NodeJS.ProcessEnv;

  constructor(storedKey: () => string | undefined, env: NodeJS.ProcessEnv = process.env) {
    this.#storedKey = storedKey;
    this.#env = env;
  }

  for(settings: ProviderSettings, config: EffectiveConfig): ModelClient {
    const { models, model_verbosity: verbosity, model_supports_reasoning_summaries: reasoning } = config;
    // What the user says of models is a part of the client: it decides how requests are written.
    const key = JSON.stringify([settings, settings.apiKey?.(), models, verbosity, reasoning]);
    let client = this.#clients.get(key);
    if (!client) {
      const command = settings.keyCommand && new KeyCommand(settings.id, settings.keyCommand, this.#env);
      const apiKey = command ? () => command.key : this.#keyOf(settings);
      const made = createModelClient(
        { ...settings, ...(apiKey ? { apiKey } : {}) },
        { supports: (model) => cardOf(config, model, settings).supports },
      );
      client = command ? new KeyedClient(made, command) : made;
      this.#clients.set(key, client);
    }
    return client;
  }

  #keyOf({ id, apiKey, envKey }: ProviderSettings): (() => string | undefined) | undefined {
    if (apiKey || envKey === undefined) return apiKey;
    return () => this.#env[envKey] || (id === 'openai' ? this.#storedKey() : undefined);
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}

/** What a client sees of reasoning, where the user says so. */
function reasoningOf(config: EffectiveConfig): Pick<ModelBinding, 'reasoningShown'> {
  if (config.hide_agent_reasoning) return { reasoningShown: 'nothing' };
  return config.show_raw_agent_reasoning === false ? { reasoningShown: 'summary' } : {};
}

/** The models of one configuration. */
export function modelSource(config: EffectiveConfig, clients: ModelClients): ModelSource {
  const bindings = new Map<string, ModelBinding>();
  return {
    ...(config.review_model === undefined ? {} : { reviewModel: config.review_model }),
    bind: (provider, model) => {
      const key = JSON.stringify([provider, model]);
      const known = bindings.get(key);
      if (known) return known;
      const settings = providerOf(config, provider);
      if (!settings) throw invalidRequest(`model provider not found: ${provider}. Configured: ${providerIds(config).join(', ')}`);
      if (settings.fault) throw invalidRequest(settings.fault);
      const binding: ModelBinding = {
        client: clients.for(settings, config),
        card: cardOf(config, model, settings),
        ...(config.compact_prompt?.trim() ? { compactPrompt: config.compact_prompt } : {}),
        ...(config.tool_output_token_limit === undefined ? {} : { resultTokenLimit: config.tool_output_token_limit }),
        ...reasoningOf(config),
        retries: { requestMaxRetries: settings.requestMaxRetries, streamMaxRetries: settings.streamMaxRetries },
      };
      bindings.set(key, binding);
      return binding;
    },
  };
}
