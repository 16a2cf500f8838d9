// The lists, asked for over a connection, against real configuration files.
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { Model } from '../../src/protocol/catalog.ts';
import type { McpServerStatus } from '../../src/protocol/mcp.ts';
import { type CatalogPorts, catalogHandlers } from '../../src/server/handlers/catalog.ts';
import { type Workspace, workspace } from '../config/workspace.ts';
import { Served } from './served.ts';

function served(config: string, more: Partial<CatalogPorts> = {}): { files: Workspace; client: Served } {
  const files = workspace(config);
  const load: CatalogPorts['load'] = async (cwd) => {
    const loaded = await loadConfig({ home: files.home, env: { HOME: files.root }, systemFile: files.systemFile, cwd });
    if (!loaded.ok) throw loaded.error;
    return loaded;
  };
  return { files, client: new Served(catalogHandlers({ home: files.home, load, ...more })) };
}

const GATEWAY = `model = "house"
model_provider = "gate"
[model_providers.gate]
name = "Gate"
base_url = "https://me:secret@gate.example/v1?key=secret"
env_key = "GATE_KEY"
[models.tiny]
provider = "ollama"
[models.big]
display_name = "Big"
reasoning_efforts = ["low", "huge"]
images = false
`;

interface ModelPage {
  data: Model[];
  nextCursor: string | null;
}

const ids = ({ data }: ModelPage): string[] => data.map((model) => model.id);

describe('model/list', () => {
  it('[catalog.models] puts the configured model first as the one default, then own cards, then what the provider can serve', async () => {
    const { client } = served(GATEWAY);
    const all = await client.result<ModelPage>('model/list', {});
    expect(ids(all)).toEqual(['house', 'big', 'gpt-5.5', 'gpt-5', 'gpt-5-mini', 'gpt-4.1', 'o4-mini']);
    expect(all.data.filter((model) => model.isDefault).map((model) => model.id)).toEqual(['house']);
    expect(all.nextCursor).toBeNull();
    expect(all.data[1]).toEqual({
      id: 'big',
      model: 'big',
      upgrade: null,
      upgradeInfo: null,
      availabilityNux: null,
      displayName: 'Big',
      description: 'A model that is not in the catalogue; only plain function tools are offered to it.',
      modelSpecialty: null,
      hidden: false,
      supportedReasoningEfforts: [
        { reasoningEffort: 'low', description: 'Little reasoning: quick answers' },
        { reasoningEffort: 'huge', description: 'Reasoning effort huge' },
      ],
      defaultReasoningEffort: 'low',
      inputModalities: ['text'],
      supportsPersonality: false,
      multiAgentVersion: null,
      additionalSpeedTiers: [],
      serviceTiers: [],
      defaultServiceTier: null,
      availableAccessPrograms: null,
      isDefault: false,
    });
  });

  it('[catalog.models-hidden] shows models of other providers only when hidden ones are wanted, and marks them', async () => {
    const { client } = served(GATEWAY);
    const all = await client.result<ModelPage>('model/list', { includeHidden: true });
    expect(all.data.filter((model) => model.hidden).map((model) => model.id)).toEqual([
      'tiny',
      'claude-opus-4-5',
      'claude-sonnet-4-5',
      'scripted',
    ]);
  });

  it('[catalog.models-provider] lists for another provider with its own default, and refuses one that does not exist', async () => {
    const { client } = served(GATEWAY);
    const { data } = await client.result<ModelPage>('model/list', { modelProvider: 'anthropic' });
    expect(data.map((model) => [model.id, model.isDefault])).toEqual([
      ['claude-sonnet-4-5', true],
      ['big', false],
      ['claude-opus-4-5', false],
    ]);
    expect(await client.refusal('model/list', { modelProvider: 'nobody' })).toBe(
      '-32602 params.modelProvider: there is no provider "nobody"; known: gate, openai, anthropic, ollama, lmstudio, scripted',
    );
  });

  it('[catalog.models-default] has a default without any configuration: the embedded script player', async () => {
    const { client } = served('');
    const { data } = await client.result<ModelPage>('model/list');
    expect(data.map((model) => [model.id, model.isDefault, model.defaultReasoningEffort])).toEqual([['scripted', true, 'medium']]);
  });

  it('[catalog.models-pages] pages with a cursor over the whole list and refuses a bogus one', async () => {
    const { client } = served(GATEWAY);
    const whole = ids(await client.result<ModelPage>('model/list', {}));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: ModelPage = await client.result<ModelPage>('model/list', { limit: 2, cursor });
      expect(page.data.length).toBeLessThanOrEqual(2);
      seen.push(...ids(page));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(whole);
    expect(await client.refusal('model/list', { cursor: 'bogus' })).toMatch(/^-32602 params\.cursor: /);
  });
});

