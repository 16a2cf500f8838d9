// A frontend for tests: a daemon in this process on the other end of two pipes, with a home, a workspace and a scripted model of its own.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { ServerNotificationMethod } from '../../src/protocol/methods.ts';
import { serverNotifications } from '../../src/protocol/methods.ts';
import { Daemon } from '../../src/server/daemon.ts';
import { LinkedClient, type Wire } from '../wire/linked.ts';

export type Reply = Record<string, unknown> | Record<string, unknown>[];
type Params = Record<string, any>;

export interface FrontendOptions {
  script?: Reply[];
  /** Top-level lines of config.toml. */
  config?: string;
  /** Lines of the scripted provider's table. */
  provider?: string;
  home?: string;
  cwd?: string;
  /** More of the daemon's environment. */
  env?: Record<string, string>;
}

export class TestFrontend {
  readonly home: string;
  readonly cwd: string;
  readonly daemon: Daemon;
  readonly link = new LinkedClient().read();
  /** How this frontend answers requests of the server; undefined: not at all. */
  readonly answers = new Map<string, (params: Params, id: unknown) => unknown>();
  exitCode: number | null = null;
  #nextId = 0;
  #answered = 0;
  threadId = '';

  constructor(options: FrontendOptions = {}) {
    const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.homedir()), '.harnessd-test-'));
    this.home = options.home ?? path.join(folder, 'home');
    this.cwd = options.cwd ?? path.join(folder, 'work');
    fs.mkdirSync(this.home, { recursive: true });
    fs.mkdirSync(this.cwd, { recursive: true });
    const script = path.join(this.home, 'script.json');
    if (options.script || !fs.existsSync(script)) fs.writeFileSync(script, JSON.stringify(options.script ?? [{ say: 'done' }]));
    fs.writeFileSync(
      path.join(this.home, 'config.toml'),
      `model_provider = "scripted"\nsandbox_mode = "danger-full-access"\n${options.config ?? ''}\n[model_providers.scripted]\nscript = ${JSON.stringify(script)}\n${options.provider ?? ''}\n`,
    );
    this.daemon = new Daemon({
      home: this.home,
      env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', ...options.env },
      overrides: [],
      profile: null,
    });
    this.daemon.onExit((code) => {
      this.exitCode = code;
    });
    this.daemon.serve(this.link.transport);
    this.link.fromServer.on('data', () => this.#answer());
  }

  #answer(): void {
    for (; this.#answered < this.link.received.length; this.#answered++) {
      const message = this.link.received[this.#answered];
      if (message.method === undefined || message.id === undefined) continue;
      const answer = this.answers.get(message.method as string)?.(message.params as Params, message.id);
      if (answer === undefined) continue;
      const error = (answer as { __error?: unknown } | null)?.__error;
      this.link.send(error === undefined ? { id: message.id, result: answer } : { id: message.id, error });
    }
  }

  async request(method: string, params?: unknown): Promise<Params> {
    const id = `t${this.#nextId++}`;
    this.link.send({ id, method, ...(params === undefined ? {} : { params }) });
    const own = (message: Wire) => message.id === id && message.method === undefined;
    await this.link.until(() => this.link.received.some(own), `the answer to ${method}`);
    return this.link.received.find(own) as Params;
  }

  async result(method: string, params?: unknown): Promise<Params> {
    const answer = await this.request(method, params);
    expect(answer.error, `${method}: ${JSON.stringify(answer.error)}`).toBeUndefined();
    return answer.result;
  }

  async start(thread: Params = {}, capabilities: Params = { experimentalApi: true }): Promise<this> {
    await this.result('initialize', { clientInfo: { name: 'test', version: '1.0.0' }, capabilities });
    this.threadId = (await this.result('thread/start', { cwd: this.cwd, ...thread })).thread.id;
    return this;
  }

  async startTurn(text: string, more: Params = {}): Promise<string> {
    const { turn } = await this.result('turn/start', { threadId: this.threadId, input: [{ type: 'text', text }], ...more });
    return turn.id;
  }

  async ended(turnId: string): Promise<Params> {
    const own = (message: Wire) => message.method === 'turn/completed' && (message.params as Params).turn.id === turnId;
    await this.link.until(() => this.link.received.some(own), `the end of turn ${turnId}`);
    return (this.link.received.find(own) as Params).params.turn;
  }

  async turn(text: string, more: Params = {}): Promise<Params> {
    return this.ended(await this.startTurn(text, more));
  }

  /** Params of the notifications of a method, each checked against its schema. */
  all(method: ServerNotificationMethod): Params[] {
    const found = this.link.received.filter((message) => message.method === method).map((message) => message.params as Params);
    for (const params of found) serverNotifications[method].params().parse(params);
    return found;
  }

  async seen(method: string, test: (params: Params) => boolean = () => true): Promise<Params> {
    const own = (message: Wire) => message.method === method && test(message.params as Params);
    await this.link.until(() => this.link.received.some(own), method);
    return this.link.received.find(own) as Params;
  }

  methods(): string[] {
    return this.link.received.filter((message) => message.method !== undefined).map((message) => message.method as string);
  }

  items(type?: string): Params[] {
    return this.all('item/completed')
      .map(({ item }) => item)
      .filter((item) => !type || item.type === type);
  }

  /** Ends the input, as a frontend that leaves does. */
  async leave(): Promise<void> {
    this.link.toServer.end();
    await this.daemon.ended;
  }

  async dispose(): Promise<void> {
    if (this.exitCode === null) await this.daemon.shutdown();
    fs.rmSync(path.dirname(this.home), { recursive: true, force: true });
  }
}

export const call = (name: string, args: unknown, id?: string): Record<string, unknown> => ({ call: name, args, ...(id ? { id } : {}) });
