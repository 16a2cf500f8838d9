// One client: pairs its requests with answers and tells it what happens. Between the transport (bytes) and the dispatcher.
// The JSON-RPC library runs the life of a request; this file stands around it, so that it sees only what it handles well.
import {
  createMessageConnection,
  type DataCallback,
  type Disposable,
  Message,
  type MessageConnection,
  ResponseError,
} from 'vscode-jsonrpc/node';
import { monotonicMs, nowMs, sleep } from '../common/clock.ts';
import { Deferred } from '../common/deferred.ts';
import { ErrorCode, RpcError } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { classify, type Incoming, type RequestId, type RpcErrorObject, type RpcResponse, usableId } from '../protocol/jsonrpc.ts';
import type { FrameFault } from './framing.ts';
import type { OmittedOutput } from './outgoing-delta.ts';
import { MessageTooLarge } from './outgoing-queue.ts';
import { PendingRequest, type RequestContext } from './pending-request.ts';
import type { Transport } from './transport.ts';

export type { RequestContext } from './pending-request.ts';

export type EndReason = { type: 'inputEnded' } | { type: 'outputClosed'; reason: string };

export interface ConnectionLimits {
  /** Messages that are read but not yet handed over; beyond it reading pauses. Default 1024. */
  maxUndispatched?: number;
}

export interface ConnectionHandlers {
  /** Resolves with the result. RpcError is answered as it is; any other throw is an internal error whose text stays in the log. */
  onRequest(method: string, params: unknown, context: RequestContext): Promise<unknown>;
  onNotification(method: string, params: unknown): void;
  /** An answer to one of our requests. False: nobody waits for this id. */
  onResponse(message: RpcResponse): boolean;
  /** Once, when the first of the two directions ends. At the end of the input every request received before has been handed over. */
  onEnd(reason: EndReason): void;
  /** Output of a best-effort stream that was left out because the client reads too slowly. */
  onOmitted?(omitted: OmittedOutput): void;
  limits?: ConnectionLimits;
}

const CANCEL = '$/cancelRequest';
const DEFAULT_MAX_UNDISPATCHED = 1024;
const tooLarge = ({ length, limit }: MessageTooLarge): RpcErrorObject => ({
  code: ErrorCode.invalidRequest,
  message: `the answer is too large: ${length ?? 'far more'} characters, at most ${limit} are sent. Ask for less of it: in pages (thread/turns/list, thread/items/list), without turns (excludeTurns, includeTurns: false), or with a smaller limit.`,
  data: { reason: 'answer_too_large', max_chars: limit, ...(length === null ? {} : { actual_chars: length }) },
});
const unheard = (): Disposable => ({ dispose() {} });

export class Connection {
  readonly #transport: Transport;
  readonly #handlers: ConnectionHandlers;
  readonly #library: MessageConnection;
  readonly #maxUndispatched: number;
  /** Invariant: one entry per request without an answer, under the id that the library knows. */
  readonly #pending = new Map<number, PendingRequest>();
  /** Ids that the library sees: never two alike, whatever the client sends. */
  #nextInternalId = 0;
  /** Messages in the queue of the library, which hands over one per turn of the event loop. */
  #undispatched = 0;
  #paused = false;
  /** Set at the end of the input, until it is reported. */
  #inputEnded = false;
  #endReported = false;
  /** True when nothing can be sent any more. */
  #closed = false;
  #optOut: ReadonlySet<string> = new Set();
  /** Those who wait for the last answer. */
  #idle: Deferred<void> | undefined;
  /** Given by the library when it begins to listen. */
  #deliver: DataCallback = () => {};

