// What is measured: each scenario drives a fresh daemon against a model without latency and gives its figures by name.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openDaemon } from '../lib/daemon.mjs';
import { messageItem } from '../lib/model-server.mjs';
import { commandScenarios } from './commands.mjs';
import { callScript, elapsed, median, residentMegabytes, withDaemon } from './drive.mjs';

const ANSWER = 'Hello there, this is the answer.';

function bareNode() {
  const env = { ...process.env };
  delete env.NODE_EXTRA_CA_CERTS;
  return new Promise((resolve, reject) => {
    spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }).once('error', reject).once('close', resolve);
  });
}

/** Alternating, so that a slow moment of the machine hits both. */
async function coldStart(command, rounds = 15) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-bench-'));
  const starts = [];
  const bare = [];
  for (let round = 0; round <= rounds; round++) {
    bare.push(await elapsed(bareNode));
    const began = performance.now();
    const daemon = openDaemon({ command, home, cwd: home, model: { url: 'http://127.0.0.1:9/v1' } });
    await daemon.initialize();
    starts.push(performance.now() - began);
    await daemon.close();
  }
  fs.rmSync(home, { recursive: true, force: true });
  // The first round fills the page cache and the home.
  const [ours, node] = [median(starts.slice(1)), median(bare.slice(1))];
  return { coldMs: ours, bareMs: node, coldRatio: ours / node };
}

const plainTurns = (command, rounds = 60) =>
  withDaemon({ command, script: () => [messageItem(ANSWER)] }, async (daemon) => {
    await daemon.initialize();
    const threadId = await daemon.startThread();
    const times = [];
    for (let round = 0; round <= rounds; round++) times.push(await elapsed(() => daemon.runTurn(threadId, 'go')));
    return { firstTurnMs: times[0], turnMs: median(times.slice(1)) };
  });

const idleMemory = (command) =>
  withDaemon({ command, script: () => [messageItem(ANSWER)] }, async (daemon) => {
    await daemon.initialize();
    const threadId = await daemon.startThread();
    await daemon.runTurn(threadId, 'go');
    await wait(1_000);
    return { idleMb: residentMegabytes(daemon.child.pid) };
  });

const manyDeltas = (command, count = 20_000) => {
  const text = 'abcdefgh'.repeat(count);
  return withDaemon({ command, script: () => [messageItem(text, 8)] }, async (daemon) => {
    await daemon.initialize();
    const threadId = await daemon.startThread();
    let seen;
    const ms = await elapsed(async () => {
      seen = await daemon.runTurn(threadId, 'go');
    });
    const deltas = seen.filter((message) => message.method === 'item/agentMessage/delta');
    if (deltas.map((message) => message.params.delta).join('') !== text) throw new Error('the deltas do not add up to the message');
    return { deltasPerSecond: (count / ms) * 1000 };
  });
};

async function perCall(daemon, params, count, type) {
  await daemon.initialize();
  const threadId = await daemon.startThread(params);
  let seen;
  const ms = await elapsed(async () => {
    seen = await daemon.runTurn(threadId, 'go');
  });
  const done = seen.filter(
    ({ method, params }) => method === 'item/completed' && params.item.type === type && params.item.status === 'completed',
  );
  if (done.length !== count) throw new Error(`${done.length} of ${count} calls completed as ${type}`);
  return ms / count;
}

const LOOKUP = {
  type: 'function',
  name: 'lookup',
  description: 'Looks a thing up by its id.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
};

const dynamicCalls = (command, count = 60) => {
  const answer = () => ({ contentItems: [{ type: 'inputText', text: 'found' }], success: true });
  return withDaemon({ command, script: callScript(count, 'lookup', (step) => ({ id: `a${step}` })), answer }, async (daemon) => ({
    dynamicMs: await perCall(daemon, { dynamicTools: [LOOKUP] }, count, 'dynamicToolCall'),
  }));
};

export const scenarios = { coldStart, plainTurns, idleMemory, manyDeltas, ...commandScenarios, dynamicCalls };
