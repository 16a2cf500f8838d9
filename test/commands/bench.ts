// What a model reads of its commands: a whole daemon with a scripted model that calls tools, and the outputs that went back to it.
import fs from 'node:fs';
import { onTestFinished } from 'vitest';
import { call, type FrontendOptions, type Reply, TestFrontend } from '../spine/client.ts';

let made = 0;

export type Thread = Record<string, unknown>;

/** The calls of one turn each in a step of its own; gives what the model read of each, in their order. */
export async function outputsOf(calls: [name: string, args: object][], options: FrontendOptions & { thread?: Thread; on?: Answers } = {}) {
  const ids = calls.map(() => `call_c${++made}`);
  const script: Reply[] = [...calls.map(([name, args], i) => call(name, args, ids[i])), { say: 'done' }];
  const front = new TestFrontend({ ...options, script });
  onTestFinished(() => front.dispose());
  for (const [method, answer] of Object.entries(options.on ?? {})) front.answers.set(method, answer);
  await front.start({ sandbox: 'danger-full-access', approvalPolicy: 'never', ...options.thread });
  const turn = await front.turn('go');
  return { front, turn, outputs: ids.map((id) => outputOf(front, id)) };
}

export type Answers = Record<string, (params: Record<string, any>) => unknown>;

/** What the record of the thread holds as the output of a call. */
export function outputOf(front: TestFrontend, callId: string): string {
  for (const line of rollout(front)) {
    const item = line.payload ?? line.item ?? line;
    const found = findOutput(item, callId);
    if (found !== undefined) return found;
  }
  return '(no output)';
}

function findOutput(value: unknown, callId: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const item = value as Record<string, any>;
  if (typeof item.type === 'string' && item.type.endsWith('_output') && item.call_id === callId) {
    const body = item.output;
    return typeof body === 'string' ? body : (body as { text?: string }[]).map((part) => part.text ?? '').join('');
  }
  for (const inner of Object.values(item)) {
    const found = findOutput(inner, callId);
    if (found !== undefined) return found;
  }
  return undefined;
}

function rollout(front: TestFrontend): Record<string, any>[] {
  const files = fs.readdirSync(front.home, { recursive: true }).map(String);
  const own = files.find((name) => name.endsWith('.jsonl') && name.includes(front.threadId));
  if (!own) return [];
  return fs
    .readFileSync(`${front.home}/${own}`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The lines before the output, without the numbers that differ from run to run. */
export const headOf = (output: string): string[] =>
  output
    .slice(0, output.indexOf('\nOutput:\n'))
    .split('\n')
    .filter((line) => !/^(Chunk ID|Wall time)/.test(line));

export const bodyOf = (output: string): string => output.slice(output.indexOf('\nOutput:\n') + '\nOutput:\n'.length);
