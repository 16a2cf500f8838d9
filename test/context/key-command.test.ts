// A key that a program of the user gives.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ModelClient, ModelError, type ModelEvent } from '../../src/model/client.ts';
import { KeyCommand, KeyedClient } from '../../src/server/key-command.ts';
import { workspace } from '../config/workspace.ts';
import { request } from '../model/sse-server.ts';

const ENV = { PATH: process.env.PATH };

function program(script: string) {
  const w = workspace('');
  const file = w.put('key.sh', `#!/bin/sh\necho run >> ${w.root}/runs\n${script}\n`);
  chmodSync(file, 0o700);
  const runs = () => (existsSync(path.join(w.root, 'runs')) ? readFileSync(path.join(w.root, 'runs'), 'utf8').split('\n').length - 1 : 0);
  return { w, file, runs };
}

const problem = async (argv: string[]): Promise<string> => {
  const command = new KeyCommand('p', argv, ENV);
  const error = await command.refresh().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(command.key).toBeUndefined();
  return `${(error as ModelError).kind}: ${(error as ModelError).message}`;
};

describe('api_key_command', () => {
  it('[key-command.once] runs once for requests at the same time, and keeps the key', async () => {
    const { file, runs } = program('echo "  the-key  "');
    const command = new KeyCommand('p', [file], ENV);
    await Promise.all([command.refresh(), command.refresh()]);
    await command.refresh();
    expect([command.key, runs()]).toEqual(['the-key', 1]);
  });

  it('[key-command.faults] says what is wrong without any output of the program', async () => {
    const { file } = program('echo secret; echo secret >&2; exit 3');
    expect(await problem([file])).toBe('unauthorized: model provider "p": api_key_command failed with exit code 3');
    expect(await problem(['true'])).toBe('unauthorized: model provider "p": api_key_command gave no key on its standard output');
    expect(await problem(['/no/such/program'])).toBe(
      'unauthorized: model provider "p": api_key_command cannot be run (ENOENT): /no/such/program',
    );
    expect(await problem([])).toBe('unauthorized: model provider "p": api_key_command is empty');
  });

  it('[key-command.refused] a key that the provider refuses is asked for anew', async () => {
    const { w, file, runs } = program('cat "$(dirname "$0")/key"');
    writeFileSync(path.join(w.root, 'key'), 'old');
    const command = new KeyCommand('p', [file], ENV);
    const seen: (string | undefined)[] = [];
    const inner: ModelClient = {
      async *stream(): AsyncGenerator<readonly ModelEvent[]> {
        seen.push(command.key);
        if (command.key === 'old') throw new ModelError('unauthorized', 'refused');
        yield [];
      },
      close: () => {},
    };
    const client = new KeyedClient(inner, command);
    const ask = async () => {
      for await (const _ of client.stream(request(), new AbortController().signal));
    };
    await expect(ask()).rejects.toThrow('refused');
    writeFileSync(path.join(w.root, 'key'), 'new');
    await ask();
    await ask();
    expect([seen, runs()]).toEqual([['old', 'new', 'new'], 2]);
  });
});
