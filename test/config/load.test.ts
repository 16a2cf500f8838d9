import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decidedBy, workspace } from './workspace.ts';

describe('layers', () => {
  it('[config.defaults] nothing configured: on-request, read-only, a provider that needs no key', async () => {
    const w = workspace();
    const { config, origins, layers, warnings, project } = await w.loaded();
    expect(config).toEqual({
      approval_policy: 'on-request',
      approvals_reviewer: 'user',
      sandbox_mode: 'read-only',
      project_doc_max_bytes: 32768,
      thread_unload_delay_secs: 1800,
      model_provider: 'scripted',
      model: 'scripted',
    });
    expect([...origins.values()].every((o) => o.layer.kind === 'defaults')).toBe(true);
    expect([layers.map((l) => l.kind), warnings, project]).toEqual([['defaults', 'user'], [], null]);
  });

  it('[config.defaults] a key in the environment chooses the provider, and the provider the model', async () => {
    const w = workspace();
    const { config } = await w.loaded({ env: { OPENAI_API_KEY: 'k' } });
    expect([config.model_provider, config.model]).toEqual(['openai', 'gpt-5.5']);
  });

  it('[config.layers] each layer lies over the ones before it, and each value knows its layer', async () => {
    const w = workspace(
      'model = "user"\nmodel_verbosity = "low"\nprofile = "fast"\nservice_tier = "user"\npersonality = "friendly"\n' +
        '[profiles.fast]\nmodel_verbosity = "medium"\nservice_tier = "profile"\nmodel_reasoning_effort = "profile"\n' +
        `[projects."__WORK__"]\ntrust_level = "trusted"\n`,
    );
    writeFileSync(w.file, readFileSync(w.file, 'utf8').replace('__WORK__', w.work));
    w.put('etc/config.toml', 'model = "system"\nreview_model = "system"\n');
    w.put('work/.harnessd/config.toml', 'model_reasoning_effort = "project"\nservice_tier = "project"\nweb_search = "live"\n');
    const loaded = await w.loaded({
      cwd: w.work,
      overrides: ['web_search=cached', 'features.a=true', 'compact_prompt = flags'],
      thread: { compact_prompt: 'thread', 'features.b': false },
    });
    const { projects: _, profiles: __, ...config } = loaded.config;
    expect(config).toEqual({
      approval_policy: 'on-request',
      approvals_reviewer: 'user',
      sandbox_mode: 'read-only',
      project_doc_max_bytes: 32768,
      thread_unload_delay_secs: 1800,
      model_provider: 'scripted',
      profile: 'fast',
      model: 'user',
      personality: 'friendly',
      review_model: 'system',
      model_verbosity: 'medium',
      service_tier: 'project',
      model_reasoning_effort: 'project',
      web_search: 'cached',
      compact_prompt: 'thread',
      features: { a: true, b: false },
    });
    expect(decidedBy(loaded)).toEqual({
      profile: 'user',
      model: 'user',
      personality: 'user',
      review_model: 'system',
      model_verbosity: 'profile',
      service_tier: 'project',
      model_reasoning_effort: 'project',
      web_search: 'flags',
      compact_prompt: 'thread',
      'features.a': 'flags',
      'features.b': 'thread',
      'profiles.fast.model_verbosity': 'user',
      'profiles.fast.service_tier': 'user',
      'profiles.fast.model_reasoning_effort': 'user',
      [`projects."${w.work}".trust_level`]: 'user',
    });
    expect(loaded.layers.map((l) => l.kind)).toEqual(['defaults', 'system', 'user', 'profile', 'project', 'flags', 'thread']);
    expect(loaded.warnings).toEqual([]);
  });

  it('[config.layers] tables are merged, lists and scalars replaced, a scalar and a table replace each other', async () => {
    const w = workspace(
      'approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }\n' +
        '[mcp_servers.x]\ncommand = "a"\nargs = ["1", "2"]\n[tools]\nweb_search = { context_size = "low" }\n',
    );
    const loaded = await w.loaded({ overrides: ['mcp_servers.x.args=["3"]', 'tools.web_search=false', 'approval_policy=never'] });
    expect([loaded.config.mcp_servers, loaded.config.tools, loaded.config.approval_policy]).toEqual([
      { x: { command: 'a', args: ['3'] } },
      { web_search: false },
      'never',
    ]);
    expect(decidedBy(loaded)).toEqual({
      'mcp_servers.x.command': 'user',
      'mcp_servers.x.args': 'flags',
      'tools.web_search': 'flags',
      approval_policy: 'flags',
    });
  });

  it('[config.layers] hooks of all layers add up: none can switch off those below', async () => {
    const hook = (command: string) => `[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "${command}"\n`;
    const w = workspace(hook('user'));
    w.put('etc/config.toml', hook('system'));
    const { config } = await w.loaded({ thread: { 'hooks.Stop': [] } });
    expect(config.hooks?.Stop?.flatMap((group) => group.hooks?.map((h) => h.command))).toEqual(['system', 'user']);
  });

  it('[config.frozen] nothing in the result can be changed', async () => {
    const { config } = await workspace('notify = ["a"]\n[features]\nx = true\n').loaded();
    for (const part of [config, config.features, config.notify]) expect(Object.isFrozen(part)).toBe(true);
  });

  it('[config.paths] relative paths belong to the folder of their file; ~ is the home of the user', async () => {
    const w = workspace('extensions = ["./a.mjs", "~/b.mjs", "/c.mjs"]\n[model_providers.s]\nwire_api = "scripted"\nscript = "s.json"\n');
    const { config } = await w.loaded({ cwd: w.work, thread: { 'sandbox_workspace_write.writable_roots': ['out'] } });
    expect([config.extensions, config.model_providers?.s.script, config.sandbox_workspace_write?.writable_roots]).toEqual([
      [path.join(w.home, 'a.mjs'), path.join(w.root, 'b.mjs'), '/c.mjs'],
      path.join(w.home, 's.json'),
      [path.join(w.work, 'out')],
    ]);
  });
});

