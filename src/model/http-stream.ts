// One streamed POST: bytes of the provider → SSE events → a wire's decoder → batches of model events. All HTTP wires share it, so
// that abort, silence, cut streams and kept connections behave alike whoever answers.
import type http from 'node:http';
import { createParser } from 'eventsource-parser';
import { timerMs } from '../common/clock.ts';
import { messageOf, systemCode } from '../common/errors.ts';
import { preview } from '../common/text.ts';
import { ModelError, type ModelEvent } from './client.ts';
import { EventPipe } from './event-pipe.ts';
import { abortedError, cutError, httpError } from './model-errors.ts';
import { plainHttp, secureHttp } from './node-http.ts';
import { type RequestTarget, redact } from './provider.ts';

/** Contract: translates SSE events of one response; a ModelError that it throws ends the attempt after the events already pushed. */
export interface StreamDecoder {
  /** True when the response is complete; nothing after it is read. */
  onEvent(data: string, name: string | undefined, out: ModelEvent[]): boolean;
  /** The stream ended by itself. True when the response was whole, and its `completed` is in `out`. */
  onEnd(out: ModelEvent[]): boolean;
}

export interface StreamCall {
  target: RequestTarget;
  headers: Record<string, string>;
  body: string;
  secrets: readonly string[];
  idleTimeoutMs: number;
}

const ERROR_BODY_LIMIT = 64 * 1024;
/** One SSE event may carry a whole generated image, but not fill the memory. */
const EVENT_LIMIT = 64 * 1024 * 1024;
/** A free connection is dropped before the provider's side forgets it. */
const FREE_SOCKET_MS = 60_000;
/** After the last event the rest of the answer is awaited this long, so that the connection can be used again. */
const TAIL_MS = 500;

export class HttpStreamer {
  /** One agent a scheme, made on first use; they hold the kept connections. */
  readonly #agents = new Map<string, http.Agent>();

  /** Nothing is sent before the first pull. */
  open(call: () => StreamCall, decoder: () => StreamDecoder, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]> {
    return {
      [Symbol.asyncIterator]: () => new StreamRun(this.#agents, call, decoder, signal).pipe,
    };
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

class StreamRun {
  readonly pipe: EventPipe;
  readonly #agents: Map<string, http.Agent>;
  readonly #signal: AbortSignal;
  /** Set in the constructor unless preparing failed; then the pipe has failed and nothing else runs. */
  #call!: StreamCall;
  #decoder!: StreamDecoder;
  /** The latest request; a second one exists only after a kept connection turned out to be dead. */
  #request: http.ClientRequest | undefined;
  #response: http.IncomingMessage | undefined;
  /** Runs from the start to the end of the attempt; every chunk winds it up again. */
  #idle: NodeJS.Timeout | undefined;
  #sawEvent = false;
  /** The beginning of the body while no event was seen, to show what came instead. */
  #head = '';

  constructor(agents: Map<string, http.Agent>, call: () => StreamCall, decoder: () => StreamDecoder, signal: AbortSignal) {
    this.#agents = agents;
    this.#signal = signal;
    this.pipe = new EventPipe({
      pause: () => this.#response?.pause(),
      resume: () => this.#response?.resume(),
      abandon: () => this.#tearDown(),
    });
    if (signal.aborted) {
      this.pipe.fail(abortedError());
      return;
    }
    try {
      this.#call = call();
      this.#decoder = decoder();
      signal.addEventListener('abort', this.#onAbort, { once: true });
      this.#idle = setTimeout(this.#onIdle, timerMs(this.#call.idleTimeoutMs));
      this.#send(true);
    } catch (error) {
      this.#fail(
        error instanceof ModelError ? error : new ModelError('other', `the model request could not be built: ${messageOf(error)}`),
      );
    }
  }

  readonly #onAbort = () => {
    this.pipe.fail(abortedError(), true);
    this.#tearDown();
  };

  readonly #onIdle = () => {
    // Silence that we asked for ourselves is no fault of the provider.
    if (this.#response?.isPaused()) {
      this.#idle?.refresh();
      return;
    }
    const message = `stream disconnected before completion: nothing arrived for ${this.#call.idleTimeoutMs} ms`;
    this.#fail(new ModelError('idleTimeout', message, { retryable: true, midStream: this.#response !== undefined }));
  };

  #fail(error: ModelError): void {
    if (!this.pipe.open) return;
    this.pipe.fail(error);
    this.#tearDown();
  }

