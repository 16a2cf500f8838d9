// A child over pipes. Reads until the leader is gone and what it wrote is delivered, then lets go: background children that hold
// the pipe open keep a reader that discards, so that they neither hold the call nor die of SIGPIPE.
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { monotonicMs } from '../common/clock.ts';
import { Deferred } from '../common/deferred.ts';
import type { Child, ChildListener, ChildSpec, InheritableDescriptors, LeaderExit } from './child.ts';
import { startError } from './child.ts';
import type { FifoPool, PipeEnds } from './fifo.ts';
import type { ProcessOutput } from './process.ts';

/** After the leader's end: how long without a byte counts as drained, and how long the drain lasts at most. */
const QUIET_MS = 80;
const DRAIN_MS = 250;
/** What a background child prints later is read and dropped at this pace at most, so that a chatty one costs nothing. */
const DISCARD_EVERY_MS = 20;
/** As much as a pipe holds. */
const READ_BYTES = 64 * 1024;

/** Pipes taken from the pool; an undefined one is made by the runtime at the spawn. */
export interface PreparedPipes {
  readonly stdout: PipeEnds | undefined;
  /** 'stdout': both streams share one pipe. */
  readonly stderr: PipeEnds | 'stdout' | undefined;
}

export async function preparePipes(pool: FifoPool, merged: boolean): Promise<PreparedPipes> {
  const stdout = await pool.take();
  return { stdout, stderr: merged && stdout ? 'stdout' : await pool.take() };
}

const endsOf = (pipes: PreparedPipes): PipeEnds[] => [pipes.stdout, pipes.stderr].filter((p): p is PipeEnds => typeof p === 'object');

/** For a child that is not started after all. */
export function discardPipes(pipes: PreparedPipes): void {
  for (const ends of endsOf(pipes)) {
    closeSync(ends.ours);
    closeSync(ends.theirs);
  }
}

/** Throws a StartError when the spawn fails at once; a later failure rejects `ended`. */
export function spawnPipes(
  spec: ChildSpec,
  stdin: 'closed' | 'open',
  pipes: PreparedPipes,
  descriptors: InheritableDescriptors,
  listener: ChildListener,
): Child {
  const out = pipes.stdout?.theirs ?? 'pipe';
  const err = pipes.stderr === 'stdout' ? out : (pipes.stderr?.theirs ?? 'pipe');
  let child: ChildProcess;
  try {
    child = descriptors.spawn(spec, [stdin === 'closed' ? 'ignore' : 'pipe', out, err]);
  } catch (error) {
    discardPipes(pipes);
    throw error;
  }
  for (const ends of endsOf(pipes)) closeSync(ends.theirs);
  return new PipeChild(spec, child, pipes, listener);
}

/**
 * Reads into one buffer over and over: a fresh one for each read would be garbage outside of the heap, of which the collector lets tens
 * of megabytes gather under a flood.
 */
function reader(ends: PipeEnds, take: (bytes: Buffer) => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (length: number): boolean => {
    take(buffer.subarray(0, length));
    return true;
  };
  const options: SocketConstructorOpts & { onread: OnReadOpts } = {
    fd: ends.ours,
    readable: true,
    writable: false,
    onread: { buffer, callback },
  };
  return new Socket(options);
}

class PipeChild implements Child {
  readonly pid: number | undefined;
  readonly #ended = new Deferred<LeaderExit>();
  readonly #listener: ChildListener;
  readonly #readers: Readable[] = [];
  readonly #stdin: Writable | undefined;
  /** Readers that have not seen the end of file. */
  #open = 0;
  /** Set once, when the leader is gone. */
  #exit: LeaderExit | undefined;
  #paused = false;
  #lastByteAt = 0;
  #drainSince = 0;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(spec: ChildSpec, child: ChildProcess, pipes: PreparedPipes, listener: ChildListener) {
    this.pid = child.pid;
    this.#listener = listener;
    this.#stdin = child.stdin ?? undefined;
    // A child that closed its stdin makes writes fail; that is its right.
    this.#stdin?.on('error', () => {});
    this.#read(pipes.stdout, child.stdout, 'stdout');
    if (pipes.stderr !== 'stdout') this.#read(pipes.stderr, child.stderr, 'stderr');
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      for (const stream of this.#readers) stream.destroy();
      this.#stdin?.destroy();
      this.#ended.reject(startError(spec, error));
    });
    child.on('exit', (code, signal) => this.#leaderExited({ code, signal }));
  }

  get ended(): Promise<LeaderExit> {
    return this.#ended.promise;
  }

  write(data: string | Uint8Array): boolean {
    if (this.#exit || !this.#stdin?.writable) return false;
    this.#stdin.write(data);
    return true;
  }

  closeStdin(): void {
    this.#stdin?.end();
  }

  resize(): void {}

  pause(): void {
    if (this.#ended.settled) return;
    this.#paused = true;
    clearTimeout(this.#drainTimer);
    for (const stream of this.#readers) stream.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const stream of this.#readers) stream.resume();
    if (this.#exit && !this.#ended.settled) this.#startDrain();
  }

  #read(ends: PipeEnds | undefined, made: Readable | null, label: ProcessOutput['stream']): void {
    const take = (bytes: Buffer): void => {
      this.#lastByteAt = monotonicMs();
      if (!this.#ended.settled) this.#listener.output({ stream: label, bytes });
      else if (stream) {
        stream.pause();
        setTimeout(() => stream.resume(), DISCARD_EVERY_MS).unref();
      }
    };
    const stream = ends ? reader(ends, take) : made;
    if (!stream) return;
    this.#open++;
    this.#readers.push(stream);
    if (!ends) stream.on('data', take);
    stream.on('error', () => stream.destroy());
    stream.on('close', () => {
      this.#open--;
      this.#finishIfDone();
    });
  }

  #leaderExited(exit: LeaderExit): void {
    this.#exit = exit;
    this.#listener.leaderExited();
    this.#stdin?.destroy();
    this.#finishIfDone();
    if (!this.#ended.settled && !this.#paused) this.#startDrain();
  }

  #finishIfDone(): void {
    if (this.#open === 0 && this.#exit) this.#finish(this.#exit);
  }

  #startDrain(): void {
    this.#drainSince = this.#lastByteAt = monotonicMs();
    this.#armDrain(QUIET_MS);
  }

  /** The look after the timer waits for one poll of the event loop, so "quiet" means that the pipe was read and empty. */
  #armDrain(ms: number): void {
    this.#drainTimer = setTimeout(() => {
      setImmediate(() => {
        if (this.#ended.settled || this.#paused || !this.#exit) return;
        const now = monotonicMs();
        const quiet = now - this.#lastByteAt;
        if (quiet >= QUIET_MS || now - this.#drainSince >= DRAIN_MS) this.#finish(this.#exit);
        else this.#armDrain(QUIET_MS - quiet);
      });
    }, ms);
  }

  #finish(exit: LeaderExit): void {
    clearTimeout(this.#drainTimer);
    if (!this.#ended.resolve(exit)) return;
    for (const stream of this.#readers) if (stream instanceof Socket) stream.unref();
  }
}
