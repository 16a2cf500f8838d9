// One login at a remote server: the user opens an address, comes back to a listener on the loopback interface, and the code that came
// along is exchanged for tokens. Whatever happens, it ends exactly once.
import { createServer, type Server } from 'node:http';
import { Deferred } from '../common/deferred.ts';
import { messageOf } from '../common/errors.ts';
import { newLogin } from './oauth-provider.ts';
import type { OAuthStore } from './oauth-store.ts';

export interface LoginRequest {
  url: string;
  scopes: readonly string[] | undefined;
  clientId: string | undefined;
  timeoutMs: number;
}

export interface RunningLogin {
  /** Where the user is to go; null when the server let us in without asking. */
  readonly authorizationUrl: string | null;
  /** Null when it succeeded, else the reason. Never rejects. */
  readonly done: Promise<string | null>;
  cancel(reason: string): void;
}

const PATH = '/callback';

function listen(onCallback: (query: URLSearchParams) => string): Promise<{ server: Server; redirectUrl: string }> {
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const found = request.method === 'GET' && url.pathname === PATH;
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(found ? onCallback(url.searchParams) : 'not found');
    });
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      resolve({ server, redirectUrl: `http://127.0.0.1:${port}${PATH}` });
    });
  });
}

/** Rejects when the server offers no login. */
export async function startLogin(store: OAuthStore, { url, scopes, clientId, timeoutMs }: LoginRequest): Promise<RunningLogin> {
  const { auth } = await import('@modelcontextprotocol/sdk/client/auth.js');
  const code = new Deferred<string>();
  let state = '';
  const { server, redirectUrl } = await listen((query) => {
    // Someone else's answer is not ours, and does not end the wait for ours.
    if (query.get('state') !== state) return 'This answer belongs to no login that is under way here.';
    const given = query.get('code');
    if (!given) {
      code.reject(new Error(`the login was refused: ${query.get('error_description') ?? query.get('error') ?? 'no code came back'}`));
      return 'The login was refused. You can close this page.';
    }
    code.resolve(given);
    return 'The login arrived. You can close this page.';
  });
  const login = newLogin(store, url, { redirectUrl, scope: scopes?.join(' ') || undefined, clientId });
  state = login.state;
  const timer = setTimeout(() => code.reject(new Error(`nobody logged in within ${timeoutMs / 1000} s`)), Math.min(timeoutMs, 2 ** 31 - 1));
  timer.unref();
  const close = () => {
    clearTimeout(timer);
    server.close();
  };
  const scope = scopes?.length ? { scope: scopes.join(' ') } : {};
  try {
    if ((await auth(login.provider, { serverUrl: url, ...scope })) === 'AUTHORIZED') code.resolve('');
  } catch (error) {
    close();
    throw error;
  }
  const finish = async (): Promise<string | null> => {
    try {
      const authorizationCode = await code.promise;
      if (authorizationCode) await auth(login.provider, { serverUrl: url, authorizationCode, ...scope });
      login.keep();
      return null;
    } catch (error) {
      return messageOf(error);
    } finally {
      close();
    }
  };
  return { authorizationUrl: login.authorizationUrl(), done: finish(), cancel: (reason) => void code.reject(new Error(reason)) };
}
