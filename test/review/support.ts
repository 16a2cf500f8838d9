// What the review tests share: frontends that are closed after each test, and the record on disk as the model's history.
import fs from 'node:fs';
import { afterEach } from 'vitest';
import type { RolloutLine } from '../../src/protocol/rollout.ts';
import { type FrontendOptions, TestFrontend } from '../spine/client.ts';

const open: TestFrontend[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

export function frontend(options?: FrontendOptions): TestFrontend {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
}

export async function linesOf(t: TestFrontend): Promise<RolloutLine[]> {
  const { thread } = await t.result('thread/read', { threadId: t.threadId });
  const lines = fs.readFileSync(thread.path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as RolloutLine);
}

/** What the model reads of a thread, in short: words of users, `call id` and `output id: text`. */
export async function told(t: TestFrontend): Promise<string[]> {
  const results = new Map<string, string>();
  const told: string[] = [];
  const outputText = (item: object) => ('output' in item && typeof item.output === 'string' ? item.output : JSON.stringify(item));
  for (const line of await linesOf(t)) {
    if (line.type === 'result') results.set(line.item.call_id ?? '', outputText(line.item));
    else if (line.type === 'placed') told.push(`output ${line.callId}: ${results.get(line.callId)}`);
    else if (line.type === 'history') {
      const { item, origin } = line;
      if (item.type === 'message' && (origin === 'user' || origin === 'marker' || origin === 'injected'))
        told.push(item.content.map((part) => ('text' in part ? part.text : '')).join(''));
      else if (item.type === 'function_call') told.push(`call ${item.call_id}`);
      else if (item.type === 'function_call_output') told.push(`output ${item.call_id}: ${outputText(item)}`);
    }
  }
  return told;
}

export const textInput = (text: string) => [{ type: 'text', text }];
