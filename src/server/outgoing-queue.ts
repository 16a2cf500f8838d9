// Bounded egress: what the server says waits here, in order, until the stream takes it. The last step before the bytes leave.
// Lossless by default; only the streams named in outgoing-delta.ts are merged, and only while the peer reads too slowly.
import type { Writable } from 'node:stream';
import { messageOf, systemCode } from '../common/errors.ts';
import { type OmittedOutput, OutgoingDelta } from './outgoing-delta.ts';

export interface OutgoingQueueOptions {
  /** Turns one JSON text into the bytes of a frame. */
  encode: (json: string) => string;
  /** Called once, when nothing more can be written. */
  onClosed: (reason: string) => void;
  /** Output that had to be left out of a best-effort stream. */
  onOmitted?: ((omitted: OmittedOutput) => void) | undefined;
  /** More than this waiting means that the peer has stopped reading: the connection is given up. */
  maxWaitingBytes?: number | undefined;
  /** More than this of one best-effort stream waiting: its middle is left out. */
  maxDeltaLength?: number | undefined;
}

export const DEFAULT_MAX_WAITING_BYTES = 256 * 1024 * 1024;
const DEFAULT_MAX_DELTA_LENGTH = 1024 * 1024;
/** What is written at once. What the stream holds cannot be merged any more, so this is kept small. */
const BATCH_LENGTH = 64 * 1024;

/** One message may take this part of what may wait: more of it would end the connection rather than arrive. */
const MESSAGE_SHARE = 3 / 4;

/** A message that is never sent; the connection is as it was. */
export class MessageTooLarge extends Error {
  /** In characters; null when it is more than a string can hold. */
  readonly length: number | null;
  readonly limit: number;

  constructor(length: number | null, limit: number) {
    super(`a message of ${length ?? 'more'} characters, at most ${limit} can be sent`);
    this.length = length;
    this.limit = limit;
  }
}

type Entry = string | OutgoingDelta;

export class OutgoingQueue {
  readonly #stream: Writable;
  readonly #options: OutgoingQueueOptions;
  readonly #maxWaiting: number;
  readonly #maxDelta: number;
  /** Invariant: entries before `#head` are written; the rest waits, in the order of its first piece. */
  #entries: Entry[] = [];
  #head = 0;
  /** Waiting deltas behind the last waiting lossless message: those a new piece may join without overtaking anything. */
  readonly #open = new Map<string, OutgoingDelta>();
  /** Length of the waiting entries; of what the stream took and has not yet passed on. UTF-16 units: close to bytes, and free. */
  #waiting = 0;
  #inStream = 0;
  /** True from a full stream to its drain. */
  #blocked = false;
  #scheduled = false;
  #closed = false;
  readonly #idleWaiters = new Set<(flushed: boolean) => void>();

