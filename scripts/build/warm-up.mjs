// Runs the fresh build once as a frontend would and keeps what V8 compiled on the way, so that a start compiles nothing.
// A warm-up that fails costs start-up time, never the build: the caches then hold what compiles without running.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { openDaemon } from '../lib/daemon.mjs';
import { messageItem, startModelServer } from '../lib/model-server.mjs';

/** The loader, and at exit one cache for each part that was loaded. Lives in the build folder only while the warm-up runs. */
const WRITER = `
process.on('exit', () => {
  const { scripts, lib } = require('./main.js');
  for (const [name, script] of scripts) {
    require('node:fs').writeFileSync(require('node:path').join(lib, name + '.cache'), script.createCachedData());
  }
});
require('./main.js');
`;

async function playOneTurn(program) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-warm-up-'));
  const model = await startModelServer(() => [messageItem('Ready to work.')]);
  const daemon = openDaemon({ command: [process.execPath, program, 'app-server'], home, cwd: home, model, limitMs: 15_000 });
  try {
    await daemon.initialize();
    const threadId = await daemon.startThread();
    await daemon.runTurn(threadId, 'warm up');
  } finally {
    await daemon.close();
    model.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/** Caches for the parts without one, from compiling alone: functions are then compiled when they first run, as always. */
export function writeColdCaches(folder) {
  const lib = path.join(folder, 'lib');
  for (const name of fs.readdirSync(lib).filter((file) => file.endsWith('.cjs'))) {
    const file = path.join(lib, name);
    if (fs.existsSync(`${file}.cache`)) continue;
    const script = new vm.Script(fs.readFileSync(file, 'latin1'), { filename: `harnessd/${name}` });
    fs.writeFileSync(`${file}.cache`, script.createCachedData());
  }
  return 'not warmed up';
}

/** Writes the .cache files of a build folder; says in words how it went. */
export async function writeWarmCaches(folder) {
  const program = path.join(folder, 'warm-up.js');
  fs.writeFileSync(program, WRITER);
  let outcome = 'warmed up with a turn';
  try {
    await playOneTurn(program);
  } catch (error) {
    outcome = `not warmed up (${error.message})`;
    const written = fs.existsSync(path.join(folder, 'lib', 'main.cjs.cache'));
    if (!written) spawnSync(process.execPath, [program, '--version'], { stdio: 'ignore', timeout: 10_000 });
  } finally {
    fs.rmSync(program);
  }
  writeColdCaches(folder);
  return outcome;
}
