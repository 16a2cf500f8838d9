// The built program, as it is spawned by a frontend: its handshake, its framings, its end, and its command line.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const main = path.join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-binary-'));
const clientInfo = { name: 'test', version: '1.0.0' };
const line = (message: unknown) => `${JSON.stringify(message)}\n`;

class Program {
  readonly child: ChildProcess;
  readonly home = folder();
  stdout = '';
  readonly ended: Promise<{ code: number | null; signal: string | null }>;

  constructor(args: string[] = []) {
    this.child = spawn(process.execPath, [main, 'app-server', ...args], {
      stdio: 'pipe',
      env: { PATH: process.env.PATH, HARNESSD_HOME: this.home, HARNESSD_LOG: 'silent' },
    });
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve) => this.child.on('exit', (code, signal) => resolve({ code, signal })));
  }

  write(text: string): void {
    this.child.stdin?.write(text);
  }

  async until(test: (text: string) => boolean): Promise<void> {
    for (let i = 0; i < 400 && !test(this.stdout); i++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(test(this.stdout), this.stdout.slice(0, 500)).toBe(true);
  }

  get messages(): Record<string, any>[] {
    return this.stdout
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text));
  }
}

const programs: Program[] = [];
const start = (args?: string[]): Program => {
  const program = new Program(args);
  programs.push(program);
  return program;
};
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill('SIGKILL');
    await program.ended;
    fs.rmSync(program.home, { recursive: true, force: true });
  }
});

describe('the built program', () => {
  it('[binary.pipelined] serves requests that were sent behind initialize, and names its protocol version', async () => {
    const program = start(['--listen', 'stdio://', '-c', 'model="scripted"']);
    program.write(line({ id: 0, method: 'initialize', params: { clientInfo } }) + line({ id: '0', method: 'thread/loaded/list' }));
    await program.until((text) => text.split('\n').length > 2);
    const answers = program.messages.filter((message) => message.method === undefined);
    expect(answers.map(({ id }) => id)).toEqual([0, '0']);
    expect(answers[0].result.userAgent).toMatch(/^[^/]+\/(\d+\.\d+\.\d+)( |$)/);
    expect(answers[1].result).toEqual({ data: [], nextCursor: null });
  });

  it('[binary.framed] answers a client that frames by Content-Length in kind', async () => {
    const program = start();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { clientInfo } });
    program.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await program.until((text) => /^Content-Length: \d+\r\n\r\n\{.*"userAgent"/.test(text));
  });

  it('[binary.end] the end of input ends it with status 0, after what came before was answered', async () => {
    const program = start();
    program.child.stdin?.end(line({ id: 1, method: 'initialize', params: { clientInfo } }) + line({ id: 2, method: 'nope' }));
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.messages.filter(({ method }) => method === undefined).map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, -32601],
    ]);
  });

  it('[binary.sigterm] SIGTERM ends it with status 0', async () => {
    const program = start();
    program.write(line({ id: 1, method: 'initialize', params: { clientInfo } }));
    await program.until((text) => text.includes('userAgent'));
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('[binary.malformed] every malformed line is answered and the next request is served', async () => {
    const program = start();
    program.write(line({ id: 1, method: 'initialize', params: { clientInfo } }));
    program.write('{\n[]\n42\n{"id":true,"method":"x"}\n{"id":"m","method":5}\n');
    program.write(
      line({ id: 2, method: 'turn/start', params: { threadId: 5, input: [] } }) + line({ id: 3, method: 'thread/loaded/list' }),
    );
    await program.until((text) => text.includes('"id":3'));
    const errors = program.messages.filter(({ error }) => error).map(({ id, error }) => [id, error.code]);
    expect(errors).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      ['m', -32600],
      [2, -32602],
    ]);
    expect(program.messages.find(({ id }) => id === 2)?.error.message).toBe('params.threadId: expected string, got number');
  });

  it('[binary.command-line] tells version and help, and refuses what it does not know', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    expect(run('--version').stdout).toMatch(/^\S+ \d+\.\d+\.\d+/);
    expect(run('app-server', '--help')).toMatchObject({ status: 0 });
    expect(run('frobnicate')).toMatchObject({ status: 2, stdout: '' });
    expect(run('--no-such-option')).toMatchObject({ status: 2, stdout: '' });
  });
});
