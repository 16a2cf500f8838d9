// A frontend whose model is a server on 127.0.0.1: it answers what it is told to, and every request to it can be looked at.
import { onTestFinished } from 'vitest';
import { answers, SseServer, sse, streams } from '../model/sse-server.ts';
import { type FrontendOptions, TestFrontend } from '../spine/client.ts';

type Item = Record<string, any>;
export interface Body {
  input: Item[];
  tools: unknown[];
  instructions?: string;
  model: string;
  reasoning?: Item;
  text?: Item;
  prompt_cache_key?: string;
}

export const says = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  id: `msg_${text}`,
  content: [{ type: 'output_text', text }],
});
let calls = 0;
export const calling = (name: string, args: unknown): Item => ({
  type: 'function_call',
  id: `fc_${++calls}`,
  call_id: `call_${calls}`,
  name,
  arguments: JSON.stringify(args),
});

/** What a reply costs, and what stands in it. */
export interface Answer {
  items: Item[];
  tokens?: number;
}

export class Asked {
  readonly frontend: TestFrontend;
  readonly #server: SseServer;

  private constructor(frontend: TestFrontend, server: SseServer) {
    this.frontend = frontend;
    this.#server = server;
  }

  /** `more` goes to thread/start; false starts no thread. */
  static async open(options: FrontendOptions = {}, more: Item | false = {}): Promise<Asked> {
    const server = await SseServer.start();
    const table = `[model_providers.local]\nbase_url = "${server.base}"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
    const frontend = new TestFrontend({ ...options, config: `${options.config ?? ''}\n${table}` });
    onTestFinished(async () => {
      await frontend.dispose();
      await server.close();
    });
    const asked = new Asked(frontend, server);
    if (more !== false) await frontend.start({ model: 'gpt-5.5', modelProvider: 'local', ...more });
    return asked;
  }

  /** One turn; each entry is what the model answers a request with. */
  async turn(text: string, more: Item = {}, ...replies: (Item[] | Answer)[]): Promise<Item> {
    this.answers(...(replies.length ? replies : [[says('done')]]));
    return this.frontend.turn(text, more);
  }

  /** What the model answers the next requests with, whoever makes them. */
  answers(...replies: (Item[] | Answer)[]): void {
    for (const reply of replies) this.#reply(Array.isArray(reply) ? { items: reply } : reply);
  }

  #reply({ items, tokens = 120 }: Answer): void {
    const id = `resp_${this.#server.requests.length}`;
    const usage = { input_tokens: tokens - 20, output_tokens: 20, total_tokens: tokens };
    this.#server.replies.push(
      streams(
        sse({ type: 'response.created', response: { id } }),
        ...items.map((item, i) => sse({ type: 'response.output_item.done', output_index: i, item })),
        sse({ type: 'response.completed', response: { id, usage } }),
      ),
    );
  }

  fails(status: number, message: string): void {
    this.#server.replies.push(answers(status, { error: { message } }));
  }

  get requests(): readonly Body[] {
    return this.#server.requests.map(({ body }) => body as Body);
  }

  get headers(): readonly Record<string, unknown>[] {
    return this.#server.requests.map(({ headers }) => headers);
  }

  get last(): Body {
    return this.requests[this.requests.length - 1];
  }

  /** Texts of the messages of a role in the last request. */
  texts(role: string, body = this.last): string[] {
    return body.input.filter((item) => item.role === role).flatMap((item) => item.content.map((part: Item) => part.text ?? ''));
  }

  /** What the last request has beyond the one before it. Fails in the caller when the beginning differs. */
  added(): Item[] {
    return this.last.input.slice(this.requests[this.requests.length - 2].input.length);
  }

  warnings(): string[] {
    return this.frontend.all('warning').map(({ message }) => message);
  }
}
