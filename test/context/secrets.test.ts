// Keys go to their provider and nowhere else: not into logs, rollouts, the wire, or what a model or a command reads.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withoutSecretKeys } from '../../src/config/read.ts';
import { answers, SseServer, sse, streams } from '../model/sse-server.ts';
import { calling, says } from './asked.ts';

const MAIN = path.join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const SECRETS = {
  environment: 'sk-environment-0001',
  header: 'sk-header-0002',
  token: 'sk-token-0003',
  command: 'sk-command-0004',
  login: 'sk-login-0005',
  query: 'sk-query-0006',
};

const replies = (...items: Record<string, unknown>[]) =>
  streams(
    ...items.map((item, i) => sse({ type: 'response.output_item.done', output_index: i, item })),
    sse({ type: 'response.completed', response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } }),
  );

function folders() {
  const root = realpathSync(mkdtempSync(path.join(os.homedir(), '.harnessd-secrets-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, work] = [path.join(root, 'home'), path.join(root, 'work')];
  mkdirSync(home);
  mkdirSync(work);
  return { root, home, work };
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

describe('secrets', () => {
  it('[secrets.nowhere] no log line, file or message of a busy session holds one, at the most talkative level', async () => {
    const server = await SseServer.start();
    onTestFinished(() => server.close());
    const { root, home, work } = folders();
    const program = path.join(root, 'key.sh');
    writeFileSync(program, `#!/bin/sh\necho ${SECRETS.command}\n`);
    chmodSync(program, 0o700);
    const provider = (id: string, lines: string) =>
      `[model_providers.${id}]\nbase_url = "${server.base}"\nrequest_max_retries = 0\nstream_max_retries = 0\n${lines}\n`;
    writeFileSync(
      path.join(home, 'config.toml'),
      [
        'model = "gpt-5.5"\nsandbox_mode = "danger-full-access"\n',
        provider(
          'env',
          `env_key = "TEST_KEY"\nhttp_headers = { "x-api-key" = "${SECRETS.header}" }\nquery_params = { key = "${SECRETS.query}" }`,
        ),
        provider('token', ''),
        provider('command', `api_key_command = ["${program}"]`),
      ].join('\n'),
    );
    const child = spawn(process.execPath, [MAIN, 'app-server'], {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: root, HARNESSD_HOME: home, HARNESSD_LOG: 'trace', TEST_KEY: SECRETS.environment },
    });
    let said = '';
    let logged = '';
    child.stdout.on('data', (data) => (said += data));
    child.stderr.on('data', (data) => (logged += data));
    const until = async (test: () => boolean, what: string) => {
      for (let i = 0; i < 400 && !test(); i++) await new Promise((resolve) => setTimeout(resolve, 25));
      expect(test(), `${what}\n${said.slice(-1500)}`).toBe(true);
    };
    let id = 0;
    const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Record<string, any>> => {
      const own = `"id":${++id},`;
      child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
      const lines = () => said.split('\n').filter((line) => line.startsWith('{') && line.includes(own) && !line.includes('"method"'));
      await until(() => lines().length > 0, `no answer to ${method}`);
      return JSON.parse(lines()[0]);
    };
    const turn = async (threadId: string) => {
      const { result } = await ask('turn/start', { threadId, input: [{ type: 'text', text: 'go' }] });
      await until(() => said.split('\n').some((line) => line.includes('"turn/completed"') && line.includes(result.turn.id)), 'no end');
    };
    await ask('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } });
    await ask('account/login/start', { type: 'apiKey', apiKey: SECRETS.login });
    const configs = {
      env: null,
      token: { 'model_providers.token.experimental_bearer_token': SECRETS.token },
      command: { model_providers: { command: { http_headers: { authorization2: SECRETS.header } } } },
    };
    for (const [modelProvider, config] of Object.entries(configs)) {
      const { result } = await ask('thread/start', { cwd: work, modelProvider, config });
      server.replies.push(replies(calling('exec_command', { cmd: 'env; echo reached' })), replies(says('done')));
      await turn(result.thread.id);
      server.replies.push(answers(400, { error: { message: `bad: ${Object.values(SECRETS).join(' ')}` } }));
      await turn(result.thread.id);
    }
    await ask('config/read', { includeLayers: true });
    await ask('modelProvider/list');
    await ask('account/read');
    await ask('getAuthStatus', { includeToken: true });
    child.stdin.end();
    await new Promise((resolve) => child.on('close', resolve));
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['environment', 'token', 'command'].flatMap((name) => Array(3).fill(`Bearer ${SECRETS[name as 'token']}`)));
    expect(said).toContain('reached');
    // A provider that repeats a key which it was never sent is not our leak; each one's own keys are blanked.
    const known = new Set(['config.toml', 'auth.json']);
    const texts = [
      said,
      logged,
      ...filesBelow(home)
        .filter((file) => !known.has(path.basename(file)))
        .map((file) => readFileSync(file, 'utf8')),
    ];
    const echoed = /"?bad: [^"\\]*/g;
    for (const [name, secret] of Object.entries(SECRETS)) {
      for (const text of texts) expect(text.replaceAll(echoed, '').includes(secret), `${name} was told`).toBe(false);
    }
    for (const own of [SECRETS.environment, SECRETS.header, SECRETS.query]) {
      const ownTurn = said.split('\n').find((line) => line.includes('"method":"error"') && line.includes('bad: ')) ?? '';
      expect([ownTurn.includes('bad: [redacted]'), ownTurn.includes(own)]).toEqual([true, false]);
    }
    expect(logged.split('"turn ended"')).toHaveLength(7);
  }, 60_000);

  it('[secrets.thread-config] what a thread keeps of its configuration has no keys in it, however they were written', () => {
    expect(
      withoutSecretKeys({
        model: 'm',
        'model_providers.a.experimental_bearer_token': 'S',
        'model_providers.a.http_headers.Authorization': 'S',
        'model_providers.a.http_headers': { Authorization: 'S', 'x-team': 'blue' },
        model_providers: { b: { experimental_bearer_token: 'S', env_key: 'B_KEY', query_params: { token: 'S', v: '1' } } },
        mcp_servers: { c: { command: 'x', env: { API_KEY: 'S', MODE: 'fast' }, args: ['a'] } },
      }),
    ).toEqual({
      model: 'm',
      'model_providers.a.http_headers': { 'x-team': 'blue' },
      model_providers: { b: { env_key: 'B_KEY', query_params: { v: '1' } } },
      mcp_servers: { c: { command: 'x', env: { MODE: 'fast' }, args: ['a'] } },
    });
  });
});