  /** Begins to read at once; the first message arrives in a later turn of the event loop. */
  constructor(transport: Transport, handlers: ConnectionHandlers) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#maxUndispatched = handlers.limits?.maxUndispatched ?? DEFAULT_MAX_UNDISPATCHED;
    this.#library = this.#createLibrary();
    this.#library.listen();
    transport.start({
      onMessage: (value, intact) => this.#receive(value, intact),
      onFault: (fault) => this.#answerFault(fault),
      onEnd: () => {
        this.#inputEnded = true;
        this.#reportInputEnd();
      },
      onClosed: (reason) => this.#outputClosed(reason),
      onOmitted: (omitted) => handlers.onOmitted?.(omitted),
    });
  }

  #createLibrary(): MessageConnection {
    const silence = { onError: unheard, onClose: unheard, onPartialMessage: unheard, dispose() {} };
    const listen = (deliver: DataCallback): Disposable => {
      this.#deliver = deliver;
      return unheard();
    };
    const write = (message: Message): Promise<void> => {
      this.#writeAnswer(message);
      return Promise.resolve();
    };
    // Its texts may quote what a handler threw, so they are for the log only.
    const log = (text: string): void => logger().warn({ text }, 'json-rpc library');
    const library = createMessageConnection(
      { ...silence, listen },
      { ...silence, write, end() {} },
      { error: log, warn: log, info: log, log },
    );
    library.onRequest((method, params) => this.#serve(method, params));
    library.onNotification((method, params) => this.#serveNotification(method, params));
    return library;
  }

  // ---- incoming

  #receive(value: unknown, intact: boolean): void {
    if (this.#closed) return;
    const incoming = classify(value);
    // The answer to a question of ours is taken even when damaged: whoever asked checks its content, and would wait for ever.
    if (!intact && incoming.type !== 'response') {
      this.#answerError(usableId(value), { code: ErrorCode.parse, message: 'the message is not valid UTF-8' });
      return;
    }
    this.#route(incoming);
  }

  #route(incoming: Incoming): void {
    switch (incoming.type) {
      case 'request': {
        const internalId = this.#nextInternalId++;
        const pending = new PendingRequest(incoming.id, incoming.params);
        this.#pending.set(internalId, pending);
        // The library passes params on untouched, so they carry the request to its handler.
        this.#handOver({ jsonrpc: '2.0', id: internalId, method: incoming.method, params: pending });
        return;
      }
      case 'notification':
        if (incoming.method === CANCEL) this.#cancel(incoming.params);
        // Messages of the base protocol that we do not know may be ignored, says their convention.
        else if (!incoming.method.startsWith('$/')) this.#handOver({ jsonrpc: '2.0', method: incoming.method, params: incoming.params });
        return;
      case 'response':
        this.#receiveResponse(incoming.message);
        return;
      case 'orphan':
        logger().warn({ error: incoming.error }, 'the client reports an error about a message without id');
        return;
      case 'invalid':
        this.#answerError(incoming.id, { code: ErrorCode.invalidRequest, message: `invalid message: ${incoming.problem}` });
        return;
    }
  }

  #handOver(message: Message & { id?: number; method: string; params: unknown }): void {
    if (++this.#undispatched >= this.#maxUndispatched && !this.#paused) {
      this.#paused = true;
      this.#transport.pauseInput();
    }
    this.#deliver(message);
  }

  #dispatched(): void {
    this.#undispatched--;
    if (this.#paused && this.#undispatched <= this.#maxUndispatched / 4) {
      this.#paused = false;
      this.#transport.resumeInput();
    }
    this.#reportInputEnd();
  }

  #receiveResponse(message: RpcResponse): void {
    if (this.#handlers.onResponse(message)) return;
    if ('result' in message || 'error' in message) {
      logger().debug({ id: message.id }, 'an answer that nobody waits for');
      return;
    }
    // An id alone was no answer to anything of ours, so it is a request without its method.
    const problem = 'a message with an id needs a method, a result or an error';
    this.#answerError(message.id, { code: ErrorCode.invalidRequest, message: `invalid message: ${problem}` });
  }

  #cancel(params: unknown): void {
    const id = usableId(params);
    if (id === null) return;
    for (const pending of this.#pending.values()) if (pending.id === id) pending.abort();
  }

  #answerFault(fault: FrameFault): void {
    const code = fault.kind === 'oversized' ? ErrorCode.invalidRequest : ErrorCode.parse;
    this.#answerError(null, { code, message: fault.message });
  }

  // ---- handed back by the library, one message per turn of the event loop

  async #serve(method: string, carried: unknown): Promise<unknown> {
    this.#dispatched();
    if (this.#closed || !(carried instanceof PendingRequest)) return null;
    try {
      return await this.#handlers.onRequest(method, carried.params, carried);
    } catch (error) {
      if (error instanceof RpcError) return new ResponseError(error.code, error.message, error.data);
      logger().error({ err: error, method }, 'a request failed');
      return new ResponseError(ErrorCode.internal, 'internal error');
    }
  }

  #serveNotification(method: string, params: unknown): void {
    this.#dispatched();
    if (this.#closed) return;
    try {
      this.#handlers.onNotification(method, params);
    } catch (error) {
      logger().error({ err: error, method }, 'a notification of the client failed');
    }
  }

  /** The library's answer, under its id: the client gets it under its own. */
  #writeAnswer(message: Message): void {
    if (!Message.isResponse(message) || typeof message.id !== 'number') return;
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    this.#pending.delete(message.id);
    pending.answered(message.error ? this.#answerError(pending.id, message.error) : this.#answerResult(pending.id, message.result));
    if (this.#pending.size === 0) this.#idle?.resolve();
  }

  // ---- outgoing

  /** False when the result cannot be sent: it is too large, or cannot be serialised, which is a fault of the handler; answered as such. */
  #answerResult(id: RequestId, result: unknown): boolean {
    try {
      this.#transport.send({ id, result });
      return true;
    } catch (error) {
      if (error instanceof MessageTooLarge) return this.#answerError(id, tooLarge(error));
      logger().error({ err: error }, 'a result cannot be serialised');
      return this.#answerError(id, { code: ErrorCode.internal, message: 'internal error' });
    }
  }

  #answerError(id: RequestId | null, error: RpcErrorObject): false {
    try {
      this.#transport.send({ id, error });
    } catch (cause) {
      logger().error({ err: cause }, 'the data of an error cannot be serialised');
      this.#transport.send({ id, error: { code: error.code, message: error.message } });
    }
    return false;
  }

  /** Says something that needs no answer, unless the client has opted out of hearing it. */
  notify(method: string, params: unknown): void {
    if (this.#closed || this.#optOut.has(method)) return;
    try {
      this.#transport.send({ method, params, emittedAtMs: nowMs() });
    } catch (error) {
      logger().error({ err: error, method }, 'a notification cannot be serialised');
    }
  }

  /** Asks the client. The answer comes through `onResponse`. False when there is nobody to ask any more. */
  sendRequest(id: RequestId, method: string, params: unknown): boolean {
    if (this.#closed) return false;
    this.#transport.send({ id, method, params });
    return true;
  }

  /** Exact method names; unknown ones do no harm. */
  setOptOut(methods: ReadonlySet<string>): void {
    this.#optOut = methods;
  }

  /** How much the client has not yet read. */
  get waitingBytes(): number {
    return this.#transport.waitingBytes;
  }

  get closed(): boolean {
    return this.#closed;
  }

  // ---- the end

  #reportInputEnd(): void {
    if (this.#inputEnded && this.#undispatched === 0) this.#reportEnd({ type: 'inputEnded' });
  }

  #outputClosed(reason: string): void {
    if (this.#closed) return;
    logger().info({ reason }, 'the client is gone');
    this.#shut();
    this.#reportEnd({ type: 'outputClosed', reason });
  }

  #reportEnd(reason: EndReason): void {
    if (this.#endReported) return;
    this.#endReported = true;
    this.#handlers.onEnd(reason);
  }

  #shut(): void {
    this.#closed = true;
    for (const pending of this.#pending.values()) pending.abort();
    this.#idle?.resolve();
  }

  /** True when every request received so far was answered and everything said has left the process. */
  async drain(deadlineMs: number): Promise<boolean> {
    const began = monotonicMs();
    if (this.#pending.size > 0 && !this.#closed) {
      this.#idle = this.#idle && !this.#idle.settled ? this.#idle : new Deferred();
      const timer = new AbortController();
      await Promise.race([this.#idle.promise, sleep(deadlineMs, timer.signal)]);
      timer.abort();
    }
    const answered = this.#pending.size === 0;
    const flushed = await this.#transport.flush(Math.max(0, deadlineMs - (monotonicMs() - began)));
    return answered && flushed;
  }

  /** Waits only for what is said already. */
  flush(deadlineMs: number): Promise<boolean> {
    return this.#transport.flush(deadlineMs);
  }

  /** Ends the connection from our side; what still waits is lost. Not reported through `onEnd`. */
  close(): void {
    this.#endReported = true;
    this.#shut();
    this.#library.dispose();
    this.#transport.close();
  }
}
