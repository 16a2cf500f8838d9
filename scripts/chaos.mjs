// npm run chaos: kills the daemon at every kind of moment, resumes each thread and looks whether anything was lost, told wrong or done twice.
// `--rounds N`, `--seed N`, `--command "…"`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RoughClient } from './chaos/client.mjs';
import { call, say, startModel } from './chaos/model.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { rounds: { type: 'string' }, seed: { type: 'string' }, command: { type: 'string' } } });
const rounds = Number(values.rounds ?? 200);
const command = values.command?.split(' ') ?? [process.execPath, path.join(root, 'dist', 'main.js'), 'app-server'];
/** Rounds that one thread goes through: recoveries pile up in it. */
const ROUNDS_A_THREAD = 8;

let seed = Number(values.seed ?? 1);
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the model says next; "ok" when nothing is left. */
let script = [];
const model = await startModel(() => script.shift() ?? { items: [say('ok')] });
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-chaos-'));
const cwd = path.join(home, 'work');
fs.mkdirSync(cwd);
fs.writeFileSync(
  path.join(home, 'config.toml'),
  `model = "chaos-model"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\nbase_url = "${model.url}"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n`,
);
const effects = path.join(cwd, 'effects.txt');
const effect = (mark, more = '') => call('exec_command', { cmd: `echo ${mark} >> effects.txt${more}`, yield_time_ms: 10_000 });
const effectIn = (mark) =>
  (fs.existsSync(effects) ? fs.readFileSync(effects, 'utf8') : '').split('\n').filter((line) => line === mark).length;

/** The daemon of the moment; ended when a round breaks off. */
let current = null;
function open() {
  current = new RoughClient(command, { home, cwd });
  return current.initialize();
}

const lookFor = async (test, what) => {
  for (const end = Date.now() + 15_000; !test(); await pause(5)) if (Date.now() > end) throw new Error(`no sign of ${what}`);
};

/** Each: what the model does, and when the blow falls. `mark` is the effect of the round's command. */
const MOMENTS = {
  'before the turn is answered': { script: () => [], ready: async () => {}, answered: false },
  'right after the answer': { script: () => [], ready: async () => {} },
  'before the model answers': {
    script: () => [{ silent: true, items: [] }],
    ready: (_client, { served }) => lookFor(() => model.requests.length > served, 'a request'),
  },
  streaming: {
    script: () => [{ items: [say('word '.repeat(60))], betweenMs: 10 }],
    ready: (client) => client.until(() => client.noted('item/agentMessage/delta'), 'a delta'),
  },
  'a command runs': {
    script: (mark) => [{ items: [effect(mark, '; sleep 30')] }],
    ready: (_client, { mark }) => lookFor(() => effectIn(mark) > 0, 'the effect'),
  },
  'two commands run': {
    script: (mark) => [{ items: [effect(mark), call('exec_command', { cmd: 'sleep 30', yield_time_ms: 10_000 })] }],
    ready: (client) =>
      client.until(() => client.noted('item/completed', ({ item }) => item.type === 'commandExecution'), 'the end of the first'),
  },
  'between a result and the next answer': {
    script: (mark) => [{ items: [effect(mark)] }, { silent: true, items: [] }],
    ready: (_client, { served }) => lookFor(() => model.requests.length > served + 1, 'the second request'),
  },
  'an approval is pending': {
    policy: 'untrusted',
    script: (mark) => [{ items: [effect(mark)] }],
    ready: (client) => client.until(() => client.asked.length > 0, 'the approval'),
    unapproved: true,
  },
  'an input is steered in': {
    script: (mark) => [{ items: [effect(mark, '; sleep 30')] }],
    ready: async (client, { mark, threadId, turnId, inputs }) => {
      await lookFor(() => effectIn(mark) > 0, 'the effect');
      const text = `steered ${mark}`;
      await client.request('turn/steer', { threadId, expectedTurnId: turnId, input: [{ type: 'text', text }] });
      inputs.push(text);
    },
  },
  compacting: {
    compacts: true,
    script: () => [{ silent: true, items: [] }],
    ready: (_client, { served }) => lookFor(() => model.requests.length > served, 'the request for a summary'),
  },
  'anywhere in a turn': {
    script: (mark) => [
      { items: [say('first words '.repeat(8)), effect(mark)], betweenMs: 1 },
      { items: [say('last words '.repeat(30))], betweenMs: 2 },
    ],
    ready: () => pause(random() * 220),
  },
  'while much is written': {
    script: () => [{ items: Array.from({ length: 40 }, (_, i) => say(`${i} ${'x'.repeat(4_000)}`)) }],
    ready: () => pause(5 + random() * 60),
  },
};

