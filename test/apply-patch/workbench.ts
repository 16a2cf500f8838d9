// A thread for patches: a daemon in this process, a workspace of real files, and a model on 127.0.0.1 that says what a test gives it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { Daemon } from '../../src/server/daemon.ts';
import { type Reply, SseServer, sse, streams } from '../model/sse-server.ts';
import { LinkedClient, type Wire } from '../wire/linked.ts';

export type Params = Record<string, any>;

const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

export interface Call {
  id: string;
  item: Params;
  /** Of the arguments, as a provider streams them. */
  deltas: string[];
}

let made = 0;

function inPieces(text: string, size = 16): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
}

/** A freeform call of apply_patch. */
export function patchCall(input: string, id = `call_p${++made}`): Call {
  return {
    id,
    item: { type: 'custom_tool_call', id: `ctc_${id}_${++made}`, call_id: id, name: 'apply_patch', input },
    deltas: inPieces(input),
  };
}

export function functionCall(name: string, args: unknown, id = `call_f${++made}`): Call {
  const text = JSON.stringify(args);
  return { id, item: { type: 'function_call', id: `fc_${id}_${++made}`, call_id: id, name, arguments: text }, deltas: inPieces(text) };
}

const begun = ({ item }: Call): string => {
  const empty = item.type === 'custom_tool_call' ? { input: '' } : { arguments: '' };
  return sse({ type: 'response.output_item.added', output_index: 0, item: { ...item, ...empty } });
};
const delta = ({ item }: Call, piece: string): string => {
  const type = item.type === 'custom_tool_call' ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta';
  return sse({ type, item_id: item.id, output_index: 0, delta: piece });
};
const done = ({ item }: Call): string => sse({ type: 'response.output_item.done', output_index: 0, item });
const created = sse({ type: 'response.created', response: { id: 'r' } });
const completed = sse({ type: 'response.completed', response: { id: 'r', usage: USAGE } });

/** A response that holds these calls, all at once. */
export const calls = (...list: Call[]): Reply =>
  streams(created, ...list.flatMap((call) => [begun(call), ...call.deltas.map((piece) => delta(call, piece)), done(call)]), completed);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A response that writes one call slowly; `cutAfter` pieces the connection drops, `holdAfter` pieces it falls silent. */
export const slowly =
  (call: Call, options: { everyMs: number; cutAfter?: number; holdAfter?: number }): Reply =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(created + begun(call));
    for (const [i, piece] of call.deltas.entries()) {
      if (i === options.holdAfter) return;
      if (i === options.cutAfter) {
        response.destroy();
        return;
      }
      response.write(delta(call, piece));
      await pause(options.everyMs);
    }
    response.end(done(call) + completed);
  };

const says = (text: string): Reply => {
  const item = { type: 'message', role: 'assistant', id: `msg_${++made}`, content: [{ type: 'output_text', text }] };
  return streams(created, sse({ type: 'response.output_item.done', output_index: 0, item }), completed);
};

export interface BenchOptions {
  files?: Record<string, string>;
  approval?: string;
  sandbox?: string;
  thread?: Params;
  wire?: 'responses' | 'chat';
}

export class Workbench {
  readonly root = fs.mkdtempSync(path.join(fs.realpathSync(os.homedir()), '.harnessd-patch-'));
  readonly home = path.join(this.root, 'home');
  readonly cwd = path.join(this.root, 'work');
  readonly link = new LinkedClient().read();
  readonly server: SseServer;
  threadId = '';
  /** How requests of the daemon are answered; undefined: not at all. */
  answer: (method: string, params: Params) => unknown = () => undefined;
  #answered = 0;
  #ids = 0;

  private constructor(server: SseServer) {
    this.server = server;
  }

  static async open(options: BenchOptions = {}): Promise<Workbench> {
    const bench = new Workbench(await SseServer.start());
    fs.mkdirSync(bench.home);
    fs.mkdirSync(bench.cwd);
    for (const [name, text] of Object.entries(options.files ?? {})) bench.write(name, text);
    const provider = `base_url = "${bench.server.base}"\nwire_api = "${options.wire ?? 'responses'}"\nstream_max_retries = 2\n`;
    fs.writeFileSync(
      path.join(bench.home, 'config.toml'),
      `model = "gpt-5.5"\nmodel_provider = "mock"\napproval_policy = "${options.approval ?? 'on-request'}"\nsandbox_mode = "${options.sandbox ?? 'workspace-write'}"\n[model_providers.mock]\nname = "mock"\n${provider}`,
    );
    await bench.#connect(options.thread ?? {});
    return bench;
  }

