// Accounts: this daemon knows API keys and nothing else. Without one every answer says so, so that clients can go on.
import { invalidParams, invalidRequest } from '../../common/errors.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { EffectiveConfig } from '../../config/schema.ts';
import type { HandlersFor } from '../handler.ts';
import { forgetApiKey, storeApiKey, storedApiKey } from '../stored-key.ts';

export { storedApiKey } from '../stored-key.ts';

export interface AccountPorts {
  home: string;
  /** Throws an RpcError for a broken configuration. */
  load(): Promise<LoadedConfig>;
  /** Somebody logged in or out. */
  changed?(authMode: 'apikey' | null): void;
}

/** What can stand in an HTTP header, which is where a key ends up. */
const KEY = /^[\x21-\x7e]+$/;

/** Nobody counts here: a provider's limits show in its errors. */
const NO_LIMITS = {
  limitId: null,
  limitName: null,
  normalModelSlug: null,
  primary: null,
  secondary: null,
  credits: null,
  individualLimit: null,
  spendControlReached: null,
  planType: null,
  rateLimitReachedType: null,
};

function requiresLogin({ model_providers: providers, model_provider: id }: EffectiveConfig): boolean {
  return providers !== undefined && Object.hasOwn(providers, id) && providers[id].requires_openai_auth === true;
}

type Methods = 'account/read' | 'account/login/start' | 'account/logout' | 'account/rateLimits/read' | 'getAuthStatus';

export function accountHandlers(ports: AccountPorts): HandlersFor<Methods> {
  const isStored = (): boolean => storedApiKey(ports.home) !== undefined;
  return {
    'account/read': async () => ({
      account: isStored() ? { type: 'apiKey' } : null,
      userId: null,
      requiresOpenaiAuth: requiresLogin((await ports.load()).config),
      workspaceRouting: null,
    }),
    'account/login/start': (params, { after }) => {
      if (params.type !== 'apiKey')
        throw invalidRequest(`login type ${JSON.stringify(params.type)} is not supported here: log in with {"type":"apiKey","apiKey":…}`);
      const apiKey = params.apiKey.trim();
      if (!KEY.test(apiKey)) throw invalidParams('params.apiKey: expected printable ASCII without blanks');
      storeApiKey(ports.home, apiKey);
      after(() => ports.changed?.('apikey'));
      return { type: 'apiKey' };
    },
    'account/logout': (_, { after }) => {
      if (forgetApiKey(ports.home)) after(() => ports.changed?.(null));
      return {};
    },
    getAuthStatus: async () => ({
      authMethod: isStored() ? 'apikey' : null,
      authToken: null,
      requiresOpenaiAuth: requiresLogin((await ports.load()).config),
    }),
    'account/rateLimits/read': () => {
      if (!isStored()) throw invalidRequest('nobody is logged in, so there are no rate limits to read');
      return { rateLimits: NO_LIMITS, rateLimitsByLimitId: null };
    },
  };
}