describe('profiles', () => {
  const config =
    'profile = "a"\n[profiles.a]\nmodel = "ma"\n[profiles.b]\nmodel = "mb"\n[profiles.b.hooks]\n[profiles.b.projects."/"]\ntrust_level = "trusted"\n';
  it.each([
    ['the file', {}, 'ma'],
    ['-c over the file', { overrides: ['profile=b'] }, 'mb'],
    ['the thread over -c', { overrides: ['profile=b'], thread: { profile: 'a' } }, 'ma'],
    ['the option over all', { overrides: ['profile=a'], profile: 'b' }, 'mb'],
    ['-c for a key over the profile', { overrides: ['model=x'] }, 'x'],
  ])('[config.profile] chosen by %s', async (_, options, model) => {
    expect((await workspace(config).loaded(options)).config.model).toBe(model);
  });

  it('[config.profile] an unknown one is an error that names the known ones', async () => {
    expect(await workspace(config).refused({ profile: 'c' })).toBe('profile: there is no profile "c"; known: a, b');
    expect(await workspace('profile = "c"\n').refused()).toBe('~/home/config.toml: profile: there is no profile "c"; none is configured');
  });

  it('[config.profile] trust and hooks in a profile have no effect', async () => {
    const loaded = await workspace(config).loaded({ profile: 'b' });
    expect([loaded.config.hooks, loaded.config.projects]).toEqual([undefined, undefined]);
    expect(loaded.warnings.map((x) => x.summary.replace(/^.*config\.toml/, ''))).toEqual(
      [
        ':6: unknown key profiles.b.hooks is ignored',
        ':7: unknown key profiles.b.projects is ignored; did you mean profiles.b.notify?',
      ].map((text) => expect.stringContaining(text.split(';')[0])),
    );
  });
});

