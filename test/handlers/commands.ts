// Commands of a client, with the real runner and sandbox behind them, in a folder of their own that is not under /tmp.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { SandboxLauncher } from '../../src/exec/sandbox/sandbox.ts';
import type { ClientCommandPorts } from '../../src/server/client-command.ts';
import { commandExecHandlers } from '../../src/server/handlers/command-exec.ts';
import { processExecHandlers } from '../../src/server/handlers/process-exec.ts';
import { Served } from './served.ts';

export const sh = (script: string): string[] => ['bash', '-c', script];
export const b64 = (text: string): string => Buffer.from(text).toString('base64');

export interface Commands {
  root: string;
  cwd: string;
  client: Served;
  ends: { endClient(client: Served['session']): Promise<void>; endAll(): Promise<void> }[];
  ports: ClientCommandPorts;
}

export function commands(config = 'sandbox_mode = "danger-full-access"\n', more: Partial<ClientCommandPorts> = {}): Commands {
  const root = realpathSync(mkdtempSync(path.join(homedir(), '.commands-')));
  const [home, cwd] = [path.join(root, 'home'), path.join(root, 'work')];
  mkdirSync(home);
  mkdirSync(cwd);
  writeFileSync(path.join(home, 'config.toml'), config);
  const runner = new LocalProcessRunner();
  onTestFinished(async () => {
    await runner.endAll(0);
    rmSync(root, { recursive: true, force: true });
  });
  const env = { PATH: process.env['PATH'], HOME: root, LANG: 'C.UTF-8', MY_TOKEN: 'secret' };
  const ports: ClientCommandPorts = {
    runner,
    launcher: new SandboxLauncher({ alwaysGuarded: [home] }),
    env,
    load: async (folder) => {
      const loaded = await loadConfig({ home, env, systemFile: path.join(root, 'none.toml'), cwd: folder });
      if (!loaded.ok) throw loaded.error;
      return loaded;
    },
    ...more,
  };
  const [exec, spawn] = [commandExecHandlers(ports), processExecHandlers(ports)];
  return { root, cwd, ports, ends: [exec, spawn], client: new Served({ ...exec.handlers, ...spawn.handlers }) };
}

/** The bytes of the deltas of one process, as text. */
export function deltas(client: Served, id: string, stream?: string): string {
  const ofProcess = client.link.received.filter(({ method, params }) => {
    const named = params as Record<string, unknown> | undefined;
    const isDelta = method === 'command/exec/outputDelta' || method === 'process/outputDelta';
    return isDelta && (named?.processId ?? named?.processHandle) === id && (stream === undefined || named?.stream === stream);
  });
  return Buffer.concat(ofProcess.map(({ params }) => Buffer.from((params as { deltaBase64: string }).deltaBase64, 'base64'))).toString();
}
