// Logging in with a key: where it goes, and where it never shows.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountHandlers, storedApiKey } from '../../src/server/handlers/account.ts';
import { diagnosticsHandlers } from '../../src/server/handlers/diagnostics.ts';
import { workspace } from '../config/workspace.ts';
import { Served } from './served.ts';

const KEY = 'sk-very-secret-1234';

function served(config = '') {
  const files = workspace(config);
  return {
    files,
    auth: path.join(files.home, 'auth.json'),
    client: new Served(accountHandlers({ home: files.home, load: () => files.loaded() })),
  };
}

describe('account handlers', () => {
  it('[account.none] says that nobody is logged in', async () => {
    const { client } = served();
    expect(await client.result('account/read', {})).toEqual({
      account: null,
      userId: null,
      requiresOpenaiAuth: false,
      workspaceRouting: null,
    });
    expect(await client.refusal('account/rateLimits/read')).toBe('-32600 nobody is logged in, so there are no rate limits to read');
  });

  it('[account.key] stores a key for its owner alone and never says it', async () => {
    const { files, auth, client } = served();
    expect(await client.result('account/login/start', { type: 'apiKey', apiKey: ` ${KEY}\n` })).toEqual({ type: 'apiKey' });
    expect(statSync(auth).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(auth, 'utf8'))).toEqual({ OPENAI_API_KEY: KEY });
    expect(readdirSync(files.home)).toEqual(['auth.json', 'config.toml']);
    expect(storedApiKey(files.home)).toBe(KEY);
    expect((await client.result('account/read', {})).account).toEqual({ type: 'apiKey' });
    const { rateLimits } = await client.result<{ rateLimits: object }>('account/rateLimits/read');
    expect(Object.values(rateLimits).every((value) => value === null)).toBe(true);
    expect(client.link.text).not.toContain(KEY);
  });

  it('[account.key-again] replaces a key, closes an open file to others, and keeps what else stands in it', async () => {
    const { files, auth, client } = served();
    writeFileSync(auth, JSON.stringify({ OPENAI_API_KEY: 'old', tokens: { a: 1 } }), { mode: 0o644 });
    await client.result('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect([JSON.parse(readFileSync(auth, 'utf8')), statSync(auth).mode & 0o777]).toEqual([
      { OPENAI_API_KEY: KEY, tokens: { a: 1 } },
      0o600,
    ]);
    writeFileSync(auth, 'damaged');
    expect(storedApiKey(files.home)).toBeUndefined();
    await client.result('account/login/start', { type: 'apiKey', apiKey: KEY });
    expect(storedApiKey(files.home)).toBe(KEY);
  });

  it('[account.refused] refuses other logins and keys that no header can carry, without repeating them', async () => {
    const { files, client } = served();
    expect(await client.refusal('account/login/start', { type: 'chatgpt' })).toBe(
      '-32600 login type "chatgpt" is not supported here: log in with {"type":"apiKey","apiKey":…}',
    );
    expect(await client.refusal('account/login/start', { type: 'apiKey', apiKey: 'sk-very secret' })).toBe(
      '-32602 params.apiKey: expected printable ASCII without blanks',
    );
    expect(await client.refusal('account/login/start', { type: 'apikey', apiKey: KEY })).toMatch(/^-32602 /);
    expect(await client.refusal('account/login/start', { type: 'apiKey', apiKey: '' })).toMatch(/^-32602 params\.apiKey/);
    expect(client.link.text).not.toContain('very');
    expect(storedApiKey(files.home)).toBeUndefined();
  });

  it('[account.required] asks for a login only when the provider in use does', async () => {
    const provider = '[model_providers.p]\nbase_url = "http://127.0.0.1:1/v1"\nrequires_openai_auth = true\n';
    expect((await served(`model_provider = "p"\n${provider}`).client.result('account/read', {})).requiresOpenaiAuth).toBe(true);
    expect((await served(provider).client.result('account/read', {})).requiresOpenaiAuth).toBe(false);
  });
});

describe('server/diagnostics', () => {
  it('[diagnostics.counts] gives the counts of the ports and sizes of the process', async () => {
    const client = new Served(
      diagnosticsHandlers({ requestsInFlight: () => 1, loadedThreads: () => 2, activeTurns: () => 3, pendingServerRequests: () => 4 }),
    );
    const size = expect.any(Number);
    expect(await client.result('server/diagnostics')).toEqual({
      pid: process.pid,
      uptimeMs: size,
      memory: { rssBytes: size, heapUsedBytes: size, heapTotalBytes: size, externalBytes: size },
      requestsInFlight: 1,
      loadedThreads: 2,
      activeTurns: 3,
      pendingServerRequests: 4,
    });
  });
});
