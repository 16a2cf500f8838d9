// A pair of byte streams as a channel of messages. `StdioTransport` owns stdin and stdout of the process and is the only
// place that writes stdout; `StreamTransport` does the same over any other pair (sockets, in-process pipes).
import fs from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import { encodeFrame, FrameDecoder, type FrameFault } from './framing.ts';
import type { OmittedOutput } from './outgoing-delta.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

/** What a transport reports. Handlers must not throw; one that does is logged and the stream goes on. */
export interface TransportHandlers {
  /** `intact` is false when bytes that are not UTF-8 were replaced while decoding. */
  onMessage(value: unknown, intact: boolean): void;
  onFault(fault: FrameFault): void;
  /** Once: nothing more will come in. Answers can still be sent. */
  onEnd(): void;
  /** Once: nothing can be sent any more. */
  onClosed(reason: string): void;
  /** Output of a best-effort stream that was left out because the peer reads too slowly. */
  onOmitted?(omitted: OmittedOutput): void;
}

export interface Transport {
  start(handlers: TransportHandlers): void;
  /** Queues a message. Throws when it cannot be serialised; after the end it is dropped in silence. */
  send(message: object): void;
  /** Stops and goes on reading: the way to make a peer wait that sends faster than it is served. */
  pauseInput(): void;
  resumeInput(): void;
  /** True when everything queued has left the process. */
  flush(deadlineMs: number): Promise<boolean>;
  /** How much is queued and not yet with the peer. */
  readonly waitingBytes: number;
  /** Ends both directions. What still waits is lost: flush first. */
  close(): void;
}

export interface TransportLimits {
  /** One incoming message. Default 64 MiB. */
  maxMessageBytes?: number;
  /** All outgoing messages that wait for a slow reader. Default 256 MiB. */
  maxWaitingBytes?: number;
  /** One best-effort output stream that waits. Default 1 MiB. */
  maxDeltaLength?: number;
}

export class StreamTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: TransportLimits;
  readonly #decoder: FrameDecoder;
  readonly #queue: OutgoingQueue;
  /** Set by start; nothing is read before. */
  #handlers: TransportHandlers | undefined;
  /** Each of the two ends is reported once. */
  #ended = false;
  #closed: string | undefined;

  constructor(input: Readable, output: Writable, limits: TransportLimits = {}) {
    this.#input = input;
    this.#output = output;
    this.#limits = limits;
    this.#decoder = new FrameDecoder(
      {
        onMessage: (value, intact) => this.#report((handlers) => handlers.onMessage(value, intact)),
        onFault: (fault) => this.#report((handlers) => handlers.onFault(fault)),
      },
      limits.maxMessageBytes,
    );
    this.#queue = this.#newQueue();
  }

  #newQueue(): OutgoingQueue {
    return new OutgoingQueue(this.#output, {
      encode: (json) => encodeFrame(this.#decoder.framing, json),
      onClosed: (reason) => this.#outputGone(reason),
      onOmitted: (omitted) => this.#report((handlers) => handlers.onOmitted?.(omitted)),
      maxWaitingBytes: this.#limits.maxWaitingBytes,
      maxDeltaLength: this.#limits.maxDeltaLength,
    });
  }

  start(handlers: TransportHandlers): void {
    if (this.#handlers) throw new Error('the transport was started already');
    this.#handlers = handlers;
    this.#input.on('data', (chunk: Buffer | string) => this.#decoder.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
    this.#input.on('end', () => this.#inputOver());
    this.#input.on('close', () => this.#inputOver());
    this.#input.on('error', (error) => {
      logger().debug({ error: messageOf(error) }, 'reading the client failed');
      this.#inputOver();
    });
    // A stream that was over before anyone listened does not say so again.
    if (this.#input.destroyed || this.#input.readableEnded) setImmediate(() => this.#inputOver());
    const closed = this.#closed;
    if (closed !== undefined) setImmediate(() => this.#report((told) => told.onClosed(closed)));
  }

  send(message: object): void {
    this.#queue.send(message);
  }

  pauseInput(): void {
    this.#input.pause();
  }

  resumeInput(): void {
    if (!this.#ended) this.#input.resume();
  }

  flush(deadlineMs: number): Promise<boolean> {
    return this.#queue.flush(deadlineMs);
  }

  get waitingBytes(): number {
    return this.#queue.waitingBytes;
  }

  close(): void {
    this.#ended = true;
    this.#input.pause();
    this.endStreams(this.#input, this.#output);
    this.#queue.close('closed by the server');
  }

  /** A socket is given back to the system; the standard streams of the process are not ours to destroy. */
  protected endStreams(input: Readable, output: Writable): void {
    output.end();
    input.destroy();
  }

  /** For owners that learn in another way that the reader is gone. */
  protected giveUp(reason: string): void {
    this.#queue.close(reason);
  }

  protected get outputClosed(): boolean {
    return this.#closed !== undefined;
  }

  #inputOver(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#decoder.end();
    this.#report((handlers) => handlers.onEnd());
  }

  #outputGone(reason: string): void {
    this.#closed = reason;
    this.#report((handlers) => handlers.onClosed(reason));
  }

  #report(call: (handlers: TransportHandlers) => void): void {
    if (!this.#handlers) return;
    try {
      call(this.#handlers);
    } catch (error) {
      logger().error({ err: error }, 'a handler of the transport failed');
    }
  }
}

const PROBE_INTERVAL_MS = 1_000;
const STDOUT = 1;
/** What a write to a stream without a reader ends in. */
const GONE = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN']);

export class StdioTransport extends StreamTransport {
  /** Looks for a reader that left while nothing is being written; runs from start to the end of stdout. */
  #probe: NodeJS.Timeout | undefined;

  constructor(limits: TransportLimits = {}) {
    super(process.stdin, process.stdout, limits);
  }

  override start(handlers: TransportHandlers): void {
    super.start(handlers);
    // Only a socket can be asked without writing; a pipe tells at the next message, or through the end of stdin.
    if (!isSocket(STDOUT)) return;
    this.#probe = setInterval(() => this.#askForReader(), PROBE_INTERVAL_MS);
    this.#probe.unref();
  }

  protected override endStreams(): void {
    clearInterval(this.#probe);
  }

  /** A write of no bytes puts nothing on the wire, but fails when the other end is gone. */
  #askForReader(): void {
    if (this.outputClosed) {
      clearInterval(this.#probe);
      return;
    }
    try {
      fs.writeSync(STDOUT, Buffer.alloc(0));
    } catch (error) {
      if (error instanceof Error && 'code' in error && GONE.has(String(error.code))) this.giveUp(String(error.code));
    }
  }
}

function isSocket(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}
