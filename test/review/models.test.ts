// Clients of models that threads share, and what must not be shared with them.
import { describe, expect, it } from 'vitest';
import type { EffectiveConfig } from '../../src/config/schema.ts';
import { ModelClients, modelSource } from '../../src/server/model-source.ts';

describe('clients of models', () => {
  it('[review.own-abilities] are shared by threads that say the same of a model, and by no others', () => {
    const clients = new ModelClients(() => undefined, {});
    const provider = { wire_api: 'responses', base_url: 'http://127.0.0.1:1/v1' };
    const clientOf = (models?: EffectiveConfig['models']) => {
      const config = { model_provider: 'p', model_providers: { p: provider }, ...(models ? { models } : {}) } as unknown as EffectiveConfig;
      return modelSource(config, clients).bind('p', 'm').client;
    };
    const plain = clientOf();
    const able = clientOf({ m: { namespaces: true } });
    expect(clientOf()).toBe(plain);
    expect(clientOf({ m: { namespaces: true } })).toBe(able);
    expect(able).not.toBe(plain);
    clients.close();
  });
});
