// From what a provider said (an HTTP answer, an error inside the stream) to a ModelError. All wires share it, so that one cause has
// one kind whoever reports it.
import { preview } from '../common/text.ts';
import { ModelError, type ModelErrorKind } from './client.ts';
import { statusLine } from './node-http.ts';
import { redact } from './provider.ts';

export interface HttpFailure {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  shownUrl: string;
  secrets: readonly string[];
}

/** What the provider said, whatever its dialect. */
export interface ProviderFault {
  code?: string;
  type?: string;
  message?: string;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : typeof value === 'number' ? String(value) : undefined;

/** Reads `{error: {code, type, message}}`, `{error: "text"}`, `{message}`, `{detail}` and their likes. */
export function readFault(value: unknown): ProviderFault {
  const error = field(value, 'error');
  if (typeof error === 'string') return { message: error, code: text(field(value, 'code')) };
  const source = typeof error === 'object' && error !== null ? error : value;
  const message = text(field(source, 'message')) ?? text(field(source, 'detail')) ?? text(field(value, 'message'));
  return { code: text(field(source, 'code')), type: text(field(source, 'type')), message };
}

const CODES: Record<string, ModelErrorKind> = {
  context_length_exceeded: 'contextWindowExceeded',
  exceed_context_size_error: 'contextWindowExceeded',
  request_too_large: 'contextWindowExceeded',
  insufficient_quota: 'quotaExceeded',
  usage_limit_reached: 'quotaExceeded',
  usage_not_included: 'quotaExceeded',
  billing_hard_limit_reached: 'quotaExceeded',
  billing_error: 'quotaExceeded',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  overloaded_error: 'overloaded',
  rate_limit_exceeded: 'rateLimited',
  rate_limit_error: 'rateLimited',
  cyber_policy: 'policy',
  model_not_found: 'notFound',
  not_found_error: 'notFound',
  invalid_api_key: 'unauthorized',
  authentication_error: 'unauthorized',
  permission_error: 'forbidden',
  invalid_request_error: 'badRequest',
  invalid_prompt: 'badRequest',
  server_error: 'serverError',
  api_error: 'serverError',
};
const OVERFLOW = /maximum context length|context (?:window|length|size|limit)|prompt is too long|input is too long|too many tokens in/i;
const NO_CREDIT = /credit balance is too low|exceeded your current quota/i;
const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  'rateLimited',
  'overloaded',
  'serverError',
  'connection',
  'streamCut',
  'idleTimeout',
]);

export const isRetryableKind = (kind: ModelErrorKind): boolean => RETRYABLE.has(kind);

/** The kind that the provider's own words give, before the status is looked at. */
function kindOfFault(fault: ProviderFault): ModelErrorKind | undefined {
  const named = CODES[fault.code ?? ''] ?? CODES[fault.type ?? ''];
  // Many servers say an overflow or an empty account only in the text, under the code of any bad request.
  if (named === undefined || named === 'badRequest') {
    if (fault.message && OVERFLOW.test(fault.message)) return 'contextWindowExceeded';
    if (fault.message && NO_CREDIT.test(fault.message)) return 'quotaExceeded';
  }
  return named;
}

function kindOfStatus(status: number): ModelErrorKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'notFound';
  if (status === 402) return 'quotaExceeded';
  if (status === 429) return 'rateLimited';
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500) return 'serverError';
  return status === 408 || status === 409 || status === 425 || status < 400 ? 'other' : 'badRequest';
}

/** Kinds whose text is the provider's own, because it says all there is to say. */
const PLAIN: ReadonlySet<ModelErrorKind> = new Set(['quotaExceeded', 'contextWindowExceeded', 'policy']);

