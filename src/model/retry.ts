// The arithmetic of trying again: whether, and after how long. Pure; the turn loop counts, waits and tells the client.
import type { CodexErrorInfo } from '../protocol/turn.ts';
import type { ModelError } from './client.ts';
import { statusLine } from './node-http.ts';

export interface RetryLimits {
  /** Tries after failures before the response began to stream. */
  readonly requestMaxRetries: number;
  /** Tries after failures inside the stream. */
  readonly streamMaxRetries: number;
}

/** Retries already made for the current sampling step. */
export interface RetryCounts {
  readonly request: number;
  readonly stream: number;
}

export type RetryDecision =
  | { retry: true; counter: keyof RetryCounts; delayMs: number }
  /** `final`: trying again would end the same way. `exhausted`: no try is left. `waitTooLong`: the provider asked for more than we wait. */
  | { retry: false; reason: 'final' | 'exhausted' | 'waitTooLong'; message: string };

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 30_000;
const JITTER = 0.1;
/** A longer wait is the user's decision, not ours. */
export const MAX_PROVIDER_WAIT_MS = 5 * 60_000;

export function backoffMs(retriesMade: number, random: () => number = Math.random): number {
  const exact = Math.min(FIRST_DELAY_MS * 2 ** retriesMade, MAX_DELAY_MS);
  return Math.round(exact * (1 - JITTER + 2 * JITTER * random()));
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;

export function decideRetry(question: {
  error: ModelError;
  counts: RetryCounts;
  limits: RetryLimits;
  random?: () => number;
}): RetryDecision {
  const { error, counts, limits } = question;
  if (!error.retryable) return { retry: false, reason: 'final', message: error.message };
  const counter = error.midStream ? 'stream' : 'request';
  const limit = error.midStream ? limits.streamMaxRetries : limits.requestMaxRetries;
  if (counts[counter] >= limit) return { retry: false, reason: 'exhausted', message: exhaustedMessage(error, counts[counter]) };
  const asked = error.retryAfterMs;
  if (asked !== undefined && asked > MAX_PROVIDER_WAIT_MS) {
    const message = `the provider asks to wait ${seconds(asked)}, longer than the ${seconds(MAX_PROVIDER_WAIT_MS)} we wait: ${error.message}`;
    return { retry: false, reason: 'waitTooLong', message };
  }
  // What was asked for is the least to wait: no jitter downwards.
  return { retry: true, counter, delayMs: asked ?? backoffMs(counts[counter], question.random) };
}

function exhaustedMessage(error: ModelError, retries: number): string {
  if (retries === 0) return error.message;
  const status = error.httpStatus === undefined ? '' : `, last status: ${statusLine(error.httpStatus)}`;
  return `exceeded retry limit after ${retries} ${retries === 1 ? 'retry' : 'retries'}${status}: ${error.message}`;
}

/**
 * The kind of a failure as the wire names it. While a retry is still to come (`exhausted` false) every retryable fault is a
 * disconnection to the client; once none is left, its cause.
 */
export function codexErrorInfo(error: ModelError, state: { exhausted: boolean }): CodexErrorInfo {
  const httpStatusCode = error.httpStatus ?? null;
  if (error.retryable && !state.exhausted) return { responseStreamDisconnected: { httpStatusCode } };
  switch (error.kind) {
    case 'unauthorized':
      // Before anything was sent (a missing key) there is no status to show.
      return httpStatusCode === null ? 'unauthorized' : { httpConnectionFailed: { httpStatusCode } };
    case 'forbidden':
    case 'connection':
      return { httpConnectionFailed: { httpStatusCode } };
    case 'notFound':
      return 'modelNotFound';
    case 'badRequest':
      return 'badRequest';
    case 'rateLimited':
      return { responseTooManyFailedAttempts: { httpStatusCode: httpStatusCode ?? 429 } };
    case 'quotaExceeded':
      return 'usageLimitExceeded';
    case 'contextWindowExceeded':
      return 'contextWindowExceeded';
    case 'overloaded':
      return 'serverOverloaded';
    case 'serverError':
      return 'internalServerError';
    case 'streamCut':
    case 'idleTimeout':
      return { responseStreamDisconnected: { httpStatusCode: null } };
    case 'policy':
      return 'cyberPolicy';
    case 'incomplete':
    case 'protocol':
    case 'aborted':
    case 'other':
      return 'other';
  }
}
