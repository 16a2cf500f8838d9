// From a provider's configuration to its client. The two adapters that few use are loaded with their first request.
import type { ModelClient, ModelEvent, ModelRequest } from './client.ts';
import { FlatClient } from './flat-client.ts';
import type { ProviderConfig } from './provider.ts';
import { type AdapterOptions, ResponsesClient } from './responses.ts';
import { ScriptedClient } from './scripted.ts';

export function createModelClient(config: ProviderConfig, options: AdapterOptions = {}): ModelClient {
  switch (config.wireApi) {
    case 'responses':
      return new ResponsesClient(config, options);
    case 'scripted':
      return new ScriptedClient(config);
    case 'chat':
      return new LazyClient(async () => new FlatClient(config, (await import('./chat.ts')).chatAdapter));
    case 'anthropic':
      return new LazyClient(async () => new FlatClient(config, (await import('./anthropic.ts')).anthropicAdapter));
  }
}

class LazyClient implements ModelClient {
  readonly #load: () => Promise<ModelClient>;
  /** Set by the first request; all requests share the one client and its connections. */
  #loading: Promise<ModelClient> | undefined;

  constructor(load: () => Promise<ModelClient>) {
    this.#load = load;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    this.#loading ??= this.#load();
    yield* (await this.#loading).stream(request, signal);
  }

  close(): void {
    void this.#loading?.then(
      (client) => client.close(),
      // Told already to whoever asked for the stream.
      () => {},
    );
  }
}
