// Hooks as they are written down: order, matching, trust by hash, and what is told of the odd ones.
import { describe, expect, it } from 'vitest';
import { readHooks, warningsOf } from '../../src/hooks/definitions.ts';
import { type HookOrigin, matches, metadataOf } from '../../src/hooks/hook.ts';

const user: HookOrigin = { source: 'user', path: '/h/config.toml', trust: 'own' };
const project: HookOrigin = { source: 'project', path: '/p/.harnessd/config.toml', trust: 'byHash' };
const command = (more: object = {}) => ({ type: 'command', command: 'check', ...more });
const group = (matcher: string | undefined, ...hooks: object[]) => ({ ...(matcher === undefined ? {} : { matcher }), hooks });

describe('hooks as written', () => {
  it('[hooks.order] are counted by source, and within a source by event', () => {
    const { hooks, errors } = readHooks(
      [
        { origin: user, table: { Stop: [group(undefined, command())], PreToolUse: [group('Bash', command(), command({ timeout: 7 }))] } },
        { origin: project, table: { PreToolUse: [group('', command())] } },
      ],
      {},
    );
    expect(errors).toEqual([]);
    expect(hooks.map(({ key, order, timeoutMs }) => [key, order, timeoutMs])).toEqual([
      ['/h/config.toml:pre_tool_use:0:0', 0, 600_000],
      ['/h/config.toml:pre_tool_use:0:1', 1, 7000],
      ['/h/config.toml:stop:0:0', 2, 600_000],
      ['/p/.harnessd/config.toml:pre_tool_use:0:0', 3, 600_000],
    ]);
  });

  it('[hooks.matcher] a matcher is a search in the names of the tool; none, empty and * take all', () => {
    const names: [string | undefined, string[]][] = [
      [undefined, ['Bash', 'apply_patch', 'mcp__x__echo', 'shop__open']],
      ['*', ['Bash', 'apply_patch', 'mcp__x__echo', 'shop__open']],
      ['^Bash$', ['Bash']],
      ['^exec_command$', ['Bash']],
      ['Bash|apply_patch', ['Bash', 'apply_patch']],
      ['^mcp__x__', ['mcp__x__echo']],
      ['(?i)^bash$', ['Bash']],
      ['open$', ['shop__open']],
    ];
    for (const [matcher, expected] of names) {
      const [hook] = readHooks([{ origin: user, table: { PreToolUse: [group(matcher, command())] } }], {}).hooks;
      const tools = [['Bash', 'exec_command'], ['apply_patch'], ['mcp__x__echo'], ['shop__open']];
      const found = tools.filter((subjects) => matches(hook, 'PreToolUse', subjects)).map(([name]) => name);
      expect(found, String(matcher)).toEqual(expected);
    }
  });

  it('[hooks.trust] the own file is trusted as it stands, others by a hash of all that decides what a hook does', () => {
    const table = { PreToolUse: [group('Bash', command({ timeout: 3 }))] };
    const key = `${project.path}:pre_tool_use:0:0`;
    const trustOf = (origin: HookOrigin, written: unknown, states = {}) => readHooks([{ origin, table: written }], states).hooks[0].trust;
    const [{ hash }] = readHooks([{ origin: project, table }], {}).hooks;
    expect(trustOf(user, table)).toBe('trusted');
    expect(trustOf(project, table)).toBe('untrusted');
    const states = { [key]: { trusted_hash: hash } };
    expect(trustOf(project, table, states)).toBe('trusted');
    for (const changed of [
      group('Bash', command({ timeout: 4 })),
      group('.*', command({ timeout: 3 })),
      group('Bash', { ...command({ timeout: 3 }), command: 'other' }),
      group('Bash', command({ timeout: 3, fail_closed: false })),
    ])
      expect(trustOf(project, { PreToolUse: [changed] }, states)).toBe('modified');
    // The order of keys is no part of it.
    expect(
      trustOf(project, { PreToolUse: [{ hooks: [{ timeout: 3, command: 'check', type: 'command' }], matcher: 'Bash' }] }, states),
    ).toBe('trusted');
  });

  it('[hooks.untrusted] neither an untrusted nor a switched-off hook matches; only the first is told', () => {
    const set = readHooks(
      [
        { origin: project, table: { PreToolUse: [group(undefined, command())] } },
        { origin: user, table: { PreToolUse: [group(undefined, command())] } },
      ],
      { '/h/config.toml:pre_tool_use:0:0': { enabled: false } },
    );
    expect(set.hooks.map((hook) => matches(hook, 'PreToolUse', ['Bash']))).toEqual([false, false]);
    expect(warningsOf(set)).toEqual([
      `Hook skipped: the PreToolUse hook ${set.hooks[0].key} does not run because it is not trusted. To trust it, put [hooks.state."${set.hooks[0].key}"] trusted_hash = "${set.hooks[0].hash}" into your own config.toml.`,
    ]);
  });

  it('[hooks.odd] what cannot be read is told; a hook that cannot work runs nothing, or blocks everything when it fails closed', () => {
    const table = {
      PreToolUse: [group('(', command()), group('(', command({ fail_closed: true })), { matcher: 'x' }],
      Stop: [group(undefined, { type: 'prompt', prompt: 'well?' }, command({ async: true, fail_closed: true }), { type: 'command' })],
      PreModelRequest: [group(undefined, command())],
      state: {},
    };
    const set = readHooks([{ origin: user, table }], {});
    expect(set.hooks.map((hook) => matches(hook, hook.event, ['Bash']))).toEqual([false, true, false, true, false]);
    expect(set.errors.map(({ message }) => message.replace(/; events are .*/, ''))).toEqual([
      'hooks.PreToolUse[2]: expected a group with a list "hooks"',
      'hooks.PreModelRequest: hooks of this event never run here',
      'the PreToolUse hook /h/config.toml:pre_tool_use:0:0: its matcher "(" is not a regular expression',
      'the PreToolUse hook /h/config.toml:pre_tool_use:1:0: its matcher "(" is not a regular expression',
      'the Stop hook /h/config.toml:stop:0:0: hooks of type "prompt" are not supported, only "command"',
      'the Stop hook /h/config.toml:stop:0:1: async and fail_closed exclude each other: nobody waits for an async hook',
      'the Stop hook /h/config.toml:stop:0:2: it has no command',
    ]);
    expect(readHooks([{ origin: user, table: 5 }], {}).errors).toEqual([
      { path: '/h/config.toml', message: 'hooks: expected a table from event names to lists' },
    ]);
  });

  it('[hooks.metadata] shows a hook whole', () => {
    const more = { timeout: 1.5, statusMessage: 'looking', additionalContextLimit: 9, async: true };
    const [hook] = readHooks([{ origin: project, table: { PostToolUse: [group('Bash', command(more))] } }], {}).hooks;
    expect(metadataOf(hook)).toEqual({
      key: '/p/.harnessd/config.toml:post_tool_use:0:0',
      eventName: 'postToolUse',
      handlerType: 'command',
      command: 'check',
      async: true,
      matcher: 'Bash',
      timeoutSec: 2,
      statusMessage: 'looking',
      additionalContextLimit: 9,
      sourcePath: '/p/.harnessd/config.toml',
      source: 'project',
      pluginId: null,
      environmentId: null,
      displayOrder: 0,
      enabled: true,
      isManaged: false,
      currentHash: hook.hash,
      trustStatus: 'untrusted',
    });
    expect(hook.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
