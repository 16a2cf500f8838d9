import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ConfigWriteRequest, ConfigWriter } from '../../src/config/edit.ts';
import type { LoadOptions } from '../../src/config/load.ts';
import { versionOf } from '../../src/config/read.ts';
import { type Workspace, workspace } from './workspace.ts';

const edit = (keyPath: string, value: unknown, mergeStrategy: 'replace' | 'upsert' = 'replace') => ({ keyPath, value, mergeStrategy });
const writer = (w: Workspace, options: Partial<LoadOptions> = {}) =>
  new ConfigWriter({ home: w.home, env: {}, systemFile: w.systemFile, ...options });
const textOf = (w: Workspace) => readFileSync(w.file, 'utf8');

/** What a refused write says, and a check that it changed nothing. */
async function refusal(w: Workspace, request: ConfigWriteRequest, options: Partial<LoadOptions> = {}): Promise<unknown> {
  const before = existsSync(w.file) ? textOf(w) : null;
  const error = await writer(w, options)
    .write(request)
    .then(
      () => 'it was written',
      (e) => [e.code, e.data, e.message.replaceAll(w.root, '~')],
    );
  expect(existsSync(w.file) ? textOf(w) : null).toBe(before);
  return error;
}

describe('writes', () => {
  it('[config.write] comments and order stay; the answer has the new version', async () => {
    const w = workspace('# top\nmodel = "a" # keep\n\n# about x\n[mcp_servers.x]\n# inner\ncommand = "true"\n');
    const write = writer(w);
    const first = await write.write({ edits: [edit('model', 'b'), edit('mcp_servers.x.args', ['1'])] });
    const text = '# top\nmodel = "b" # keep\n\n# about x\n[mcp_servers.x]\n# inner\ncommand = "true"\nargs = ["1"]\n';
    expect(textOf(w)).toBe(text);
    expect(first).toEqual({ status: 'ok', version: versionOf(text), filePath: w.file, overriddenMetadata: null });
    await write.write({ edits: [edit('mcp_servers.x', { args: ['2'] }, 'upsert')], expectedVersion: first.version });
    await write.write({ edits: [edit('model', null)] });
    expect(textOf(w)).toBe('# top\n\n# about x\n[mcp_servers.x]\n# inner\ncommand = "true"\nargs = ["2"]\n');
    expect(readdirSync(w.home)).toEqual(['config.toml']);
  });

  it('[config.write] a new file belongs to its owner alone, an existing one keeps its mode, a link stays a link', async () => {
    const w = workspace();
    await writer(w).write({ edits: [edit('model', 'a')] });
    expect([textOf(w), statSync(w.file).mode & 0o777]).toEqual(['model = "a"\n', 0o600]);
    chmodSync(w.file, 0o644);
    await writer(w).write({ edits: [edit('model', 'b')] });
    expect(statSync(w.file).mode & 0o777).toBe(0o644);
    const real = path.join(w.root, 'real.toml');
    renameSync(w.file, real);
    symlinkSync(real, w.file);
    await writer(w).write({ edits: [edit('model', 'c')], filePath: w.file });
    expect([lstatSync(w.file).isSymbolicLink(), readFileSync(real, 'utf8')]).toEqual([true, 'model = "c"\n']);
  });

  it('[config.write] writes at the same time do not lose each other', async () => {
    const w = workspace('');
    const write = writer(w);
    await Promise.all(Array.from({ length: 8 }, (_, i) => write.write({ edits: [edit(`features.f${i}`, true)] })));
    expect(textOf(w).split('\n').sort().filter(Boolean)).toEqual(['[features]', ...Array.from({ length: 8 }, (_, i) => `f${i} = true`)]);
  });

  it('[config.write.overridden] a value that a higher layer decides is written, and the answer says which layer', async () => {
    const w = workspace('profile = "p"\n[profiles.p]\npersonality = "friendly"\n');
    const answer = await writer(w, { overrides: ['model=cli'] }).write({ edits: [edit('model_verbosity', 'low'), edit('model', 'file')] });
    expect(textOf(w)).toContain('model = "file"\n');
    expect([answer.status, answer.overriddenMetadata]).toEqual([
      'okOverridden',
      {
        message: 'model is overridden by the command line (-c)',
        overridingLayer: { name: { type: 'sessionFlags' }, version: versionOf('{"model":"cli"}') },
        effectiveValue: 'cli',
      },
    ]);
    const second = await writer(w).write({ edits: [edit('personality', 'none')] });
    expect(second.overriddenMetadata).toEqual({
      message: 'personality is overridden by the profile "p"',
      overridingLayer: { name: { type: 'user', file: w.file, profile: 'p' }, version: second.version },
      effectiveValue: 'friendly',
    });
  });
});

