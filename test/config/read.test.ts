import path from 'node:path';
import { expect, it } from 'vitest';
import { providerOf, providersOf } from '../../src/config/provider.ts';
import { configReadResponse, configRequirementsResponse, explainConfig, versionOf, warningNotification } from '../../src/config/read.ts';
import { featureEnabled, toolEnabled } from '../../src/config/switches.ts';
import { workspace } from './workspace.ts';

it('[config.read] values in force, where each comes from, and the layers, highest first', async () => {
  const text = 'model = "gpt-5.5"\nmodel_reasoning_effort = "high"\napproval_policy = "on-failure"\n';
  const w = workspace(text);
  w.put('work/.harnessd/config.toml', 'model = "evil"\n');
  const loaded = await w.loaded({ cwd: w.work, overrides: ['model_verbosity="low"', 'model_reasoning_effort="medium"'] });
  const user = { name: { type: 'user', file: w.file, profile: null }, version: versionOf(text) };
  const flags = { name: { type: 'sessionFlags' }, version: versionOf('{"model_verbosity":"low","model_reasoning_effort":"medium"}') };
  const { config, origins, layers } = configReadResponse(loaded, true);
  expect([
    config.model,
    config.approval_policy,
    config.sandbox_mode,
    config.model_verbosity,
    config.model_reasoning_effort,
    config.web_search,
  ]).toEqual(['gpt-5.5', 'on-request', 'read-only', 'low', 'medium', null]);
  expect(origins).toEqual({ model: user, approval_policy: user, model_verbosity: flags, model_reasoning_effort: flags });
  expect(layers).toEqual([
    { ...flags, config: { model_verbosity: 'low', model_reasoning_effort: 'medium' } },
    {
      name: { type: 'project', dotCodexFolder: path.join(w.work, '.harnessd') },
      version: versionOf(''),
      config: {},
      disabledReason: 'the project is not trusted',
    },
    { ...user, config: { model: 'gpt-5.5', model_reasoning_effort: 'high', approval_policy: 'on-failure' } },
  ]);
  expect(configReadResponse(loaded).layers).toBeNull();
});

it('[config.read.secrets] no secret is shown', async () => {
  const { config } = configReadResponse(
    await workspace(
      '[model_providers.m]\nexperimental_bearer_token = "s3cret"\nenv_key = "NAME_OF_KEY"\nhttp_headers = { Authorization = "s3cret", x-team = "a" }\n' +
        'query_params = { api-key = "s3cret", v = "1" }\n[mcp_servers.x]\nbearer_token_env_var = "VAR"\nenv = { MY_TOKEN = "s3cret", LANG = "C" }\n' +
        '[mcp_servers.x.oauth]\nclient_secret = "s3cret"\n[shell_environment_policy.set]\nDB_PASSWORD = "s3cret"\n',
    ).loaded(),
    true,
  );
  expect([config.model_providers, config.mcp_servers, config.shell_environment_policy]).toEqual([
    {
      m: {
        experimental_bearer_token: '[redacted]',
        env_key: 'NAME_OF_KEY',
        http_headers: { Authorization: '[redacted]', 'x-team': 'a' },
        query_params: { 'api-key': '[redacted]', v: '1' },
      },
    },
    { x: { bearer_token_env_var: 'VAR', env: { MY_TOKEN: '[redacted]', LANG: 'C' }, oauth: { client_secret: '[redacted]' } } },
    { set: { DB_PASSWORD: '[redacted]' } },
  ]);
});

it('[config.read] requirements and warnings in their wire form', async () => {
  expect(configRequirementsResponse()).toEqual({ requirements: null, supportsIndependentSpeedModes: false });
  const w = workspace('model = "a"\nmodle = "b"\n');
  const { warnings } = await w.loaded();
  expect(warnings.map(warningNotification)).toEqual([
    {
      summary: `${w.file}:2: unknown key modle is ignored; did you mean model?`,
      details: null,
      path: w.file,
      range: { start: { line: 2, column: 1 }, end: { line: 2, column: 12 } },
    },
  ]);
});

