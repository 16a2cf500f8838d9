// One client for the wires that know neither namespaces nor freeform tools; an adapter says what is its own about each of them.
import type { ModelClient, ModelEvent, ModelRequest } from './client.ts';
import { FlatTools } from './flat-tools.ts';
import { HttpStreamer, type StreamDecoder } from './http-stream.ts';
import { type ProviderConfig, requestHeaders, requestTarget } from './provider.ts';
import { originOf } from './reasoning-origin.ts';

export interface FlatAdapter {
  /** Below the provider's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  authorize(key: string): Record<string, string>;
  body(request: ModelRequest, flat: FlatTools, origin: string): string;
  decoder(parts: { flat: FlatTools; origin: string; secrets: readonly string[] }): StreamDecoder;
}

export class FlatClient implements ModelClient {
  readonly #config: ProviderConfig;
  readonly #adapter: FlatAdapter;
  readonly #http = new HttpStreamer();

  constructor(config: ProviderConfig, adapter: FlatAdapter) {
    this.#config = config;
    this.#adapter = adapter;
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]> {
    const config = this.#config;
    const adapter = this.#adapter;
    const origin = originOf(config);
    const flat = new FlatTools(request.tools);
    let secrets: readonly string[] = [];
    return this.#http.open(
      () => {
        const target = requestTarget(config, adapter.path);
        const made = requestHeaders(config, adapter.authorize, adapter.headers, request.headers);
        secrets = made.secrets;
        const body = adapter.body(request, flat, origin);
        return { target, headers: made.headers, body, secrets, idleTimeoutMs: config.streamIdleTimeoutMs };
      },
      () => adapter.decoder({ flat, origin, secrets }),
      signal,
    );
  }

  close(): void {
    this.#http.close();
  }
}
