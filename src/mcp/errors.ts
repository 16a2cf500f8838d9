// How a request to a server fails, apart from the errors that the server itself answers with.

export type McpFailureKind =
  /** It did not come up, or does not come up again. */
  | 'startup'
  /** The connection broke: what was under way may have happened. */
  | 'lost'
  | 'timeout'
  /** The server answered with an error. */
  | 'answered'
  | 'cancelled';

export class McpFailure extends Error {
  readonly kind: McpFailureKind;

  constructor(kind: McpFailureKind, message: string) {
    super(message);
    this.name = 'McpFailure';
    this.kind = kind;
  }
}