describe('refused writes', () => {
  it('[config.write.version] of a file that has changed since it was read', async () => {
    const w = workspace('model = "a"\n');
    expect(await refusal(w, { edits: [edit('model', 'b')], expectedVersion: versionOf('model = "old"\n') })).toEqual([
      -32600,
      { config_write_error_code: 'configVersionConflict' },
      '~/home/config.toml has changed since it was read; read it again and repeat the change',
    ]);
    rmSync(w.file);
    await writer(w).write({ edits: [edit('model', 'b')], expectedVersion: versionOf('') });
    expect(textOf(w)).toBe('model = "b"\n');
  });

  it.each([
    [
      'a wrong type',
      'a = 1\n',
      [edit('model', 5)],
      'configValidationError',
      '~/home/config.toml:2: model must be a string, not the integer 5',
    ],
    [
      'one bad edit of two',
      '',
      [edit('model_verbosity', 'low'), edit('model', 7)],
      'configValidationError',
      '~/home/config.toml:2: model must be a string, not the integer 7',
    ],
    [
      'a provider that does not exist',
      '',
      [edit('model_provider', 'nope-nope')],
      'configValidationError',
      '~/home/config.toml:1: model_provider: there is no provider "nope-nope"; known: openai, anthropic, ollama, lmstudio, scripted',
    ],
    [
      'a way through a value',
      'model = "a"\n',
      [edit('model.x', 1)],
      'configValidationError',
      'model is not a table, so model.x cannot be set; write model whole',
    ],
    ['an odd key', '', [edit('a..b', 1)], 'configPathNotFound', 'keyPath "a..b" is not a dotted key such as mcp_servers.x.command'],
    [
      'a blanked secret',
      '',
      [edit('mcp_servers.x.env', { K: '[redacted]' })],
      'configValidationError',
      'mcp_servers.x.env: [redacted] stands for a secret that is not shown; leave the key out to keep it',
    ],
    ['a null in a list', '', [edit('notify', ['a', null])], 'configValidationError', 'null inside a list cannot be written as TOML'],
    [
      'a file that is broken already',
      'a = \n',
      [edit('model', 'x')],
      'configValidationError',
      expect.stringMatching(/^~\/home\/config\.toml:1: invalid TOML/),
    ],
  ])('[config.write.invalid] %s', async (_, text, edits, code, message) => {
    expect(await refusal(workspace(text), { edits })).toEqual([-32600, { config_write_error_code: code }, message]);
  });

  it('[config.write.file] any file but the one of the user', async () => {
    const w = workspace('');
    const other = path.join(w.root, 'other.toml');
    expect(await refusal(w, { edits: [edit('model', 'x')], filePath: other })).toEqual([
      -32600,
      { config_write_error_code: 'configLayerReadonly' },
      'filePath: only ~/home/config.toml can be written, not ~/other.toml',
    ]);
    expect(existsSync(other)).toBe(false);
  });

  const group = [{ hooks: [{ type: 'command', command: 'true' }] }];
  it.each([
    ['the hash of a hook', [edit('hooks.state."k".trusted_hash', 'sha256:1', 'upsert')]],
    ['the hash, quoted otherwise', [edit(`"hooks".'state'.k."trusted_hash"`, 'sha256:1')]],
    ['the hash, within a table', [edit('hooks', { state: { k: { trusted_hash: 'sha256:1' } } }, 'upsert')]],
    ['another hash', [edit('hooks.state.old.trusted_hash', 'sha256:2')]],
    ['a hook', [edit('hooks.Stop', group)]],
    ['fewer hooks', [edit('hooks.PreToolUse', null)]],
    ['an extension', [edit('extensions', ['/tmp/x.mjs'])]],
    ['an extension of a profile', [edit('profiles.p', { extensions: ['/tmp/x.mjs'] }, 'upsert')]],
    ['trust of a project', [edit('projects."/w".trust_level', 'trusted')]],
    ['trust of a project, within a table', [edit('projects', { '/w': { trust_level: 'trusted' } }, 'upsert')]],
    ['trust beside something harmless', [edit('model', 'x'), edit('projects."/w"', { trust_level: 'trusted' })]],
  ])('[config.write.trust] %s', async (_, edits) => {
    const w = workspace(
      '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "guard"\n[hooks.state.old]\ntrusted_hash = "sha256:1"\n',
    );
    expect(await refusal(w, { edits })).toEqual([
      -32600,
      { config_write_error_code: 'configLayerReadonly' },
      'hooks, extensions and the trust of projects are changed by the user, in ~/home/config.toml itself, not by a client',
    ]);
  });

  it('[config.write.trust] a hook can be switched off and on', async () => {
    const w = workspace('');
    await writer(w).write({ edits: [edit('hooks.state."/a.b:stop:0:0".enabled', false)] });
    expect(textOf(w)).toBe('[hooks.state."/a.b:stop:0:0"]\nenabled = false\n');
  });

  it('[config.write.io] a folder that cannot be written leaves the file as it was and no other behind', async () => {
    const w = workspace('model = "a"\n');
    rmSync(w.home, { recursive: true });
    writeFileSync(w.home, 'a file');
    await expect(writer(w).write({ edits: [edit('model', 'x')] })).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/could not be written/),
    });
    expect(readFileSync(w.home, 'utf8')).toBe('a file');
  });
});