  async #connect(thread: Params): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: this.root, LANG: 'C.UTF-8' };
    const daemon = new Daemon({ home: this.home, env, overrides: [], profile: null });
    daemon.onExit(() => {});
    daemon.serve(this.link.transport);
    onTestFinished(async () => {
      await daemon.shutdown();
      await this.server.close();
      fs.rmSync(this.root, { recursive: true, force: true });
    });
    this.link.fromServer.on('data', () => this.#answerRequests());
    await this.request('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } });
    this.threadId = (await this.request('thread/start', { cwd: this.cwd, ...thread })).thread.id;
  }

  #answerRequests(): void {
    for (; this.#answered < this.link.received.length; this.#answered++) {
      const { id, method, params } = this.link.received[this.#answered];
      if (method === undefined || id === undefined) continue;
      const result = this.answer(method as string, params as Params);
      if (result !== undefined) this.link.send({ id, result });
    }
  }

  async request(method: string, params: Params): Promise<Params> {
    const id = `t${++this.#ids}`;
    this.link.send({ id, method, params });
    const own = (message: Wire) => message.id === id && message.method === undefined;
    await this.link.until(() => this.link.received.some(own), `the answer to ${method}`);
    const answer = this.link.received.find(own) as Params;
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** Starts a turn in which the model gives these responses, then a last word. */
  async begin(...replies: Reply[]): Promise<string> {
    this.server.replies.push(...replies, says('done'));
    const input = [{ type: 'text', text: 'go' }];
    return (await this.request('turn/start', { threadId: this.threadId, input })).turn.id;
  }

  async ended(turnId: string): Promise<Params> {
    const own = (message: Wire) => message.method === 'turn/completed' && (message.params as Params).turn.id === turnId;
    await this.link.until(() => this.link.received.some(own), `the end of turn ${turnId}`);
    return (this.link.received.find(own) as Params).params.turn;
  }

  async turn(...replies: Reply[]): Promise<Params> {
    return this.ended(await this.begin(...replies));
  }

  all(method: string): Params[] {
    return this.link.received.filter((message) => message.method === method).map((message) => message.params as Params);
  }

  async seen(method: string, count = 1): Promise<Params> {
    await this.link.until(() => this.all(method).length >= count, method);
    return this.all(method)[count - 1];
  }

  /** Completed file changes: id, status and what changed, paths relative to the workspace. */
  changes(): [string, string, string[]][] {
    const items = this.all('item/completed').map(({ item }) => item);
    return items.filter((item) => item.type === 'fileChange').map((item) => [item.id, item.status, item.changes.map(this.#short)]);
  }

  #short = ({ path: file, kind }: Params): string => {
    const moved = kind.move_path ? ` -> ${path.relative(this.cwd, kind.move_path)}` : '';
    return `${kind.type} ${path.relative(this.cwd, file)}${moved}`;
  };

  /** What the model has read of a call, times left out. */
  read(callId: string): string {
    const input = this.server.requests.at(-1)?.body.input as Params[];
    const found = input.filter((item) => item.call_id === callId && String(item.type).endsWith('_output'));
    if (found.length !== 1) throw new Error(`${found.length} outputs for ${callId}`);
    return (typeof found[0].output === 'string' ? found[0].output : found[0].output.map((part: Params) => part.text).join('')).replace(
      /Wall time: [\d.]+/g,
      'Wall time: T',
    );
  }

  at(name: string): string {
    return path.join(this.cwd, name);
  }

  write(name: string, text: string): void {
    fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
    fs.writeFileSync(this.at(name), text);
  }

  file(name: string): string | null {
    return fs.existsSync(this.at(name)) ? fs.readFileSync(this.at(name), 'utf8') : null;
  }
}

export const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
export const add = (file: string, ...lines: string[]): string => patch(`*** Add File: ${file}`, ...lines.map((line) => `+${line}`));
export const update = (file: string, from: string, to: string): string => patch(`*** Update File: ${file}`, '@@', `-${from}`, `+${to}`);

export const applied = (...lines: string[]): string =>
  `Exit code: 0\nWall time: T seconds\nOutput:\nSuccess. Updated the following files:\n${lines.map((line) => `${line}\n`).join('')}`;
