// Whose hooks run: the user's own, and a project's only under a hash that the user wrote down. A client cannot write it.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { hookBench } from './bench.ts';

const touch = (file: string) => ({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `cat > /dev/null; touch ${file}` }] }] } });

/** A daemon in a trusted project that has hooks of its own. */
async function inProject(state = '') {
  const t = hookBench({ script: [{ when: '/go/', reply: call('exec_command', { cmd: 'echo x' }) }, { say: 'done' }, { say: 'done' }] });
  fs.mkdirSync(path.join(t.cwd, '.harnessd'));
  fs.mkdirSync(path.join(t.cwd, '.git'));
  fs.writeFileSync(path.join(t.cwd, '.harnessd', 'hooks.json'), JSON.stringify(touch(t.file('project-ran'))));
  const config = path.join(t.home, 'config.toml');
  fs.appendFileSync(config, `\n[projects.${JSON.stringify(t.cwd)}]\ntrust_level = "trusted"\n${state}`);
  await t.start();
  const list = async () => (await t.result('hooks/list', { cwds: [t.cwd] })).data[0];
  return { t, config, list };
}

describe('trust of hooks', () => {
  it('[hooks.project] a project hook does not run and is announced once; under the hash in the own file it runs', async () => {
    const { t, config, list } = await inProject();
    const { hooks, warnings, errors } = await list();
    const [hook] = hooks;
    expect(hooks.map((h: any) => [h.key, h.source, h.trustStatus])).toEqual([
      [`${path.join(t.cwd, '.harnessd', 'hooks.json')}:pre_tool_use:0:0`, 'project', 'untrusted'],
    ]);
    expect([warnings.length, errors]).toEqual([1, []]);
    await t.turn('go');
    await t.turn('again');
    expect([fs.existsSync(t.file('project-ran')), t.warnings()]).toEqual([false, warnings]);

    fs.appendFileSync(config, `[hooks.state.${JSON.stringify(hook.key)}]\ntrusted_hash = "${hook.currentHash}"\n`);
    expect((await list()).hooks[0].trustStatus).toBe('trusted');
    t.threadId = (await t.result('thread/start', { cwd: t.cwd })).thread.id;
    fs.writeFileSync(path.join(t.home, 'script.json'), '[]');
    await t.turn('go');
    expect(fs.existsSync(t.file('project-ran'))).toBe(true);
  });

  it('[hooks.project.write] a client cannot trust a hook, nor bring one', async () => {
    const { t, config, list } = await inProject();
    const before = fs.readFileSync(config, 'utf8');
    const [hook] = (await list()).hooks;
    for (const [keyPath, value] of [
      [`hooks.state.${JSON.stringify(hook.key)}.trusted_hash`, hook.currentHash],
      ['hooks.Stop', [{ hooks: [{ type: 'command', command: 'true' }] }]],
    ])
      expect((await t.request('config/value/write', { keyPath, value, mergeStrategy: 'upsert' })).error?.code).toBe(-32600);
    expect(fs.readFileSync(config, 'utf8')).toBe(before);
    const given = { 'hooks.PreToolUse': [{ hooks: [{ type: 'command', command: `touch ${t.file('thread-ran')}` }] }] };
    t.threadId = (await t.result('thread/start', { cwd: t.cwd, config: given })).thread.id;
    await t.turn('go');
    expect(fs.existsSync(t.file('thread-ran'))).toBe(false);
    expect(t.warnings().filter((text) => text.includes('/<thread>/config.toml:pre_tool_use:0:0'))).toHaveLength(1);
  });

  it('[hooks.file] a hooks.json that is broken is told, and the turn goes on', async () => {
    const t = hookBench({});
    fs.writeFileSync(path.join(t.home, 'hooks.json'), '{ not json');
    await t.start();
    expect((await t.turn('go')).status).toBe('completed');
    expect(t.warnings()).toEqual([expect.stringMatching(/^Hook problem in .*hooks\.json: it is not JSON, so none of its hooks run/)]);
    expect((await t.result('hooks/list', { cwds: [t.cwd] })).data[0].errors).toEqual([
      { path: path.join(t.home, 'hooks.json'), message: expect.stringMatching(/^it is not JSON/) },
    ]);
  });
});
