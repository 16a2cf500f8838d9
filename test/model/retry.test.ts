import { describe, expect, it } from 'vitest';
import { ModelError, type ModelErrorKind } from '../../src/model/client.ts';
import { backoffMs, codexErrorInfo, decideRetry } from '../../src/model/retry.ts';

type Options = ConstructorParameters<typeof ModelError>[2];
const fault = (kind: ModelErrorKind, options: Options = {}) => new ModelError(kind, 'why', options);
const limits = { requestMaxRetries: 2, streamMaxRetries: 1 };
const half = () => 0.5;
const decide = (error: ModelError, request = 0, stream = 0) => decideRetry({ error, counts: { request, stream }, limits, random: half });

describe('decideRetry', () => {
  it('[model.retry.table] counts failures before and inside the stream apart and honours what the provider asks', () => {
    const http = { retryable: true, httpStatus: 429 };
    const stream = { retryable: true, midStream: true };
    expect([
      decide(fault('serverError', { retryable: true })),
      decide(fault('serverError', { retryable: true }), 1),
      decide(fault('serverError', { retryable: true }), 2, 0),
      decide(fault('streamCut', stream), 2, 0),
      decide(fault('streamCut', stream), 0, 1),
      decide(fault('rateLimited', { ...http, retryAfterMs: 1000 })),
      decide(fault('rateLimited', { ...http, retryAfterMs: 0 })),
      decide(fault('rateLimited', { ...http, retryAfterMs: 300_000 })),
      decide(fault('rateLimited', { ...http, retryAfterMs: 300_001 })),
      decide(fault('rateLimited', http), 2),
    ]).toEqual([
      { retry: true, counter: 'request', delayMs: 200 },
      { retry: true, counter: 'request', delayMs: 400 },
      { retry: false, reason: 'exhausted', message: 'exceeded retry limit after 2 retries: why' },
      { retry: true, counter: 'stream', delayMs: 200 },
      { retry: false, reason: 'exhausted', message: 'exceeded retry limit after 1 retry: why' },
      { retry: true, counter: 'request', delayMs: 1000 },
      { retry: true, counter: 'request', delayMs: 0 },
      { retry: true, counter: 'request', delayMs: 300_000 },
      { retry: false, reason: 'waitTooLong', message: 'the provider asks to wait 301 s, longer than the 300 s we wait: why' },
      { retry: false, reason: 'exhausted', message: 'exceeded retry limit after 2 retries, last status: 429 Too Many Requests: why' },
    ]);
  });

  it('[model.retry.final] what is not retryable is final, whatever is left', () => {
    for (const kind of [
      'unauthorized',
      'forbidden',
      'badRequest',
      'notFound',
      'quotaExceeded',
      'contextWindowExceeded',
      'policy',
      'incomplete',
      'aborted',
    ] as const) {
      expect(decide(fault(kind))).toEqual({ retry: false, reason: 'final', message: 'why' });
    }
  });

  it('[model.retry.backoff] waits double, stay within a tenth of that, and end at half a minute', () => {
    expect([0, 1, 2, 3, 7, 8, 60].map((n) => backoffMs(n, half))).toEqual([200, 400, 800, 1600, 25_600, 30_000, 30_000]);
    expect([backoffMs(0, () => 0), backoffMs(0, () => 1)]).toEqual([180, 220]);
  });
});

describe('codexErrorInfo', () => {
  it('[model.retry.info] each kind has its name on the wire once no retry is left', () => {
    const at = (kind: ModelErrorKind, httpStatus?: number) =>
      codexErrorInfo(fault(kind, { httpStatus, retryable: true }), { exhausted: true });
    expect([
      at('unauthorized', 401),
      at('unauthorized'),
      at('forbidden', 403),
      at('notFound', 404),
      at('badRequest', 400),
      at('rateLimited', 429),
      at('rateLimited'),
      at('quotaExceeded', 429),
      at('contextWindowExceeded'),
      at('overloaded', 503),
      at('serverError', 500),
      at('connection'),
      at('streamCut'),
      at('idleTimeout'),
      at('incomplete'),
      at('policy'),
      at('protocol'),
      at('other'),
    ]).toEqual([
      { httpConnectionFailed: { httpStatusCode: 401 } },
      'unauthorized',
      { httpConnectionFailed: { httpStatusCode: 403 } },
      'modelNotFound',
      'badRequest',
      { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      'usageLimitExceeded',
      'contextWindowExceeded',
      'serverOverloaded',
      'internalServerError',
      { httpConnectionFailed: { httpStatusCode: null } },
      { responseStreamDisconnected: { httpStatusCode: null } },
      { responseStreamDisconnected: { httpStatusCode: null } },
      'other',
      'cyberPolicy',
      'other',
      'other',
    ]);
  });

  it('[model.retry.info-retrying] while a retry is to come, the client sees a disconnection with its status', () => {
    expect([
      codexErrorInfo(fault('rateLimited', { httpStatus: 429, retryable: true }), { exhausted: false }),
      codexErrorInfo(fault('streamCut', { retryable: true }), { exhausted: false }),
      codexErrorInfo(fault('badRequest', { httpStatus: 400 }), { exhausted: false }),
    ]).toEqual([
      { responseStreamDisconnected: { httpStatusCode: 429 } },
      { responseStreamDisconnected: { httpStatusCode: null } },
      'badRequest',
    ]);
  });
});