  /** Frees everything at once; safe to call twice. */
  #tearDown(): void {
    this.#release();
    this.#request?.destroy();
  }

  #release(): void {
    clearTimeout(this.#idle);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #send(mayRepeat: boolean): void {
    const { target, headers, body } = this.#call;
    const secure = target.url.protocol === 'https:';
    let agent = this.#agents.get(target.url.protocol);
    if (!agent) {
      const options = { keepAlive: true, scheduling: 'lifo', timeout: FREE_SOCKET_MS } as const;
      agent = new (secure ? secureHttp() : plainHttp()).Agent(options);
      this.#agents.set(target.url.protocol, agent);
    }
    const bytes = Buffer.from(body);
    const request = (secure ? secureHttp() : plainHttp()).request(target.url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': bytes.length },
    });
    this.#request = request;
    request.on('response', (response) => this.#onResponse(response));
    request.on('error', (error) => {
      if (!this.pipe.open || this.#response) return;
      // The other side may close a kept connection in the moment we take it. That says nothing about the request: once, take a new one.
      if (mayRepeat && request.reusedSocket && /^(?:ECONNRESET|EPIPE)$/.test(systemCode(error) ?? '')) {
        dropFree(agent);
        this.#send(false);
        return;
      }
      this.#fail(connectionError(error, this.#call));
    });
    request.end(bytes);
  }

  #onResponse(response: http.IncomingMessage): void {
    this.#response = response;
    this.#idle?.refresh();
    if (!this.pipe.open) {
      response.destroy();
      return;
    }
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) {
      this.#readError(response, status);
      return;
    }
    const limits = rateLimitHeaders(response.headers);
    if (limits) this.pipe.push([{ type: 'rateLimits', headers: limits }]);
    this.#readEvents(response);
  }

  #readEvents(response: http.IncomingMessage): void {
    let out: ModelEvent[] = [];
    let complete = false;
    let first = true;
    const parser = createParser({
      maxBufferSize: EVENT_LIMIT,
      onEvent: (event) => {
        this.#sawEvent = true;
        if (!complete) complete = this.#decoder.onEvent(event.data, event.event, out);
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded')
          throw new ModelError('protocol', `one event of the stream exceeds ${EVENT_LIMIT} bytes`);
      },
    });
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      if (!this.pipe.open) return;
      this.#idle?.refresh();
      if (!this.#sawEvent && this.#head.length < 1000) this.#head += chunk;
      out = [];
      try {
        parser.feed(first && chunk.charCodeAt(0) === 0xfeff ? chunk.slice(1) : chunk);
        first = false;
      } catch (error) {
        this.pipe.push(out);
        this.#fail(error instanceof ModelError ? error : new ModelError('protocol', `the stream could not be read: ${messageOf(error)}`));
        return;
      }
      this.pipe.push(out);
      if (complete) this.#finish(response);
    });
    response.on('end', () => this.#onEnd(response));
    response.on('error', (error) => this.#fail(cutError(systemCode(error) ?? messageOf(error), error)));
    response.on('close', () => this.#fail(cutError('the connection was closed')));
  }

  /** The answer is whole. Its few trailing bytes are read off, so that the connection goes back to the agent. */
  #finish(response: http.IncomingMessage): void {
    this.pipe.end();
    this.#release();
    if (response.complete) return;
    const timer = setTimeout(() => response.destroy(), TAIL_MS);
    timer.unref();
    response.on('close', () => clearTimeout(timer));
    response.resume();
  }

  #onEnd(response: http.IncomingMessage): void {
    if (!this.pipe.open) return;
    const out: ModelEvent[] = [];
    try {
      const whole = this.#decoder.onEnd(out);
      this.pipe.push(out);
      if (whole) this.#finish(response);
      else this.#fail(this.#endedTooEarly(response));
    } catch (error) {
      this.pipe.push(out);
      this.#fail(error instanceof ModelError ? error : new ModelError('protocol', `the stream could not be read: ${messageOf(error)}`));
    }
  }

  #endedTooEarly(response: http.IncomingMessage): ModelError {
    const type = response.headers['content-type'] ?? 'none';
    if (this.#sawEvent || /event-stream/i.test(type)) return cutError('the stream ended without its final event');
    const seen = redact(preview(this.#head.trim(), 200), this.#call.secrets);
    return cutError(
      `${this.#call.target.shown} did not answer with an event stream (content-type: ${type}) but with: ${seen || 'nothing'}`,
    );
  }

  #readError(response: http.IncomingMessage, status: number): void {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = () => {
      if (!this.pipe.open) return;
      const body = Buffer.concat(chunks).subarray(0, ERROR_BODY_LIMIT).toString('utf8');
      const { target, secrets } = this.#call;
      this.pipe.fail(httpError({ status, headers: response.headers, body, shownUrl: target.shown, secrets }));
      this.#release();
      if (!response.complete) response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ERROR_BODY_LIMIT) done();
    });
    response.on('end', done);
    response.on('error', done);
    response.on('close', done);
  }
}

function dropFree(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function connectionError(error: unknown, call: StreamCall): ModelError {
  const why = systemCode(error) ?? redact(messageOf(error), call.secrets);
  return new ModelError('connection', `error sending request to ${call.target.shown}: ${why}`, { retryable: true, cause: error });
}

function rateLimitHeaders(headers: http.IncomingHttpHeaders): Record<string, string> | undefined {
  let found: Record<string, string> | undefined;
  for (const name in headers) {
    if (!/^(?:x-ratelimit-|x-codex-|anthropic-ratelimit-)/.test(name)) continue;
    const value = headers[name];
    found ??= {};
    found[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  }
  return found;
}
