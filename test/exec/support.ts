// Helpers of the process tests: one runner a file, whole outputs, and a look at what still runs.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ProcessOutcome, ProcessRequest } from '../../src/exec/process.ts';
import type { LocalProcessRunner } from '../../src/exec/runner.ts';

export const ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', TERM: 'dumb' };

export const bash = (cmd: string, more: Partial<ProcessRequest> = {}): ProcessRequest => ({
  argv: ['/bin/bash', '-c', cmd],
  cwd: '/tmp',
  env: ENV,
  tty: false,
  stdin: 'closed',
  merged: true,
  ...more,
});

export interface Run {
  outcome: ProcessOutcome;
  text: string;
  bytes: number;
}

export async function run(runner: LocalProcessRunner, request: ProcessRequest): Promise<Run> {
  const process = runner.start(request);
  const chunks: Uint8Array[] = [];
  process.onOutput(({ bytes }) => chunks.push(bytes));
  const outcome = await process.exited;
  const all = Buffer.concat(chunks);
  return { outcome, text: all.toString('utf8'), bytes: all.length };
}

/** Pids of live `sleep` processes with this argument (the dead that nobody reaped are left out). */
export function sleepers(argument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
        return argv[0].endsWith('sleep') && argv[1] === argument && !/\nState:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
      } catch {
        return false;
      }
    });
}

let marks = 0;
/** A `sleep` argument that nothing else on this machine uses. */
export const mark = (): string => `${4000 + (process.pid % 1000)}.${process.hrtime()[1] % 100000}${++marks}`;

export async function until(test: () => boolean, ms = 5000): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    if (test()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return test();
}

export const descriptors = (): string[] =>
  readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
