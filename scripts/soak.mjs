// npm run soak: a long life in short. 500 turns in one thread and 2 000 threads in one daemon; memory after each part, time at the ends.
// `--turns N`, `--threads N`, `--command "…"`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openDaemon } from './lib/daemon.mjs';
import { callItem, messageItem, startModelServer } from './lib/model-server.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { turns: { type: 'string' }, threads: { type: 'string' }, command: { type: 'string' } } });
const turns = Number(values.turns ?? 500);
const threads = Number(values.threads ?? 2_000);
const command = values.command?.split(' ') ?? [process.execPath, path.join(root, 'dist', 'main.js'), 'app-server'];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;
const tell = (text) => process.stdout.write(`${text}\n`);

/** Resident memory in MB, where the system tells it. */
function memory(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Processor time in ms that a process has used. */
function processorMs(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A home with a daemon in it; `extra` goes at the front of its configuration. */
async function withDaemon(script, extra, use) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-soak-'));
  const model = await startModelServer(script);
  const daemon = openDaemon({ command, home, cwd: home, model });
  const config = path.join(home, 'config.toml');
  fs.writeFileSync(config, extra + fs.readFileSync(config, 'utf8'));
  try {
    await daemon.initialize();
    await use(daemon, home);
  } finally {
    await daemon.close();
    model.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

const COMPACT_EVERY = 50;

async function compact(daemon, threadId) {
  const end = new Promise((resolve) => {
    daemon.onNotification = ({ method }) => method === 'turn/completed' && resolve();
  });
  await daemon.request('thread/compact/start', { threadId });
  await end;
}

/** Every turn runs a command with some output, so that items, results and history all grow; now and then the history is compacted. */
async function oneThread() {
  let answers = 0;
  let isCompacting = false;
  const script = () => {
    if (isCompacting) return [messageItem('What was done so far.', 64)];
    return answers++ % 2 === 0
      ? [callItem('exec_command', { cmd: 'seq 200' })]
      : [messageItem('An answer of some length. '.repeat(12), 64)];
  };
  await withDaemon(script, '', async (daemon, home) => {
    const id = await daemon.startThread();
    const took = [];
    const marks = new Set([0.2, 0.4, 0.6, 0.8, 1].map((part) => Math.floor(turns * part)));
    for (let turn = 1; turn <= turns; turn++) {
      const began = performance.now();
      await daemon.runTurn(id, `question ${turn}`);
      took.push(performance.now() - began);
      isCompacting = turn % COMPACT_EVERY === 0;
      if (isCompacting) await compact(daemon, id);
      isCompacting = false;
      if (marks.has(turn))
        tell(
          `${String(turn).padStart(5)} turns: ${memory(daemon.child.pid).toFixed(0)} MB, ${median(took.slice(-50)).toFixed(1)} ms a turn`,
        );
    }
    const before = processorMs(daemon.child.pid);
    await pause(3_000);
    tell(`idle: ${processorMs(daemon.child.pid) - before} ms of processor time in 3 s`);
    const files = fs.readdirSync(path.join(home, 'sessions'), { recursive: true }).filter((name) => name.endsWith('.jsonl'));
    tell(`record: ${(fs.statSync(path.join(home, 'sessions', files[0])).size / turns / 1024).toFixed(1)} KB a turn`);
  });
}

/** Threads that are left behind: each is unsubscribed from after its turn, and unloaded a second later. */
async function manyThreads() {
  await withDaemon(
    () => [messageItem('ok')],
    'thread_unload_delay_secs = 1\n',
    async (daemon) => {
      const marks = new Set([0.25, 0.5, 0.75, 1].map((part) => Math.floor(threads * part)));
      for (let n = 1; n <= threads; n++) {
        const id = await daemon.startThread();
        await daemon.runTurn(id, `thread ${n}`);
        await daemon.request('thread/unsubscribe', { threadId: id });
        if (!marks.has(n)) continue;
        await pause(1_500);
        const loaded = (await daemon.request('thread/loaded/list', { limit: 1000 })).data.length;
        const began = performance.now();
        await daemon.request('thread/list', {});
        const listMs = performance.now() - began;
        tell(
          `${String(n).padStart(5)} threads: ${memory(daemon.child.pid).toFixed(0)} MB, ${loaded} loaded, list page ${listMs.toFixed(1)} ms`,
        );
      }
    },
  );
}

tell(`${turns} turns in one thread`);
await oneThread();
tell(`${threads} threads, one after another`);
await manyThreads();
