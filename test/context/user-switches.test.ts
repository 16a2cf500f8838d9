// Switches of the user: what is shown of reasoning, the login profile, and how long a look may take.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, TestFrontend } from '../spine/client.ts';
import { Asked, calling, says } from './asked.ts';

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

  it('[commands.longest-wait] a look at a running command waits no longer than the user allows', async () => {
    const t = await Asked.open({ config: 'background_terminal_max_timeout = 300\n' });
    await t.turn('go', {}, [calling('exec_command', { cmd: 'sleep 60', yield_time_ms: 250 })], [says('it runs')]);
    const outputs = () => t.last.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
    const session = Number(/session ID (\d+)/.exec(outputs()[0])?.[1]);
    // Longer than any test may take.
    await t.turn('look', {}, [calling('write_stdin', { session_id: session, yield_time_ms: 300_000 })], [says('it runs on')]);
    expect(outputs()[1]).toContain(`session ID ${session}`);
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
