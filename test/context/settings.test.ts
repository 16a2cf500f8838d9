// Settings: what sticks, what is refused and by what name, what the client hears.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { patchSettings, sandboxPolicyFor, type ThreadSettings, wireSettings } from '../../src/session/settings.ts';
import { Asked } from './asked.ts';

const refusal = async (t: Asked, method: string, params: Record<string, unknown>): Promise<string> => {
  const { error } = await t.frontend.request(method, params);
  return error ? `${error.code} ${error.message}` : 'it succeeded';
};

const SETTINGS: ThreadSettings = {
  model: 'a',
  modelProvider: 'p',
  cwd: '/w',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox: sandboxPolicyFor('read-only'),
  effort: null,
  summary: null,
  personality: null,
  serviceTier: null,
  baseInstructions: null,
  developerInstructions: null,
  collaborationMode: null,
};

describe('settings of a thread', () => {
  it('[settings.refused] names the field and the value of what cannot be meant, and changes nothing', async () => {
    const t = await Asked.open();
    const { threadId, cwd } = t.frontend;
    const file = path.join(cwd, 'file');
    writeFileSync(file, '');
    const turn = (params: Record<string, unknown>) =>
      refusal(t, 'turn/start', { threadId, input: [{ type: 'text', text: 'x' }], ...params });
    expect(await turn({ cwd: path.join(cwd, 'gone') })).toBe(`-32602 params.cwd: the folder ${cwd}/gone does not exist`);
    expect(await turn({ cwd: file })).toBe(`-32602 params.cwd: ${file} is not a folder`);
    expect(await turn({ cwd: 'relative' })).toBe('-32602 params.cwd: expected an absolute path, got "relative"');
    expect(await turn({ effort: 'huge' })).toBe(
      '-32602 params.effort: "huge" is no reasoning effort of gpt-5.5; expected one of low, medium, high, xhigh',
    );
    expect(await turn({ permissions: ':nobody' })).toMatch(/^-32602 params\.permissions: unknown profile ":nobody"; known: :read-only/);
    expect(await turn({ permissions: ':workspace', sandboxPolicy: { type: 'readOnly' } })).toMatch(/^-32602 .*give one of them$/);
    expect(await refusal(t, 'thread/start', { cwd, modelProvider: 'nobody' })).toMatch(/^-32600 model provider not found: nobody/);
    expect(await refusal(t, 'thread/start', { cwd, config: { model_reasoning_effort: 'huge' } })).toMatch(
      /^-32602 configuration error: model_reasoning_effort: "huge" is no reasoning effort/,
    );
    expect(t.frontend.all('thread/settings/updated')).toEqual([]);
    expect(t.requests).toEqual([]);
  });

  it('[settings.effort] an effort passes that the card lists or that other models know; a model that does not reason is sent none', async () => {
    const config = '[models.own]\nreasoning_efforts = ["gentle"]\n';
    const t = await Asked.open({ config });
    await t.turn('one', { model: 'own', effort: 'gentle' });
    await t.turn('two', { model: 'somebody', effort: 'xhigh' });
    await t.turn('three', { model: 'gpt-4.1' });
    await t.turn('four', { model: 'own', effort: 'gentle' });
    expect(t.requests.map(({ model, reasoning }) => [model, reasoning?.effort ?? null])).toEqual([
      ['own', 'gentle'],
      ['somebody', 'xhigh'],
      ['gpt-4.1', null],
      ['own', 'gentle'],
    ]);
  });

  it('[settings.update] thread/settings/update counts from the next turn on and is told once, whole', async () => {
    const t = await Asked.open({ config: '[sandbox_workspace_write]\nnetwork_access = true\n' });
    const { threadId } = t.frontend;
    const update = (params: Record<string, unknown>) => t.frontend.result('thread/settings/update', { threadId, ...params });
    await update({ model: 'gpt-5', effort: 'low', summary: 'detailed', permissions: ':workspace' });
    await update({ model: 'gpt-5' });
    await t.frontend.seen('thread/settings/updated');
    const told = t.frontend.all('thread/settings/updated');
    expect(told).toHaveLength(1);
    expect(told[0].threadSettings).toMatchObject({
      model: 'gpt-5',
      effort: 'low',
      summary: 'detailed',
      sandboxPolicy: { type: 'workspaceWrite', networkAccess: true, writableRoots: [] },
      collaborationMode: { mode: 'default', settings: { model: 'gpt-5', reasoning_effort: 'low', developer_instructions: null } },
    });
    await t.turn('one');
    expect([t.last.model, t.last.reasoning]).toEqual(['gpt-5', { effort: 'low', summary: 'detailed' }]);
    expect(t.texts('developer').join('\n')).toContain('network access is on');
  });

  it('[settings.mode] a collaboration mode brings model and effort, and follows them afterwards', () => {
    const mode = { mode: 'plan' as const, settings: { model: 'b', reasoning_effort: 'low', developer_instructions: 'D' } };
    const planned = patchSettings(SETTINGS, { collaborationMode: mode, model: 'ignored' });
    expect([planned.model, planned.effort]).toEqual(['b', 'low']);
    const moved = patchSettings(planned, { model: 'c' });
    expect(wireSettings(moved).collaborationMode).toEqual({
      mode: 'plan',
      settings: { model: 'c', reasoning_effort: 'low', developer_instructions: 'D' },
    });
    // What a rollout kept is what comes back.
    expect(patchSettings(SETTINGS, { ...moved })).toEqual(moved);
    expect(patchSettings(moved, { ...moved })).toBe(moved);
  });

  it('[settings.files] base instructions come from a file when one is named, and a missing one is an error', async () => {
    const t = await Asked.open({ config: 'model_instructions_file = "base.md"\nmodel_verbosity = "high"' }, false);
    const { home, cwd } = t.frontend;
    await t.frontend.result('initialize', { clientInfo: { name: 'test', version: '1' } });
    expect(await refusal(t, 'thread/start', { cwd })).toBe(
      `-32600 configuration error: model_instructions_file: ${home}/base.md cannot be read (ENOENT)`,
    );
    writeFileSync(path.join(home, 'base.md'), 'BASE OF A FILE');
    const { thread } = await t.frontend.result('thread/start', { cwd, modelProvider: 'local', model: 'gpt-5.5' });
    t.frontend.threadId = thread.id;
    await t.turn('one');
    expect([t.last.instructions, t.last.text?.verbosity]).toEqual(['BASE OF A FILE', 'high']);
  });
});