export function httpError(failure: HttpFailure): ModelError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(failure.body);
  } catch {
    parsed = undefined;
  }
  const fault = parsed === undefined ? {} : readFault(parsed);
  const { status } = failure;
  const byStatus = kindOfStatus(status);
  const byFault = kindOfFault(fault);
  // A code may sharpen a status (429 → quota, 400 → overflow, 500 → overloaded), but never turn a refused key into something else.
  const kind = byStatus === 'unauthorized' || byStatus === 'forbidden' || byFault === undefined ? byStatus : sharper(byStatus, byFault);
  const said = redact(fault.message ?? preview(failure.body.trim(), 1000), failure.secrets);
  const named = kind === 'notFound' && fault.code === 'model_not_found';
  const full = `unexpected status ${statusLine(status)}: ${said || 'no message'}, url: ${failure.shownUrl}`;
  return new ModelError(kind, said && (named || PLAIN.has(kind)) ? said : full, {
    httpStatus: status,
    retryable: RETRYABLE.has(kind) || status === 408 || status === 409 || status === 425,
    retryAfterMs: retryAfter(failure.headers, fault.message),
  });
}

/** `badRequest` and `serverError` are what a code says when it knows no better: then the status decides. */
const sharper = (byStatus: ModelErrorKind, byFault: ModelErrorKind): ModelErrorKind =>
  byFault === 'badRequest' || byFault === 'serverError' ? byStatus : byFault;

/** An error told inside a stream that had begun. What has no known code may be gone at the next try, so it is retryable. */
export function streamError(fault: ProviderFault, secrets: readonly string[] = []): ModelError {
  // Some servers put an HTTP status where others have a code.
  const status = /^[45]\d\d$/.test(fault.code ?? '') ? kindOfStatus(Number(fault.code)) : undefined;
  const kind = kindOfFault(fault) ?? status ?? 'other';
  const message = redact(fault.message ?? fault.code ?? fault.type ?? 'the provider reported an error without a message', secrets);
  return new ModelError(kind, message, {
    midStream: true,
    retryable: RETRYABLE.has(kind) || kind === 'other',
    retryAfterMs: retryAfter({}, fault.message),
  });
}

/** The response ended by a limit or a filter of the provider: what came is kept, and trying again would end the same way. */
export const incompleteError = (reason: string): ModelError =>
  new ModelError('incomplete', `Incomplete response returned, reason: ${reason}`, { midStream: true });

export const cutError = (why: string, cause?: unknown): ModelError =>
  new ModelError('streamCut', `stream disconnected before completion: ${why}`, { retryable: true, midStream: true, cause });

export const abortedError = (): ModelError => new ModelError('aborted', 'the model request was aborted');

const AMOUNT = '(\\d+(?:\\.\\d+)?)\\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z])\\s*';
const WAIT_TEXT = new RegExp(`(?:try again|retry)\\s+(?:in|after)\\s+((?:${AMOUNT})+)`, 'i');

function unitMs(unit: string): number {
  if (/^(?:ms|mil)/.test(unit)) return 1;
  return unit.startsWith('h') ? 3_600_000 : unit.startsWith('m') ? 60_000 : 1000;
}

/** How long the provider asked to wait: its header (ms, seconds or a date), else its text ("try again in 1m2.5s"). */
export function retryAfter(headers: HttpFailure['headers'], message: string | undefined, now = Date.now()): number | undefined {
  const one = (name: string): string | undefined => {
    const value = headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim() || undefined;
  };
  const exact = one('retry-after-ms');
  if (exact !== undefined && Number.isFinite(Number(exact))) return Math.max(0, Number(exact));
  const header = one('retry-after');
  if (header !== undefined) {
    if (Number.isFinite(Number(header))) return Math.max(0, Math.round(Number(header) * 1000));
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const found = message?.match(WAIT_TEXT)?.[1];
  if (found === undefined) return undefined;
  let total = 0;
  for (const [, amount, unit] of found.matchAll(new RegExp(AMOUNT, 'gi'))) total += Number(amount) * unitMs(unit.toLowerCase());
  return Math.round(total);
}
