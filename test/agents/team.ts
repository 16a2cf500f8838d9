// A thread and its agents on a model that answers by who asks: the root, or an agent by its task.
import { onTestFinished } from 'vitest';
import { answers, SseServer, sse, streams } from '../model/sse-server.ts';
import { TestFrontend } from '../spine/client.ts';

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
