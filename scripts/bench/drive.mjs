// What the scenarios share: a daemon in a home of its own, a model that calls a tool, and the clock.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDaemon } from '../lib/daemon.mjs';
import { callItem, messageItem, startModelServer } from '../lib/model-server.mjs';

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Runs `use` with a folder of its own and takes it away again. */
export async function withHome(use) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-bench-'));
  try {
    return await use(home);
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/** Runs `use` with a daemon in a home of its own. */
export const withDaemon = (options, use) => withHome((home) => withDaemonIn(home, options, use));

/** Runs `use` with a daemon in a home that outlives it. */
export async function withDaemonIn(home, { command, script, answer, env }, use) {
  const model = await startModelServer(script);
  const daemon = openDaemon({ command, home, cwd: home, model, answer, env: typeof env === 'function' ? env(home) : env });
  try {
    return await use(daemon, home);
  } finally {
    await daemon.close();
    model.close();
  }
}

export async function elapsed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** In MB: now, or the most it ever was. */
export function residentMegabytes(pid, which = 'VmRSS') {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)[1]) / 1024;
}

/** The model calls a tool `count` times, one call a step, then ends. */
export function callScript(count, name, argumentsOf) {
  return (step) => (step < count ? [callItem(name, argumentsOf(step))] : [messageItem('done')]);
}
