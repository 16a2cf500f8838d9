// What the user wants to see of a model's reasoning, and whether commands may read the login profile.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, TestFrontend } from '../spine/client.ts';
import { Asked, says } from './asked.ts';

const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'in short' }],
  content: [{ type: 'reasoning_text', text: 'in full' }],
};

describe('what is shown', () => {
  it('[context.reasoning-shown] all of it, the summary alone, or nothing; the model reads its own whatever is shown', async () => {
    const shown = async (config: string) => {
      const t = await Asked.open({ config });
      await t.turn('go', {}, [thought, says('done')]);
      await t.turn('on');
      expect(t.last.input.filter(({ type }) => type === 'reasoning')).toHaveLength(1);
      expect(t.frontend.all('item/started').length).toBe(t.frontend.all('item/completed').length);
      return t.frontend.items('reasoning').map(({ summary, content }) => [summary, content]);
    };
    expect(await shown('')).toEqual([[['in short'], ['in full']]]);
    expect(await shown('show_raw_agent_reasoning = false\n')).toEqual([[['in short'], []]]);
    expect(await shown('hide_agent_reasoning = true\n')).toEqual([]);
  });

  it('[commands.no-login] with allow_login_shell = false no command reads the login profile, whatever the model asks for', async () => {
    const output = async (config: string) => {
      const script = [call('exec_command', { cmd: 'echo "[$FROM_PROFILE]"', login: true }), { say: 'done' }];
      const t = new TestFrontend({ config, script });
      fs.writeFileSync(path.join(path.dirname(t.home), '.bash_profile'), 'export FROM_PROFILE=profile\n');
      await t.start();
      await t.turn('go');
      const [item] = t.items('commandExecution');
      await t.dispose();
      return item.aggregatedOutput.trim();
    };
    expect([await output(''), await output('allow_login_shell = false\n')]).toEqual(['[profile]', '[]']);
  });
});
