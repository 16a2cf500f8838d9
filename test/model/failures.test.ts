import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResponsesClient } from '../../src/model/responses.ts';
import { answers, facts, providerAt, request, run, SseServer, sse, streams } from './sse-server.ts';

const KEY = 'sk-very-secret-1';
let server: SseServer;
let client: ResponsesClient;
beforeAll(async () => {
  server = await SseServer.start();
  client = new ResponsesClient(providerAt(server, { apiKey: () => KEY }));
});
afterAll(async () => {
  client.close();
  await server.close();
});

const error = (code: string, message: string, type = 'x') => ({ error: { message, type, code } });
const url = () => `${server.base}/responses`;
const created = sse({ type: 'response.created', response: { id: 'r1' } });
const failed = (code: string, message: string) =>
  streams(created, sse({ type: 'response.failed', response: { id: 'r1', error: { code, message } } }));
const none = { httpStatus: undefined, retryAfterMs: undefined };

describe('HTTP answers', () => {
  const table: [string, number, unknown, Record<string, string>, () => Record<string, unknown>][] = [
    [
      '401',
      401,
      error('invalid_api_key', `Incorrect API key ${KEY}`),
      {},
      () => ({ kind: 'unauthorized', message: `unexpected status 401 Unauthorized: Incorrect API key [redacted], url: ${url()}` }),
    ],
    [
      '403',
      403,
      error('forbidden', 'Not for you'),
      {},
      () => ({ kind: 'forbidden', message: `unexpected status 403 Forbidden: Not for you, url: ${url()}` }),
    ],
    ['404', 404, error('model_not_found', 'No such model'), {}, () => ({ kind: 'notFound', message: 'No such model' })],
    ['404 plain', 404, 'nope', {}, () => ({ kind: 'notFound', message: `unexpected status 404 Not Found: nope, url: ${url()}` })],
    [
      '400',
      400,
      error('bad', 'Bad thing'),
      {},
      () => ({ kind: 'badRequest', message: `unexpected status 400 Bad Request: Bad thing, url: ${url()}` }),
    ],
    ['400 overflow', 400, error('context_length_exceeded', 'Too long'), {}, () => ({ kind: 'contextWindowExceeded', message: 'Too long' })],
    [
      '400 overflow by text',
      400,
      error('x', 'prompt is too long: 9 > 8'),
      {},
      () => ({ kind: 'contextWindowExceeded', message: 'prompt is too long: 9 > 8' }),
    ],
    [
      '429',
      429,
      error('rate_limit_exceeded', 'Slow down'),
      { 'retry-after': '1.5' },
      () => ({
        kind: 'rateLimited',
        retryable: true,
        retryAfterMs: 1500,
        message: `unexpected status 429 Too Many Requests: Slow down, url: ${url()}`,
      }),
    ],
    [
      '429 ms',
      429,
      error('x', 'Slow down'),
      { 'retry-after-ms': '70', 'retry-after': '9' },
      () => ({
        kind: 'rateLimited',
        retryable: true,
        retryAfterMs: 70,
        message: `unexpected status 429 Too Many Requests: Slow down, url: ${url()}`,
      }),
    ],
    [
      '429 text',
      429,
      error('x', 'Please try again in 1m2.5s.'),
      {},
      () => ({
        kind: 'rateLimited',
        retryable: true,
        retryAfterMs: 62_500,
        message: `unexpected status 429 Too Many Requests: Please try again in 1m2.5s., url: ${url()}`,
      }),
    ],
    ['429 quota', 429, error('insufficient_quota', 'Pay first'), {}, () => ({ kind: 'quotaExceeded', message: 'Pay first' })],
    ['429 usage', 429, error('', 'Limit reached', 'usage_limit_reached'), {}, () => ({ kind: 'quotaExceeded', message: 'Limit reached' })],
    [
      '500',
      500,
      'oops',
      {},
      () => ({ kind: 'serverError', retryable: true, message: `unexpected status 500 Internal Server Error: oops, url: ${url()}` }),
    ],
    [
      '500 code',
      500,
      error('server_is_overloaded', 'Full'),
      {},
      () => ({ kind: 'overloaded', retryable: true, message: `unexpected status 500 Internal Server Error: Full, url: ${url()}` }),
    ],
    [
      '503',
      503,
      '',
      { 'retry-after': '0' },
      () => ({
        kind: 'overloaded',
        retryable: true,
        retryAfterMs: 0,
        message: `unexpected status 503 Service Unavailable: no message, url: ${url()}`,
      }),
    ],
    ['302', 302, '', {}, () => ({ kind: 'other', message: `unexpected status 302 Found: no message, url: ${url()}` })],
  ];
  for (const [label, status, body, headers, wanted] of table) {
    it(`[model.errors.http] ${label}`, async () => {
      server.replies.push(answers(status, body, headers));
      const outcome = await run(client);
      expect(outcome.events).toEqual([]);
      expect(facts(outcome.error)).toEqual({ retryable: false, midStream: false, ...none, httpStatus: status, ...wanted() });
    });
  }

  it('[model.errors.cap] an endless error body is read up to its limit', async () => {
    server.replies.push((response) => {
      response.writeHead(500);
      const timer = setInterval(() => response.write('x'.repeat(32_768)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const outcome = await run(client);
    expect([outcome.error?.kind, (outcome.error?.message.length ?? 0) < 1500]).toEqual(['serverError', true]);
  });
});

describe('inside the stream', () => {
  const table: [string, ReturnType<typeof streams>, Record<string, unknown>][] = [
    [
      'rate limit',
      failed('rate_limit_exceeded', 'Please try again in 0.8s.'),
      { kind: 'rateLimited', retryable: true, retryAfterMs: 800, message: 'Please try again in 0.8s.' },
    ],
    ['overloaded', failed('server_is_overloaded', 'Full'), { kind: 'overloaded', retryable: true, message: 'Full' }],
    ['quota', failed('insufficient_quota', 'Pay'), { kind: 'quotaExceeded', message: 'Pay' }],
    ['context', failed('context_length_exceeded', 'Long'), { kind: 'contextWindowExceeded', message: 'Long' }],
    ['policy', failed('cyber_policy', 'No'), { kind: 'policy', message: 'No' }],
    ['unknown', failed('gremlins', `Odd ${KEY}`), { kind: 'other', retryable: true, message: 'Odd [redacted]' }],
    [
      'incomplete',
      streams(created, sse({ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } })),
      { kind: 'incomplete', message: 'Incomplete response returned, reason: max_output_tokens' },
    ],
    [
      'error event',
      streams(created, sse({ type: 'error', code: 'server_error', message: 'Fire' })),
      { kind: 'serverError', retryable: true, message: 'Fire' },
    ],
    [
      'nested error event',
      streams(created, sse({ type: 'error', error: { type: 'gremlins', message: 'Fire' } })),
      { kind: 'other', retryable: true, message: 'Fire' },
    ],
    [
      'end without completed',
      streams(created),
      { kind: 'streamCut', retryable: true, message: 'stream disconnected before completion: the stream ended without its final event' },
    ],
  ];
  for (const [label, reply, wanted] of table) {
    it(`[model.errors.stream] ${label}`, async () => {
      server.replies.push(reply);
      const outcome = await run(client);
      expect(outcome.events).toEqual([{ type: 'created', responseId: 'r1' }]);
      expect(facts(outcome.error)).toEqual({ retryable: false, midStream: true, ...none, ...wanted });
    });
  }

  it('[model.errors.broken] a broken connection delivers what came before it, then fails', async () => {
    server.replies.push(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(created);
      await new Promise((resolve) => setTimeout(resolve, 30));
      response.destroy();
    });
    const outcome = await run(client);
    expect(outcome.events).toEqual([{ type: 'created', responseId: 'r1' }]);
    expect(facts(outcome.error)).toEqual({
      kind: 'streamCut',
      retryable: true,
      midStream: true,
      ...none,
      message: 'stream disconnected before completion: ECONNRESET',
    });
  });

  it('[model.errors.not-sse] an answer that is no event stream is shown', async () => {
    server.replies.push(answers(200, '<html>login</html>', { 'content-type': 'text/html' }));
    expect((await run(client)).error?.message).toBe(
      `stream disconnected before completion: ${url()} did not answer with an event stream (content-type: text/html) but with: <html>login</html>`,
    );
  });
});

describe('before the answer', () => {
  it('[model.errors.refused] a refused connection is retryable and names the address', async () => {
    const gone = await SseServer.start();
    const lost = new ResponsesClient(providerAt(gone));
    const address = gone.base;
    await gone.close();
    expect(facts((await run(lost)).error)).toEqual({
      kind: 'connection',
      retryable: true,
      midStream: false,
      ...none,
      message: `error sending request to ${address}/responses: ECONNREFUSED`,
    });
    lost.close();
  });

  it('[model.errors.config] a missing key and a bad address are told before anything is sent', async () => {
    const before = server.requests.length;
    const kinds = [];
    for (const more of [
      { envKey: 'HARNESSD_TEST_UNSET' },
      { baseUrl: 'nowhere' },
      { baseUrl: 'ftp://x/v1' },
      { httpHeaders: { 'x-a': 'b\nc' } },
    ]) {
      const odd = new ResponsesClient(providerAt(server, more));
      const { error } = await run(odd);
      kinds.push([error?.kind, error?.retryable, error?.message]);
      odd.close();
    }
    expect(kinds).toEqual([
      [
        'unauthorized',
        false,
        'model provider "m" needs a key: set the environment variable HARNESSD_TEST_UNSET, or choose another model_provider',
      ],
      ['other', false, 'model provider "m": base_url is not a URL; expected something like https://host/v1'],
      ['other', false, 'model provider "m": base_url must begin with http:// or https://, not ftp://'],
      ['other', false, 'the model request could not be built: Invalid character in header content ["x-a"]'],
    ]);
    expect(server.requests.length).toBe(before);
  });

  it('[model.http.stale] a kept connection that dies with the request is replaced once', async () => {
    const own = new ResponsesClient(providerAt(server));
    const completed = sse({ type: 'response.completed', response: { id: 'r' } });
    server.replies.push(
      streams(completed),
      (response) => void response.destroy(),
      streams(completed),
      (response) => void response.destroy(),
    );
    expect((await run(own)).error).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await run(own)).error).toBeUndefined();
    own.close();
    expect(facts((await run(own)).error)).toMatchObject({ kind: 'connection', retryable: true });
    own.close();
  });

  it('[model.errors.query] query parameters are sent and stay out of texts', async () => {
    const own = new ResponsesClient(providerAt(server, { queryParams: { 'api-key': 'query-secret' }, baseUrl: `${server.base}/` }));
    server.replies.push(answers(401, error('x', 'bad query-secret')));
    const outcome = await run(own);
    expect([server.requests.at(-1)?.url, outcome.error?.message]).toEqual([
      '/v1/responses?api-key=query-secret',
      `unexpected status 401 Unauthorized: bad [redacted], url: ${url()}`,
    ]);
    own.close();
  });
});

