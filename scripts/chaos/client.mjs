// A frontend that is rough with its daemon: it kills it, and looks at what the next one says.
import { spawn } from 'node:child_process';

const LIMIT_MS = 20_000;

export class RoughClient {
  #pending = new Map();
  #lastId = 0;
  #watchers = new Set();
  /** Requests that the daemon sent. */
  asked = [];
  notes = [];

  constructor(command, { home, cwd }) {
    const [program, ...args] = command;
    // Commands read no login profile of the user's: what is killed in the middle of one may leave the locks of its tools behind.
    const env = { ...process.env, HOME: home, HARNESSD_HOME: home, HARNESSD_LOG: 'silent', OPENAI_API_KEY: 'none' };
    delete env.NODE_EXTRA_CA_CERTS;
    this.child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    this.exit = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin.on('error', () => {});
    let rest = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) this.#receive(JSON.parse(line));
    });
    this.child.once('close', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('the daemon is gone'));
    });
  }

  #receive(message) {
    if (message.method === undefined) {
      const waiting = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
      return;
    }
    (message.id === undefined ? this.notes : this.asked).push(message);
    for (const look of [...this.#watchers]) look();
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  request(method, params) {
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} in ${LIMIT_MS / 1000} s`)), LIMIT_MS);
      const settle = (done) => (value) => {
        clearTimeout(timer);
        done(value);
      };
      this.#pending.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
    answer.catch(() => {});
    this.send({ id, method, params });
    return answer;
  }

  /** Resolves when a message of the daemon makes `found` true. */
  until(found, what) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error(`no sign of ${what} in ${LIMIT_MS / 1000} s`))), LIMIT_MS);
      const look = () => found() && end(resolve);
      const end = (done) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        done();
      };
      this.#watchers.add(look);
      look();
    });
  }

  noted(method, test = () => true) {
    return this.notes.some((note) => note.method === method && test(note.params));
  }

  async initialize() {
    await this.request('initialize', { clientInfo: { name: 'chaos', version: '1.0.0' }, capabilities: { experimentalApi: true } });
    return this;
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.exit;
  }

  async close() {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5_000);
    this.child.stdin.end();
    await this.exit;
    clearTimeout(timer);
  }
}
