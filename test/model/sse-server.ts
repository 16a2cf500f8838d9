// A provider on 127.0.0.1 for tests: answers each request with the next reply, and notes what it was sent.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from '../../src/model/client.ts';
import { type ProviderConfig, providerWithDefaults } from '../../src/model/provider.ts';

export type Reply = (response: http.ServerResponse, request: Seen) => void | Promise<void>;

export interface Seen {
  url: string;
  headers: http.IncomingHttpHeaders;
  body: Record<string, any>;
  /** The client went away before the answer was whole. */
  aborted: boolean;
  /** Which connection carried it. */
  port: number;
}

export class SseServer {
  readonly requests: Seen[] = [];
  readonly replies: Reply[] = [];
  readonly #server: http.Server;

  private constructor() {
    this.#server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const seen: Seen = {
          url: request.url ?? '',
          headers: request.headers,
          body: JSON.parse(Buffer.concat(chunks).toString() || '{}'),
          aborted: false,
          port: request.socket.remotePort ?? 0,
        };
        response.on('close', () => {
          seen.aborted = !response.writableEnded;
        });
        this.requests.push(seen);
        await this.replies.shift()?.(response, seen);
      });
    });
  }

  static async start(): Promise<SseServer> {
    const server = new SseServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  dropConnections(): void {
    this.#server.closeAllConnections();
  }
}

export const sse = (event: Record<string, unknown>): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A whole answer, written in one piece. */
export const streams =
  (...parts: (string | Buffer)[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };

export const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const providerAt = (server: SseServer, more: Partial<ProviderConfig> = {}): ProviderConfig =>
  providerWithDefaults({ id: 'm', baseUrl: server.base, streamIdleTimeoutMs: 5000, ...more });

export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'gpt-5.5',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  tools: [],
  parallelToolCalls: true,
  ...more,
});

export interface Outcome {
  events: ModelEvent[];
  error: ModelError | undefined;
}

/** Everything a request gave, with the error that ended it, if any. */
export async function run(client: ModelClient, wanted: ModelRequest = request(), signal = new AbortController().signal): Promise<Outcome> {
  const events: ModelEvent[] = [];
  try {
    for await (const batch of client.stream(wanted, signal)) events.push(...batch);
    return { events, error: undefined };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { events, error };
  }
}

/** The parts of an error that a caller acts on. */
export const facts = (error: ModelError | undefined): Record<string, unknown> | undefined =>
  error && {
    kind: error.kind,
    message: error.message,
    retryable: error.retryable,
    httpStatus: error.httpStatus,
    retryAfterMs: error.retryAfterMs,
    midStream: error.midStream,
  };
