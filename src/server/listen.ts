// Front doors beside stdio: a unix socket, or WebSocket on this machine. Several clients at once; the daemon outlives each of them.
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { messageOf, systemCode } from '../common/errors.ts';
import { StreamTransport, type Transport } from './transport.ts';

export type ListenAddress = { type: 'stdio' } | { type: 'unix'; path: string } | { type: 'ws'; host: string; port: number };

/** Only addresses of this machine: whoever can connect can run commands. */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** What `--listen` names, or why it names nothing. */
export function parseListen(text: string): { ok: true; address: ListenAddress } | { ok: false; problem: string } {
  if (text === 'stdio://' || text === 'stdio') return { ok: true, address: { type: 'stdio' } };
  if (text.startsWith('unix://')) {
    const file = text.slice('unix://'.length);
    if (!path.isAbsolute(file)) return { ok: false, problem: `expected unix:// and an absolute path, got ${text}` };
    return { ok: true, address: { type: 'unix', path: file } };
  }
  const ws = /^ws:\/\/(\[[^\]]*\]|[^/:]+):(\d{1,5})\/?$/.exec(text);
  if (!ws) return { ok: false, problem: `expected stdio://, unix://PATH or ws://127.0.0.1:PORT, got ${text}` };
  if (!LOCAL_HOSTS.has(ws[1])) return { ok: false, problem: `${ws[1]} is not an address of this machine only: use 127.0.0.1` };
  const port = Number(ws[2]);
  if (port > 65_535) return { ok: false, problem: `${ws[2]} is no port` };
  return { ok: true, address: { type: 'ws', host: ws[1].replace(/^\[|\]$/g, ''), port } };
}

export interface Listener {
  /** Where it can be reached. */
  readonly url: string;
  close(): void;
}

/** A socket file that nobody serves is left over from a daemon that was killed. */
async function removeStale(file: string): Promise<void> {
  try {
    if (!statSync(file).isSocket()) throw new Error(`${file} exists and is no socket`);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  const served = await new Promise<boolean>((resolve) => {
    const probe = net.connect(file);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
  if (served) throw new Error(`another process listens on ${file}`);
  rmSync(file, { force: true });
}

/** Serves clients on a socket file that only its owner may open. */
export async function listenUnix(file: string, accept: (transport: Transport) => void): Promise<Listener> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  await removeStale(file);
  const server = net.createServer((socket) => accept(new StreamTransport(socket, socket)));
  // Nobody may connect between the making of the file and its change of mode.
  const before = process.umask(0o177);
  try {
    await listening(server, () => server.listen(file), file);
  } finally {
    process.umask(before);
  }
  chmodSync(file, 0o600);
  return {
    url: `unix://${file}`,
    close: () => {
      server.close();
      rmSync(file, { force: true });
    },
  };
}

/** Resolves when the server listens; a failure names the address. */
export function listening(server: net.Server, begin: () => void, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`cannot listen on ${address}: ${messageOf(error)}`)));
    server.once('listening', resolve);
    begin();
  });
}
