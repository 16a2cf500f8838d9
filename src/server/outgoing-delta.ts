// Best-effort notifications while the peer reads too slowly: successive pieces of one output stream become one message.
// Sits inside the outgoing queue; what is not listed here is lossless and never passes through this file.
import { assertNever } from '../common/assert-never.ts';

interface CoalesceRule {
  /** The params that together name the stream a piece belongs to. */
  key: readonly string[];
  /** The param that holds the piece. */
  field: string;
  /** `latest`: only the newest piece matters. */
  join: 'text' | 'base64' | 'latest';
}

const RULES: Readonly<Record<string, CoalesceRule>> = {
  'item/commandExecution/outputDelta': { key: ['threadId', 'itemId'], field: 'delta', join: 'text' },
  'command/exec/outputDelta': { key: ['processId', 'stream'], field: 'deltaBase64', join: 'base64' },
  'process/outputDelta': { key: ['processHandle', 'stream'], field: 'deltaBase64', join: 'base64' },
  'item/mcpToolCall/progress': { key: ['threadId', 'itemId'], field: 'message', join: 'latest' },
};

/** What was left out of one output stream, for a notice to the user. */
export interface OmittedOutput {
  method: string;
  params: Record<string, unknown>;
  /** UTF-16 units of text, or characters of base64. */
  length: number;
}

/** One waiting message of a stream. Later pieces are added until it is written. */
export class OutgoingDelta {
  readonly key: string;
  readonly #method: string;
  readonly #rule: CoalesceRule;
  readonly #limit: number;
  /** The newest message: its other members (a cap flag, the time) are the ones that are sent. */
  #message: Record<string, unknown>;
  #params: Record<string, unknown>;
  /** Invariant: `#head` is full (half the limit) before `#tail` gets its first piece; the gap lies between the two. */
  readonly #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailStart = 0;
  #tailLength = 0;
  #omitted = 0;

  private constructor(
    key: string,
    method: string,
    rule: CoalesceRule,
    message: Record<string, unknown>,
    params: Record<string, unknown>,
    limit: number,
  ) {
    this.key = key;
    this.#method = method;
    this.#rule = rule;
    this.#message = message;
    this.#params = params;
    this.#limit = limit;
  }

  /** Undefined when the message is not a well-formed best-effort notification: then it is lossless. */
  static from(message: object, limit: number): OutgoingDelta | undefined {
    const record = message as Record<string, unknown>;
    const method = record['method'];
    if (typeof method !== 'string' || record['id'] !== undefined || !Object.hasOwn(RULES, method)) return undefined;
    const rule = RULES[method];
    const params = record['params'];
    if (typeof params !== 'object' || params === null) return undefined;
    const named = params as Record<string, unknown>;
    const piece = named[rule.field];
    if (typeof piece !== 'string') return undefined;
    const key = JSON.stringify([method, ...rule.key.map((name) => named[name])]);
    const delta = new OutgoingDelta(key, method, rule, record, named, limit);
    delta.#add(piece);
    return delta;
  }

  /** The length that this message takes up while it waits, roughly. */
  get length(): number {
    return this.#headLength + this.#tailLength + 256;
  }

  /** Takes over a later message of the same stream. */
  merge(later: OutgoingDelta): void {
    this.#message = later.#message;
    this.#params = later.#params;
    if (this.#rule.join === 'latest') {
      this.#head.length = 0;
      this.#headLength = 0;
    }
    for (const piece of later.#head) this.#add(piece);
  }

  #add(piece: string): void {
    if (this.#headLength < this.#limit / 2) {
      this.#head.push(piece);
      this.#headLength += piece.length;
      return;
    }
    this.#tail.push(piece);
    this.#tailLength += piece.length;
    while (this.#tailLength > this.#limit / 2 && this.#tailStart < this.#tail.length - 1) {
      const dropped = this.#tail[this.#tailStart];
      this.#tail[this.#tailStart++] = '';
      this.#tailLength -= dropped.length;
      this.#omitted += dropped.length;
    }
    if (this.#tailStart > 1024) {
      this.#tail = this.#tail.slice(this.#tailStart);
      this.#tailStart = 0;
    }
  }

  get omitted(): OmittedOutput | undefined {
    if (this.#omitted === 0) return undefined;
    const { [this.#rule.field]: _, ...params } = this.#params;
    return { method: this.#method, params, length: this.#omitted };
  }

  /** The message to write. */
  toMessage(): object {
    const params: Record<string, unknown> = { ...this.#params, [this.#rule.field]: this.#joined() };
    // The existing flag for "bytes are missing here" tells the reader of a binary stream about the gap.
    if (this.#omitted > 0 && 'capReached' in params) params['capReached'] = true;
    return { ...this.#message, params };
  }

  #joined(): string {
    const tail = this.#tail.slice(this.#tailStart);
    switch (this.#rule.join) {
      case 'latest':
        return this.#head[this.#head.length - 1] ?? '';
      case 'base64':
        if (this.#head.length === 1 && tail.length === 0) return this.#head[0];
        return Buffer.concat([...this.#head, ...tail].map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
      case 'text': {
        const gap = this.#omitted > 0 ? [`\n[… ${this.#omitted} characters of output left out: the client reads too slowly …]\n`] : [];
        return [...this.#head, ...gap, ...tail].join('');
      }
      default:
        return assertNever(this.#rule.join);
    }
  }
}
