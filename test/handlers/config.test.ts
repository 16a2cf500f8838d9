// config/* over a connection, on real files.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ConfigPorts, configHandlers } from '../../src/server/handlers/config.ts';
import { workspace } from '../config/workspace.ts';
import { Served } from './served.ts';

function served(config: string, more: Partial<ConfigPorts> = {}, overrides: string[] = []) {
  const files = workspace(config);
  const source = { home: files.home, env: { HOME: files.root }, overrides, profile: null };
  return { files, client: new Served(configHandlers({ source, ...more })) };
}

interface Read {
  config: Record<string, unknown>;
  origins: Record<string, { name: { type: string }; version: string }>;
  layers: { name: { type: string }; version: string }[] | null;
}

describe('config handlers', () => {
  it('[config-wire.read] gives values, where they come from, and the layers when asked', async () => {
    const { client } = served('model_reasoning_effort = "high"\nmodel_provider = "openai"', {}, ['model_verbosity="low"']);
    const plain = await client.result<Read>('config/read');
    expect([plain.config.model_reasoning_effort, plain.config.model_verbosity, plain.config.model, plain.layers]).toEqual([
      'high',
      'low',
      'gpt-5.5',
      null,
    ]);
    const { origins, layers } = await client.result<Read>('config/read', { includeLayers: true });
    expect(layers?.map((layer) => layer.name.type)).toEqual(['sessionFlags', 'user']);
    expect([origins.model_reasoning_effort, origins.model_verbosity.name.type]).toEqual([
      { name: layers?.[1].name, version: layers?.[1].version },
      'sessionFlags',
    ]);
  });

  it('[config-wire.read-project] reads a trusted project for its folder only', async () => {
    const { files, client } = served('');
    files.put('home/config.toml', `[projects."${files.work}"]\ntrust_level = "trusted"\n`);
    files.put('work/.harnessd/config.toml', 'model = "project-model"\n');
    expect((await client.result<Read>('config/read')).config.model).toBe('scripted');
    expect((await client.result<Read>('config/read', { cwd: files.work })).config.model).toBe('project-model');
    expect(await client.refusal('config/read', { cwd: 'work' })).toBe('-32602 params.cwd: expected an absolute path, got "work"');
  });

  it('[config-wire.broken] answers with key, file and line when the file is broken', async () => {
    const { files, client } = served('model = "x"\nsandbox_mode = 5\n');
    expect(await client.refusal('config/read')).toContain(`-32600 configuration error: ${files.file}:2: sandbox_mode`);
  });

  it('[config-wire.write] writes one value, keeps the rest, and detects a stale version', async () => {
    const { files, client } = served('# mine\nmodel = "a" # keep\n');
    const write = (more: object) => client.ask('config/value/write', { keyPath: 'model', value: 'b', mergeStrategy: 'replace', ...more });
    const { result } = await write({});
    expect(result).toEqual({ status: 'ok', version: expect.stringMatching(/^sha256:/), filePath: files.file, overriddenMetadata: null });
    expect(readFileSync(files.file, 'utf8')).toBe('# mine\nmodel = "b" # keep\n');
    const stale = await write({ expectedVersion: 'sha256:0' });
    expect([stale.error?.code, stale.error?.data]).toEqual([-32600, { config_write_error_code: 'configVersionConflict' }]);
    const other = path.join(files.root, 'other.toml');
    expect((await write({ filePath: other })).error?.data).toEqual({ config_write_error_code: 'configLayerReadonly' });
    expect(existsSync(other)).toBe(false);
    expect((await write({ value: 5 })).error?.data).toEqual({ config_write_error_code: 'configValidationError' });
    expect(readFileSync(files.file, 'utf8')).toBe('# mine\nmodel = "b" # keep\n');
  });

  it('[config-wire.write-nothing] does not take a missing value for null', async () => {
    const { files, client } = served('model = "a"\n');
    expect(await client.refusal('config/value/write', { keyPath: 'model', mergeStrategy: 'replace' })).toMatch(/^-32602 params\.value: /);
    expect(readFileSync(files.file, 'utf8')).toBe('model = "a"\n');
  });

  it('[config-wire.batch] writes all edits or none', async () => {
    const { files, client } = served('model = "a"\n');
    const edit = (keyPath: string, value: unknown) => ({ keyPath, value, mergeStrategy: 'replace' });
    const bad = await client.ask('config/batchWrite', { edits: [edit('model', 'b'), edit('sandbox_mode', 5)] });
    expect(bad.error?.data).toEqual({ config_write_error_code: 'configValidationError' });
    expect(readFileSync(files.file, 'utf8')).toBe('model = "a"\n');
    await client.result('config/batchWrite', { edits: [edit('model', 'b'), edit('model_verbosity', 'low')] });
    expect(readFileSync(files.file, 'utf8')).toBe('model = "b"\nmodel_verbosity = "low"\n');
  });

  it('[config-wire.requirements] has no requirements, and a reload that needs no servers', async () => {
    let reloads = 0;
    const { client } = served('', { reloadMcpServers: () => void reloads++ });
    expect(await client.result('configRequirements/read')).toEqual({ requirements: null, supportsIndependentSpeedModes: false });
    expect(await client.result('config/mcpServer/reload')).toEqual({});
    expect(reloads).toBe(1);
    expect(await served('').client.result('config/mcpServer/reload')).toEqual({});
  });
});
