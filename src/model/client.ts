// The port to a model. One call is one attempt: retries, and what to do with tools, are decided above (model/retry.ts holds the
// arithmetic of waiting). Adapters translate from the Responses item form.
import type { ResponseItem } from '../protocol/response-item.ts';
import type { ToolSpec } from '../protocol/tool-spec.ts';

export interface ModelRequest {
  model: string;
  /** Goes out as `instructions`; most threads put theirs into a developer message of `input` instead. */
  instructions?: string;
  input: readonly ResponseItem[];
  tools: readonly ToolSpec[];
  parallelToolCalls: boolean;
  reasoning?: { effort?: string; summary?: string };
  verbosity?: string;
  serviceTier?: string;
  /** JSON Schema of the final answer, for this request only. */
  outputSchema?: unknown;
  promptCacheKey?: string;
  /** Sent as `client_metadata`; values are strings. */
  metadata?: Record<string, string>;
  /** Extra HTTP headers (session-id, thread-id, …). */
  headers?: Record<string, string>;
}

export interface TokenUsage {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
  totalTokens: number;
}

export type ModelEvent =
  | { type: 'created'; responseId: string }
  /** An item began; its content follows as deltas. `item` may be partial (empty content, empty arguments). */
  | { type: 'itemAdded'; index: number; item: ResponseItem }
  | { type: 'textDelta'; itemId: string; delta: string }
  | { type: 'reasoningPartAdded'; itemId: string; summaryIndex: number }
  | { type: 'reasoningSummaryDelta'; itemId: string; summaryIndex: number; delta: string }
  | { type: 'reasoningTextDelta'; itemId: string; contentIndex: number; delta: string }
  /** Arguments of a function call, or input of a custom call, as they stream. */
  | { type: 'argumentsDelta'; itemId: string; callId?: string; delta: string }
  /** The item is complete: a tool call may start now, before the response ends. */
  | { type: 'itemDone'; index: number; item: ResponseItem }
  /** The provider's rate-limit headers, as they came. */
  | { type: 'rateLimits'; headers: Record<string, string> }
  /** The last event. `usage` is null when the provider sent none. */
  | { type: 'completed'; responseId: string; usage: TokenUsage | null };

export type ModelErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'badRequest'
  | 'rateLimited'
  | 'quotaExceeded'
  | 'contextWindowExceeded'
  | 'overloaded'
  | 'serverError'
  | 'connection'
  | 'streamCut'
  | 'idleTimeout'
  | 'incomplete'
  | 'policy'
  | 'protocol'
  /** The caller's signal. Never retried, never shown as a fault of the provider. */
  | 'aborted'
  | 'other';

/** Why an attempt ended. `retryable` is the adapter's judgement of the fault; whether a try is left is the caller's. */
export class ModelError extends Error {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly httpStatus: number | undefined;
  /** How long the provider asked to wait, from its header or its text. */
  readonly retryAfterMs: number | undefined;
  /** True when the response had begun to stream. */
  readonly midStream: boolean;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { retryable?: boolean; httpStatus?: number; retryAfterMs?: number; midStream?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ModelError';
    this.kind = kind;
    this.retryable = options.retryable ?? false;
    this.httpStatus = options.httpStatus;
    this.retryAfterMs = options.retryAfterMs;
    this.midStream = options.midStream ?? false;
  }
}

/**
 * Contract: `stream` yields batches of events (in order, never empty; a batch is what had arrived when the consumer asked) and ends
 * after `completed`, or throws a ModelError, after everything that came before it was delivered. When the signal aborts it drops
 * what is undelivered, throws a ModelError of kind 'aborted' within a moment and frees its connection; so does leaving the loop
 * early. It never hangs and never ends silently without `completed`. It keeps no state between calls.
 */
export interface ModelClient {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
  /** Frees kept connections. */
  close(): void;
}
