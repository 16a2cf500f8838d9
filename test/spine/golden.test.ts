// Whole wire transcripts, kept as golden files: what changes on the wire changes here, and is looked at. UPDATE_GOLDEN=1 writes them anew.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { call, type FrontendOptions, TestFrontend } from './client.ts';

const folder = path.join(import.meta.dirname, '..', 'golden');
const open: TestFrontend[] = [];
const frontend = (options?: FrontendOptions): TestFrontend => {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

const TIMES = new Set([
  'emittedAtMs',
  'startedAtMs',
  'completedAtMs',
  'createdAt',
  'updatedAt',
  'recencyAt',
  'startedAt',
  'completedAt',
  'durationMs',
  'processId',
]);

/** Ids in the order of their appearance, times and paths as names: two runs give the same text. */
function normalise(messages: readonly unknown[], t: TestFrontend): string {
  const ids = new Map<string, string>();
  const named = (id: string) => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`);
    return ids.get(id) as string;
  };
  const root = path.dirname(t.home);
  const text = (value: string) =>
    value
      .replaceAll(root, '<root>')
      .replace(/\/sessions\/[\d/]+\/rollout-[\dT-]+?-(?=[0-9a-f]{8}-)/, '/sessions/<day>/rollout-')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => named(id))
      .replace(/^(\w+)\/0\.171\.0 \(.*\)$/, '$1/0.171.0 (<machine>)');
  const walk = (value: unknown, key = ''): unknown => {
    if (TIMES.has(key)) return value === null ? null : `<${key}>`;
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map((part) => walk(part));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, walk(part, name)]));
  };
  return `${messages.map((message) => JSON.stringify(walk(message))).join('\n')}\n`;
}

function expectGolden(name: string, t: TestFrontend): void {
  const file = path.join(folder, `${name}.jsonl`);
  // Deltas of output come as the pipe gives them; their sum is another test's business.
  const messages = t.link.received.filter(
    (message) => message.method !== 'item/commandExecution/outputDelta' && message.method !== 'configWarning',
  );
  const seen = normalise(messages, t);
  if (process.env.UPDATE_GOLDEN) fs.writeFileSync(file, seen);
  expect(seen).toBe(fs.readFileSync(file, 'utf8'));
}

describe('golden transcripts', () => {
  it('[golden.plain-turn] a turn with reasoning and an answer', async () => {
    const t = await frontend({ script: [[{ think: 'A greeting.' }, { say: 'Hello.' }]] }).start();
    await t.turn('hi');
    expectGolden('plain-turn', t);
  });

  it('[golden.approved-command] a command that is asked for and approved, and a dynamic tool', async () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } } };
    const script = [[call('exec_command', { cmd: 'echo out' }, 'call_1')], [call('lookup', { q: 'x' }, 'call_2')], { say: 'Done.' }];
    const t = await frontend({ script }).start({
      approvalPolicy: 'untrusted',
      dynamicTools: [{ type: 'function', name: 'lookup', description: 'Looks up.', inputSchema }],
    });
    t.answers.set('item/commandExecution/requestApproval', () => ({ decision: 'accept' }));
    t.answers.set('item/tool/call', () => ({ contentItems: [{ type: 'inputText', text: 'found' }], success: true }));
    await t.turn('go');
    expectGolden('approved-command', t);
  });

  it('[golden.declined-command] a declined command, and an interrupt while another waits', async () => {
    const script = [
      [call('exec_command', { cmd: 'touch a' }, 'call_1')],
      [call('exec_command', { cmd: 'touch b' }, 'call_2')],
      { say: 'unread' },
    ];
    const t = await frontend({ script }).start({ approvalPolicy: 'untrusted' });
    let asked = 0;
    t.answers.set('item/commandExecution/requestApproval', () => (asked++ === 0 ? { decision: 'decline' } : undefined));
    const turnId = await t.startTurn('go');
    const requests = () => t.link.received.filter((message) => message.method === 'item/commandExecution/requestApproval');
    await t.link.until(() => requests().length === 2, 'the second request');
    await t.result('turn/interrupt', { threadId: t.threadId, turnId });
    await t.ended(turnId);
    expectGolden('declined-command', t);
  });
});
