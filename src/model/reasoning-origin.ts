// Who issued a reasoning item. A provider can read back only its own: sent elsewhere, or altered, it makes the whole request fail.
// So adapters mark what they receive, and send back only what carries their own mark.
import type { ReasoningItem, ResponseItem } from '../protocol/response-item.ts';
import type { ProviderConfig } from './provider.ts';

/** The wire is part of it: a provider may be moved to another wire under the same id. */
export const originOf = (config: ProviderConfig): string => `${config.wireApi}:${config.id}`;

type Marked = ReasoningItem & { issuer?: unknown };

export function markReasoning(item: ResponseItem, origin: string): ResponseItem {
  return item.type === 'reasoning' ? ({ ...item, issuer: origin } as ResponseItem) : item;
}

/** Undefined for items from before there were marks, and for those that a client brought. */
export function issuerOf(item: ReasoningItem): string | undefined {
  const { issuer } = item as Marked;
  return typeof issuer === 'string' ? issuer : undefined;
}

/** The item as the provider gave it. */
export function withoutMark(item: ReasoningItem): ReasoningItem {
  const { issuer: _, ...rest } = item as Marked;
  return rest;
}
