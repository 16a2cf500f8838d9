// A frontend in few lines, for scripts: spawns a daemon, speaks newline-delimited JSON with it, and never waits without a limit.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

function writeConfig(home, model) {
  const lines = [
    'model = "bench-model"',
    'model_provider = "local"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    '[model_providers.local]',
    'name = "local"',
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
  ];
  fs.writeFileSync(path.join(home, 'config.toml'), `${lines.join('\n')}\n`);
}

function environment(home, more) {
  const env = { ...process.env, ...more, HARNESSD_HOME: home, HARNESSD_LOG: 'silent', OPENAI_API_KEY: 'none' };
  // Reading extra certificates doubles node's own start and is no work of the daemon.
  delete env.NODE_EXTRA_CA_CERTS;
  return env;
}

class Daemon {
  /** Requests without an answer yet, by id. */
  #pending = new Map();
  #lastId = 0;
  /** Called for each notification; replaced by whoever waits. */
  onNotification = () => {};
  /** Why nothing more will come, once the process has ended. */
  #ended;

  constructor(child, { cwd, answer, limitMs }) {
    this.child = child;
    this.cwd = cwd;
    this.answer = answer;
    this.limitMs = limitMs;
    this.exit = new Promise((resolve) => child.once('close', resolve));
    child.once('error', (error) => this.#end(error.message));
    child.once('close', (code) => this.#end(`the daemon ended with status ${code}`));
    child.stdin.on('error', () => {});
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) this.#receive(JSON.parse(line));
    });
  }

  #end(why) {
    this.#ended = why;
    for (const { reject } of this.#pending.values()) reject(new Error(why));
    this.#pending.clear();
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #receive(message) {
    if (message.method === undefined) {
      const waiting = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
    } else if (message.id === undefined) this.onNotification(message);
    else this.#send({ id: message.id, result: this.answer(message) });
  }

  request(method, params) {
    if (this.#ended) return Promise.reject(new Error(this.#ended));
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    this.#send({ id, method, params });
    return this.#within(answer, method);
  }

  async #within(promise, what) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no end of ${what} in ${this.limitMs / 1000} s`)), this.limitMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async initialize() {
    const clientInfo = { name: 'bench', title: 'bench', version: '1.0.0' };
    const result = await this.request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#send({ method: 'initialized' });
    return result;
  }

  async startThread(params = {}) {
    const fixed = { cwd: this.cwd, approvalPolicy: 'never', sandbox: 'danger-full-access' };
    return (await this.request('thread/start', { ...fixed, ...params })).thread.id;
  }

  /** Runs a turn to its end and gives its notifications; a turn that did not complete is an error. */
  async runTurn(threadId, text) {
    const seen = [];
    const end = new Promise((resolve, reject) => {
      this.onNotification = (message) => {
        seen.push(message);
        if (message.method !== 'turn/completed' || message.params.threadId !== threadId) return;
        const { status, error } = message.params.turn;
        if (status === 'completed') resolve(seen);
        else reject(new Error(`the turn ${status}: ${error?.message ?? 'no reason given'}`));
      };
      this.exit.then((code) => reject(new Error(`the daemon ended with status ${code}`)));
    });
    const [notifications] = await this.#within(
      Promise.all([end, this.request('turn/start', { threadId, input: [{ type: 'text', text }] })]),
      'turn',
    );
    return notifications;
  }

  async close() {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5_000);
    this.child.stdin.end();
    await this.exit;
    clearTimeout(timer);
  }
}

/** `answer` gives the result for a request of the daemon; without it every one is answered with an empty object. `env` is added to ours. */
export function openDaemon({ command, home, cwd, model, env = {}, answer = () => ({}), limitMs = 120_000 }) {
  writeConfig(home, model);
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env: environment(home, env), stdio: ['pipe', 'pipe', 'ignore'] });
  return new Daemon(child, { cwd, answer, limitMs });
}
