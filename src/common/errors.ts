// The one table of error codes that cross the wire, and the error that carries one. Handlers throw RpcError; any other throw
// becomes an internal error whose text stays in the log.

/** Codes from JSON-RPC 2.0 (section 5.1) and, for overload, the app-server protocol. */
export const ErrorCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  overloaded: -32001,
} as const;

export type ErrorCodeName = keyof typeof ErrorCode;

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(kind: ErrorCodeName, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = ErrorCode[kind];
    this.data = data;
  }
}

export const invalidRequest = (message: string, data?: unknown): RpcError => new RpcError('invalidRequest', message, data);
export const invalidParams = (message: string, data?: unknown): RpcError => new RpcError('invalidParams', message, data);
/** The one answer for a thread id that no loaded or stored thread has. */
export const unknownThread = (threadId: string): RpcError => new RpcError('invalidRequest', `unknown thread: ${threadId}`);
/** For what only a loaded thread can do. */
export const unloadedThread = (threadId: string): RpcError =>
  new RpcError('invalidRequest', `unknown thread: ${threadId} is stored and not loaded; load it with thread/resume`);

/** A short text for any thrown value, for logs and for texts that a model reads. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
}

/** The operating system's code (ENOENT, EACCES, …) of an I/O error, if it has one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
