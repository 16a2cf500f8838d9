// Features and skills switched by a client, and the older way back through a thread, against a whole daemon.
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type FrontendOptions, TestFrontend } from '../spine/client.ts';

const open: TestFrontend[] = [];
const frontend = (options?: FrontendOptions): TestFrontend => {
  const one = new TestFrontend(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

describe('features', () => {
  it('[switches.feature] counts where the configuration says nothing, and refuses a name that is none', async () => {
    const t = await frontend().start();
    fs.appendFileSync(path.join(t.home, 'config.toml'), '[features]\ntoken_budget = false\n');
    const enabled = async () => {
      const { data } = await t.result('experimentalFeature/list');
      const on = (data as { name: string; enabled: boolean }[]).filter((feature) => feature.enabled);
      return on.map((feature) => feature.name).filter((name) => name !== 'multi_agent'); // on by itself
    };
    expect(await enabled()).toEqual([]);
    const enablement = { token_budget: true, request_permissions_tool: true };
    expect(await t.result('experimentalFeature/enablement/set', { enablement })).toEqual({ enablement });
    expect(await enabled()).toEqual(['request_permissions_tool']);
    const refused = await t.request('experimentalFeature/enablement/set', { enablement: { request_permissions_tool: false, zz: true } });
    expect([refused.error.code, refused.error.message]).toEqual([
      -32602,
      expect.stringMatching(/^params.enablement: there is no feature "zz"/),
    ]);
    expect(await enabled()).toEqual(['request_permissions_tool']);
    await t.result('experimentalFeature/enablement/set', { enablement: { request_permissions_tool: false } });
    expect(await enabled()).toEqual([]);
  });
});

describe('skills', () => {
  it('[switches.skill] switches one by name or path in the file of the user, and leaves the rest of it', async () => {
    const t = await frontend().start();
    const file = (name: string) => path.join(t.home, 'skills', name, 'SKILL.md');
    for (const name of ['alpha', 'beta']) {
      fs.mkdirSync(path.dirname(file(name)), { recursive: true });
      fs.writeFileSync(file(name), `---\nname: ${name}\ndescription: does things\n---\n`);
    }
    const config = path.join(t.home, 'config.toml');
    fs.appendFileSync(config, '# kept\n[[skills.config]]\nname = "other"\nenabled = false\n');
    const write = (params: object) => t.result('skills/config/write', params);
    const list = async () => {
      const { data } = await t.result('skills/list', { cwds: [t.cwd] });
      return (data[0].skills as { name: string; enabled: boolean }[]).map((skill) => `${skill.name} ${skill.enabled}`);
    };
    expect([await write({ name: 'alpha', enabled: false }), await write({ path: file('beta'), enabled: false })]).toEqual([
      { effectiveEnabled: false },
      { effectiveEnabled: false },
    ]);
    expect(await list()).toEqual(['alpha false', 'beta false']);
    expect([await write({ path: path.dirname(file('beta')), enabled: true }), await list()]).toEqual([
      { effectiveEnabled: true },
      ['alpha false', 'beta true'],
    ]);
    await t.seen('skills/changed');
    const text = fs.readFileSync(config, 'utf8');
    expect([text.includes('# kept'), text.match(/name = "other"/g)?.length, text.match(/beta/g)?.length]).toEqual([true, 1, 1]);
    for (const params of [{}, { name: 'a', path: '/a' }, { name: ' ' }, { path: 'a' }])
      expect((await t.request('skills/config/write', { enabled: true, ...params })).error.code).toBe(-32602);
  });
});

describe('thread/rollback', () => {
  it('[switches.rollback] takes back a number of turns, all of them at most', async () => {
    const t = await frontend({ script: [{ say: 'one' }, { say: 'two' }, { say: 'three' }, { say: 'four' }] }).start();
    for (const text of ['a', 'b', 'c']) await t.turn(text);
    const rollback = async (numTurns: number) => {
      const { thread } = await t.result('thread/rollback', { threadId: t.threadId, numTurns });
      return (thread.turns as { items: { text?: string }[] }[]).map((turn) => turn.items.at(-1)?.text);
    };
    expect(await rollback(1)).toEqual(['one', 'two']);
    expect((await t.request('thread/rollback', { threadId: t.threadId, numTurns: 0 })).error).toEqual({
      code: -32602,
      message: 'params.numTurns: expected at least 1, got number 0',
    });
    expect([await rollback(5), await rollback(1)]).toEqual([[], []]);
    await t.seen('thread/reverted', (params) => params.threadId === t.threadId);
    expect((await t.turn('d')).items.map((item: { text: string }) => item.text)).toEqual(['four']);
  });
});