it('[config.read.explain] every value with the place that decided it', async () => {
  const w = workspace('profile = "p"\n[mcp_servers."a b"]\nenv = { API_KEY = "s3cret" }\n[profiles.p]\n# c\nmodel = "m"\n');
  const explained = explainConfig(await w.loaded({ overrides: ['features.x=true'], thread: { web_search: 'live' } }));
  expect(explained.map((e) => [e.key, e.value, e.source.replaceAll(w.root, '~')])).toEqual([
    ['approval_policy', 'on-request', 'built-in'],
    ['approvals_reviewer', 'user', 'built-in'],
    ['features.x', true, '-c'],
    ['mcp_servers."a b".env.API_KEY', '[redacted]', '~/home/config.toml:3'],
    ['model', 'm', '~/home/config.toml:6 (profile p)'],
    ['model_provider', 'scripted', 'built-in'],
    ['profile', 'p', '~/home/config.toml:1'],
    ['profiles.p.model', 'm', '~/home/config.toml:6'],
    ['project_doc_max_bytes', 32768, 'built-in'],
    ['sandbox_mode', 'read-only', 'built-in'],
    ['thread_unload_delay_secs', 1800, 'built-in'],
    ['web_search', 'live', 'config of the thread'],
  ]);
});

it('[config.provider] built-in and configured providers with every value filled in', async () => {
  const w = workspace(
    'openai_base_url = "https://proxy.test/v1"\n[model_providers.mock]\nbase_url = "http://127.0.0.1:1/v1"\nrequest_max_retries = 0\nexperimental_bearer_token = "t"\n' +
      '[model_providers.ollama]\nbase_url = "http://gpu:11434/v1"\n[model_providers.s]\nwire_api = "scripted"\nscript = "a.json"\n[model_providers.bad]\n[model_providers.worse]\nbase_url = "ftp://x"\n',
  );
  const { config } = await w.loaded();
  const all = providersOf(config);
  expect(all.map((p) => [p.id, p.name, p.baseUrl, p.wireApi, p.envKey, p.builtIn, p.defaultModel, p.fault])).toEqual([
    ['mock', 'mock', 'http://127.0.0.1:1/v1', 'responses', undefined, false, 'gpt-5.5', undefined],
    ['ollama', 'Ollama', 'http://gpu:11434/v1', 'chat', undefined, true, 'gpt-oss:20b', undefined],
    ['s', 's', '', 'scripted', undefined, false, 'scripted', undefined],
    ['bad', 'bad', '', 'responses', undefined, false, 'gpt-5.5', 'model provider "bad": base_url is missing'],
    ['worse', 'worse', 'ftp://x', 'responses', undefined, false, 'gpt-5.5', 'model provider "worse": base_url is not an http or https URL'],
    ['openai', 'OpenAI', 'https://proxy.test/v1', 'responses', 'OPENAI_API_KEY', true, 'gpt-5.5', undefined],
    ['anthropic', 'Anthropic', 'https://api.anthropic.com/v1', 'anthropic', 'ANTHROPIC_API_KEY', true, 'claude-sonnet-4-5', undefined],
    ['lmstudio', 'LM Studio', 'http://localhost:1234/v1', 'chat', undefined, true, 'openai/gpt-oss-20b', undefined],
    ['scripted', 'Scripted', '', 'scripted', undefined, true, 'scripted', undefined],
  ]);
  const mock = providerOf(config, 'mock');
  expect([mock?.apiKey?.(), JSON.stringify(mock).includes('"t"')]).toEqual(['t', false]);
  expect([mock?.requestMaxRetries, mock?.streamMaxRetries, mock?.streamIdleTimeoutMs, mock?.httpHeaders]).toEqual([0, 5, 300_000, {}]);
  expect([providerOf(config, 's')?.script, providerOf(config, 'toString')]).toEqual([path.join(w.home, 'a.json'), undefined]);
});

it('[config.switches] a feature or a tool is a boolean or a table', async () => {
  const { config } = await workspace(
    '[features]\na = true\nb = false\nc = { x = 1 }\nd = { enabled = false }\n[tools]\nupdate_plan = { enabled = true }\nview_image = false\n',
  ).loaded();
  expect(['a', 'b', 'c', 'd', 'e', 'toString'].map((name) => featureEnabled(config, name))).toEqual([
    true,
    false,
    true,
    false,
    false,
    false,
  ]);
  expect([toolEnabled(config, 'update_plan', false), toolEnabled(config, 'view_image', true), toolEnabled(config, 'other', true)]).toEqual([
    true,
    false,
    true,
  ]);
});