  constructor(stream: Writable, options: OutgoingQueueOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#maxWaiting = options.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES;
    this.#maxDelta = options.maxDeltaLength ?? DEFAULT_MAX_DELTA_LENGTH;
    stream.on('drain', () => {
      this.#blocked = false;
      this.#pump();
    });
    stream.on('error', (error) => this.close(systemCode(error) ?? messageOf(error)));
    stream.on('close', () => this.close('the stream was closed'));
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** How much is not yet with the reader. Producers that can wait may look at it. */
  get waitingBytes(): number {
    return this.#waiting + this.#inStream;
  }

  /** Queues one message. Throws only when it cannot be serialised, MessageTooLarge among these; after the end it is dropped. */
  send(message: object): void {
    if (this.#closed) return;
    if (this.#blocked || this.#waiting > BATCH_LENGTH) {
      const delta = OutgoingDelta.from(message, this.#maxDelta);
      if (delta) {
        this.#queueDelta(delta);
        return;
      }
    }
    this.sendText(this.#serialised(message));
  }

  #serialised(message: object): string {
    const limit = Math.floor(this.#maxWaiting * MESSAGE_SHARE);
    let json: string;
    try {
      json = JSON.stringify(message);
    } catch (error) {
      // What V8 says of a string beyond its own bound.
      throw error instanceof RangeError && error.message === 'Invalid string length' ? new MessageTooLarge(null, limit) : error;
    }
    if (json.length > limit) throw new MessageTooLarge(json.length, limit);
    return json;
  }

  /** Queues one message that is already JSON. */
  sendText(json: string): void {
    if (this.#closed) return;
    // A message that is not merged closes the run: nothing queued later may join what was queued before it.
    if (this.#open.size > 0) this.#open.clear();
    const text = escapeLineSeparators(json);
    this.#push(text, text.length);
  }

  #queueDelta(delta: OutgoingDelta): void {
    const open = this.#open.get(delta.key);
    if (!open) {
      this.#open.set(delta.key, delta);
      this.#push(delta, delta.length);
      return;
    }
    const before = open.length;
    open.merge(delta);
    this.#waiting += open.length - before;
    this.#checkBound();
  }

  #push(entry: Entry, length: number): void {
    this.#entries.push(entry);
    this.#waiting += length;
    this.#checkBound();
    this.#schedule();
  }

  #checkBound(): void {
    if (this.waitingBytes <= this.#maxWaiting) return;
    this.close(`the client reads too slowly: ${this.waitingBytes} bytes wait, the limit is ${this.#maxWaiting}`);
  }

  /** One write for all that is said in this turn of the event loop. */
  #schedule(): void {
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#blocked && !this.#closed && this.#head < this.#entries.length) {
      const frames: string[] = [];
      let length = 0;
      while (this.#head < this.#entries.length && length < BATCH_LENGTH) {
        const frame = this.#take(this.#entries[this.#head++]);
        frames.push(frame);
        length += frame.length;
      }
      this.#compact();
      this.#write(frames.length === 1 ? frames[0] : frames.join(''));
    }
    this.#settleIdle();
  }

  /** Frees the written part of the list, in steps that stay linear over the whole. */
  #compact(): void {
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head > 4096 && this.#head > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  #take(entry: Entry): string {
    if (typeof entry === 'string') {
      this.#waiting -= entry.length;
      return this.#options.encode(entry);
    }
    this.#waiting -= entry.length;
    if (this.#open.get(entry.key) === entry) this.#open.delete(entry.key);
    const omitted = entry.omitted;
    if (omitted) this.#options.onOmitted?.(omitted);
    return this.#options.encode(escapeLineSeparators(JSON.stringify(entry.toMessage())));
  }

  #write(text: string): void {
    this.#inStream += text.length;
    this.#blocked = !this.#stream.write(text, 'utf8', (error) => {
      if (error) {
        this.close(systemCode(error) ?? messageOf(error));
        return;
      }
      this.#inStream -= text.length;
      this.#settleIdle();
    });
  }

  /** Resolves true when all that was queued has left the process, false at the deadline or when the stream is closed. */
  flush(deadlineMs: number): Promise<boolean> {
    if (this.#closed) return Promise.resolve(this.waitingBytes === 0);
    this.#pump();
    if (this.waitingBytes === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (flushed: boolean): void => {
        clearTimeout(timer);
        this.#idleWaiters.delete(settle);
        resolve(flushed);
      };
      const timer = setTimeout(() => settle(false), deadlineMs);
      this.#idleWaiters.add(settle);
    });
  }

  #settleIdle(): void {
    if (this.#idleWaiters.size === 0 || this.waitingBytes > 0) return;
    for (const settle of [...this.#idleWaiters]) settle(true);
  }

  /** Nothing is written from here on. What still waits is lost, and `flush` says so. */
  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#entries = [];
    this.#head = 0;
    this.#open.clear();
    for (const settle of [...this.#idleWaiters]) settle(false);
    this.#options.onClosed(reason);
  }
}

/** U+2028 and U+2029 are legal in JSON, but some line readers split at them. */
function escapeLineSeparators(json: string): string {
  if (!json.includes('\u2028') && !json.includes('\u2029')) return json;
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
