// The adapter for Anthropic Messages and servers that speak it.
import { AnthropicDecoder } from './anthropic-events.ts';
import { anthropicBody } from './anthropic-wire.ts';
import type { ModelClient, ModelEvent, ModelRequest } from './client.ts';
import { FlatTools } from './flat-tools.ts';
import { HttpStreamer } from './http-stream.ts';
import { type ProviderConfig, requestHeaders, requestTarget } from './provider.ts';
import { originOf } from './reasoning-origin.ts';

const VERSION = { 'anthropic-version': '2023-06-01' };
const authorize = (key: string): Record<string, string> => ({ 'x-api-key': key });

export class AnthropicClient implements ModelClient {
  readonly #config: ProviderConfig;
  readonly #http = new HttpStreamer();

  constructor(config: ProviderConfig) {
    this.#config = config;
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]> {
    const config = this.#config;
    const origin = originOf(config);
    const flat = new FlatTools(request.tools);
    let secrets: readonly string[] = [];
    return this.#http.open(
      () => {
        const target = requestTarget(config, '/messages');
        const made = requestHeaders(config, authorize, VERSION, request.headers);
        secrets = made.secrets;
        const body = anthropicBody(request, flat, origin);
        return { target, headers: made.headers, body, secrets, idleTimeoutMs: config.streamIdleTimeoutMs };
      },
      () => new AnthropicDecoder({ flat, origin, secrets }),
      signal,
    );
  }

  close(): void {
    this.#http.close();
  }
}
