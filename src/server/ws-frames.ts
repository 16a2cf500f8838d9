// WebSocket frames of a server, both ways, as streams of lines: a text message in is a line in, a line out is a text message out.
import { type Duplex, Readable, Writable } from 'node:stream';
import { DEFAULT_MAX_MESSAGE_BYTES } from './framing.ts';

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** Why a connection is closed, by the protocol's numbers. */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
const TOO_BIG = 1009;
const LF = 10;
const MAX_CONTROL_BYTES = 125;

export function encodeWsFrame(opcode: number, payload: Buffer): Buffer {
  const length = payload.length;
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  header[0] = 0x80 | opcode;
  if (length < 126) header[1] = length;
  else if (length < 65_536) {
    header[1] = 126;
    header.writeUInt16BE(length, 2);
  } else {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, payload]);
}

/** Lines to text messages. Ends with a close frame. */
export class MessagesOut extends Writable {
  readonly #socket: Duplex;
  /** A line without its end yet. */
  #rest = Buffer.alloc(0);

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on('close', () => this.destroy());
    socket.on('error', (error) => this.destroy(error));
  }

  /** Frames that are no messages. */
  control(opcode: number, payload: Buffer): void {
    if (this.#socket.writable) this.#socket.write(encodeWsFrame(opcode, payload));
  }

  closeWith(code: number): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.control(CLOSE, payload);
    this.#socket.end();
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const bytes = Buffer.concat([this.#rest, typeof chunk === 'string' ? Buffer.from(chunk) : chunk]);
    const frames: Buffer[] = [];
    let from = 0;
    for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, from)) {
      frames.push(encodeWsFrame(TEXT, bytes.subarray(from, lf)));
      from = lf + 1;
    }
    this.#rest = Buffer.from(bytes.subarray(from));
    if (frames.length === 0 || this.#socket.write(Buffer.concat(frames))) done();
    else this.#whenDrained(done);
  }

  #whenDrained(done: () => void): void {
    const go = (): void => {
      this.#socket.off('drain', go);
      this.#socket.off('close', go);
      done();
    };
    this.#socket.once('drain', go);
    this.#socket.once('close', go);
  }

  override _final(done: () => void): void {
    this.closeWith(NORMAL);
    done();
  }
}

interface Frame {
  fin: boolean;
  opcode: number;
  payload: Buffer;
}

/** Text messages to lines. A client that breaks the protocol is told so and let go. */
export class MessagesIn extends Readable {
  readonly #socket: Duplex;
  readonly #out: MessagesOut;
  readonly #maxBytes: number;
  #pending: Buffer;
  /** The parts of a message that came in several frames. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #inMessage = false;
  #over = false;

  constructor(socket: Duplex, out: MessagesOut, head: Buffer, maxBytes = DEFAULT_MAX_MESSAGE_BYTES) {
    super();
    this.#socket = socket;
    this.#out = out;
    this.#maxBytes = maxBytes;
    this.#pending = head;
    socket.on('data', (chunk: Buffer) => {
      this.#pending = this.#pending.length > 0 ? Buffer.concat([this.#pending, chunk]) : chunk;
      this.#drain();
    });
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    if (head.length > 0) this.#drain();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#over = true;
    this.#socket.destroy();
    done(error);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.push(null);
  }

  #drain(): void {
    while (!this.#over) {
      const frame = this.#nextFrame();
      if (!frame) return;
      this.#take(frame);
    }
  }

  /** The next whole frame, unmasked; null when more bytes are needed or the client was let go. */
  #nextFrame(): Frame | null {
    const bytes = this.#pending;
    if (bytes.length < 2) return null;
    const opcode = bytes[0] & 0x0f;
    let length = bytes[1] & 0x7f;
    let at = 2;
    // Extensions were not agreed on, and a client masks what it sends.
    if ((bytes[0] & 0x70) !== 0 || (bytes[1] & 0x80) === 0) return this.#refuse(PROTOCOL_ERROR);
    if (length === 126) {
      if (bytes.length < 4) return null;
      length = bytes.readUInt16BE(2);
      at = 4;
    } else if (length === 127) {
      if (bytes.length < 10) return null;
      length = Number(bytes.readBigUInt64BE(2));
      at = 10;
    }
    if (length + this.#partBytes > this.#maxBytes) return this.#refuse(TOO_BIG);
    if (bytes.length < at + 4 + length) return null;
    const mask = bytes.subarray(at, at + 4);
    const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length));
    for (let i = 0; i < length; i++) payload[i] ^= mask[i & 3];
    this.#pending = bytes.subarray(at + 4 + length);
    return { fin: (bytes[0] & 0x80) !== 0, opcode, payload };
  }

  #take({ fin, opcode, payload }: Frame): void {
    if (opcode >= CLOSE) {
      if (!fin || payload.length > MAX_CONTROL_BYTES) this.#refuse(PROTOCOL_ERROR);
      else if (opcode === PING) this.#out.control(PONG, payload);
      else if (opcode === CLOSE) this.#refuse(NORMAL);
      return;
    }
    const continues = opcode === 0;
    if (opcode > BINARY || continues !== this.#inMessage) {
      this.#refuse(PROTOCOL_ERROR);
      return;
    }
    this.#inMessage = !fin;
    this.#parts.push(payload);
    this.#partBytes += payload.length;
    if (fin) this.#message();
  }

  /** Line ends inside a message are white space of its JSON. */
  #message(): void {
    const line = Buffer.concat([...this.#parts, Buffer.from('\n')]);
    this.#parts = [];
    this.#partBytes = 0;
    for (let at = line.indexOf(LF); at < line.length - 1; at = line.indexOf(LF, at + 1)) line[at] = 0x20;
    if (!this.push(line)) this.#socket.pause();
  }

  #refuse(code: number): null {
    this.#out.closeWith(code);
    this.#end();
    return null;
  }
}
