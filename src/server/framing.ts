// Bytes to messages and back. Everything above sees parsed JSON values; nothing above knows how a message was delimited.
// Two framings: a line per message, or Content-Length headers. The first bytes decide, and answers use the same one.
import { isUtf8 } from 'node:buffer';
import { messageOf } from '../common/errors.ts';
import { preview } from '../common/text.ts';

export const DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export type Framing = 'ndjson' | 'contentLength';

/** Input that is no message. Each is answered once; the stream goes on behind it. */
export interface FrameFault {
  kind: 'parse' | 'oversized' | 'header';
  message: string;
}

export interface FrameSink {
  /** `intact` is false when bytes that are not UTF-8 were replaced while decoding. */
  onMessage(value: unknown, intact: boolean): void;
  onFault(fault: FrameFault): void;
}

const LF = 0x0a;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const KEEP_CAPACITY = 256 * 1024;
const MAX_HEADER_LINE = 8 * 1024;
const MAX_HEADER_LINES = 32;
/** How much of a skipped line is kept: enough to recognise a header that follows a body without a line end. */
const RESYNC_TAIL = 64;

/** Only these open a header block; later lines of a block may be any header. A log line with a colon is not mistaken for one. */
const FIRST_HEADER = /^content-(length|type)\s*:/i;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*)$/;
const TRAILING_LENGTH = /content-length\s*:\s*(\d{1,15})\s*$/i;

