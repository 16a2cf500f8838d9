// What the library asks for when it logs in or renews a token: one provider for a login under way, one for connections afterwards.
import { randomBytes } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthClientMetadata, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { OAuthStore } from './oauth-store.ts';

/** A connection found its tokens refused; only a new login helps. The name is what the library's own error has. */
export class LoginNeeded extends Error {
  constructor(url: string) {
    super(`the login at ${new URL(url).origin} is no longer valid; log in again (mcpServer/oauth/login)`);
    this.name = 'UnauthorizedError';
  }
}

const metadata = (redirectUrl: string, scope: string | undefined): OAuthClientMetadata => ({
  client_name: 'harnessd',
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  ...(scope ? { scope } : {}),
});

/** Uses and renews stored tokens; never begins a login by itself. Undefined when there is no login. */
export function storedLogin(store: OAuthStore, url: string): OAuthClientProvider | undefined {
  if (!store.get(url)?.tokens) return undefined;
  return {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: metadata('http://127.0.0.1/callback', undefined),
    clientInformation: () => store.get(url)?.client,
    tokens: () => store.get(url)?.tokens,
    saveTokens: (tokens) => store.update(url, (login) => ({ ...login, tokens })),
    redirectToAuthorization: () => {
      throw new LoginNeeded(url);
    },
    saveCodeVerifier: () => {},
    codeVerifier: () => {
      throw new LoginNeeded(url);
    },
    invalidateCredentials: (scope) => {
      if (scope === 'all' || scope === 'tokens') store.update(url, ({ client }) => ({ client }));
    },
  };
}

export interface NewLogin {
  readonly provider: OAuthClientProvider;
  readonly state: string;
  /** Where the user is to go; null until the library has said so. */
  authorizationUrl(): string | null;
  /** Keeps what the login brought. */
  keep(): void;
}

/** A login under way. Nothing is stored before it has succeeded, so that a broken one leaves the old tokens as they are. */
export function newLogin(
  store: OAuthStore,
  url: string,
  options: { redirectUrl: string; scope: string | undefined; clientId: string | undefined },
): NewLogin {
  const state = randomBytes(24).toString('base64url');
  let client: OAuthClientInformationMixed | undefined = options.clientId ? { client_id: options.clientId } : undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let address: string | null = null;
  return {
    state,
    authorizationUrl: () => address,
    keep: () => store.update(url, () => ({ client, tokens })),
    provider: {
      redirectUrl: options.redirectUrl,
      clientMetadata: metadata(options.redirectUrl, options.scope),
      state: () => state,
      // Registered anew for each login: the address to come back to has another port each time.
      clientInformation: () => client,
      saveClientInformation: (information) => {
        client = information;
      },
      tokens: () => tokens,
      saveTokens: (fresh) => {
        tokens = fresh;
      },
      redirectToAuthorization: (to) => {
        address = to.href;
      },
      saveCodeVerifier: (text) => {
        verifier = text;
      },
      codeVerifier: () => verifier,
    },
  };
}
