// A thread and its agents on a model that answers by who asks: the root, or an agent by its task.
import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { answers, SseServer, sse, streams } from '../model/sse-server.ts';
import { TestFrontend } from '../spine/client.ts';
import { LinkedClient } from '../wire/linked.ts';

export type Item = Record<string, any>;
export type Answer = Item[] | { error: string } | { after: Promise<unknown>; items: Item[] };
/** `step` counts the requests of this asker from 1. */
export type Asker = (step: number, body: Item) => Answer;

let calls = 0;
export const says = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
export const calling = (name: string, args: unknown): Item => ({
  type: 'function_call',
  call_id: `call_${++calls}`,
  name,
  arguments: JSON.stringify(args),
});
export const agentCall = (name: string, args: unknown): Item => ({ ...calling(name, args), namespace: 'multi_agent_v1' });

const userTexts = (body: Item): string[] =>
  body.input.filter((item: Item) => item.role === 'user').flatMap((item: Item) => item.content.map((part: Item) => part.text ?? ''));
export const outputsIn = (body: Item): string[] =>
  body.input.filter((item: Item) => item.type === 'function_call_output').map((item: Item) => item.output);
export const agentIds = (body: Item): string[] =>
  [
    ...outputsIn(body)
      .join('\n')
      .matchAll(/"agent_id":"([^"]+)"/g),
  ].map(([, id]) => id);

export class Team {
  readonly frontend: TestFrontend;
  readonly server: SseServer;
  readonly bodies: { who: string; body: Item }[] = [];

  private constructor(frontend: TestFrontend, server: SseServer) {
    this.frontend = frontend;
    this.server = server;
  }

  /** `askers`: the root under 'root', agents under a word of their task; 'agent' answers for all others. */
  static async open(askers: Record<string, Asker>, options: { config?: string; start?: Item } = {}): Promise<Team> {
    const server = await SseServer.start();
    const table = `[model_providers.local]\nbase_url = "${server.base}"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
    const frontend = new TestFrontend({ config: `${options.config ?? ''}\n${table}` });
    onTestFinished(async () => {
      await frontend.dispose();
      await server.close();
    });
    const team = new Team(frontend, server);
    const steps = new Map<string, number>();
    const reply = async (response: any, { body }: { body: Item }): Promise<void> => {
      server.replies.push(reply);
      const said = userTexts(body).join('\n');
      const who = said.includes('ROOT') ? 'root' : (Object.keys(askers).find((name) => said.includes(`TASK ${name}`)) ?? 'agent');
      team.bodies.push({ who, body });
      const step = (steps.get(who) ?? 0) + 1;
      steps.set(who, step);
      const answer = askers[who]?.(step, body) ?? [says('nothing to say')];
      if ('error' in answer) return answers(400, { error: { message: answer.error } })(response, undefined as never);
      if ('after' in answer) await answer.after;
      const items = 'after' in answer ? answer.items : answer;
      return streams(
        sse({ type: 'response.created', response: { id: 'r' } }),
        ...items.map((item, i) => sse({ type: 'response.output_item.done', output_index: i, item })),
        sse({ type: 'response.completed', response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } }),
      )(response, undefined as never);
    };
    for (let i = 0; i < 8; i++) server.replies.push(reply as never);
    await frontend.start({ model: 'gpt-5.5', modelProvider: 'local', ...options.start });
    return team;
  }

  turn(text = 'ROOT go'): Promise<Item> {
    return this.frontend.turn(text);
  }

  /** What an asker was sent last. */
  last(who: string): Item {
    return this.bodies.findLast((one) => one.who === who)?.body ?? { input: [], tools: [] };
  }

  items(tool?: string): Item[] {
    return this.frontend.items('collabAgentToolCall').filter((item) => !tool || item.tool === tool);
  }

  /** Names of the tools that an asker was offered; those of namespaces, too. */
  offered(who: string): string[] {
    return this.last(who).tools.flatMap((tool: Item) => [tool.name, ...(tool.tools ?? []).map(({ name }: Item) => name)]);
  }
}

export const spawn = (message: string, more = {}) => agentCall('spawn_agent', { message, ...more });
export const wait = (targets: string[]) => agentCall('wait_agent', { targets, timeout_ms: 20_000 });
export const never = new Promise(() => {});
export const DEEP = '[agents]\nmax_depth = 2\n';
export const ONE = '[agents]\nmax_threads = 1\n';
export const SOON = 'thread_unload_delay_secs = 1\n';
export const PLAN = { mode: 'plan', settings: { model: 'gpt-5.5', reasoning_effort: null, developer_instructions: null } };
export const READ_ONLY = { sandboxPolicy: { type: 'readOnly', networkAccess: false } };
export const FREE = { start: { sandbox: 'danger-full-access', approvalPolicy: 'never' } };
export const touch = calling('exec_command', { cmd: 'touch made' });
export const asking = calling('exec_command', { cmd: 'touch made', sandbox_permissions: 'require_escalated' });

/** Goes through a plan, one answer a request, with the ids of the agents made so far; then it is done. */
export const following =
  (...plan: ((ids: string[]) => Answer)[]): Asker =>
  (step, body) =>
    plan[step - 1]?.(agentIds(body)) ?? [says('done')];
export const spawnAndWait = (task: string): Asker =>
  following(
    () => [spawn(`TASK ${task}`)],
    (ids) => [wait(ids)],
  );

export const texts = (body: Item): string[] =>
  body.input.flatMap((item: Item) => (Array.isArray(item.content) ? item.content.map((part: Item) => part.text ?? '') : []));
export const news = (body: Item): string[] => texts(body).filter((text) => text.startsWith('<subagent_notification>'));
export const loaded = async (t: Team): Promise<string[]> => (await t.frontend.result('thread/loaded/list', {})).data;
export const made = (t: Team): boolean => fs.existsSync(path.join(t.frontend.cwd, 'made'));
export const asked = (t: Team, who: string, times = 1) =>
  expect.poll(() => t.bodies.filter((one) => one.who === who).length, { timeout: 10_000 }).toBe(times);

export function later(): { promise: Promise<void>; now: () => void } {
  let now = () => {};
  const promise = new Promise<void>((resolve) => {
    now = resolve;
  });
  return { promise, now };
}

/** A second client of the daemon. */
export async function guest(t: Team) {
  const link = new LinkedClient().read();
  t.frontend.daemon.serve(link.transport, 'guest');
  let n = 0;
  const ask = async (method: string, params: unknown): Promise<Item> => {
    const id = `g${n++}`;
    const own = (message: Item) => message.id === id && message.method === undefined;
    link.send({ id, method, params });
    await link.until(() => link.received.some(own), method);
    return link.received.find(own) as Item;
  };
  await ask('initialize', { clientInfo: { name: 'guest', version: '1' }, capabilities: { experimentalApi: true } });
  return { link, ask };
}
