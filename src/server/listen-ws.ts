// WebSocket clients on this machine: the handshake with its bearer token, then each text message is one message of the protocol.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { type Listener, listening } from './listen.ts';
import { StreamTransport, type Transport } from './transport.ts';
import { MessagesIn, MessagesOut } from './ws-frames.ts';

const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** What a browser cannot keep from sending: pages of other sites have no business here. */
const BROWSER_HEADERS = ['origin', 'sec-fetch-site'];

/** The token that clients present: from the environment, or one of the home that only its owner can read. */
export function bearerToken(home: string, env: NodeJS.ProcessEnv): { token: string; source: string } {
  if (env.HARNESSD_LISTEN_TOKEN) return { token: env.HARNESSD_LISTEN_TOKEN, source: 'HARNESSD_LISTEN_TOKEN' };
  const file = path.join(home, 'listen-token');
  try {
    const kept = readFileSync(file, 'utf8').trim();
    if (kept.length >= 32) return { token: kept, source: file };
  } catch {}
  const token = randomBytes(32).toString('base64url');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return { token, source: file };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compared by digests: equal length, and no time that tells how much was right. */
function allowed(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/** Why a request is not let in, as status and text; null when it is. */
function refusal(request: http.IncomingMessage, token: string): [number, string] | null {
  const { headers } = request;
  if (BROWSER_HEADERS.some((name) => headers[name] !== undefined)) return [403, 'pages of a browser are not served'];
  if (!allowed(headers.authorization, token)) return [401, 'the bearer token is missing or wrong'];
  if (headers.upgrade?.toLowerCase() !== 'websocket' || typeof headers['sec-websocket-key'] !== 'string')
    return [426, 'this address speaks WebSocket'];
  if (headers['sec-websocket-version'] !== '13') return [426, 'WebSocket version 13 is needed'];
  return null;
}

function answer(socket: Duplex, [status, text]: [number, string]): void {
  const more = status === 426 ? 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${more}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

function accepted(socket: Duplex, key: string): void {
  const accept = createHash('sha1')
    .update(key + HANDSHAKE_GUID)
    .digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
}

export async function listenWs(
  { host, port }: { host: string; port: number },
  token: string,
  accept: (transport: Transport) => void,
): Promise<Listener> {
  const server = http.createServer((request, response) => {
    const [status, text] = refusal(request, token) ?? [426, 'this address speaks WebSocket'];
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {}); // a client that leaves in the middle of its handshake
    const refused = refusal(request, token);
    if (refused) {
      answer(socket, refused);
      return;
    }
    accepted(socket, request.headers['sec-websocket-key'] as string);
    const outgoing = new MessagesOut(socket);
    const incoming = new MessagesIn(socket, outgoing, head);
    accept(new StreamTransport(incoming, outgoing));
  });
  await listening(server, () => server.listen(port, host), `${host}:${port}`);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
