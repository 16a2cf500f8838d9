// What the model and the user are told of a command: bytes that are no text, odd budgets, what cannot be run, and what a command hides.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bodyOf, headOf, outputsOf } from './bench.ts';

const NOT_TEXT =
  'Not all of the output is text: it holds NUL bytes or bytes that are not UTF-8 (those are shown as \ufffd). Look at them with od -c or file.';

const exec = (cmd: string, more: object = {}): [string, object] => ['exec_command', { cmd, login: false, ...more }];

describe('output', () => {
  it('[command.binary] marks what is not text, and only that', async () => {
    const { outputs } = await outputsOf([
      exec("printf 'a\\0b'"),
      exec("printf 'x\\377y'"),
      exec("printf 'é日😀'"),
      exec("printf '\\303'; sleep 0.05; printf '\\251'"),
      exec("printf 'cut \\360\\237'"),
    ]);
    expect(outputs.map((text) => [headOf(text), bodyOf(text)])).toEqual([
      [['Process exited with code 0', 'Original token count: 1', NOT_TEXT], 'a\0b'],
      [['Process exited with code 0', expect.any(String), NOT_TEXT], 'x\ufffdy'],
      [['Process exited with code 0', expect.any(String)], 'é日😀'],
      [['Process exited with code 0', expect.any(String)], 'é'],
      [['Process exited with code 0', expect.any(String), NOT_TEXT], 'cut \ufffd'],
    ]);
  });

  it('[command.budget] clamps absurd budgets and cuts between characters', async () => {
    const { outputs } = await outputsOf([
      exec("printf '日%.0s' $(seq 2000)", { max_output_tokens: 1 }),
      exec('echo hi', { max_output_tokens: 1e12, yield_time_ms: 1e12 }),
      exec('echo hi', { max_output_tokens: 0, yield_time_ms: 0 }),
      exec('echo hi', { max_output_tokens: -5 }),
    ]);
    expect(bodyOf(outputs[0])).toBe('…1500 tokens truncated…');
    expect(bodyOf(outputs[1])).toBe('hi\n');
    expect(bodyOf(outputs[2])).toBe('hi\n');
    expect(outputs[3]).toContain('max_output_tokens');
  });
});

describe('what cannot be run', () => {
  it('[command.refused] names what is wrong, and nothing runs', async () => {
    const { front, outputs } = await outputsOf([
      exec('echo \0'),
      exec(''),
      exec(' \n\t '),
      exec('touch ran', { workdir: 'no/such/folder' }),
      exec('touch ran', { workdir: '/etc/passwd' }),
      exec('touch ran', { shell: '/bin/nosuchshell' }),
      exec('touch ran', { shell: 'nosuchshell' }),
      ['write_stdin', { session_id: 7, chars: 'x' }],
    ]);
    const told = outputs.map((text) => text.replaceAll(front.cwd, '~'));
    expect(told).toEqual([
      'cmd holds a NUL byte, which no command can. Nothing was run.',
      'cmd is empty. Nothing was run.',
      'cmd is empty. Nothing was run.',
      'The working folder ~/no/such/folder does not exist. Nothing was run. Give an existing workdir.',
      'The working folder /etc/passwd is not a folder. Nothing was run.',
      expect.stringMatching(/^the shell "\/bin\/nosuchshell" does not exist here; leave `shell` out to use \//),
      expect.stringMatching(/^the shell "nosuchshell" does not exist here/),
      'write_stdin failed: there is no session 7. No session is running. Start a command with exec_command.',
    ]);
    expect(fs.existsSync(path.join(front.cwd, 'ran'))).toBe(false);
  });

  it('[command.long] runs a line of 64 KiB whole, sandboxed too, and says what to do with one that no system takes', async () => {
    const long = 'x'.repeat(65_000);
    const thread = { sandbox: 'workspace-write', approvalPolicy: 'on-request' };
    const { outputs } = await outputsOf([exec(`printf %s ${long} | wc -c`), exec(`: ${long}${long}${long}; echo ran`)], { thread });
    expect(bodyOf(outputs[0]).trim()).toBe('65000');
    expect(outputs[1]).toMatch(/too long.*file/);
  });
});

describe('a command that hides something', () => {
  it('[command.display] is shown exact and spelled out, whether a frontend knows the display form or not', async () => {
    const cmd = 'touch a\u202egpj.\u2066exe # \u001b[2K';
    const thread = { approvalPolicy: 'untrusted' };
    const answer = () => ({ decision: 'decline' });
    const on = { 'item/commandExecution/requestApproval': answer };
    const { front } = await outputsOf([exec(cmd), exec('touch plain')], { thread, on });
    const asked = front.link.received
      .filter((message) => message.method === 'item/commandExecution/requestApproval')
      .map((message) => message.params as Record<string, string>);
    const shown = asked[0].command.replace(cmd, 'touch a\\u{202e}gpj.\\u{2066}exe # \\u{1b}[2K');
    expect([asked[0].command.includes(cmd), asked[0].displayCommand, asked[0].reason]).toEqual([
      true,
      shown,
      `The command holds characters that hide or reorder text. Spelled out it reads: ${shown}`,
    ]);
    expect(['displayCommand' in asked[1], asked[1].reason]).toEqual([false, null]);
  });
});

describe('policies', () => {
  it('[command.on-failure] takes the older policy as on-request and says so once', async () => {
    const { front } = await outputsOf([exec('true')], { thread: { approvalPolicy: 'on-failure' } });
    const again = await front.result('thread/start', { cwd: front.cwd, approvalPolicy: 'on-failure' });
    expect([again.approvalPolicy, front.all('deprecationNotice').map((notice) => notice.summary)]).toEqual([
      'on-request',
      ['approvalPolicy "on-failure" is read as "on-request"'],
    ]);
    const wrong = await front.request('thread/start', { cwd: front.cwd, approvalPolicy: 'on-fail' });
    expect(wrong.error.code).toBe(-32602);
  });
});
