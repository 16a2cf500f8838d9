// The adapter for Anthropic Messages and servers that speak it.
import { AnthropicDecoder } from './anthropic-events.ts';
import { anthropicBody } from './anthropic-wire.ts';
import type { FlatAdapter } from './flat-client.ts';

export const anthropicAdapter: FlatAdapter = {
  path: '/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  authorize: (key) => ({ 'x-api-key': key }),
  body: anthropicBody,
  decoder: (parts) => new AnthropicDecoder(parts),
};
