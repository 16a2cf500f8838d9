// The files of a repository as git itself lists them: tracked ones, and others that nothing tells it to ignore.
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { ProcessRunner, RunningProcess } from '../../exec/process.ts';
import { FileCollector, type PathList } from './path-list.ts';
import { Slice } from './slice.ts';

export interface GitPorts {
  runner: ProcessRunner;
  /** The daemon's own environment. */
  env: Readonly<Record<string, string | undefined>>;
}

const TIMEOUT_MS = 15_000;
const END_GRACE_MS = 100;
/** With more chunks than this unread, git has to wait. */
const MAX_WAITING_CHUNKS = 16;

// A repository may name a program to run as its file monitor: it is a stranger's.
const ARGV = ['git', '-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
const INHERITED = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'SYSTEMROOT', 'PATHEXT', 'USERPROFILE'];

function environment(env: GitPorts['env']): Record<string, string> {
  const own: Record<string, string> = { LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' };
  for (const name of INHERITED) if (env[name] !== undefined) own[name] = env[name];
  return own;
}

/** The folder at or above this one that holds `.git`, if there is one. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  const found = await lstat(path.join(folder, '.git')).catch(() => undefined);
  if (found) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? undefined : repositoryOf(parent);
}

/** Reads what git prints at the pace of the event loop: a full pipe comes as many chunks at once. */
class Reader {
  readonly #process: RunningProcess;
  readonly #files: FileCollector;
  readonly #signal: AbortSignal;
  readonly #decoder = new StringDecoder('utf8');
  readonly #waiting: Uint8Array[] = [];
  /** The beginning of a path whose end has not come. */
  #rest = '';
  /** Undefined while nothing waits. */
  #reading: Promise<void> | undefined;

  constructor(process: RunningProcess, files: FileCollector, signal: AbortSignal) {
    this.#process = process;
    this.#files = files;
    this.#signal = signal;
    process.onOutput(({ stream, bytes }) => {
      if (stream === 'stdout') this.#take(bytes);
    });
  }

  /** Settles when all that came has been read. */
  get idle(): Promise<void> {
    return this.#reading ?? Promise.resolve();
  }

  #take(bytes: Uint8Array): void {
    if (this.#waiting.push(bytes) >= MAX_WAITING_CHUNKS) this.#process.pause();
    this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    const slice = new Slice();
    try {
      for (let bytes = this.#waiting.shift(); bytes; bytes = this.#waiting.shift()) {
        const parts = (this.#rest + this.#decoder.write(Buffer.from(bytes))).split('\0');
        this.#rest = parts.pop() ?? '';
        if (!parts.every((file) => this.#files.add(file))) void this.#process.terminate(END_GRACE_MS);
        await slice.pause(this.#signal);
      }
    } catch {
      this.#waiting.length = 0; // aborted: whoever waits for the end hears of it
    }
    this.#reading = undefined;
    this.#process.resume();
  }
}

/** Adds the paths below a folder. False, with nothing added, when git has nothing to say about this folder. */
export async function addGitPaths(list: PathList, folder: string, ports: GitPorts, signal: AbortSignal): Promise<boolean> {
  const env = environment(ports.env);
  const process = ports.runner.start({ argv: ARGV, cwd: folder, env, tty: false, stdin: 'closed', timeoutMs: TIMEOUT_MS });
  const reader = new Reader(process, new FileCollector(list), signal);
  const end = () => void process.terminate(END_GRACE_MS);
  signal.addEventListener('abort', end);
  const outcome = await process.exited;
  await reader.idle;
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  if (outcome.type === 'timedOut' && list.paths.length > 0) list.cut = true;
  return list.paths.length > 0;
}