describe('overrides on the command line', () => {
  it.each([
    ['model=gpt-5.5', 'model', 'gpt-5.5'],
    ['model="gpt-5.5"', 'model', 'gpt-5.5'],
    ["model='gpt 5'", 'model', 'gpt 5'],
    [' model = a b ', 'model', 'a b'],
    ['model=a=b', 'model', 'a=b'],
    ['model=1.5.5', 'model', '1.5.5'],
    ['model=x\n[hooks]', 'model', 'x\n[hooks]'],
    ['model=', 'model', ''],
    ['model="\\u0041"', 'model', 'A'],
    ['model="open', 'model', '"open'],
    ['model_context_window=1_000', 'model_context_window', 1000],
    ['model_context_window=7', 'model_context_window', 7],
    ['project_doc_fallback_filenames=["a","b"]', 'project_doc_fallback_filenames', ['a', 'b']],
    ['features={ a = true }', 'features', { a: true }],
    ['features.x=false', 'features', { x: false }],
    ['model_providers."a.b=c".name=n', 'model_providers', { 'a.b=c': { name: 'n' } }],
  ] as const)('[config.flags] %j', async (text, key, value) => {
    const { config } = await workspace().loaded({ overrides: [text] });
    expect(config[key]).toEqual(value);
  });

  it.each([
    ['model', '-c expects key=value, for example -c model="gpt-5.5"; got "model"'],
    ['=x', '-c expects key=value, for example -c model="gpt-5.5"; got ""'],
    ['a..b=1', '-c expects key=value, for example -c model="gpt-5.5"; got "a..b"'],
    ['model=5', '-c: model must be a string, not the integer 5'],
    ['model_verbosity=loud', '-c: model_verbosity must be one of "low", "medium", "high", not "loud"'],
  ])('[config.flags] %j is refused', async (text, message) => {
    expect(await workspace().refused({ overrides: [text] })).toBe(message);
  });
});