describe('models', () => {
  it('[models.unknown] a model that nobody describes is told of once a thread, not once a turn; an own card ends it', async () => {
    const t = await Asked.open({ config: '[models."my/own"]\ncontext_window = 9000\n' }, { model: 'who-knows' });
    await t.turn('one');
    await t.turn('two');
    await t.turn('three', { model: 'my/own' });
    await t.turn('four', { model: 'who-knows' });
    expect(t.warnings()).toEqual([
      'The model who-knows is not in the catalogue: plain tools and a context of 128000 tokens are assumed. [models."who-knows"] in config.toml can say what it does.',
    ]);
  });

  it('[models.no-images] a model without eyes is told that an image stood there; the history keeps it', async () => {
    const t = await Asked.open({ config: '[models.blind]\nimages = false\n' });
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    await t.turn('x', {
      input: [
        { type: 'text', text: 'look' },
        { type: 'image', url },
      ],
    });
    await t.turn('again', { model: 'blind' });
    expect(JSON.stringify(t.last.input)).not.toContain('input_image');
    expect(t.texts('user')).toContain('[An image stood here. This model reads text only.]');
    await t.turn('back', { model: 'gpt-5.5' });
    expect(JSON.stringify(t.last.input)).toContain(url);
  });
});

describe('warnings of a folder', () => {
  it('[settings.folder] what is wrong with the configuration of another folder is told when a thread begins there, once', async () => {
    const t = await Asked.open();
    const other = path.join(t.frontend.cwd, 'other');
    mkdirSync(path.join(other, '.git'), { recursive: true });
    mkdirSync(path.join(other, '.harnessd'));
    writeFileSync(path.join(other, '.harnessd/config.toml'), 'model = "evil"\n');
    const started = await t.frontend.result('thread/start', { cwd: other, modelProvider: 'local' });
    await t.frontend.result('thread/start', { cwd: other, modelProvider: 'local' });
    expect(started.model).not.toBe('evil');
    const told = t.frontend.all('configWarning').filter(({ summary }) => summary.includes(other));
    expect(told.map(({ summary }) => summary)).toEqual([
      `${other}/.harnessd is ignored (configuration, hooks, extensions, servers, skills): the project is not trusted.`,
    ]);
  });
});
