// What is needed to reach one provider: resolved configuration, and the URL and headers of a request built from it.
// The composition root fills it from the config layer; adapters only read it.
import { ModelError } from './client.ts';

export type WireApi = 'responses' | 'chat' | 'anthropic' | 'scripted';

export interface ProviderConfig {
  /** The key under `model_providers`; marks reasoning that only this provider can read back. */
  readonly id: string;
  readonly name: string;
  /** Up to the version, `https://host/v1` for one; adapters add their own path. */
  readonly baseUrl: string;
  readonly wireApi: WireApi;
  /** The environment variable that must hold the key. */
  readonly envKey?: string;
  /** How to get such a key, for the user who has none. */
  readonly envKeyInstructions?: string;
  /** Asked for each request, so that a changed key counts at once. When it has none, `envKey` is read from the environment. */
  readonly apiKey?: () => string | undefined;
  readonly httpHeaders: Readonly<Record<string, string>>;
  /** Header name → environment variable; an unset or empty variable sends no header. */
  readonly envHttpHeaders: Readonly<Record<string, string>>;
  readonly queryParams: Readonly<Record<string, string>>;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  /** File that the scripted provider plays. */
  readonly script?: string;
}

const PROVIDER_DEFAULTS = {
  baseUrl: '',
  wireApi: 'responses',
  httpHeaders: {},
  envHttpHeaders: {},
  queryParams: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeoutMs: 300_000,
} as const;

/** A whole configuration from what was written down. */
export function providerWithDefaults(given: Partial<ProviderConfig> & { id: string }): ProviderConfig {
  return { ...PROVIDER_DEFAULTS, name: given.id, ...given };
}

/** Where a request goes. `shown` has no query and no user part, as both may hold secrets; only it may enter a text. */
export interface RequestTarget {
  url: URL;
  shown: string;
}

export function requestTarget(config: ProviderConfig, path: string): RequestTarget {
  let url: URL;
  try {
    const base = new URL(config.baseUrl);
    url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  } catch {
    throw new ModelError('other', `model provider "${config.id}": base_url is not a URL; expected something like https://host/v1`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ModelError('other', `model provider "${config.id}": base_url must begin with http:// or https://, not ${url.protocol}//`);
  }
  for (const [name, value] of Object.entries(config.queryParams)) url.searchParams.set(name, value);
  return { url, shown: `${url.origin}${url.pathname}` };
}

export interface RequestHeaders {
  headers: Record<string, string>;
  /** Values that must never enter a text, not even when the provider echoes them. */
  secrets: string[];
}

/**
 * Later sources win: the wire's own headers, the session's, the configured ones. A key that is configured but absent is an error
 * before anything is sent: the provider's 401 would not say which variable to set.
 */
export function requestHeaders(
  config: ProviderConfig,
  authorize: (key: string) => Record<string, string>,
  wire: Readonly<Record<string, string>>,
  session: Readonly<Record<string, string>> = {},
): RequestHeaders {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream', 'user-agent': 'harnessd' };
  const secrets: string[] = [];
  const put = (source: Readonly<Record<string, string>>) => {
    for (const [name, value] of Object.entries(source)) headers[name.toLowerCase()] = value;
  };
  put(wire);
  put(session);
  const key = config.apiKey?.() ?? (config.envKey ? process.env[config.envKey] : undefined);
  if (key) {
    put(authorize(key));
    secrets.push(key);
  } else if (config.envKey) {
    const how = config.envKeyInstructions ? `. ${config.envKeyInstructions}` : '';
    throw new ModelError(
      'unauthorized',
      `model provider "${config.id}" needs a key: set the environment variable ${config.envKey}, or choose another model_provider${how}`,
    );
  }
  put(config.httpHeaders);
  for (const [name, value] of [...Object.entries(config.httpHeaders), ...Object.entries(config.queryParams)]) {
    if (MAY_HOLD_SECRET.test(name)) secrets.push(value);
  }
  for (const [name, variable] of Object.entries(config.envHttpHeaders)) {
    const value = process.env[variable];
    if (!value) continue;
    put({ [name]: value });
    secrets.push(value);
  }
  return { headers, secrets };
}

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Headers such as a team name or an API version stay readable in texts. */
const MAY_HOLD_SECRET = /auth|key|token|secret|cookie|sig|pass/i;
/** Blanking very short values would garble texts and protect nothing. */
const SECRET_MIN_LENGTH = 6;

export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets)
    if (secret.length >= SECRET_MIN_LENGTH) clean = clean.replaceAll(secret.replace(/^Bearer\s+/i, ''), '[redacted]');
  return clean;
}