const until = async (test: () => boolean) => {
  for (let i = 0; i < 200 && !test(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  return test();
};

describe('silence and abort', () => {
  const silent = (head: boolean) => (response: import('node:http').ServerResponse) => {
    if (head) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(created);
    }
  };

  for (const head of [true, false]) {
    it(`[model.idle] a provider silent ${head ? 'inside the stream' : 'before its answer'} is given up and its connection closed`, async () => {
      const own = new ResponsesClient(providerAt(server, { streamIdleTimeoutMs: 120 }));
      server.replies.push(silent(head));
      const outcome = await run(own);
      expect(facts(outcome.error)).toEqual({
        kind: 'idleTimeout',
        retryable: true,
        midStream: head,
        ...none,
        message: 'stream disconnected before completion: nothing arrived for 120 ms',
      });
      expect(await until(() => server.requests.at(-1)?.aborted === true)).toBe(true);
      own.close();
    });

    it(`[model.abort] an abort ${head ? 'inside the stream' : 'before the answer'} ends at once and frees the connection`, async () => {
      const abort = new AbortController();
      server.replies.push(silent(head));
      const sent = server.requests.length;
      const running = run(client, request(), abort.signal);
      expect(await until(() => server.requests.length > sent)).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 30));
      abort.abort();
      expect((await running).error?.kind).toBe('aborted');
      expect(await until(() => server.requests.at(-1)?.aborted === true)).toBe(true);
    });
  }

  it('[model.abort.before] a signal that is aborted already sends nothing', async () => {
    const before = server.requests.length;
    expect((await run(client, request(), AbortSignal.abort())).error?.kind).toBe('aborted');
    expect(server.requests.length).toBe(before);
  });

  it('[model.abandon] leaving the loop early frees the connection', async () => {
    server.replies.push(silent(true));
    for await (const batch of client.stream(request(), new AbortController().signal)) {
      expect(batch).toEqual([{ type: 'created', responseId: 'r1' }]);
      break;
    }
    expect(await until(() => server.requests.at(-1)?.aborted === true)).toBe(true);
  });

  it('[model.backpressure] a slow consumer loses nothing and is not taken for a silent provider', async () => {
    const own = new ResponsesClient(providerAt(server, { streamIdleTimeoutMs: 600 }));
    const delta = sse({ type: 'response.output_text.delta', item_id: 'm', delta: 'abcdefgh' });
    const parts = Array.from({ length: 60 }, () => delta.repeat(1000));
    server.replies.push(streams(created, ...parts, sse({ type: 'response.completed', response: { id: 'r1' } })));
    let count = 0;
    let first = true;
    for await (const batch of own.stream(request(), new AbortController().signal)) {
      if (first) await new Promise((resolve) => setTimeout(resolve, 1200));
      first = false;
      count += batch.filter((event) => event.type === 'textDelta').length;
    }
    expect(count).toBe(60_000);
    own.close();
  });
});
