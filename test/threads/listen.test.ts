// Sockets beside stdio: several clients on one daemon, a WebSocket handshake with its token, frames of every shape.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Daemon } from '../../src/server/daemon.ts';
import { parseListen } from '../../src/server/listen.ts';
import { encodeWsFrame, MessagesIn, MessagesOut } from '../../src/server/ws-frames.ts';
import { call } from '../spine/client.ts';

type Message = Record<string, any>;

/** The other end of a socket that carries lines. */
class SocketClient {
  readonly socket: net.Socket;
  readonly received: Message[] = [];
  #id = 0;

  constructor(file: string) {
    this.socket = net.connect(file);
    let rest = '';
    this.socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      this.received.push(...lines.map((line) => JSON.parse(line) as Message));
    });
  }

  send(message: Message): void {
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  async until(test: (message: Message) => boolean): Promise<Message> {
    for (let i = 0; i < 500; i++) {
      const found = this.received.find(test);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`never came; came: ${this.received.map(({ method, id }) => method ?? id).join(', ')}`);
  }

  async request(method: string, params: unknown = {}): Promise<Message> {
    const id = ++this.#id;
    this.send({ id, method, params });
    return (await this.until((message) => message.id === id && message.method === undefined)).result;
  }

  async initialize(): Promise<this> {
    await this.request('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } });
    return this;
  }
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function daemonWith(script: unknown[]): { daemon: Daemon; home: string } {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-listen-'));
  fs.writeFileSync(path.join(home, 'script.json'), JSON.stringify(script));
  fs.writeFileSync(
    path.join(home, 'config.toml'),
    `model_provider = "scripted"\napproval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n[model_providers.scripted]\nscript = ${JSON.stringify(path.join(home, 'script.json'))}\n`,
  );
  const daemon = new Daemon({ home, env: { PATH: process.env.PATH, HOME: home }, overrides: [], profile: null });
  ends.push(async () => {
    await daemon.shutdown();
    fs.rmSync(home, { recursive: true, force: true });
  });
  return { daemon, home };
}

describe('addresses', () => {
  it('[listen.address] reads what it can serve and says what is wrong with the rest', () => {
    expect(parseListen('stdio://')).toEqual({ ok: true, address: { type: 'stdio' } });
    expect(parseListen('unix:///run/x.sock')).toEqual({ ok: true, address: { type: 'unix', path: '/run/x.sock' } });
    expect(parseListen('ws://127.0.0.1:0')).toEqual({ ok: true, address: { type: 'ws', host: '127.0.0.1', port: 0 } });
    for (const wrong of ['unix://relative', 'ws://0.0.0.0:1', 'ws://example.com:80', 'ws://127.0.0.1:99999', 'tcp://x', ''])
      expect(parseListen(wrong).ok, wrong).toBe(false);
  });
});

describe('clients on a socket', () => {
  it('[listen.shared] all listeners are asked with one id, the first answer wins, a leaving client ends nothing, a newcomer is asked again', async () => {
    const { daemon, home } = daemonWith([call('exec_command', { cmd: 'touch ran' }, 'c1'), { say: 'done' }]);
    const file = path.join(home, 'd.sock');
    await daemon.listen({ type: 'unix', path: file }, {});
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const client = async () => {
      const one = new SocketClient(file);
      ends.push(() => one.socket.destroy());
      return one.initialize();
    };
    const [a, b] = [await client(), await client()];
    const threadId = (await a.request('thread/start', { cwd: home })).thread.id;
    await b.until(({ method }) => method === 'thread/started');
    await b.request('thread/resume', { threadId });
    await a.request('turn/start', { threadId, input: [{ type: 'text', text: 'go' }] });
    const asks = (message: Message) => message.method === 'item/commandExecution/requestApproval';
    const [first, second] = [await a.until(asks), await b.until(asks)];
    expect(second.id).toBe(first.id);
    a.socket.destroy();
    const c = await client();
    await c.request('thread/resume', { threadId });
    expect((await c.until(asks)).id).toBe(first.id);
    b.send({ id: first.id, result: { decision: 'accept' } });
    c.send({ id: first.id, result: { decision: 'decline' } });
    for (const one of [b, c]) {
      expect((await one.until(({ method }) => method === 'serverRequest/resolved')).params).toEqual({ threadId, requestId: first.id });
      expect((await one.until(({ method }) => method === 'turn/completed')).params.turn.status).toBe('completed');
    }
    expect(fs.existsSync(path.join(home, 'ran'))).toBe(true);
  });

  it('[listen.guest-leaves] what a client ran for itself ends when it leaves; what another runs goes on', async () => {
    const { daemon, home } = daemonWith([]);
    const file = path.join(home, 'd.sock');
    await daemon.listen({ type: 'unix', path: file }, {});
    const [leaves, stays] = await Promise.all([new SocketClient(file).initialize(), new SocketClient(file).initialize()]);
    ends.push(() => stays.socket.destroy());
    const pidOf = async (client: SocketClient, name: string): Promise<number> => {
      const command = ['sh', '-c', `echo $$ > ${name}.part; mv ${name}.part ${name}; exec sleep 60`];
      await client.request('process/spawn', { command, processHandle: name, cwd: home });
      await expect.poll(() => fs.existsSync(path.join(home, name)), { timeout: 10_000 }).toBe(true);
      return Number(fs.readFileSync(path.join(home, name), 'utf8'));
    };
    const lives = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    const [gone, kept] = [await pidOf(leaves, 'gone'), await pidOf(stays, 'kept')];
    leaves.socket.destroy();
    await expect.poll(() => lives(gone), { timeout: 10_000 }).toBe(false);
    expect(lives(kept)).toBe(true);
  });

  it('[listen.stale] takes over the socket of a daemon that is gone, not one that is served', async () => {
    const { daemon, home } = daemonWith([]);
    const file = path.join(home, 'd.sock');
    const left = net.createServer().listen(file);
    await new Promise((resolve) => left.once('listening', resolve));
    await expect(daemon.listen({ type: 'unix', path: file }, {})).rejects.toThrow(/another process listens/);
    await new Promise((resolve) => left.close(resolve));
    fs.writeFileSync(file, 'no socket');
    await expect(daemon.listen({ type: 'unix', path: file }, {})).rejects.toThrow(/is no socket/);
  });
});

/** What a server answers to an upgrade, and the socket behind it. */
function upgrade(url: string, headers: Record<string, string>): Promise<{ head: string; socket: net.Socket }> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  ends.push(() => socket.destroy());
  const key = Buffer.alloc(16, 7).toString('base64');
  const all = {
    Host: hostname,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    ...headers,
  };
  socket.write(
    `GET / HTTP/1.1\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  return new Promise((resolve) => socket.once('data', (data) => resolve({ head: data.toString('latin1'), socket })));
}

function masked(opcode: number, payload: Buffer, fin = true): Buffer {
  const frame = encodeWsFrame(opcode, payload);
  const headerLength = frame.length - payload.length;
  frame[0] = (fin ? 0x80 : 0) | opcode;
  frame[1] |= 0x80;
  const mask = Buffer.from([1, 2, 3, 4]);
  const body = Buffer.from(payload.map((byte, i) => byte ^ mask[i & 3]));
  return Buffer.concat([frame.subarray(0, headerLength), mask, body]);
}

describe('WebSocket', () => {
  it('[listen.token] lets in who has the token and no page of a browser; then a text message is a request', async () => {
    const { daemon } = daemonWith([]);
    const address = (await daemon.listen({ type: 'ws', host: '127.0.0.1', port: 0 }, { HARNESSD_LISTEN_TOKEN: 'secret' })).split(' ')[0];
    expect((await upgrade(address, {})).head).toMatch(/^HTTP\/1\.1 401 /);
    expect((await upgrade(address, { Authorization: 'Bearer wrong' })).head).toMatch(/^HTTP\/1\.1 401 /);
    expect((await upgrade(address, { Authorization: 'Bearer secret', Origin: 'http://evil.example' })).head).toMatch(/^HTTP\/1\.1 403 /);
    const { head, socket } = await upgrade(address, { Authorization: 'Bearer secret' });
    const accept = createHash('sha1')
      .update(`${Buffer.alloc(16, 7).toString('base64')}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    expect(head).toContain(`Sec-WebSocket-Accept: ${accept}`);
    const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.write(masked(1, Buffer.from(JSON.stringify({ id: 1, method: 'nope' }, null, 2))));
    expect((await answer).toString('utf8')).toContain('-32601');
  });

  it('[listen.token-file] without a token in the environment makes one that only its owner can read', async () => {
    const { daemon, home } = daemonWith([]);
    expect(await daemon.listen({ type: 'ws', host: '127.0.0.1', port: 0 }, {})).toContain(path.join(home, 'listen-token'));
    expect(fs.statSync(path.join(home, 'listen-token')).mode & 0o777).toBe(0o600);
  });

  it('[listen.frames] messages survive any split into frames and chunks, with pings between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.jsonValue(), fc.integer({ min: 1, max: 5 }), fc.boolean()), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 40 }),
        async (messages, chunk) => {
          const socket = new PassThrough();
          const incoming = new MessagesIn(socket, new MessagesOut(new PassThrough()), Buffer.alloc(0));
          const bytes = Buffer.concat(
            messages.flatMap(([value, pieces, ping]) => {
              const payload = Buffer.from(JSON.stringify({ value }, null, 1));
              const size = Math.ceil(payload.length / pieces);
              const frames: Buffer[] = ping ? [masked(9, Buffer.from('hi'))] : [];
              for (let at = 0; at < payload.length; at += size)
                frames.push(masked(at === 0 ? 1 : 0, payload.subarray(at, at + size), at + size >= payload.length));
              return frames;
            }),
          );
          let text = '';
          incoming.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          for (let at = 0; at < bytes.length; at += chunk) socket.write(bytes.subarray(at, at + chunk));
          socket.end();
          await new Promise((resolve) => incoming.once('end', resolve));
          expect(
            text
              .split('\n')
              .slice(0, -1)
              .map((line) => JSON.parse(line)),
          ).toEqual(messages.map(([value]) => JSON.parse(JSON.stringify({ value }))));
        },
      ),
      { numRuns: 40 },
    );
  });
});
