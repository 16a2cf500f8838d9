// The adapter for Chat Completions servers, local ones above all.

import { ChatDecoder } from './chat-events.ts';
import { chatBody } from './chat-wire.ts';
import type { ModelClient, ModelEvent, ModelRequest } from './client.ts';
import { FlatTools } from './flat-tools.ts';
import { HttpStreamer } from './http-stream.ts';
import { bearer, type ProviderConfig, requestHeaders, requestTarget } from './provider.ts';
import { originOf } from './reasoning-origin.ts';

export class ChatClient implements ModelClient {
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
        const target = requestTarget(config, '/chat/completions');
        const made = requestHeaders(config, bearer, {}, request.headers);
        secrets = made.secrets;
        const body = chatBody(request, flat, origin);
        return { target, headers: made.headers, body, secrets, idleTimeoutMs: config.streamIdleTimeoutMs };
      },
      () => new ChatDecoder({ flat, origin, secrets }),
      signal,
    );
  }

  close(): void {
    this.#http.close();
  }
}
