// Named pipes for the output of children. The runtime's own "pipes" are sockets, which /dev/stdout and /dev/stderr cannot open
// (`echo x > /dev/stderr` fails), and two of them lose the order between stdout and stderr. A FIFO has neither fault. stdin stays a
// socket: a FIFO whose writer is gone would block whoever opens /dev/stdin, where a socket refuses.
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtemp, openSync, rm, unlink } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PipeEnds {
  /** Ours, for reading, non-blocking. */
  readonly ours: number;
  /** The child's, for writing; the spawner closes it right after the spawn. */
  readonly theirs: number;
}

const BATCH = 16;
const LOW = 4;

export class FifoPool {
  readonly #base: string;
  /** Names made and not handed out yet; taken from the end. Nothing is held open for them. */
  #paths: string[] = [];
  #folder: string | undefined;
  /** The one batch that is being made. */
  #filling: Promise<void> | undefined;
  #made = 0;
  /** True once this system turned out to have no FIFOs; children then get sockets. */
  #unavailable = process.platform === 'win32';

  constructor(base: string = tmpdir()) {
    this.#base = base;
  }

  /** A pipe nobody else knows: its name is removed at once. Undefined where FIFOs cannot be made. */
  async take(): Promise<PipeEnds | undefined> {
    for (let attempt = 0; attempt < 3; attempt++) {
      while (this.#paths.length === 0 && !this.#unavailable) await this.#fill();
      const path = this.#paths.pop();
      if (path === undefined) return undefined;
      if (this.#paths.length < LOW) void this.#fill();
      const ends = open(path);
      if (ends) return ends;
      // The folder was cleaned away under us: forget it and make a new one.
      this.#paths = [];
      this.#folder = undefined;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#filling;
    const folder = this.#folder;
    this.#folder = undefined;
    this.#paths = [];
    if (folder) await promisify(rm)(folder, { recursive: true, force: true }).catch(() => {});
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#make().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #make(): Promise<void> {
    try {
      const folder = (this.#folder ??= await promisify(mkdtemp)(join(this.#base, 'harnessd-')));
      const paths = Array.from({ length: BATCH }, () => join(folder, String(++this.#made)));
      await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { env: { PATH: process.env.PATH ?? '/usr/bin:/bin' } });
      this.#paths.unshift(...paths);
    } catch {
      this.#unavailable = true;
    }
  }
}

/** Opens both ends. Never blocks: the second finds the first. */
function open(path: string): PipeEnds | undefined {
  let ours: number | undefined;
  try {
    ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { ours, theirs: openSync(path, constants.O_WRONLY) };
  } catch {
    if (ours !== undefined) closeSync(ours);
    return undefined;
  } finally {
    unlink(path, () => {});
  }
}
