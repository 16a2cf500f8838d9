// Plan mode: the model can put questions to the user, and the plan that it proposes is an item of its own.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlanPiece, PlanSplitter } from '../../src/session/proposed-plan.ts';
import { Asked, calling, says } from './asked.ts';

const PLAN = { collaborationMode: { mode: 'plan', settings: { model: 'gpt-5.5', reasoning_effort: null, developer_instructions: null } } };
const names = (t: Asked): string[] => t.last.tools.map((tool: any) => tool.name);
const question = (id: string) => ({
  id,
  header: id,
  question: `Which ${id}?`,
  options: [{ label: 'One' }, { label: 'Two', description: 'the second' }],
});
const outputs = (t: Asked): string[] => t.last.input.filter((item) => item.type === 'function_call_output').map(({ output }) => output);

describe('questions', () => {
  it('[plan.questions] are listed where the user can be asked: in Plan mode, or by the feature', async () => {
    const t = await Asked.open();
    await t.turn('work');
    expect(names(t)).not.toContain('request_user_input');
    await t.turn('plan', PLAN);
    expect(names(t)).toContain('request_user_input');
    const always = await Asked.open({ config: '[features]\ndefault_mode_request_user_input = true\n' });
    await always.turn('work');
    expect(names(always)).toContain('request_user_input');
  });

  it('[plan.answers] the answers come to the model as they are; options without a description are shown without one', async () => {
    const t = await Asked.open();
    const asked: any[] = [];
    t.frontend.answers.set('item/tool/requestUserInput', (params) => {
      asked.push(params);
      return { answers: { a: { answers: ['One'] }, b: { answers: [] } } };
    });
    await t.turn('plan', PLAN, [calling('request_user_input', { questions: [question('a'), question('b')] })], [says('fine')]);
    expect(asked[0].questions[0]).toEqual({
      id: 'a',
      header: 'a',
      question: 'Which a?',
      isOther: true,
      isSecret: false,
      options: [
        { label: 'One', description: '' },
        { label: 'Two', description: 'the second' },
      ],
    });
    expect(outputs(t)).toEqual(['{"answers":{"a":{"answers":["One"]},"b":{"answers":[]}}}']);
  });

  it('[plan.bad-questions] questions that nobody could answer are told to the model, and nobody is asked', async () => {
    const t = await Asked.open();
    const bad = [[{ ...question('a'), options: [] }], [question('a'), question('a')], [], [{ id: 'a' }]];
    await t.turn('plan', PLAN, ...bad.map((questions) => [calling('request_user_input', { questions })]), [says('fine')]);
    expect(outputs(t)).toEqual([
      expect.stringContaining('requires non-empty options for every question'),
      expect.stringContaining('two questions have the id "a"'),
      expect.stringContaining('questions'),
      expect.stringContaining('question'),
    ]);
    expect(t.frontend.methods()).not.toContain('item/tool/requestUserInput');
  });
});

const text = (pieces: readonly PlanPiece[], type: 'message' | 'plan'): string =>
  pieces.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join('');
const marks = (pieces: readonly PlanPiece[]): string[] =>
  pieces.flatMap(({ type }) => (type === 'planBegins' || type === 'planEnds' ? [type] : []));

describe('a proposed plan', () => {
  const line = fc.oneof(
    fc.constantFrom('<proposed_plan>', '</proposed_plan>', '  <proposed_plan> ', '<proposed', '<proposed_plan> x', '', 'a'),
    fc.string({ maxLength: 6 }).map((given) => given.replaceAll('\n', ' ')),
  );

  it('[plan.split] is the same however its text is cut into pieces, loses no line, and holds text back only where a tag may come', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 6 }), fc.boolean(), (lines, cuts, ends) => {
        const whole = lines.join('\n') + (ends ? '\n' : '');
        const at = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length];
        const cut = new PlanSplitter();
        const pieces = [...at.slice(1).flatMap((to, i) => cut.push(whole.slice(at[i], to))), ...cut.finish()];
        const once = new PlanSplitter();
        const expected = [...once.push(whole), ...once.finish()];
        for (const type of ['message', 'plan'] as const) expect(text(pieces, type)).toBe(text(expected, type));
        expect(marks(pieces)).toEqual(marks(expected));
        expect(marks(pieces).length % 2).toBe(0);
        // Only whole lines that are tags are left out, in turn.
        let inPlan = false;
        const kept: string[] = [];
        for (const one of whole.split(/(?<=\n)/)) {
          if (one.trim() === (inPlan ? '</proposed_plan>' : '<proposed_plan>')) inPlan = !inPlan;
          else kept.push(one);
        }
        const said = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('');
        expect(said).toBe(kept.join(''));
      }),
      { numRuns: 500 },
    );
    expect(new PlanSplitter().push('Hello <pro')).toEqual([{ type: 'message', text: 'Hello <pro' }]);
    expect(new PlanSplitter().push('<pro')).toEqual([]);
  });

  it('[plan.item] is an item of its own, cut from the message; the model reads its message as it wrote it', async () => {
    const t = await Asked.open();
    const written = 'Before.\n<proposed_plan>\n# Plan\n</proposed_plan>\nAfter.';
    await t.turn('plan', PLAN, [says(written)]);
    expect(t.frontend.items('plan').map(({ text: plan }) => plan)).toEqual(['# Plan\n']);
    expect(t.frontend.items('agentMessage').map(({ text: message }) => message)).toEqual(['Before.\nAfter.']);
    expect(
      t.frontend
        .all('item/plan/delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('# Plan\n');
    const open = t.frontend.all('item/started').map(({ item }) => item.type);
    expect(open.indexOf('plan')).toBeGreaterThan(open.indexOf('agentMessage'));
    await t.turn('go', { collaborationMode: { ...PLAN.collaborationMode, mode: 'default' } }, [says(written)]);
    expect(t.last.input.filter(({ role }) => role === 'assistant').map(({ content }) => content[0].text)).toEqual([written]);
    expect([t.frontend.items('plan').length, t.frontend.items('agentMessage').at(-1)?.text]).toEqual([1, written]);
  });

  it('[plan.unfinished] without an end ends with its message', async () => {
    const t = await Asked.open();
    await t.turn('plan', PLAN, [says('<proposed_plan>\nonly this')]);
    expect(t.frontend.items('plan').map(({ text: plan }) => plan)).toEqual(['only this']);
    expect(t.frontend.all('item/completed').length).toBe(t.frontend.all('item/started').length);
  });
});
