// Runs a fresh build as a frontend would: once to see which parts a start and a turn need, once to keep what V8 compiled on the way.
// A warm-up that fails costs start-up time, never the build.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { openDaemon } from '../lib/daemon.mjs';
import { callItem, messageItem, startModelServer } from '../lib/model-server.mjs';
import { writeShortThreads } from '../lib/records.mjs';

// V8 takes a cache only under the flags that it was made with, and loading the grammar of commands changes them for good.
const CACHE_WRITER = `
require('node:v8').setFlagsFromString = () => {};
process.on('exit', () => {
  const { scripts, lib } = require('./main.js');
  for (const [name, script] of scripts) {
    require('node:fs').writeFileSync(require('node:path').join(lib, name + '.cache'), script.createCachedData());
  }
});
require('./main.js');
`;
/** Tells at each moment which files have been loaded so far. */
const OBSERVER = `
const fs = require('node:fs');
const read = fs.readFileSync;
fs.readFileSync = (file, ...rest) => {
  if (String(file).endsWith('.cjs')) fs.appendFileSync(require('node:path').join(__dirname, 'loaded'), require('node:path').basename(file) + '\\n');
  return read(file, ...rest);
};
require('./main.js');
`;

/** Compiles each file with its cache as the program does, and prints the names of those whose cache V8 does not take. */
const CHECK = `
const fs = require('node:fs');
const refused = fs.readdirSync('.').filter((name) => name.endsWith('.cjs')).filter((name) => {
  const cachedData = fs.readFileSync(name + '.cache');
  return new (require('node:vm').Script)(fs.readFileSync(name, 'latin1'), { filename: 'harnessd/' + name, cachedData }).cachedDataRejected;
});
console.log(refused.join(' '));
`;

/** What a session goes through behind the handshake: each step's parts become a file. */
const LATER = ['list', 'turn', 'stored'];

/** What a frontend does with threads of earlier days. */
async function useStored(daemon, threadId) {
  await daemon.request('thread/archive', { threadId }); // unloads it
  await daemon.request('thread/unarchive', { threadId });
  await daemon.request('thread/turns/list', { threadId });
  await daemon.request('thread/resume', { threadId, excludeTurns: true });
}

/** Plays a session against a program made of `source`; `step` is called after the handshake, a list, a turn and the use of stored threads. */
async function play(folder, source, { turn, step = () => {} }) {
  const program = path.join(folder, 'warm-up.js');
  fs.writeFileSync(program, source);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-warm-up-'));
  // One command on the way, as in nearly every turn.
  const script = (step) => [step === 0 ? callItem('exec_command', { cmd: 'true' }) : messageItem('Ready to work.')];
  const model = await startModelServer(script);
  writeShortThreads(home, home, 1); // a list is to show one
  // Not the user's login profile, which may take its time.
  const env = { HOME: home };
  const daemon = openDaemon({ command: [process.execPath, program, 'app-server'], home, cwd: home, model, env, limitMs: 15_000 });
  try {
    await daemon.initialize();
    step('start');
    if (turn) {
      await daemon.request('thread/list', {});
      step('list');
      const threadId = await daemon.startThread();
      await daemon.runTurn(threadId, 'warm up');
      step('turn');
      await useStored(daemon, threadId);
      step('stored');
    }
  } finally {
    await daemon.close();
    model.close();
    fs.rmSync(home, { recursive: true, force: true });
    fs.rmSync(program);
  }
}

/**
 * Which parts of a build of single parts are loaded when the handshake is answered, and which more in each of the `LATER` steps. What fails
 * leaves its list empty and says why in `problem`; a handshake that fails is an error.
 */
export async function observe(folder) {
  const file = path.join(folder, 'loaded');
  const seen = {};
  const step = (name) => {
    seen[name] = [...new Set(fs.readFileSync(file, 'utf8').trim().split('\n'))];
  };
  let problem;
  try {
    await play(folder, OBSERVER, { turn: true, step });
  } catch (error) {
    if (!seen.start) throw error;
    problem = error.message;
  } finally {
    fs.rmSync(file, { force: true });
  }
  const before = new Set(seen.start);
  const more = {};
  for (const name of LATER) {
    more[name] = (seen[name] ?? []).filter((part) => !before.has(part));
    for (const part of more[name]) before.add(part);
  }
  return { start: seen.start, more, problem };
}

/** Caches for the files without one, from compiling alone: functions are then compiled when they first run, as always. */
export function writeColdCaches(folder) {
  const lib = path.join(folder, 'lib');
  for (const name of fs.readdirSync(lib).filter((file) => file.endsWith('.cjs'))) {
    const file = path.join(lib, name);
    if (fs.existsSync(`${file}.cache`)) continue;
    const script = new vm.Script(fs.readFileSync(file, 'latin1'), { filename: `harnessd/${name}` });
    fs.writeFileSync(`${file}.cache`, script.createCachedData());
  }
}

/** In words, the caches that V8 would refuse; the empty string when it takes all. */
export function refusedCaches(folder) {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', CHECK], { cwd: path.join(folder, 'lib'), encoding: 'utf8' });
  if (status !== 0) return `; caches not checked: ${stderr.trim()}`;
  return stdout.trim() && `; caches refused by V8: ${stdout.trim()}`;
}

/**
 * The start-up file keeps what a start compiles and no more: each function in a cache costs a little at every start.
 * Gives the empty string, or what went wrong in words.
 */
export async function writeWarmCaches(folder, { turn }) {
  const main = path.join(folder, 'lib', 'main.cjs.cache');
  try {
    await play(folder, CACHE_WRITER, { turn: false });
    const startOnly = fs.readFileSync(main);
    if (turn) await play(folder, CACHE_WRITER, { turn: true });
    fs.writeFileSync(main, startOnly);
    return '';
  } catch (error) {
    return `; caches not warmed up: ${error.message}`;
  }
}