/** One message as bytes for the wire, in the framing that the peer uses. `json` must hold no raw line feed. */
export function encodeFrame(framing: Framing, json: string): string {
  return framing === 'ndjson' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** Bytes that wait for their end. Grows by doubling, so that a message fed byte by byte costs no more than one fed whole. */
class PendingBytes {
  /** Invariant: the first `length` bytes are the pending ones; the rest is free room. */
  #buffer = Buffer.allocUnsafe(0);
  length = 0;

  append(chunk: Buffer): void {
    const wanted = this.length + chunk.length;
    if (wanted > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(wanted, this.#buffer.length * 2, 1024));
      this.#buffer.copy(grown, 0, 0, this.length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.length);
    this.length = wanted;
  }

  /** The pending bytes, valid until the next append. A large buffer is given back to the collector. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.length);
    this.length = 0;
    if (this.#buffer.length > KEEP_CAPACITY) this.#buffer = Buffer.allocUnsafe(0);
    return bytes;
  }

  keepTail(count: number): void {
    if (this.length <= count) return;
    this.#buffer.copyWithin(0, this.length - count, this.length);
    this.length = count;
  }
}

interface HeaderState {
  at: 'header';
  lines: number;
  length: number | undefined;
  /** The first thing wrong with the block; told at its end. */
  problem: string | undefined;
}

function whyNotJson(text: string, error: unknown): string {
  if (FIRST_HEADER.test(text)) return 'Content-Length framing cannot begin after messages that were delimited by line feeds';
  return `the message is not valid JSON: ${preview(messageOf(error))}`;
}

type State =
  /** Collects a line: a message, or (while the framing is open) perhaps the first header. */
  | { at: 'line' }
  /** The rest of a line that was refused for its size; nothing of it is kept. */
  | { at: 'skipLine' }
  | HeaderState
  | { at: 'body'; length: number }
  /** After a refused block: looks for the next Content-Length at the end of a line. */
  | { at: 'resync' };

const newHeader = (): HeaderState => ({ at: 'header', lines: 0, length: undefined, problem: undefined });

export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #maxBytes: number;
  readonly #pending = new PendingBytes();
  #state: State = { at: 'line' };
  /** Undefined until the first valid message or the first header; written once. */
  #framing: Framing | undefined;

  constructor(sink: FrameSink, maxBytes = DEFAULT_MAX_MESSAGE_BYTES) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) throw new Error(`maxBytes must be a positive integer, got ${maxBytes}`);
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  /** How to frame what is sent. Lines, as long as the peer has not shown anything else. */
  get framing(): Framing {
    return this.#framing ?? 'ndjson';
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#state.at === 'body' ? this.#pushBody(chunk, at, this.#state.length) : this.#pushLine(chunk, at);
    }
  }

  /** The input is over: a last line without a line feed is served like any other. */
  end(): void {
    if (this.#pending.length === 0) return;
    const rest = this.#pending.take();
    if (this.#state.at === 'line') this.#line(rest);
    else if (this.#state.at === 'body') this.#fault('parse', 'the input ended inside a message');
    this.#state = { at: 'line' };
  }

  #pushBody(chunk: Buffer, at: number, length: number): number {
    const end = Math.min(chunk.length, at + length - this.#pending.length);
    this.#pending.append(chunk.subarray(at, end));
    if (this.#pending.length === length) {
      this.#state = newHeader();
      this.#message(this.#pending.take());
    }
    return end;
  }

  #pushLine(chunk: Buffer, at: number): number {
    const lf = chunk.indexOf(LF, at);
    const end = lf < 0 ? chunk.length : lf;
    const piece = chunk.subarray(at, end);
    if (lf < 0) {
      this.#partial(piece);
      return end;
    }
    if (this.#pending.length === 0) {
      this.#line(piece);
    } else {
      this.#partial(piece);
      this.#line(this.#pending.take());
    }
    return lf + 1;
  }

  /** A piece of a line whose end has not come yet. What is too long for its state is refused here, before it is held. */
  #partial(piece: Buffer): void {
    const state = this.#state;
    if (state.at === 'skipLine') return;
    if (state.at === 'resync') {
      this.#pending.append(piece.subarray(Math.max(0, piece.length - RESYNC_TAIL)));
      this.#pending.keepTail(RESYNC_TAIL);
      return;
    }
    const room = (state.at === 'header' ? MAX_HEADER_LINE : this.#maxBytes) - this.#pending.length;
    if (piece.length <= room) {
      this.#pending.append(piece);
      return;
    }
    this.#pending.take();
    if (state.at === 'header') this.#refuseBlock('header', `a header line is longer than ${MAX_HEADER_LINE} bytes`);
    else this.#refuseLine();
  }

  #refuseLine(): void {
    this.#state = { at: 'skipLine' };
    this.#oversized();
  }

  #oversized(): void {
    this.#fault('oversized', `message too large: the limit is ${this.#maxBytes} bytes; it was skipped`);
  }

  /** A whole line, without its line feed. */
  #line(bytes: Buffer): void {
    const state = this.#state;
    switch (state.at) {
      case 'skipLine':
        this.#state = { at: 'line' };
        return;
      case 'resync':
        this.#resyncLine(bytes);
        return;
      case 'header':
        if (bytes.length > MAX_HEADER_LINE) this.#refuseBlock('header', `a header line is longer than ${MAX_HEADER_LINE} bytes`);
        else this.#headerLine(bytes.toString('latin1').trimEnd(), state);
        return;
      default:
        if (this.#framing === undefined && this.#opensHeaders(bytes)) return;
        if (bytes.length > this.#maxBytes) this.#oversized();
        else this.#message(bytes);
    }
  }

  #opensHeaders(bytes: Buffer): boolean {
    const start = bytes.subarray(0, 3).equals(BOM) ? 3 : 0;
    if (bytes.length > MAX_HEADER_LINE || !FIRST_HEADER.test(bytes.toString('latin1', start, start + 32).trimStart())) return false;
    this.#framing = 'contentLength';
    const state = newHeader();
    this.#state = state;
    this.#headerLine(bytes.toString('latin1', start).trim(), state);
    return true;
  }

  #headerLine(text: string, state: HeaderState): void {
    if (text === '') {
      // Blank lines before a block do no harm.
      if (state.lines > 0) this.#endOfHeaders(state);
      return;
    }
    if (++state.lines > MAX_HEADER_LINES) {
      this.#refuseBlock('header', `a header block has more than ${MAX_HEADER_LINES} lines`);
      return;
    }
    const parts = HEADER.exec(text);
    if (!parts) {
      state.problem ??= `not a header line: ${JSON.stringify(text.slice(0, 80))}`;
      // A block that begins with something else than a header has no end to wait for.
      if (state.lines === 1) this.#refuseBlock('header', state.problem);
    } else if (parts[1].toLowerCase() === 'content-length') {
      this.#lengthHeader(parts[2], state);
    }
  }

  #lengthHeader(text: string, state: HeaderState): void {
    const length = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (length === undefined) state.problem ??= `Content-Length: expected a number of bytes, got ${JSON.stringify(text.slice(0, 40))}`;
    else if (state.length !== undefined && state.length !== length) state.problem ??= 'Content-Length: given twice, with different values';
    else state.length = length;
  }

  #endOfHeaders(state: HeaderState): void {
    if (state.problem !== undefined) this.#refuseBlock('header', state.problem);
    else if (state.length === undefined) this.#refuseBlock('header', 'Content-Length: missing in the header block');
    // Not skipped by its own count: a wrong count would swallow every later message.
    else if (state.length > this.#maxBytes) this.#refuseBlock('oversized', '');
    else if (state.length === 0) {
      this.#state = newHeader();
      this.#fault('parse', 'the message is empty');
    } else this.#state = { at: 'body', length: state.length };
  }

  #refuseBlock(kind: 'header' | 'oversized', problem: string): void {
    this.#state = { at: 'resync' };
    if (kind === 'oversized') this.#oversized();
    else this.#fault('header', `invalid message header: ${problem}`);
  }

  /** Compact JSON holds no line feed, so a Content-Length at the end of a line is a header, also right behind a body. */
  #resyncLine(bytes: Buffer): void {
    const tail = bytes.toString('latin1', Math.max(0, bytes.length - RESYNC_TAIL));
    const found = TRAILING_LENGTH.exec(tail);
    if (found) this.#state = { at: 'header', lines: 1, length: Number(found[1]), problem: undefined };
  }

  #message(bytes: Buffer): void {
    let text = bytes.toString('utf8');
    if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      // Blank lines are no messages and are not answered.
      if (text.trim() !== '' || this.#framing === 'contentLength') this.#fault('parse', whyNotJson(text, error));
      return;
    }
    this.#framing ??= 'ndjson';
    // The replacement character may be in the text itself, so the bytes are asked.
    this.#sink.onMessage(value, !text.includes('\ufffd') || isUtf8(bytes));
  }

  #fault(kind: FrameFault['kind'], message: string): void {
    this.#sink.onFault({ kind, message });
  }
}
