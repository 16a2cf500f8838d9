// The transport of a remote server: streamable HTTP of the library, loaded on first use.
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

export interface HttpOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Tokens of an earlier login, renewed when they are old. */
  auth?: OAuthClientProvider;
}

export async function openHttp({ url, headers, auth }: HttpOptions): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...(auth ? { authProvider: auth } : {}),
  });
  return {
    start: () => transport.start(),
    send: (message, options) => transport.send(message, options),
    // The session is ended at the server, too; one that does not answer is not waited for.
    close: async () => {
      await Promise.race([transport.terminateSession().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500).unref())]);
      await transport.close();
    },
    setProtocolVersion: (version) => transport.setProtocolVersion(version),
    get onclose() {
      return transport.onclose;
    },
    set onclose(listener: (() => void) | undefined) {
      transport.onclose = listener;
    },
    get onerror() {
      return transport.onerror;
    },
    set onerror(listener: ((error: Error) => void) | undefined) {
      transport.onerror = listener;
    },
    get onmessage() {
      return transport.onmessage as Transport['onmessage'];
    },
    set onmessage(listener: Transport['onmessage']) {
      transport.onmessage = listener as typeof transport.onmessage;
    },
  } as Transport;
}
