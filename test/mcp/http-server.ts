// A remote MCP server on the loopback interface, with an authorization server beside it: streamable HTTP with plain JSON answers.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Remote {
  url: string;
  base: string;
  /** Requests to the MCP address: method and the headers that a test looks at. */
  seen: { method: string; authorization: string | undefined; extra: string | undefined }[];
  /** The server forgets its sessions. */
  forget(): void;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function resultOf(method: string, params: Json): Json {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '2' } };
    case 'tools/list':
      return { tools: [{ name: 'echo', description: 'Repeats', inputSchema: { type: 'object' } }] };
    default:
      return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
  }
}

export async function remoteServer(options: { token?: string } = {}): Promise<Remote> {
  const seen: Remote['seen'] = [];
  let session = 1;
  let base = '';
  let challenge = '';

  const oauth: Record<string, (request: IncomingMessage, body: string, url: URL) => [number, unknown, Record<string, string>?]> = {
    '/.well-known/oauth-protected-resource/mcp': () => [200, { resource: `${base}/mcp`, authorization_servers: [base] }],
    '/.well-known/oauth-authorization-server': () => [
      200,
      {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      },
    ],
    '/register': (_request, body) => [201, { ...(JSON.parse(body) as Json), client_id: 'client-1' }],
    '/authorize': (_request, _body, url) => {
      challenge = url.searchParams.get('code_challenge') ?? '';
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      back.searchParams.set('code', 'code-1');
      return [302, {}, { location: back.href }];
    },
    '/token': (_request, body) => {
      const given = new URLSearchParams(body);
      const verified = createHash('sha256')
        .update(given.get('code_verifier') ?? '')
        .digest('base64url');
      if (given.get('code') !== 'code-1' || verified !== challenge) return [400, { error: 'invalid_grant' }];
      return [200, { access_token: options.token, token_type: 'Bearer', refresh_token: 'refresh-1', expires_in: 3600 }];
    },
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', base);
    const body = await bodyOf(request);
    const other = options.token ? oauth[url.pathname] : undefined;
    if (other) return send(response, ...other(request, body, url));
    if (url.pathname !== '/mcp') return send(response, 404, {});
    const { authorization } = request.headers;
    if (options.token && authorization !== `Bearer ${options.token}`) {
      return send(response, 401, {}, { 'www-authenticate': `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` });
    }
    if (request.method !== 'POST') return send(response, request.method === 'DELETE' ? 200 : 405, {});
    const message = JSON.parse(body) as { id?: number; method: string; params?: Json };
    seen.push({ method: message.method, authorization, extra: request.headers['x-extra'] as string | undefined });
    if (message.method !== 'initialize' && request.headers['mcp-session-id'] !== `s${session}`) return send(response, 404, {});
    if (message.id === undefined) return send(response, 202, undefined);
    const result = resultOf(message.method, message.params ?? {});
    send(response, 200, { jsonrpc: '2.0', id: message.id, result }, { 'mcp-session-id': `s${session}` });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    base,
    url: `${base}/mcp`,
    seen,
    forget: () => {
      session++;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
