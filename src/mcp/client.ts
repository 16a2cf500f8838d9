// One initialised connection to a server, on the library's protocol engine. The library is loaded here, on first use. Results are read
// leniently: its strict schemas would refuse a whole list for one odd entry.
import type { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCRequest, Notification, Request, Result } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { HARNESSD_VERSION } from '../common/version.ts';

export type Json = Record<string, unknown>;

export interface ServerIdentity {
  readonly name: string;
  readonly title: string | null;
  readonly version: string;
  readonly websiteUrl: string | null;
  readonly instructions: string | null;
  readonly capabilities: Json;
}

export interface RequestOptions {
  /** Aborting sends notifications/cancelled and settles here at once. */
  signal: AbortSignal;
  onProgress?(progress: Progress): void;
}

export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a server may ask of us. A rejection becomes an error answer. */
export interface ServerRequests {
  elicit(params: Json, signal: AbortSignal): Promise<Json>;
  roots(): { uri: string; name: string }[];
}

/** Contract: requests reject with the server's own error, or when the connection closed; `onNotification` may come at any time. */
export interface McpClient {
  readonly server: ServerIdentity;
  request(method: string, params: Json, options: RequestOptions): Promise<Json>;
  notify(method: string): Promise<void>;
  close(): Promise<void>;
}

export interface ClientOptions {
  requests: ServerRequests;
  onNotification(method: string): void;
  onClosed(): void;
  onFault(error: Error): void;
  signal: AbortSignal;
}

const LATEST = '2025-11-25';
const KNOWN_VERSIONS = [LATEST, '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const METHOD_NOT_FOUND = -32601;
/** Deadlines are ours (they pause and extend), so the library's own never comes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const anyResult = z.looseObject({});

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = <T>(value: unknown, fallback: T): string | T => (typeof value === 'string' ? value : fallback);

class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Engine = Protocol<Request, Notification, Result>;

async function makeEngine(): Promise<Engine> {
  const sdk = await import('@modelcontextprotocol/sdk/shared/protocol.js');
  class ClientEngine extends sdk.Protocol<Request, Notification, Result> {
    protected assertCapabilityForMethod(): void {}
    protected assertNotificationCapability(): void {}
    protected assertRequestHandlerCapability(): void {}
    protected assertTaskCapability(): void {}
    protected assertTaskHandlerCapability(): void {}
  }
  return new ClientEngine();
}

async function answer(requests: ServerRequests, request: JSONRPCRequest, signal: AbortSignal): Promise<Json> {
  switch (request.method) {
    case 'elicitation/create':
      return requests.elicit(isObject(request.params) ? request.params : {}, signal);
    case 'roots/list':
      return { roots: requests.roots() };
    case 'sampling/createMessage':
      throw new Refusal(METHOD_NOT_FOUND, 'sampling is not offered: this client does not run model requests for servers');
    default:
      throw new Refusal(METHOD_NOT_FOUND, `method not found: ${request.method}`);
  }
}

function identityOf(result: Json): ServerIdentity {
  const info = isObject(result.serverInfo) ? result.serverInfo : {};
  return {
    name: textOr(info.name, 'unnamed'),
    title: textOr(info.title, null),
    version: textOr(info.version, ''),
    websiteUrl: textOr(info.websiteUrl, null),
    instructions: textOr(result.instructions, null),
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
  };
}

async function initialize(engine: Engine, transport: Transport, signal: AbortSignal): Promise<ServerIdentity> {
  const result = await engine.request(
    {
      method: 'initialize',
      params: {
        protocolVersion: LATEST,
        capabilities: { roots: { listChanged: true }, elicitation: { form: {}, url: {} } },
        clientInfo: { name: 'harnessd', version: HARNESSD_VERSION },
      },
    },
    anyResult,
    { signal, timeout: NO_TIMEOUT_MS },
  );
  const version = textOr(result.protocolVersion, '');
  if (!KNOWN_VERSIONS.includes(version))
    throw new Error(`it speaks version ${JSON.stringify(version)} of the protocol, which is not known here`);
  transport.setProtocolVersion?.(version);
  await engine.notification({ method: 'notifications/initialized' });
  return identityOf(result);
}

/**
 * Who hears of the progress of which request. The engine hands progress on later than a result, and drops what the result overtook; here
 * it is handed on as it comes, so that the last report of a call is not lost.
 */
class ProgressTokens {
  readonly #listeners = new Map<unknown, (progress: Progress) => void>();
  #next = 0;

  constructor(transport: Transport) {
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'notifications/progress') {
        if (isObject(message.params)) this.#listeners.get(message.params.progressToken)?.(progressOf(message.params));
      } else deliver?.(message, extra);
    };
  }

  async during(params: Json, listener: (progress: Progress) => void, ask: (params: Json) => Promise<Json>): Promise<Json> {
    const progressToken = `progress-${++this.#next}`;
    this.#listeners.set(progressToken, listener);
    try {
      return await ask({ ...params, _meta: { ...(isObject(params._meta) ? params._meta : {}), progressToken } });
    } finally {
      this.#listeners.delete(progressToken);
    }
  }
}

const progressOf = ({ progress, total, message }: Json): Progress => ({
  ...(typeof progress === 'number' ? { progress } : {}),
  ...(typeof total === 'number' ? { total } : {}),
  ...(typeof message === 'string' ? { message } : {}),
});

/** Rejects when the server does not come up; the transport is closed then. */
export async function connectClient(transport: Transport, options: ClientOptions): Promise<McpClient> {
  const engine = await makeEngine();
  engine.onerror = options.onFault;
  engine.onclose = options.onClosed;
  engine.fallbackNotificationHandler = async (notification) => options.onNotification(notification.method);
  engine.fallbackRequestHandler = (request, extra) => answer(options.requests, request, extra.signal);
  try {
    await engine.connect(transport);
    const progress = new ProgressTokens(transport);
    const server = await initialize(engine, transport, options.signal);
    return {
      server,
      request: async (method, params, { signal, onProgress }) => {
        const ask = (asked: Json) => engine.request({ method, params: asked }, anyResult, { signal, timeout: NO_TIMEOUT_MS });
        return onProgress ? progress.during(params, onProgress, ask) : ask(params);
      },
      notify: (method) => engine.notification({ method }),
      close: () => transport.close(),
    };
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
}
