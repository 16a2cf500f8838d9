// One environment policy on all paths: whatever the daemon starts for somebody, it keeps its secrets.
import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';
import { until } from '../exec/support.ts';
import { call, TestFrontend } from '../spine/client.ts';

const sandboxed = await new SandboxLauncher().available();
const SECRETS = { FOO_TOKEN: 'secret-1', OPENAI_API_KEY: 'secret-2', my_password_x: 'secret-3', AWS_SECRET_ID: 'secret-4' };
const PATHS = ['pipe', 'tty', 'login', 'escalated', 'user', 'client', 'client-tty', 'process', 'hook', 'mcp'];

it('[command.secrets] no path hands a secret of the daemon on, and every one hands the rest on', { timeout: 60_000 }, async () => {
  const front = new TestFrontend({ env: { ...SECRETS, PLAIN_VALUE: 'kept' } });
  onTestFinished(() => front.dispose());
  const { cwd, home } = front;
  const file = (name: string) => path.join(cwd, `env-${name}`);
  const saving = (name: string) => `env > ${file(name)}`;
  const exec = (name: string, more: object = {}) => call('exec_command', { cmd: saving(name), login: false, ...more });
  fs.writeFileSync(
    path.join(home, 'script.json'),
    JSON.stringify([
      exec('pipe'),
      exec('tty', { tty: true }),
      exec('login', { login: true }),
      exec('escalated', { sandbox_permissions: 'require_escalated' }),
      { say: 'done' },
    ]),
  );
  const argv = (name: string) => ['/bin/sh', '-c', saving(name)];
  fs.appendFileSync(
    path.join(home, 'config.toml'),
    [
      '[[hooks.UserPromptSubmit]]',
      '[[hooks.UserPromptSubmit.hooks]]',
      'type = "command"',
      `command = ${JSON.stringify(saving('hook'))}`,
      '[mcp_servers.one]',
      'command = "/bin/sh"',
      `args = ${JSON.stringify(argv('mcp').slice(1))}`,
      'env_vars = ["PLAIN_VALUE"]', // a server gets the core variables and what its table names
      'startup_timeout_sec = 5',
    ].join('\n'),
  );
  const decide = () => ({ decision: 'accept' });
  front.answers.set('item/commandExecution/requestApproval', decide);
  await front.start({ sandbox: sandboxed ? 'workspace-write' : 'danger-full-access', approvalPolicy: 'on-request' });
  await front.turn('go');
  const { threadId } = front;
  await front.result('thread/shellCommand', { threadId, command: saving('user') });
  const sandboxPolicy = { type: 'dangerFullAccess' };
  await front.result('command/exec', { command: argv('client'), cwd, sandboxPolicy });
  await front.result('command/exec', { command: argv('client-tty'), cwd, sandboxPolicy, tty: true, processId: 'p' });
  await front.result('process/spawn', { command: argv('process'), cwd, processHandle: 'h' });
  const complete = (name: string) => fs.existsSync(file(name)) && fs.readFileSync(file(name), 'utf8').includes('PLAIN_VALUE=kept');
  await until(() => PATHS.every(complete), 10_000);
  const seen = PATHS.map((name) => {
    const text = fs.existsSync(file(name)) ? fs.readFileSync(file(name), 'utf8') : '';
    return [name, /^PLAIN_VALUE=kept$/m.test(text), Object.values(SECRETS).filter((secret) => text.includes(secret))];
  });
  expect(seen).toEqual(PATHS.map((name) => [name, true, []]));
});
