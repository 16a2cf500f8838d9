// Skills: where they are found, what the model hears of them, and what a client hears of changes.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { skillsBudget, skillsSection } from '../../src/session/context/skills-section.ts';
import { SkillCatalog } from '../../src/session/skill-catalog.ts';
import { discoverSkills, type Skill, SkillReader, skillText } from '../../src/session/skills.ts';
import { workspace } from '../config/workspace.ts';
import { Asked } from './asked.ts';

const file = (name: string, body = 'BODY', description = `Does ${name}`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
const skill = (name: string, description: string): Skill => ({
  name,
  description,
  shortDescription: null,
  path: `/s/${name}/SKILL.md`,
  scope: 'user',
  enabled: true,
});

describe('discovery', () => {
  it('[skills.found] finds nested ones, the nearest root first, follows links once, and says what is broken', async () => {
    const w = workspace('');
    w.put(
      'home/config.toml',
      `[projects."${w.work}"]\ntrust_level = "trusted"\n[skills]\nextra_roots = ["../extra"]\n[[skills.config]]\nname = "off"\nenabled = false\n`,
    );
    w.put('work/.harnessd/skills/own/SKILL.md', file('own'));
    w.put('home/skills/group/deep/SKILL.md', file('deep'));
    w.put('home/skills/off/SKILL.md', file('off'));
    w.put('home/skills/.hidden/x/SKILL.md', file('hidden'));
    w.put('home/skills/a/b/c/d/SKILL.md', file('too-deep'));
    w.put('home/skills/broken/SKILL.md', 'no front matter');
    mkdirSync(path.join(w.home, 'skills/folder/SKILL.md'), { recursive: true });
    w.put('extra/more/SKILL.md', file('more'));
    symlinkSync(w.home, path.join(w.home, 'skills/circle'));
    symlinkSync(path.join(w.root, 'extra/more'), path.join(w.home, 'skills/linked'));
    const { skills, errors } = await discoverSkills(w.home, await w.loaded({ cwd: w.work }));
    expect(skills.map(({ name, scope, enabled, path: at }) => [name, scope, enabled, path.relative(w.root, at)])).toEqual([
      ['own', 'repo', true, 'work/.harnessd/skills/own/SKILL.md'],
      ['deep', 'user', true, 'home/skills/group/deep/SKILL.md'],
      ['more', 'user', true, 'home/skills/linked/SKILL.md'],
      ['off', 'user', false, 'home/skills/off/SKILL.md'],
    ]);
    expect(errors.map(({ path: at, message }) => [path.relative(w.root, at), message])).toEqual([
      ['home/skills/broken/SKILL.md', 'there is no front matter: the first line must be ---'],
      ['home/skills/folder/SKILL.md', 'SKILL.md is not a file'],
    ]);
  });

  it('[skills.untrusted] a project that is not trusted has no skills', async () => {
    const w = workspace('');
    w.put('work/.harnessd/skills/own/SKILL.md', file('own'));
    expect(await discoverSkills(w.home, await w.loaded({ cwd: w.work }))).toEqual({ skills: [], errors: [] });
  });

  it('[skills.many] a root with too many folders is read in part, and that is an entry in errors', async () => {
    const w = workspace('');
    for (let i = 0; i < 1003; i++) mkdirSync(path.join(w.home, 'skills', `s${String(i).padStart(4, '0')}`), { recursive: true });
    w.put('home/skills/s0000/SKILL.md', file('first'));
    w.put('home/skills/s1002/SKILL.md', file('last'));
    const { skills, errors } = await discoverSkills(w.home, await w.loaded());
    expect([skills.map(({ name }) => name), errors]).toEqual([
      ['first'],
      [{ path: path.join(w.home, 'skills'), message: 'it holds more than 1000 folders; the rest was not looked into' }],
    ]);
  });
});

describe('what the model hears', () => {
  it('[skills.budget] whole descriptions where they fit, short ones where not, and a count of what is left out', () => {
    const long = 'x'.repeat(1000);
    const many = Array.from({ length: 40 }, (_, i) => skill(`s${i}`, long));
    expect(skillsSection([skill('fold', 'Folds\n  paper'), { ...skill('off', 'x'), enabled: false }], 4000)).toEqual({
      text: expect.stringMatching(/^<skills>\n[\s\S]*\n- fold: Folds paper \(\/s\/fold\/SKILL\.md\)\n<\/skills>$/),
      leftOut: 0,
    });
    expect(skillsSection([], 4000)).toEqual({ text: null, leftOut: 0 });
    const short = skillsSection(many, 9000);
    expect([short.leftOut, short.text?.includes(`${'x'.repeat(160)}… (/s/s39/SKILL.md)`)]).toEqual([0, true]);
    const cut = skillsSection(many, 1000);
    expect(cut.leftOut).toBeGreaterThan(30);
    expect(cut.text?.split('\n').at(-2)).toBe(`${cut.leftOut} more are not listed here; the user can name them all the same.`);
    expect([8_000, 272_000, 1_000_000].map(skillsBudget)).toEqual([4_000, 21_760, 24_000]);
  });

  it('[skills.text] a skill is told without its front matter, and cut with a pointer to the rest', async () => {
    const w = workspace('');
    const at = w.put('home/skills/big/SKILL.md', file('big', 'ä'.repeat(40_000)));
    const read = await skillText({ ...skill('big', 'd'), path: at });
    expect(read.ok && read.text.endsWith(`\n[${80_000 - 65_536} bytes more: read ${at}]\n</skill>`)).toBe(true);
    expect(await skillText({ ...skill('gone', 'd'), path: '/nowhere/SKILL.md' })).toEqual({
      ok: false,
      problem: 'The skill gone was not added: /nowhere/SKILL.md: it cannot be read (ENOENT).',
    });
  });

  it('[skills.named] a skill is added when it is named, not again while it is in the history, and never by a path alone', async () => {
    const t = await Asked.open();
    const { home, cwd } = t.frontend;
    const put = (name: string, body: string) => {
      mkdirSync(path.join(home, 'skills', name), { recursive: true });
      writeFileSync(path.join(home, 'skills', name, 'SKILL.md'), file(name, body));
    };
    put('fold', 'FOLD');
    writeFileSync(path.join(cwd, 'SKILL.md'), file('stray', 'STRAY'));
    const bodies = () => t.texts('user').filter((text) => text.startsWith('<skill '));
    await t.turn('$fold it, $unknown');
    await t.turn('$fold more');
    expect(bodies()).toEqual([`<skill name="fold" path="${home}/skills/fold/SKILL.md">\nFOLD\n</skill>`]);
    put('fold', 'FOLD ANEW');
    await t.turn('$fold again');
    expect(bodies()).toHaveLength(2);
    const stray = path.join(cwd, 'SKILL.md');
    await t.turn('x', {
      input: [
        { type: 'text', text: 'go' },
        { type: 'skill', name: 'stray', path: stray },
      ],
    });
    expect(bodies()).toHaveLength(2);
    expect(JSON.stringify(t.last.input)).not.toContain('STRAY');
    expect(t.warnings()).toEqual([`The skill stray (${stray}) was not added: no such skill is known here.`]);
  });
});

describe('changes', () => {
  it('[skills.changed] a client hears of new, changed and removed skills, also where no folder was before', async () => {
    const w = workspace('');
    let changes = 0;
    const catalog = new SkillCatalog(w.home, new SkillReader(w.home), () => changes++);
    onTestFinished(() => catalog.close());
    const next = async (act: () => void): Promise<string[]> => {
      const before = changes;
      act();
      for (let i = 0; i < 200 && changes === before; i++) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(changes).toBe(before + 1);
      return (await catalog.scan(await w.loaded())).skills.map(({ description }) => description);
    };
    expect((await catalog.scan(await w.loaded())).skills).toEqual([]);
    expect(await next(() => w.put('home/skills/one/SKILL.md', file('one')))).toEqual(['Does one']);
    expect(await next(() => w.put('home/skills/one/SKILL.md', file('one', 'B', 'Changed')))).toEqual(['Changed']);
    expect(await next(() => w.put('home/skills/two/SKILL.md', file('two')))).toEqual(['Changed', 'Does two']);
    expect(await next(() => rmSync(path.join(w.home, 'skills'), { recursive: true }))).toEqual([]);
    expect(await next(() => w.put('home/skills/three/SKILL.md', file('three')))).toEqual(['Does three']);
    w.put('home/other', 'x');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(changes).toBe(5);
  });

  it('[skills.changed-wire] skills/changed comes over the wire after skills/list', async () => {
    const t = await Asked.open();
    await t.frontend.result('skills/list', { cwds: [t.frontend.cwd] });
    mkdirSync(path.join(t.frontend.home, 'skills/new'), { recursive: true });
    writeFileSync(path.join(t.frontend.home, 'skills/new/SKILL.md'), file('new'));
    expect((await t.frontend.seen('skills/changed')).params).toEqual({});
    const { data } = await t.frontend.result('skills/list', { cwds: [t.frontend.cwd] });
    expect(data[0].skills.map(({ name }: { name: string }) => name)).toEqual(['new']);
  });
});