describe('the other lists', () => {
  it('[catalog.providers] names every provider without the secrets of its address, and the default', async () => {
    const { client } = served(GATEWAY);
    const own = { id: 'gate', name: 'Gate', canEdit: true, baseUrl: 'https://gate.example/v1' };
    expect(await client.result('modelProvider/list')).toEqual({
      defaultProviderId: 'gate',
      canChangeDefault: true,
      data: [
        { ...own, settings: { type: 'customGateway', auth: { mode: 'environmentVariable', envKey: 'GATE_KEY' } } },
        { id: 'openai', name: 'OpenAI', canEdit: false, baseUrl: 'https://api.openai.com/v1', settings: { type: 'openai' } },
        {
          id: 'anthropic',
          name: 'Anthropic',
          canEdit: false,
          baseUrl: 'https://api.anthropic.com/v1',
          settings: { type: 'customGateway', auth: { mode: 'environmentVariable', envKey: 'ANTHROPIC_API_KEY' } },
        },
        {
          id: 'ollama',
          name: 'Ollama',
          canEdit: false,
          baseUrl: 'http://localhost:11434/v1',
          settings: { type: 'customGateway', auth: { mode: 'none' } },
        },
        {
          id: 'lmstudio',
          name: 'LM Studio',
          canEdit: false,
          baseUrl: 'http://localhost:1234/v1',
          settings: { type: 'customGateway', auth: { mode: 'none' } },
        },
        { id: 'scripted', name: 'Scripted', canEdit: false, baseUrl: null, settings: { type: 'customGateway', auth: { mode: 'none' } } },
      ],
    });
  });

  it('[catalog.capabilities] tells what the configured model can do at its provider', async () => {
    const { client } = served('model_provider = "openai"');
    expect(await client.result('modelProvider/capabilities/read')).toEqual({ imageGeneration: false, webSearch: true });
    const off = served('model_provider = "openai"\nweb_search = "disabled"');
    expect(await off.client.result('modelProvider/capabilities/read')).toEqual({ imageGeneration: false, webSearch: false });
    const plain = served('model_provider = "ollama"');
    expect(await plain.client.result('modelProvider/capabilities/read')).toEqual({ imageGeneration: false, webSearch: false });
  });

  it('[catalog.profiles] lists the built-in permission profiles, in pages when asked', async () => {
    const { client } = served('');
    const first = await client.result<{ data: { id: string; allowed: boolean }[]; nextCursor: string }>('permissionProfile/list', {
      limit: 2,
    });
    const rest = await client.result<typeof first>('permissionProfile/list', { cursor: first.nextCursor });
    expect([...first.data, ...rest.data].map(({ id, allowed }) => [id, allowed])).toEqual([
      [':read-only', true],
      [':workspace', true],
      [':danger-full-access', true],
    ]);
    expect(rest.nextCursor).toBeNull();
  });

  it('[catalog.features] tells of each feature whether it is on', async () => {
    const { client } = served('[features]\ntoken_budget = true\nunheard_of = true');
    const { data } = await client.result<{ data: { name: string; enabled: boolean }[] }>('experimentalFeature/list');
    expect(data.filter((feature) => feature.enabled).map((feature) => feature.name)).toEqual(['multi_agent', 'token_budget']);
    expect(await client.result('experimentalFeature/list', { limit: 1 })).toEqual({ data: [data[0]], nextCursor: expect.any(String) });
  });

  it('[catalog.modes] knows the plan mode with its effort and the default mode', async () => {
    const { client } = served('plan_mode_reasoning_effort = "high"');
    expect(await client.result('collaborationMode/list')).toEqual({
      data: [
        { name: 'Plan', mode: 'plan', model: null, reasoning_effort: 'high' },
        { name: 'Default', mode: 'default', model: null, reasoning_effort: null },
      ],
    });
  });

  it('[catalog.hooks] has an entry for each folder, with what the port knows', async () => {
    const { client } = served('');
    expect(await client.result('hooks/list', { cwds: ['/a', '/b'] })).toEqual({
      data: [
        { cwd: '/a', hooks: [], warnings: [], errors: [] },
        { cwd: '/b', hooks: [], warnings: [], errors: [] },
      ],
    });
    const told = served('', { hooks: async (cwd) => ({ hooks: [], warnings: [`seen ${cwd}`], errors: [] }) });
    expect(await told.client.result('hooks/list')).toEqual({
      data: [{ cwd: process.cwd(), hooks: [], warnings: [`seen ${process.cwd()}`], errors: [] }],
    });
  });

  it('[catalog.mcp] shows configured servers as they are: idle, disabled, or as the port knows them', async () => {
    const none = served('');
    expect(await none.client.result('mcpServerStatus/list')).toEqual({ data: [], nextCursor: null });
    const live: McpServerStatus = {
      name: 'live',
      authStatus: 'unsupported',
      runtimeStatus: 'connected',
      tools: { echo: { name: 'echo' } },
      resources: [],
      resourceTemplates: [],
    };
    const { client } = served(
      `[mcp_servers.idle]\ncommand = "true"\n[mcp_servers.live]\ncommand = "true"\n[mcp_servers.off]\nurl = "https://x.example/mcp?k=v"\nbearer_token_env_var = "T"\nenabled = false`,
      { mcpServer: async (name) => (name === 'live' ? live : undefined) },
    );
    const idle = { serverInfo: null, tools: {}, toolsError: null, resources: [], resourceTemplates: [] };
    expect(await client.result('mcpServerStatus/list')).toEqual({
      data: [
        { ...idle, name: 'idle', authStatus: 'unsupported', runtimeStatus: 'notStarted', httpOrigin: null },
        live,
        { ...idle, name: 'off', authStatus: 'bearerToken', runtimeStatus: 'disabled', httpOrigin: 'https://x.example' },
      ],
      nextCursor: null,
    });
    expect((await client.result<{ data: McpServerStatus[] }>('mcpServerStatus/list', { serverName: 'live' })).data).toEqual([live]);
  });
});