const isOurs = (text) => /^(input|steered|check) /.test(text);
const texts = (input) =>
  input
    .filter((item) => item.role === 'user')
    .flatMap((item) => item.content.map((part) => part.text ?? ''))
    .filter(isOurs);

/** Every call has exactly one output, after it, and no output is without its call. */
function unpaired(input) {
  const faults = [];
  const calls = new Map(input.flatMap((item, at) => (/_call$/.test(item.type) ? [[item.call_id, at]] : [])));
  const seen = new Map();
  for (const [at, item] of input.entries()) {
    if (!/_output$/.test(item.type)) continue;
    if (!calls.has(item.call_id) || calls.get(item.call_id) > at) faults.push(`output of ${item.call_id} without its call`);
    seen.set(item.call_id, (seen.get(item.call_id) ?? 0) + 1);
  }
  for (const id of calls.keys()) if (seen.get(id) !== 1) faults.push(`${seen.get(id) ?? 0} outputs of ${id}`);
  return faults;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Resumes in a new process, lets the model be asked, and says what is wrong. */
async function inspect(thread, label) {
  const faults = [];
  const client = await open();
  try {
    const before = (await client.request('thread/read', { threadId: thread.id, includeTurns: true })).thread.turns;
    const began = performance.now();
    const resumed = await client.request('thread/resume', { threadId: thread.id });
    const resumeMs = performance.now() - began;
    if (resumed.thread.status.type !== 'idle') faults.push(`resumed as ${resumed.thread.status.type}`);
    if (!same(before, resumed.thread.turns)) faults.push('the turns read without loading differ from those of the loaded thread');
    if (resumed.thread.turns.some((turn) => turn.status === 'inProgress')) faults.push('a turn is still in progress');
    if (resumed.thread.turns.some((turn) => turn.items.some((item) => item.status === 'inProgress')))
      faults.push('an item is still in progress');
    const check = `check ${label}`;
    await client.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: check }], approvalPolicy: 'never' });
    thread.inputs.push(check);
    await client.until(() => client.noted('turn/completed'), 'the end of the check');
    const { input } = model.requests.at(-1);
    faults.push(...unpaired(input));
    if (!same(texts(input), thread.inputs))
      faults.push(`inputs read by the model: ${JSON.stringify(texts(input).slice(-4))}, said: ${JSON.stringify(thread.inputs.slice(-4))}`);
    const turns = (await client.request('thread/turns/list', { threadId: thread.id, limit: 1000, sortDirection: 'asc', itemsView: 'full' }))
      .data;
    const shown = turns.flatMap((turn) => turn.items.filter((item) => item.type === 'userMessage').map((item) => item.content[0].text));
    if (!same(shown, thread.inputs)) faults.push(`inputs shown: ${shown.length}, said: ${thread.inputs.length}`);
    if (client.asked.length > 0) faults.push(`asked again: ${client.asked.map(({ method }) => method).join(', ')}`);
    return { faults, resumeMs };
  } finally {
    await client.close();
  }
}

