// Capability cards: what a model can do, by its name. The tools layer reads them to decide what to offer, the adapters what to translate.
import type { WireApi } from './provider.ts';

export interface ModelSupport {
  /** Tools grouped under a namespace, calls that name it. */
  namespaces: boolean;
  /** Tools with one raw text argument under a grammar. */
  freeform: boolean;
  /** Deferred tools that a search brings in. */
  toolSearch: boolean;
  /** A search on the web that runs at the provider. */
  webSearch: boolean;
  parallelToolCalls: boolean;
  images: boolean;
  reasoning: boolean;
  verbosity: boolean;
  outputSchema: boolean;
}

export interface ModelCard {
  id: string;
  displayName: string;
  description: string;
  /** Tokens. */
  contextWindow: number;
  /** History above this many tokens is compacted before the next request. */
  autoCompactTokenLimit: number;
  supports: ModelSupport;
  /** Empty when the model has no such setting. */
  efforts: string[];
  /** 'none' when `efforts` is empty. */
  defaultEffort: string;
  defaultVerbosity?: string;
  /** More than this many tools in one request is refused by the provider. */
  maxTools: number;
  inputModalities: ('text' | 'image')[];
  /** Set only by overrides: the model works through code that calls tools. */
  codeMode?: boolean;
  /** False for a name that neither a family nor a user describes; its card promises as little as possible. */
  known: boolean;
}

export type CardOverrides = Partial<Omit<ModelCard, 'supports' | 'id'>> & { supports?: Partial<ModelSupport> };

const AUTO_COMPACT_SHARE = 0.9;
const MAX_TOOLS = 128;

const PLAIN: ModelSupport = {
  namespaces: false,
  freeform: false,
  toolSearch: false,
  webSearch: false,
  parallelToolCalls: true,
  images: true,
  reasoning: false,
  verbosity: false,
  outputSchema: true,
};
const EVERYTHING: ModelSupport = {
  namespaces: true,
  freeform: true,
  toolSearch: true,
  webSearch: true,
  parallelToolCalls: true,
  images: true,
  reasoning: true,
  verbosity: true,
  outputSchema: true,
};
const THINKING: ModelSupport = { ...PLAIN, reasoning: true };
const TEXT_ONLY: ModelSupport = { ...PLAIN, images: false, parallelToolCalls: false, outputSchema: false };

/** Words for reasoning effort that some model takes, the least first. */
export const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const COMMON_EFFORTS = ['low', 'medium', 'high'];

interface Family {
  /** Matched against the lower-case name without a vendor prefix; the first match wins. */
  names: RegExp;
  description: string;
  contextWindow: number;
  supports: ModelSupport;
  efforts?: string[];
  defaultVerbosity?: string;
}

const FAMILIES: readonly Family[] = [
  {
    names: /^scripted$/,
    description: 'Plays a script from a file; needs no network and no key.',
    contextWindow: 272_000,
    supports: EVERYTHING,
    efforts: COMMON_EFFORTS,
  },
  {
    names: /^gpt-(?:5\.[5-9]|6(?:\.\d+)?)(?:-|$)/,
    description: 'General and coding model with reasoning, namespaces and tool search.',
    contextWindow: 272_000,
    supports: EVERYTHING,
    efforts: [...COMMON_EFFORTS, 'xhigh'],
    defaultVerbosity: 'low',
  },
  {
    names: /^gpt-5(?:\.[0-3])?(?:-|$)/,
    description: 'General and coding model with reasoning.',
    contextWindow: 272_000,
    supports: EVERYTHING,
    efforts: ['minimal', ...COMMON_EFFORTS],
    defaultVerbosity: 'medium',
  },
  { names: /^o[134](?:-|$)/, description: 'Reasoning model.', contextWindow: 200_000, supports: THINKING, efforts: COMMON_EFFORTS },
  { names: /^gpt-4\.1(?:-|$)/, description: 'General model with a long context.', contextWindow: 1_047_576, supports: PLAIN },
  { names: /^gpt-4o(?:-|$)/, description: 'General model.', contextWindow: 128_000, supports: PLAIN },
  {
    names: /^gpt-oss(?:[-:]|$)/,
    description: 'Open-weight reasoning model.',
    contextWindow: 131_072,
    supports: { ...TEXT_ONLY, reasoning: true },
    efforts: COMMON_EFFORTS,
  },
  {
    names: /^claude-(?:3-7-|(?:opus|sonnet|haiku)-[4-9]|[a-z]+-[5-9])/,
    description: 'General and coding model with thinking.',
    contextWindow: 200_000,
    supports: THINKING,
    efforts: COMMON_EFFORTS,
  },
  { names: /^claude-/, description: 'General and coding model.', contextWindow: 200_000, supports: { ...PLAIN, outputSchema: false } },
  { names: /^gemini-/, description: 'General model with a long context.', contextWindow: 1_048_576, supports: PLAIN },
  {
    names: /^(?:meta-)?(?:code)?llama|^qwen|^qwq|^deepseek|^(?:mi|dev|code|mix)stral|^gemma|^phi|^glm|^kimi/,
    description: 'Open-weight model.',
    contextWindow: 128_000,
    supports: TEXT_ONLY,
  },
];

const bareName = (model: string): string => model.toLowerCase().slice(model.lastIndexOf('/') + 1);

/**
 * The card of a model. A wire that has no form for tool search or hosted search takes them away whatever the model can do;
 * namespaces and freeform tools stay, as the adapters of such wires translate them.
 */
export function cardFor(model: string, provider?: { readonly wireApi: WireApi }, overrides: CardOverrides = {}): ModelCard {
  const name = bareName(model);
  const family = FAMILIES.find((candidate) => candidate.names.test(name));
  const supports = { ...(family?.supports ?? PLAIN) };
  if (provider?.wireApi === 'chat' || provider?.wireApi === 'anthropic') {
    supports.toolSearch = false;
    supports.webSearch = false;
  }
  if (provider?.wireApi === 'scripted') Object.assign(supports, EVERYTHING);
  if (overrides.efforts?.length) supports.reasoning = true;
  Object.assign(supports, overrides.supports);
  const contextWindow = overrides.contextWindow ?? family?.contextWindow ?? 128_000;
  const efforts = overrides.efforts ?? family?.efforts ?? [];
  return {
    displayName: model,
    description: family?.description ?? 'A model that is not in the catalogue; only plain function tools are offered to it.',
    defaultEffort: efforts.includes('medium') ? 'medium' : (efforts[0] ?? 'none'),
    ...(family?.defaultVerbosity === undefined ? {} : { defaultVerbosity: family.defaultVerbosity }),
    maxTools: MAX_TOOLS,
    autoCompactTokenLimit: Math.floor(contextWindow * AUTO_COMPACT_SHARE),
    ...overrides,
    efforts: [...efforts],
    inputModalities: overrides.inputModalities ?? (supports.images ? ['text', 'image'] : ['text']),
    contextWindow,
    id: model,
    supports,
    known: family !== undefined || overrides.known === true || provider?.wireApi === 'scripted',
  };
}

const LISTED = ['gpt-5.5', 'gpt-5', 'gpt-5-mini', 'gpt-4.1', 'o4-mini', 'claude-opus-4-5', 'claude-sonnet-4-5', 'scripted'];

/** What `model/list` shows when no provider says otherwise; the first is the default. */
export const builtInModels = (): ModelCard[] => LISTED.map((model) => cardFor(model));
