// A child in a terminal; the only importer of node-pty. The system forgets what is still in a terminal when its last user closes it,
// so we hold the slave ourselves, write a marker into it when the leader is gone, and read up to that: not a byte is lost.
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync, realpathSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants as osConstants } from 'node:os';
import { ReadStream } from 'node:tty';
import { Deferred } from '../common/deferred.ts';
import { messageOf, systemCode } from '../common/errors.ts';
import { newRandomId } from '../common/ids.ts';
import type { Child, ChildListener, ChildSpec, InheritableDescriptors, LeaderExit } from './child.ts';
import { StartError, startError } from './child.ts';

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** How long nothing may come before the marker is given up; running only while someone reads. It is late only when the terminal is stopped (Ctrl-S). */
const MARKER_QUIET_MS = 1000;
const MARKER_RETRY_MS = 5;
/**
 * Makes the terminal the controlling one (the first terminal a session leader opens becomes that) and then becomes the program.
 * The binding's own fork would hand every other terminal's master to the child.
 */
const LAUNCHER = 'exec "$@" <>"$0" >&0 2>&1';

interface NativePty {
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(descriptor: number, cols: number, rows: number): void;
}

interface Library {
  spawn(spec: ChildSpec, size: TerminalSize, descriptors: InheritableDescriptors, listener: ChildListener): Child;
}

let library: Promise<Library> | undefined;

/** Loads the binding on first use. Rejects with a StartError where there is none. */
export function loadTerminals(): Promise<Library> {
  library ??= load();
  return library;
}

async function load(): Promise<Library> {
  if (process.platform === 'linux') {
    const native = loadNative();
    if (native) return { spawn: (spec, size, descriptors, listener) => spawnHeld(native, spec, size, descriptors, listener) };
  }
  try {
    const { spawn } = await import('node-pty');
    return { spawn: (spec, size, _descriptors, listener) => new LibraryChild(spawn, spec, size, listener) };
  } catch (error) {
    throw new StartError(`terminals are not available on this system (${messageOf(error)}); run the command with tty false`);
  }
}