describe('skills/list', () => {
  const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: Does ${name}\n${more}---\nbody\n`;
  interface SkillsAnswer {
    data: { cwd: string; skills: Record<string, unknown>[]; errors: { path: string; message: string }[] }[];
  }

  it('[skills.find] finds the skills of the home, tells broken ones, and sees changes at once', async () => {
    const { files, client } = served('');
    const alpha = files.put('home/skills/alpha/SKILL.md', skill('alpha', 'metadata:\n  short-description: Short\n'));
    const broken = files.put('home/skills/broken/SKILL.md', 'no front matter\n');
    mkdirSync(path.join(files.home, 'skills/empty'));
    files.put('home/skills/note.txt', '');
    const list = async () => (await client.result<SkillsAnswer>('skills/list', { cwds: [files.work], forceReload: true })).data;
    const found = {
      name: 'alpha',
      description: 'Does alpha',
      shortDescription: 'Short',
      path: alpha,
      scope: 'user',
      enabled: true,
      pluginId: null,
    };
    expect(await list()).toEqual([
      {
        cwd: files.work,
        skills: [found],
        errors: [{ path: broken, message: 'there is no front matter: the first line must be ---' }],
      },
    ]);
    files.put('home/skills/broken/SKILL.md', skill('mended'));
    expect((await list())[0].errors).toEqual([]);
    expect((await list())[0].skills.map((entry) => entry.name)).toEqual(['alpha', 'mended']);
  });

  it('[skills.project] reads a project only when the user trusts it', async () => {
    const { files, client } = served('');
    files.put('work/.harnessd/skills/own/SKILL.md', skill('own'));
    const names = async () =>
      (await client.result<SkillsAnswer>('skills/list', { cwds: [files.work] })).data[0].skills.map((entry) => [entry.name, entry.scope]);
    expect(await names()).toEqual([]);
    files.put('home/config.toml', `[projects."${files.work}"]\ntrust_level = "trusted"\n`);
    expect(await names()).toEqual([['own', 'repo']]);
  });

  it('[skills.switch] keeps a skill that is switched off in the list, and counts a linked one once', async () => {
    const { files, client } = served('');
    const one = files.put('home/skills/one/SKILL.md', skill('one'));
    const two = files.put('extra/two/SKILL.md', skill('two'));
    symlinkSync(path.dirname(two), path.join(files.home, 'skills/two'));
    files.put(
      'home/config.toml',
      `[skills]\nextra_roots = ["${path.join(files.root, 'extra')}"]\n[[skills.config]]\npath = "${one}"\nenabled = false\n`,
    );
    const { data } = await client.result<SkillsAnswer>('skills/list', { cwds: [files.work] });
    expect(data[0].skills.map((entry) => [entry.name, entry.enabled])).toEqual([
      ['one', false],
      ['two', true],
    ]);
  });

  it('[skills.bad] tells a folder that cannot be meant and a configuration that is broken, and answers for the others', async () => {
    const { files, client } = served('');
    files.put('home/skills/alpha/SKILL.md', skill('alpha'));
    files.put('work/.harnessd/config.toml', 'model = 5\n');
    files.put('home/config.toml', `[projects."${files.work}"]\ntrust_level = "trusted"\n`);
    const { data } = await client.result<SkillsAnswer>('skills/list', { cwds: ['rel', files.work, files.root] });
    expect(data.map((entry) => [entry.skills.length, entry.errors.length])).toEqual([
      [0, 1],
      [0, 1],
      [1, 0],
    ]);
    expect(data[1].errors[0].message).toMatch(/config\.toml:1: model/);
  });
});
