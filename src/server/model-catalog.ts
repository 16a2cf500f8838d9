// Models and providers as lists for clients: what the configuration can reach, with exactly one default.
import { type ProviderSettings, type ProviderWire, providerOf, providersOf } from '../config/provider.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { builtInModels, type ModelCard } from '../model/card.ts';
import type { Model, ModelProviderSummary } from '../protocol/catalog.ts';
import { cardOf } from './model-source.ts';

const EFFORT_TEXTS: Readonly<Record<string, string>> = {
  none: 'No reasoning',
  minimal: 'Hardly any reasoning: the quickest answers',
  low: 'Little reasoning: quick answers',
  medium: 'Balanced: for everyday work',
  high: 'Much reasoning: for hard problems',
  xhigh: 'Very much reasoning: for the hardest problems',
};

/** Names of built-in models that a provider of this wire can serve. What a Chat Completions server offers is known to its user only. */
const SERVED: Readonly<Record<ProviderWire, RegExp>> = {
  responses: /^(?:gpt-|o\d)/,
  anthropic: /^claude-/,
  scripted: /^scripted$/,
  chat: /^(?!)/,
};

function wireModel(card: ModelCard, hidden: boolean, isDefault: boolean): Model {
  return {
    id: card.id,
    model: card.id,
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: card.displayName,
    description: card.description,
    modelSpecialty: null,
    hidden,
    supportedReasoningEfforts: card.efforts.map((effort) => ({
      reasoningEffort: effort,
      description: EFFORT_TEXTS[effort] ?? `Reasoning effort ${effort}`,
    })),
    defaultReasoningEffort: card.defaultEffort,
    inputModalities: [...card.inputModalities],
    supportsPersonality: false,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault,
  };
}

/** The default first, then the user's own cards, then the built-in ones; hidden are those that belong to another provider. */
export function modelsOf(config: EffectiveConfig, provider: ProviderSettings): Model[] {
  const preferred = provider.id === config.model_provider ? config.model : provider.defaultModel;
  const hidden = new Map<string, boolean>([[preferred, false]]);
  const add = (id: string, isHidden: boolean) => {
    if (!hidden.has(id)) hidden.set(id, isHidden);
  };
  for (const [id, card] of Object.entries(config.models ?? {})) add(id, card.provider !== undefined && card.provider !== provider.id);
  for (const { id } of builtInModels()) add(id, !SERVED[provider.wireApi].test(id));
  return [...hidden].map(([id, isHidden]) => wireModel(cardOf(config, id, provider), isHidden, id === preferred));
}

/** Without user and query, as both may hold secrets; null when there is no address. */
function shownUrl(baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return null;
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname}`;
}

function authOf({ envKey, apiKey, envHttpHeaders }: ProviderSettings): Record<string, unknown> {
  if (apiKey || Object.keys(envHttpHeaders).length > 0) return { mode: 'externallyConfigured', envKey: envKey ?? null };
  return envKey === undefined ? { mode: 'none' } : { mode: 'environmentVariable', envKey };
}

export function providerSummaries(config: EffectiveConfig): ModelProviderSummary[] {
  return providersOf(config).map((provider) => ({
    id: provider.id,
    name: provider.name,
    canEdit: !provider.builtIn,
    baseUrl: shownUrl(provider.baseUrl),
    settings: provider.id === 'openai' ? { type: 'openai' } : { type: 'customGateway', auth: authOf(provider) },
  }));
}

/** Images are not made here; the web is searched by the provider where it can. */
export function providerCapabilities(config: EffectiveConfig): { imageGeneration: boolean; webSearch: boolean } {
  const { supports } = cardOf(config, config.model, providerOf(config, config.model_provider));
  return { imageGeneration: false, webSearch: supports.webSearch && config.web_search !== 'disabled' };
}
