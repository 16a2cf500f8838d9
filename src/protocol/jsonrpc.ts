// The JSON-RPC envelope as this wire uses it: no `jsonrpc` member is sent, an incoming one is tolerated.
// `classify` decides once what a parsed JSON value is; everything behind it works on the tagged result.

export type RequestId = string | number;

export interface RpcRequest {
  id: RequestId;
  method: string;
  params?: unknown;
}

export interface RpcNotification {
  method: string;
  params?: unknown;
}

export interface RpcErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** An answer as it is sent: exactly one of result and error. The id is null when the message it answers had no usable one. */
export type RpcAnswer = { id: RequestId | null; result: unknown } | { id: RequestId | null; error: RpcErrorObject };

/** An answer as it came in: nothing about it is checked but its id. An absent member is missing here too. */
export interface RpcResponse {
  id: RequestId;
  result?: unknown;
  error?: unknown;
}

export type Incoming =
  | { type: 'request'; id: RequestId; method: string; params: unknown }
  | { type: 'notification'; method: string; params: unknown }
  | { type: 'response'; message: RpcResponse }
  /** A report about something that had no id. It is never answered: two such peers would answer each other for ever. */
  | { type: 'orphan'; error: unknown }
  | { type: 'invalid'; id: RequestId | null; problem: string };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Strings and whole numbers that survive a round trip through a double: only those can be echoed verbatim. */
export const isRequestId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

/** The id to put into an answer about this value, null when it has none that can be echoed. */
export function usableId(value: unknown): RequestId | null {
  return isObject(value) && isRequestId(value['id']) ? value['id'] : null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

const invalid = (id: RequestId | null, problem: string): Incoming => ({ type: 'invalid', id, problem });

export function classify(value: unknown): Incoming {
  if (Array.isArray(value)) return invalid(null, 'batches are not supported: send each message on its own');
  if (!isObject(value)) return invalid(null, `a message must be an object, got ${kindOf(value)}`);
  const { id, method, params } = value;
  // Some serialisers write absent members as null, so a null method, result or error counts as absent where that is unambiguous.
  if (method !== undefined && method !== null) return classifyCall(id, method, params);
  const hasError = value['error'] !== undefined && value['error'] !== null;
  const hasResult = value['result'] !== undefined && !(value['result'] === null && hasError);
  if (id === null && (hasError || hasResult)) return { type: 'orphan', error: value['error'] };
  if (id === undefined) return invalid(null, 'a message needs a method, or an id with a result or an error');
  if (!isRequestId(id)) return invalid(null, `id: expected string or integer, got ${describeId(id)}`);
  const message: RpcResponse = { id };
  if (hasResult) message.result = value['result'];
  if (hasError) message.error = value['error'];
  return { type: 'response', message };
}

function classifyCall(id: unknown, method: unknown, params: unknown): Incoming {
  if (typeof method !== 'string') return invalid(isRequestId(id) ? id : null, `method: expected string, got ${kindOf(method)}`);
  if (id === undefined) return { type: 'notification', method, params };
  if (!isRequestId(id)) return invalid(null, `id: expected string or integer, got ${describeId(id)}`);
  return { type: 'request', id, method, params };
}

/** Numbers are told apart: a fraction and a number too large for an exact echo are refused for different reasons. */
function describeId(id: unknown): string {
  if (typeof id !== 'number') return kindOf(id);
  return Number.isInteger(id) ? 'a number beyond 2^53' : 'a fraction';
}
