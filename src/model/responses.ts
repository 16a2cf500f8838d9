// The adapter for the Responses API: one request, one stream, no state but the kept connections.
import { cardFor, type ModelSupport } from './card.ts';
import type { ModelClient, ModelEvent, ModelRequest } from './client.ts';
import { FlatTools } from './flat-tools.ts';
import { HttpStreamer } from './http-stream.ts';
import { bearer, type ProviderConfig, requestHeaders, requestTarget } from './provider.ts';
import { originOf } from './reasoning-origin.ts';
import { ResponsesDecoder } from './responses-events.ts';
import { responsesBody, toFlatten } from './responses-wire.ts';

export interface AdapterOptions {
  /** What a model can do; the catalogue's card by default. */
  supports?: (model: string) => ModelSupport;
}

export class ResponsesClient implements ModelClient {
  readonly #config: ProviderConfig;
  readonly #supports: (model: string) => ModelSupport;
  readonly #http = new HttpStreamer();

  constructor(config: ProviderConfig, options: AdapterOptions = {}) {
    this.#config = config;
    this.#supports = options.supports ?? ((model) => cardFor(model, config).supports);
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]> {
    const config = this.#config;
    const supports = this.#supports(request.model);
    const origin = originOf(config);
    let secrets: string[] = [];
    const flat = new FlatTools(toFlatten(request.tools, supports));
    return this.#http.open(
      () => {
        const target = requestTarget(config, '/responses');
        const made = requestHeaders(config, bearer, {}, request.headers);
        secrets = made.secrets;
        const body = responsesBody(request, { supports, flat, origin });
        return { target, headers: made.headers, body, secrets, idleTimeoutMs: config.streamIdleTimeoutMs };
      },
      () => new ResponsesDecoder({ secrets, origin, flat }),
      signal,
    );
  }

  close(): void {
    this.#http.close();
  }
}