/** One blow. What the daemon answered for counts as said; what it did not, as unsaid unless it shows up. */
async function strike(thread, name, round) {
  const moment = MOMENTS[name];
  const mark = `m${round}`;
  script = moment.script(mark);
  const client = await open();
  if (thread.id === null)
    thread.id = (await client.request('thread/start', { cwd, sandbox: 'danger-full-access', approvalPolicy: 'never' })).thread.id;
  else await client.request('thread/resume', { threadId: thread.id, excludeTurns: true });
  if (thread.inputs.length === 0) {
    script = [];
    await client.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'input 0' }] });
    thread.inputs.push('input 0');
    await client.until(() => client.noted('turn/completed'), 'the first turn');
    client.notes = [];
    script = moment.script(mark);
  }
  const served = model.requests.length;
  const text = `input ${round}`;
  let turnId = null;
  if (moment.compacts) await client.request('thread/compact/start', { threadId: thread.id });
  else {
    const answer = client.request('turn/start', {
      threadId: thread.id,
      input: [{ type: 'text', text }],
      approvalPolicy: moment.policy ?? 'never',
    });
    if (moment.answered === false) {
      await pause(random() * 4);
      await client.kill();
      return { mark, open: text };
    }
    turnId = (await answer).turn.id;
    thread.inputs.push(text);
  }
  await moment.ready(client, { served, mark, threadId: thread.id, turnId, inputs: thread.inputs });
  await pause(random() * 15);
  await client.kill();
  return { mark, open: null };
}

/** An input without an answer may be there or not; its state is taken from what the thread shows. */
async function settleOpen(thread, text) {
  const client = await open();
  const { turns } = (await client.request('thread/read', { threadId: thread.id, includeTurns: true })).thread;
  const shown = turns.flatMap((turn) => turn.items.filter((item) => item.type === 'userMessage').map((item) => item.content[0].text));
  if (shown.includes(text)) thread.inputs.push(text);
  await client.close();
}

const names = Object.keys(MOMENTS);
const tally = Object.fromEntries(names.map((name) => [name, { rounds: 0, faults: 0 }]));
const resumes = [];
const failures = [];
const marks = [];
let thread = { id: null, inputs: [] };
const began = performance.now();
for (let round = 1; round <= rounds; round++) {
  if (round % ROUNDS_A_THREAD === 1) thread = { id: null, inputs: [] };
  const name = names[(round - 1) % names.length];
  tally[name].rounds++;
  try {
    const { mark, open } = await strike(thread, name, round);
    marks.push(mark);
    script = [];
    if (open) await settleOpen(thread, open);
    const { faults, resumeMs } = await inspect(thread, round);
    resumes.push(resumeMs);
    if (MOMENTS[name].unapproved && effectIn(mark) > 0) faults.push('an unapproved command ran');
    for (const one of marks) if (effectIn(one) > 1) faults.push(`the effect ${one} happened ${effectIn(one)} times`);
    for (const fault of faults) failures.push(`round ${round}, ${name}: ${fault}`);
    if (faults.length) tally[name].faults++;
  } catch (error) {
    failures.push(`round ${round}, ${name}: ${error.message}`);
    tally[name].faults++;
    thread = { id: null, inputs: [] };
    await current?.kill();
  }
}
model.close();
const sorted = [...resumes].sort((a, b) => a - b);
for (const [name, { rounds: count, faults }] of Object.entries(tally))
  process.stdout.write(`${String(count).padStart(4)} × ${name}${faults ? `: ${faults} with faults` : ''}\n`);
process.stdout.write(
  `${rounds} rounds in ${((performance.now() - began) / 1000).toFixed(0)} s; resume median ${sorted[sorted.length >> 1]?.toFixed(1)} ms; ${failures.length} faults\n`,
);
for (const failure of failures) process.stdout.write(`FAULT ${failure}\n`);
if (failures.length === 0) fs.rmSync(home, { recursive: true, force: true });
else process.stdout.write(`the home is kept: ${home}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
