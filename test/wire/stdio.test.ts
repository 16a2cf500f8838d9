import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { tick, type Wire } from './linked.ts';

let folder: string;
let script: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'wire-'));
  script = path.join(folder, 'echo.cjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'echo-daemon.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  });
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Daemon {
  child: ChildProcess;
  /** All of stdout, and the reason of the end from stderr, once the process is gone. */
  ended: Promise<{ code: number | null; out: string; end: unknown }>;
}

function watch(child: ChildProcess): Daemon {
  children.add(child);
  let out = '';
  let err = '';
  child.stdin?.on('error', () => {});
  child.stdout?.setEncoding('utf8').on('data', (text: string) => void (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => void (err += text));
  const ended = new Promise<{ code: number | null; out: string; end: unknown }>((resolve) => {
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code, out, end: err === '' ? undefined : JSON.parse(err) });
    });
  });
  return { child, ended };
}

const daemon = (): Daemon => watch(spawn(process.execPath, [script], { stdio: 'pipe' }));
const line = (message: unknown): string => `${JSON.stringify(message)}\n`;
const parse = (out: string): Wire[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text) as Wire);

describe('a process', () => {
  it('[stdio.eof] requests before the end of stdin are answered, the last without a line feed too; exit 0', async () => {
    const { child, ended } = daemon();
    child.stdin?.end(`${line({ id: 1, method: 'later', params: 'a' })}${line({ id: 2, method: 'b', params: 'ü' })}{"id":3,"method":"c"}`);
    const { code, out, end } = await ended;
    expect([code, end]).toEqual([0, { type: 'inputEnded', drained: true }]);
    expect(parse(out)).toEqual([
      { id: 2, result: 'ü' },
      { id: 3, result: null },
      { id: 1, result: 'a' },
    ]);
  });

  it('[stdio.eof-large] an answer of several megabytes has left the process before it exits', async () => {
    const { child, ended } = daemon();
    child.stdin?.end(line({ id: 1, method: 'pad', params: 8_000_000 }));
    child.stdout?.pause();
    await tick(300);
    child.stdout?.resume();
    const { code, out, end } = await ended;
    expect([code, end, out.length]).toEqual([0, { type: 'inputEnded', drained: true }, line({ id: 1, result: '' }).length + 8_000_000]);
  });

  it('[stdio.reader-gone] a reader that leaves ends the process although stdin stays open, idle or busy', async () => {
    for (const method of ['idle', 'flood']) {
      const { child, ended } = daemon();
      child.stdin?.write(line({ id: 1, method }));
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      child.stdout?.destroy();
      const { code, end } = await ended;
      expect([code, end]).toEqual([
        0,
        { type: 'outputClosed', reason: expect.stringMatching(/^(EPIPE|ECONNRESET)$/), drained: expect.any(Boolean) },
      ]);
    }
  });

  it('[stdio.pipe-gone] the same over a true pipe, at the next message', async () => {
    const { child, ended } = watch(
      spawn('/bin/sh', ['-c', `exec 3>&1; { "$0" "$1" 2>&3; } | head -n 1 >/dev/null`, process.execPath, script], { stdio: 'pipe' }),
    );
    child.stdin?.write(line({ id: 1, method: 'flood' }));
    const { out } = await ended;
    expect(JSON.parse(out)).toEqual({ type: 'outputClosed', reason: 'EPIPE', drained: expect.any(Boolean) });
  });

  it('[stdio.files] stdin and stdout may be files', async () => {
    const [input, output] = [path.join(folder, 'in.jsonl'), path.join(folder, 'out.jsonl')];
    fs.writeFileSync(input, line({ id: 1, method: 'a', params: 1 }) + line({ id: 2, method: 'b', params: 2 }));
    const [stdin, stdout] = [fs.openSync(input, 'r'), fs.openSync(output, 'w')];
    const { code, end } = await watch(spawn(process.execPath, [script], { stdio: [stdin, stdout, 'pipe'] })).ended;
    fs.closeSync(stdin);
    fs.closeSync(stdout);
    expect([code, end]).toEqual([0, { type: 'inputEnded', drained: true }]);
    expect(parse(fs.readFileSync(output, 'utf8'))).toEqual([
      { id: 1, result: 1 },
      { id: 2, result: 2 },
    ]);
  });

  it('[stdio.huge] a message of 12 MB is served, one over the cap refused by name, and the next served', async () => {
    const { child, ended } = daemon();
    child.stdin?.write(line({ id: 1, method: 'a', params: { pad: 'z'.repeat(12e6) } }));
    child.stdin?.write(line({ id: 2, method: 'a', params: 'z'.repeat(34e6) }));
    child.stdin?.end(line({ id: 3, method: 'a', params: 'ok' }));
    const { code, out } = await ended;
    const [refused, ...served] = parse(out).sort((a, b) => Number(a['id']) - Number(b['id']));
    expect([code, served.map((m) => m['id']), served[1]]).toEqual([0, [1, 3], { id: 3, result: 'ok' }]);
    expect(refused).toEqual({
      id: null,
      error: { code: -32600, message: 'message too large: the limit is 33554432 bytes; it was skipped' },
    });
  });

  it('[stdio.vscode-client] a plain client of the JSON-RPC library is served in its own framing', async () => {
    const { child, ended } = daemon();
    if (!child.stdin || !child.stdout) throw new Error('no pipes');
    const client = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    client.listen();
    expect(await Promise.all([client.sendRequest('a', { text: 'grüße 漢字 😀' }), client.sendRequest('b', { n: 2 })])).toEqual([
      { text: 'grüße 漢字 😀' },
      { n: 2 },
    ]);
    client.dispose();
    child.stdin.end();
    expect((await ended).code).toBe(0);
  });
});
