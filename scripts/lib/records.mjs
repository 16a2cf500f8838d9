// Stored threads for benchmarks and warm-up, written as the daemon writes them: many short ones, or one long one.
import fs from 'node:fs';
import path from 'node:path';

const SETTINGS = { model: 'bench-model', modelProvider: 'local' };

/** A thread id of a moment, as ids hold the time of their making. */
function idAt(ms, n) {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

function recordPath(home, ms, id) {
  const [day, time] = new Date(ms).toISOString().split('T');
  return path.join(home, 'sessions', ...day.split('-'), `rollout-${day}T${time.slice(0, 8).replaceAll(':', '-')}-${id}.jsonl`);
}

const meta = (id, ms) => ({
  type: 'meta',
  version: 1,
  id,
  createdAt: Math.floor(ms / 1000),
  cliVersion: '1',
  source: 'vscode',
  originator: 'bench',
  forkedFromId: null,
  parentThreadId: null,
  config: null,
});

const userText = (text) => ({ type: 'text', text, text_elements: [] });
const said = (role, type, text) => ({ type: 'message', role, content: [{ type, text }] });

function write(file, ms, lines) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const timestamp = new Date(ms).toISOString();
  fs.writeFileSync(file, `${lines.map((line) => JSON.stringify({ timestamp, ...line })).join('\n')}\n`);
}

const summary = (preview, ms, cwd, turns) => ({
  type: 'summary',
  preview,
  name: null,
  updatedAt: Math.floor(ms / 1000),
  cwd,
  ...SETTINGS,
  turns,
});

function shortThread(home, cwd, ms, n) {
  const id = idAt(ms, n);
  const text = `question number ${n}`;
  const turnId = `t${n}`;
  write(recordPath(home, ms, id), ms, [
    meta(id, ms),
    { type: 'settings', settings: { ...SETTINGS, cwd } },
    { type: 'turnStarted', turnId, startedAt: 1 },
    { type: 'item', turnId, item: { type: 'userMessage', id: `u${n}`, clientId: null, content: [userText(text)] } },
    { type: 'history', turnId, origin: 'user', item: said('user', 'input_text', text) },
    { type: 'item', turnId, item: { type: 'agentMessage', id: `a${n}`, text: 'answer' } },
    { type: 'turnCompleted', turnId, status: 'completed', error: null, completedAt: 2, durationMs: 3 },
    summary(text, ms + 5_000, cwd, 1),
  ]);
}

/** Threads of one turn, a minute apart, the last one an hour ago. */
export function writeShortThreads(home, cwd, count) {
  const last = Date.now() - 3_600_000;
  for (let n = 0; n < count; n++) shortThread(home, cwd, last - n * 60_000, n);
}

function turnWithCommand(cwd, n) {
  const turnId = `t${n}`;
  const callId = `c${n}`;
  const text = `question ${n}`;
  const answer = `answer ${'z'.repeat(200)}`;
  const command = { type: 'commandExecution', id: callId, command: 'ls', cwd, commandActions: [] };
  const tokens = { totalTokens: 1, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningOutputTokens: 0 };
  return [
    { type: 'input', turnId, id: `u${n}`, clientId: null, input: [userText(text)] },
    { type: 'turnStarted', turnId, startedAt: 1 },
    { type: 'item', turnId, item: { type: 'userMessage', id: `u${n}`, clientId: null, content: [userText(text)] } },
    { type: 'history', turnId, origin: 'user', item: said('user', 'input_text', text) },
    {
      type: 'history',
      turnId,
      origin: 'model',
      item: { type: 'function_call', call_id: callId, name: 'exec_command', arguments: '{"cmd":"ls"}' },
    },
    { type: 'itemStarted', turnId, item: { ...command, status: 'inProgress' } },
    { type: 'item', turnId, item: { ...command, status: 'completed', aggregatedOutput: 'x'.repeat(600) } },
    { type: 'result', turnId, item: { type: 'function_call_output', call_id: callId, output: 'y'.repeat(700) } },
    { type: 'placed', turnId, callId },
    { type: 'item', turnId, item: { type: 'agentMessage', id: `a${n}`, text: answer, phase: null } },
    { type: 'history', turnId, origin: 'model', item: said('assistant', 'output_text', answer) },
    { type: 'usage', usage: { total: tokens, last: tokens } },
    { type: 'turnCompleted', turnId, status: 'completed', error: null, completedAt: 2, durationMs: 3 },
    summary('question 0', 3_000, cwd, n + 1),
  ];
}

/** One thread of many turns, each with a command; gives its id. */
export function writeLongThread(home, cwd, turns) {
  const ms = Date.now() - 3_600_000;
  const id = idAt(ms, 0);
  const lines = [meta(id, ms), { type: 'settings', settings: { ...SETTINGS, cwd } }];
  for (let n = 0; n < turns; n++) lines.push(...turnWithCommand(cwd, n));
  write(recordPath(home, ms, id), ms, lines);
  return id;
}
