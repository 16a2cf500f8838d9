import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startLogin } from '../../src/mcp/oauth-login.ts';
import { storedLogin } from '../../src/mcp/oauth-provider.ts';
import { OAuthStore } from '../../src/mcp/oauth-store.ts';
import { McpPool } from '../../src/mcp/pool.ts';
import type { ServerSpec } from '../../src/mcp/server-spec.ts';
import { openTransport } from '../../src/mcp/transport-port.ts';
import { type Remote, remoteServer } from './http-server.ts';
import { call, forever, said } from './support.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function remote(options?: { token?: string }): Promise<Remote> {
  const server = await remoteServer(options);
  cleanups.push(() => server.close());
  return server;
}

function storeIn(): { store: OAuthStore; file: string } {
  const home = mkdtempSync(path.join(tmpdir(), 'harnessd-oauth-'));
  cleanups.push(() => rmSync(home, { recursive: true, force: true }));
  return { store: new OAuthStore(home), file: path.join(home, 'mcp-oauth.json') };
}

function poolFor(store?: OAuthStore): McpPool {
  const processes = {
    start: () => {
      throw new Error('no process here');
    },
  };
  const pool = new McpPool(
    openTransport({
      processes,
      auth: ({ transport }) => (store && transport.type === 'http' ? storedLogin(store, transport.url) : undefined),
    }),
  );
  cleanups.push(() => pool.closeAll());
  return pool;
}

const spec = (url: string, headers: Record<string, string> = {}): ServerSpec => ({
  name: 'remote',
  transport: { type: 'http', url, headers },
  startupTimeoutMs: 10_000,
});

describe('a remote server', () => {
  it('[mcp.http] is reached with its headers on every request', async () => {
    const { url, seen } = await remote();
    const { server } = poolFor().acquire(spec(url, { Authorization: 'Bearer t', 'x-extra': 'e' }), '/');
    await server.settled(forever());
    expect(server.state).toEqual({ type: 'ready' });
    expect(await call(server, 'echo', { a: 1 })).toEqual(said('{"a":1}'));
    expect(seen.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
    expect(seen.every(({ authorization, extra }) => authorization === 'Bearer t' && extra === 'e')).toBe(true);
  });

  it('[mcp.http.session] a session that the server forgot is lost for one call; the next one begins another', async () => {
    const { url, forget } = await remote();
    const { server } = poolFor().acquire(spec(url), '/');
    await server.settled(forever());
    forget();
    await expect(call(server, 'echo')).rejects.toMatchObject({ kind: 'lost' });
    expect(await call(server, 'echo', { again: true })).toEqual(said('{"again":true}'));
  });

  it('[mcp.http.unreachable] a server that does not answer fails with a reason', async () => {
    const { server } = poolFor().acquire(spec('http://127.0.0.1:1/mcp'), '/');
    await server.settled(forever());
    expect(server.state).toMatchObject({ type: 'failed', needsLogin: false });
  });
});

describe('a login', () => {
  it('[mcp.oauth] without one the server says that it needs it; with one its tokens are kept for the owner only, and used', async () => {
    const { url, seen } = await remote({ token: 'secret-token' });
    const { store, file } = storeIn();
    const refused = poolFor(store).acquire(spec(url), '/').server;
    await refused.settled(forever());
    expect(refused.state).toMatchObject({ type: 'failed', needsLogin: true });
    const login = await startLogin(store, { url, scopes: ['read'], clientId: undefined, timeoutMs: 10_000 });
    const to = new URL(login.authorizationUrl ?? '');
    expect([to.pathname, to.searchParams.get('scope'), to.searchParams.get('client_id')]).toEqual(['/authorize', 'read', 'client-1']);
    const stranger = new URL(to.searchParams.get('redirect_uri') ?? '');
    stranger.search = '?state=other&code=code-1';
    expect(await (await fetch(stranger)).text()).toMatch(/no login/);
    expect((await fetch(to)).status).toBe(200);
    expect(await login.done).toBe(null);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { server } = poolFor(store).acquire(spec(url), '/');
    await server.settled(forever());
    expect(server.state).toEqual({ type: 'ready' });
    expect(seen.at(-1)?.authorization).toBe('Bearer secret-token');
  });

  it('[mcp.oauth.ends] one that nobody finishes ends with its reason and stores nothing', async () => {
    const { url } = await remote({ token: 't' });
    const { store } = storeIn();
    const slow = await startLogin(store, { url, scopes: undefined, clientId: undefined, timeoutMs: 50 });
    expect(await slow.done).toBe('nobody logged in within 0.05 s');
    const cancelled = await startLogin(store, { url, scopes: undefined, clientId: undefined, timeoutMs: 10_000 });
    cancelled.cancel('enough');
    expect(await cancelled.done).toBe('enough');
    expect(store.get(url)).toBe(undefined);
  });

  it('[mcp.oauth.none] a server without a login rejects at once', async () => {
    const { url } = await remote();
    const { store } = storeIn();
    await expect(startLogin(store, { url, scopes: undefined, clientId: undefined, timeoutMs: 1000 })).rejects.toThrow();
  });
});