/** The binding belongs to a package of the platform, which node-pty depends on; it is found from there. */
function loadNative(): NativePty | undefined {
  try {
    const here = createRequire(typeof __filename === 'string' ? __filename : import.meta.url);
    const beside = createRequire(realpathSync(here.resolve('node-pty')));
    const binding: NativePty = beside(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`);
    return typeof binding.open === 'function' && typeof binding.resize === 'function' ? binding : undefined;
  } catch {
    return undefined;
  }
}

function spawnHeld(
  native: NativePty,
  spec: ChildSpec,
  size: TerminalSize,
  descriptors: InheritableDescriptors,
  listener: ChildListener,
): Child {
  let held: { master: number; slave: number; name: string } | undefined;
  try {
    const { master, slave, pty } = native.open(size.cols, size.rows);
    descriptors.add(master);
    held = { master, slave, name: pty };
    // Our own hold is close-on-exec, unlike the one we were given.
    held.slave = openSync(pty, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
    closeSync(slave);
    const child = descriptors.spawn({ ...spec, file: '/bin/sh', argv: ['sh', '-c', LAUNCHER, pty, spec.file, ...spec.argv.slice(1)] }, [
      'ignore',
      'ignore',
      'ignore',
    ]);
    return new HeldTerminal(native, spec, child, held.master, held.slave, descriptors, listener);
  } catch (error) {
    if (held) {
      descriptors.delete(held.master);
      closeSync(held.master);
      closeSync(held.slave);
    }
    throw error instanceof StartError ? error : new StartError(`could not open a terminal for ${spec.argv[0]}: ${messageOf(error)}`);
  }
}

class HeldTerminal implements Child {
  readonly pid: number | undefined;
  readonly #ended = new Deferred<LeaderExit>();
  readonly #native: NativePty;
  readonly #master: number;
  readonly #slave: number;
  readonly #listener: ChildListener;
  readonly #stream: ReadStream;
  /** Set once, when the leader is gone. */
  #exit: LeaderExit | undefined;
  #marker: Buffer = Buffer.alloc(0);
  /** How much of the marker the terminal took so far. */
  #written = 0;
  /** After the exit: bytes that may be the beginning of the marker. */
  #held: Buffer = Buffer.alloc(0);
  /** False once our slave was closed, which happens once: the number may be another file's right after. */
  #slaveHeld = true;
  #paused = false;
  #safety: NodeJS.Timeout | undefined;
  /** Reads so far; tells whether one came since. */
  #heard = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    native: NativePty,
    spec: ChildSpec,
    child: ChildProcess,
    master: number,
    slave: number,
    descriptors: InheritableDescriptors,
    listener: ChildListener,
  ) {
    this.pid = child.pid;
    this.#native = native;
    this.#master = master;
    this.#slave = slave;
    this.#listener = listener;
    this.#stream = new ReadStream(master);
    this.#stream.on('data', (bytes: Buffer) => this.#onData(bytes));
    // EIO and the like: nothing more will come.
    this.#stream.on('error', () => this.#close());
    this.#stream.on('close', () => descriptors.delete(master));
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      this.#close();
      this.#ended.reject(startError(spec, error));
    });
    child.on('exit', (code, signal) => this.#leaderExited({ code, signal }));
  }

  get ended(): Promise<LeaderExit> {
    return this.#ended.promise;
  }

  write(data: string | Uint8Array): boolean {
    if (this.#exit || this.#stream.destroyed) return false;
    this.#stream.write(data);
    return true;
  }

  /** A terminal has no end of file of its own: the line discipline makes one from Ctrl-D. */
  closeStdin(): void {
    this.write('\u0004');
  }

  resize(rows: number, cols: number): void {
    if (this.#stream.destroyed) return;
    try {
      this.#native.resize(this.#master, cols, rows);
    } catch {
      // The terminal went away between the check and the call.
    }
  }

  pause(): void {
    this.#paused = true;
    clearTimeout(this.#safety);
    this.#stream.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#stream.resume();
    if (this.#exit) this.#awaitMarker();
  }

  #leaderExited(exit: LeaderExit): void {
    this.#exit = exit;
    this.#listener.leaderExited();
    if (this.#stream.destroyed) {
      this.#ended.resolve(exit);
      return;
    }
    this.#marker = Buffer.from(`end${newRandomId().replaceAll('-', '')}`);
    this.#writeMarker();
    if (!this.#paused) this.#awaitMarker();
  }

  /**
   * Gives the marker up after a quiet time. A process that was not scheduled for a while sees its timers before what it could read, so
   * the pipe is looked at once more before anything is given up.
   */
  #awaitMarker(): void {
    clearTimeout(this.#safety);
    this.#safety = setTimeout(() => {
      const heard = this.#heard;
      setImmediate(() =>
        setImmediate(() => {
          if (this.#ended.settled || this.#paused) return;
          if (this.#heard === heard) this.#finish(this.#held);
          else this.#awaitMarker();
        }),
      );
    }, MARKER_QUIET_MS);
  }

  /** The terminal takes no more than it has room for; reading makes room. */
  #writeMarker(): void {
    if (this.#ended.settled) return;
    try {
      this.#written += writeSync(this.#slave, this.#marker, this.#written);
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') return;
    }
    if (this.#written < this.#marker.length) this.#retry = setTimeout(() => this.#writeMarker(), MARKER_RETRY_MS);
  }

  #onData(bytes: Buffer): void {
    if (this.#ended.settled) return;
    this.#heard++;
    if (!this.#exit) {
      this.#emit(bytes);
      return;
    }
    if (!this.#paused) this.#awaitMarker();
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes;
    const at = all.indexOf(this.#marker);
    if (at >= 0) {
      this.#finish(all.subarray(0, at));
      return;
    }
    const keep = Math.min(all.length, this.#marker.length - 1);
    this.#held = all.subarray(all.length - keep);
    this.#emit(all.subarray(0, all.length - keep));
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > 0) this.#listener.output({ stream: 'tty', bytes });
  }

  #finish(rest: Buffer): void {
    if (!this.#exit || this.#ended.settled) return;
    this.#emit(rest);
    this.#close();
  }

  /** Gives back both descriptors, and reports the end if the leader is gone; if it is not, its exit reports it. */
  #close(): void {
    clearTimeout(this.#safety);
    clearTimeout(this.#retry);
    this.#stream.destroy();
    if (this.#slaveHeld) closeSync(this.#slave);
    this.#slaveHeld = false;
    if (this.#exit) this.#ended.resolve(this.#exit);
  }
}

/** The library's own terminal, for systems on which it is known to deliver everything before it reports the exit. */
class LibraryChild implements Child {
  readonly pid: number | undefined;
  readonly #ended = new Deferred<LeaderExit>();
  readonly #terminal: import('node-pty').Terminal;

  constructor(spawn: typeof import('node-pty').spawn, spec: ChildSpec, size: TerminalSize, listener: ChildListener) {
    try {
      this.#terminal = spawn(spec.file, spec.argv.slice(1), {
        name: spec.env.TERM ?? 'xterm-256color',
        ...size,
        cwd: spec.cwd,
        env: { ...spec.env },
        encoding: null,
      });
    } catch (error) {
      throw startError(spec, error);
    }
    this.pid = this.#terminal.pid;
    this.#terminal.onData((data) => {
      if (!this.#ended.settled) listener.output({ stream: 'tty', bytes: typeof data === 'string' ? Buffer.from(data) : data });
    });
    this.#terminal.onExit(({ exitCode, signal }) => {
      listener.leaderExited();
      this.#ended.resolve(signal ? { code: null, signal: signalName(signal) } : { code: exitCode, signal: null });
    });
  }

  get ended(): Promise<LeaderExit> {
    return this.#ended.promise;
  }

  write(data: string | Uint8Array): boolean {
    if (this.#ended.settled) return false;
    this.#try((terminal) => terminal.write(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')));
    return true;
  }

  closeStdin(): void {
    this.write('\u0004');
  }

  resize(rows: number, cols: number): void {
    this.#try((terminal) => terminal.resize(cols, rows));
  }

  pause(): void {
    this.#try((terminal) => terminal.pause());
  }

  resume(): void {
    this.#try((terminal) => terminal.resume());
  }

  /** The library throws for a terminal that has just ended; for us that is a no-op. */
  #try(act: (terminal: import('node-pty').Terminal) => void): void {
    if (this.#ended.settled) return;
    try {
      act(this.#terminal);
    } catch {
      // Ended meanwhile.
    }
  }
}

const signalName = (signal: number): string => Object.entries(osConstants.signals).find(([, n]) => n === signal)?.[0] ?? `SIG${signal}`;
