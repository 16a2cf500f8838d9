// npm run demo: the main job, as a frontend sees it. A small project with a failing test, a daemon spawned over stdio, an editor tool, one
// approval, and every step as a line. Runs on the embedded scripted model: no key, no network. With OPENAI_API_KEY, or --provider NAME
// (from the user's own config.toml), the same runs on a real model.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { provider: { type: 'string' }, model: { type: 'string' } } });
const provider = values.provider ?? (process.env.OPENAI_API_KEY ? 'openai' : 'scripted');

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.homedir()), '.harnessd-demo-'));
const project = path.join(folder, 'project');
const transcriptFile = path.join(folder, 'transcript.jsonl');

function makeProject() {
  fs.mkdirSync(project);
  fs.writeFileSync(
    path.join(project, 'sum.mjs'),
    'export function sum(numbers) {\n  let total = 1;\n  for (const n of numbers) total += n;\n  return total;\n}\n',
  );
  fs.writeFileSync(
    path.join(project, 'sum.test.mjs'),
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { sum } from './sum.mjs';\n\ntest('adds numbers', () => assert.equal(sum([1, 2, 3]), 6));\n",
  );
}

/** A home of its own for the scripted run, so that it is the same with every login profile; a real provider uses the user's. */
function homeFor() {
  if (provider !== 'scripted') return process.env.HARNESSD_HOME;
  const home = path.join(folder, 'home');
  fs.mkdirSync(home);
  const script = path.join(root, 'scripts', 'demo', 'script.json');
  fs.writeFileSync(
    path.join(home, 'config.toml'),
    `model_provider = "scripted"\n\n[model_providers.scripted]\nscript = ${JSON.stringify(script)}\n`,
  );
  return home;
}

const paint = (code, text) => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);
const say = (mark, text) => {
  for (const [i, line] of String(text).trimEnd().split('\n').entries())
    console.log(`${i === 0 ? mark.padEnd(12) : ' '.repeat(12)} ${line}`);
};

class Frontend {
  constructor(home) {
    this.child = spawn(process.execPath, [path.join(root, 'dist', 'main.js'), 'app-server'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...(home ? { HARNESSD_HOME: home } : {}), ...(provider === 'scripted' ? { HOME: home } : {}) },
    });
    this.record = fs.createWriteStream(transcriptFile);
    this.pending = new Map();
    this.nextId = 0;
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.exited = new Promise((resolve) => this.child.on('exit', (code) => resolve(code)));
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => this.receive(JSON.parse(line)));
  }

  send(message) {
    this.record.write(`${JSON.stringify({ dir: 'client', message })}\n`);
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  request(method, params) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  receive(message) {
    this.record.write(`${JSON.stringify({ dir: 'server', message })}\n`);
    if (message.method === undefined) {
      const waiter = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (message.error) waiter?.reject(new Error(message.error.message));
      else waiter?.resolve(message.result);
    } else if (message.id !== undefined) this.send({ id: message.id, result: answer(message) });
    else show(message, this);
  }
}

/** What only the frontend can do: its user's approvals, and its own tools. */
function answer({ method, params }) {
  if (method === 'item/commandExecution/requestApproval') {
    say(paint('33', 'approval?'), `${params.reason ?? 'The model wants to run a command.'}\n${params.command}`);
    say(paint('32', 'accepted'), 'by this demo, once');
    return { decision: 'accept' };
  }
  if (method === 'item/fileChange/requestApproval') {
    say(paint('33', 'approval?'), params.reason ?? 'The model wants to change files.');
    say(paint('32', 'accepted'), 'by this demo, once');
    return { decision: 'accept' };
  }
  if (method === 'item/tool/call') {
    say(paint('35', 'editor'), `[ ${params.arguments.text} ]`);
    return { contentItems: [{ type: 'inputText', text: 'shown' }], success: true };
  }
  return {};
}

function show({ method, params }, frontend) {
  const item = params?.item;
  if (method === 'item/started' && item.type === 'commandExecution') say(paint('36', 'command'), item.command);
  else if (method === 'item/completed') showItem(item);
  else if (method === 'warning' || method === 'configWarning') say(paint('33', 'warning'), params.message ?? params.summary);
  else if (method === 'error') say(paint('31', 'error'), params.error.message);
  else if (method === 'turn/completed') frontend.finish(params.turn);
}

function showItem(item) {
  switch (item.type) {
    case 'userMessage':
      return say(paint('1', 'user'), item.content.map((part) => part.text).join(''));
    case 'agentMessage':
      return say(paint('1', 'model'), item.text);
    case 'reasoning':
      return item.summary.length ? say('thinks', item.summary.join(' ')) : undefined;
    case 'commandExecution': {
      const telling = (item.aggregatedOutput ?? '')
        .split('\n')
        .filter((line) => /^(not ok|ok|# (pass|fail) )|Expected|AssertionError|let total/.test(line.trim()) || /^\d+:/.test(line))
        .slice(0, 6);
      return say(
        item.exitCode === 0 ? paint('32', `exit ${item.exitCode}`) : paint('31', `exit ${item.exitCode}`),
        [...telling, `${item.status} after ${item.durationMs} ms`].join('\n'),
      );
    }
    case 'fileChange':
      return say(paint('36', 'changed'), item.changes.map((change) => change.path).join(', '));
    default:
      return undefined;
  }
}

async function main() {
  makeProject();
  console.log(`A project with a failing test: ${project}\nModel: ${provider}\n`);
  const frontend = new Frontend(homeFor());
  const { userAgent } = await frontend.request('initialize', {
    clientInfo: { name: 'demo', title: 'Demo', version: '1.0.0' },
    capabilities: { experimentalApi: true },
  });
  frontend.send({ method: 'initialized' });
  say('connected', userAgent);
  const { thread } = await frontend.request('thread/start', {
    cwd: project,
    sandbox: 'read-only',
    approvalPolicy: 'on-request',
    ...(provider === 'scripted' ? {} : { modelProvider: provider }),
    ...(values.model ? { model: values.model } : {}),
    dynamicTools: [
      {
        type: 'function',
        name: 'show_message',
        description: 'Shows a short message to the user in the editor.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
      },
    ],
  });
  say('thread', thread.id);
  await frontend.request('turn/start', {
    threadId: thread.id,
    input: [
      {
        type: 'text',
        text: 'The test in this folder fails. Find out why, fix it, run it again, and tell me with show_message when it passes.',
      },
    ],
  });
  const turn = await frontend.done;
  frontend.child.stdin.end();
  const code = await frontend.exited;
  const passes = spawnSync(process.execPath, ['--test'], { cwd: project }).status === 0;
  console.log(`\nTurn ${turn.status}; the project's test ${passes ? 'passes' : 'FAILS'}; the daemon ended with status ${code}.`);
  console.log(`Wire transcript: ${transcriptFile}`);
  process.exitCode = turn.status === 'completed' && passes && code === 0 ? 0 : 1;
}

await main();
