// One extension in a thread of its own: it cannot block the daemon, end it, or write into its protocol. Its end, however it comes, settles
// everything that waits for it.
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Deferred } from '../../common/deferred.ts';
import { messageOf } from '../../common/errors.ts';
import { logger } from '../../common/log.ts';
import { preview } from '../../common/text.ts';
import { extensionScript } from './extension-code.ts';
import { type ExtensionManifest, readManifest } from './extension-manifest.ts';
import type { ExtensionCallFacts, ExtensionReply, FromExtension, ToExtension } from './extension-messages.ts';

export interface ExtensionLimits {
  readonly startMs: number;
  readonly stopMs: number;
  /** A thread that does not answer for this long is in a loop. */
  readonly pingMs: number;
  readonly heapMb: number;
}

export const EXTENSION_LIMITS: ExtensionLimits = { startMs: 5_000, stopMs: 1_000, pingMs: 5_000, heapMb: 512 };

/** How a call ended on this side: with the extension's reply, or without one. */
export type ExtensionOutcome =
  | { type: 'replied'; reply: ExtensionReply }
  | { type: 'aborted' }
  | { type: 'timedOut' }
  /** The extension is gone; the call may have had effects. */
  | { type: 'gone'; problem: string };

type State = { type: 'starting' } | { type: 'ready' } | { type: 'stopping' } | { type: 'ended'; problem: string };

export class ExtensionThread {
  readonly #worker: Worker;
  readonly #limits: ExtensionLimits;
  readonly #path: string;
  readonly #begun = new Deferred<ExtensionManifest>();
  readonly #exited = new Deferred<void>();
  readonly #waiting = new Map<number, Deferred<ExtensionOutcome>>();
  readonly #onGone: (problem: string) => void;
  #state: State = { type: 'starting' };
  #lastId = 0;
  /** Set by the first stop(). */
  #stopped: Promise<void> | undefined;
  /** Runs while an answer to a ping is awaited. */
  #pinging: NodeJS.Timeout | undefined;

  /** @param onGone called once when it ends although nobody asked it to, after it was ready */
  constructor(path: string, onGone: (problem: string) => void, limits: ExtensionLimits = EXTENSION_LIMITS) {
    this.#path = path;
    this.#onGone = onGone;
    this.#limits = limits;
    this.#worker = new Worker(extensionScript(), {
      eval: true,
      workerData: { url: pathToFileURL(path).href },
      execArgv: [],
      argv: [],
      // Its output must not reach the daemon's: stdout is the protocol's.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
    });
    this.#worker.on('message', (message: FromExtension) => this.#take(message));
    this.#worker.on('error', (error) => this.#end(`it failed: ${messageOf(error)}`));
    this.#worker.on('exit', (code) => {
      this.#end(`its thread ended with code ${code}`);
      this.#exited.resolve();
    });
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.on('data', (bytes: Buffer) => logger().info({ extension: path, text: preview(String(bytes), 2000) }, 'an extension printed'));
  }

  get alive(): boolean {
    return this.#state.type === 'ready';
  }

  /** Resolves with what it offers. Rejects with a problem in words; the thread is then ended. */
  async start(): Promise<ExtensionManifest> {
    const timer = setTimeout(
      () => this.#end(`it did not start within ${this.#limits.startMs / 1000} s (a promise or a loop that never ends?)`),
      this.#limits.startMs,
    );
    try {
      return await this.#begun.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  callTool(tool: number, input: unknown, facts: ExtensionCallFacts, timeoutMs: number, signal: AbortSignal): Promise<ExtensionOutcome> {
    return this.#request((id) => ({ type: 'call', id, tool, input, facts }), timeoutMs, signal);
  }

  callHook(hook: number, input: unknown, timeoutMs: number | null, signal: AbortSignal): Promise<ExtensionOutcome> {
    return this.#request((id) => ({ type: 'hook', id, hook, input }), timeoutMs, signal);
  }

  async #request(make: (id: number) => ToExtension, timeoutMs: number | null, signal: AbortSignal): Promise<ExtensionOutcome> {
    if (this.#state.type === 'ended') return { type: 'gone', problem: this.#state.problem };
    if (signal.aborted) return { type: 'aborted' };
    const id = ++this.#lastId;
    const outcome = new Deferred<ExtensionOutcome>();
    this.#waiting.set(id, outcome);
    const give = (early: ExtensionOutcome) => {
      if (!outcome.resolve(early)) return;
      this.#send({ type: 'abort', id });
      this.#ping();
    };
    const timer = timeoutMs === null ? undefined : setTimeout(() => give({ type: 'timedOut' }), timeoutMs);
    const onAbort = () => give({ type: 'aborted' });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#send(make(id));
    try {
      return await outcome.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(id);
    }
  }

  /** Ends it: first its own onStop, then whatever is left. Resolves when the thread is gone. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    if (this.#state.type === 'ended') return this.#exited.promise;
    this.#state = { type: 'stopping' };
    this.#send({ type: 'stop' });
    const timer = setTimeout(() => {
      logger().warn({ extension: this.#path }, 'an extension did not end by itself: onStop hangs, or it left timers or handles open');
      void this.#worker.terminate();
    }, this.#limits.stopMs);
    await this.#exited.promise;
    clearTimeout(timer);
  }

  #send(message: ToExtension): void {
    if (this.#state.type !== 'ended') this.#worker.postMessage(message);
  }

  #ping(): void {
    if (this.#pinging || this.#state.type === 'ended') return;
    this.#pinging = setTimeout(() => this.#end('it does not answer any more (a loop that never ends?)'), this.#limits.pingMs);
    this.#pinging.unref();
    this.#send({ type: 'ping' });
  }

  #take(message: FromExtension): void {
    switch (message.type) {
      case 'ready': {
        const read = readManifest(message.manifest);
        if (!read.ok) {
          this.#end(read.problem);
          return;
        }
        if (this.#state.type === 'starting') this.#state = { type: 'ready' };
        this.#begun.resolve(read.manifest);
        return;
      }
      case 'failed':
        this.#end(message.problem);
        return;
      case 'settled':
        this.#waiting.get(message.id)?.resolve({ type: 'replied', reply: message.reply });
        return;
      case 'pong':
        clearTimeout(this.#pinging);
        this.#pinging = undefined;
        return;
      case 'stopped':
        if (message.problem !== null) logger().warn({ extension: this.#path, problem: message.problem }, 'onStop of an extension failed');
        return;
    }
  }

  /** The first reason counts. */
  #end(problem: string): void {
    const { type } = this.#state;
    if (type === 'ended') return;
    this.#state = { type: 'ended', problem };
    clearTimeout(this.#pinging);
    this.#begun.reject(new Error(problem));
    for (const waiting of this.#waiting.values()) waiting.resolve({ type: 'gone', problem });
    void this.#worker.terminate();
    if (type === 'ready') this.#onGone(problem);
  }
}