describe('what is wrong', () => {
  it.each([
    [
      'model = "x"\n\nsandbox_mode = 5\n',
      ':3: sandbox_mode must be one of "read-only", "workspace-write", "danger-full-access", not the integer 5',
    ],
    ['[mcp_servers.x]\ncommand = "a"\nargs = [\n  "a",\n  5,\n]\n', ':3: mcp_servers.x.args[1] must be a string, not the integer 5'],
    [
      '[model_providers."a b"]\nwire_api = "soap"\n',
      ':2: model_providers."a b".wire_api must be one of "responses", "chat", "anthropic", "scripted", not "soap"',
    ],
    [
      '[model_providers.m]\nexperimental_bearer_token = ["secret"]\n',
      ':2: model_providers.m.experimental_bearer_token must be a string, not a list',
    ],
    ['stream = 1\nmodel_context_window = "sk-secret"\n', ':2: model_context_window must be an integer of at least 0, not a string'],
    ['model_context_window = 1.5\n', ':1: model_context_window must be an integer of at least 0, not the number 1.5'],
    [
      '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "a"\n[[hooks.Stop.hooks]]\ncommand = true\n',
      ':5: hooks.Stop[0].hooks[1].command must be a string, not true',
    ],
    ['features = 1979-05-27\n', ':1: features must be a table, not a date'],
    ['model = { a = 1 }\n', ':1: model must be a string, not a table'],
    ['[approval_policy.granular]\nrules = true\nsandbox_approval = true\n', ':1: approval_policy.granular needs the key mcp_elicitations'],
    [
      'approval_policy = "sometimes"\n',
      ':1: approval_policy must be one of "untrusted", "on-failure", "on-request", "never", or a table, not "sometimes"',
    ],
    [
      'model = 1\nnotify = 2\n',
      ':1: model must be a string, not the integer 1\n~/home/config.toml:2: notify must be a list, each entry a string, not the integer 2',
    ],
  ])('[config.type] %j', async (text, message) => {
    expect(await workspace(text).refused()).toBe(`~/home/config.toml${message}`);
  });

  it('[config.type] the error carries key, file and line', async () => {
    const w = workspace('# a\nmodel = 5\n');
    const result = await w.load();
    expect(result.ok ? null : [result.error.key, result.error.file, result.error.line]).toEqual(['model', w.file, 2]);
  });

  it('[config.toml] text that is not TOML is an error with line and column and without an excerpt', async () => {
    expect(await workspace('model = "x"\ntoken = "secret\n').refused()).toMatch(
      /^~\/home\/config\.toml:2: invalid TOML at column \d+: [^\n]+$/,
    );
    expect(await workspace('model = "x"\ntoken = "secret\n').refused()).not.toMatch(/secret/);
    expect(await workspace('model = "x"\nmodel = "y"\n').refused()).toMatch(/^~\/home\/config\.toml:2: invalid TOML/);
    expect(await workspace('__proto__ = 1\n').refused()).toMatch(/invalid TOML/);
  });

  it('[config.toml] a folder, bytes that are not UTF-8 and a huge file are refused; a byte order mark is not', async () => {
    const w = workspace();
    mkdirSync(w.file);
    expect(await w.refused()).toBe('~/home/config.toml: is not a regular file');
    const bytes = workspace();
    writeFileSync(bytes.file, Buffer.from([0x23, 0xff, 0x0a]));
    expect(await bytes.refused()).toBe('~/home/config.toml: is not UTF-8 text');
    expect(await workspace(`# ${'x'.repeat(1 << 20)}`).refused()).toBe('~/home/config.toml: is larger than 1048576 bytes');
    expect((await workspace('\ufeffmodel = "bom"\r\n').loaded()).config.model).toBe('bom');
  });

  it('[config.on-failure] the older policy is read as on-request and warned about where it stands', async () => {
    const w = workspace('approval_policy = "on-failure"\n[profiles.p]\napproval_policy = "on-failure"\n');
    const { warnings } = await w.loaded();
    const reason = 'is read as "on-request": a command that fails in the sandbox is not run again by itself';
    expect(warnings.map((x) => x.summary.replaceAll(w.root, '~'))).toEqual([
      `~/home/config.toml:1: approval_policy = "on-failure" ${reason}`,
      `~/home/config.toml:3: profiles.p.approval_policy = "on-failure" ${reason}`,
    ]);
  });

  it('[config.unknown] unknown keys are warned about with the nearest name, and loading goes on', async () => {
    const w = workspace('nonsense_key_7 = 1\nmodle = "x"\n[mcp_servers.x]\ncommand = "a"\n# why\nenabeld = true\n[tui]\nany = 1\n');
    const { warnings, config } = await w.loaded({ overrides: ['sandbox=x'], thread: { bogus_key: 1 } });
    expect(config.model).toBe('scripted');
    expect(warnings.map((x) => [x.summary.replaceAll(w.root, '~'), x.file, x.position?.line])).toEqual([
      ['~/home/config.toml:1: unknown key nonsense_key_7 is ignored', w.file, 1],
      ['~/home/config.toml:2: unknown key modle is ignored; did you mean model?', w.file, 2],
      ['~/home/config.toml:6: unknown key mcp_servers.x.enabeld is ignored; did you mean mcp_servers.x.enabled?', w.file, 6],
      ['-c: unknown key sandbox is ignored', null, undefined],
      ['config of the thread: unknown key bogus_key is ignored', null, undefined],
    ]);
  });

  it('[config.thread] a wrong type or an odd key in the config of a thread is an error that says so', async () => {
    const w = workspace();
    expect(await w.refused({ thread: { model: 5 } })).toBe('config of the thread: model must be a string, not the integer 5');
    expect(await w.refused({ thread: { 'a..b': 5 } })).toBe('config: "a..b" is not a dotted key');
    expect(await w.refused({ thread: JSON.parse('{"features":{"__proto__":{"x":true}}}') })).toMatch(/__proto__ is not a name/);
    expect((await w.loaded({ thread: { model: null, features: { a: null } } })).config.model).toBe('scripted');
  });

  it('[config.provider] a provider that does not exist is an error that names the near one', async () => {
    expect(await workspace('model_provider = "opneai"\n').refused()).toBe(
      '~/home/config.toml:1: model_provider: there is no provider "opneai"; did you mean "openai"?',
    );
    expect(await workspace().refused({ overrides: ['model_provider=zzzzzzzz'] })).toBe(
      'model_provider: there is no provider "zzzzzzzz"; known: openai, anthropic, ollama, lmstudio, scripted',
    );
  });
});
