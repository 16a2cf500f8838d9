// Commands: what `true` costs from the model's call to the model's next request, with and without the sandbox, and what a flood costs.

import { callItem, messageItem } from '../lib/model-server.mjs';
import { callScript, median, residentMegabytes, withDaemon } from './drive.mjs';

export const FIGURES = {
  execMs: { what: 'a call that runs `true`, its model step included', unit: 'ms', most: 8 },
  execSandboxMs: { what: 'the same in the sandbox', unit: 'ms', most: 20 },
  floodMbPerSecond: { what: '100 MB of output through a session', unit: 'MB/s', least: 100 },
  floodGrowthMb: { what: 'growth of resident memory under it', unit: 'MB', most: 32 },
};

/** The profile of whoever runs the bench is not what is measured. */
const ownHome = (home) => ({ HOME: home });

const FIRST = 10;

/** The median over single calls, the first ones left out: they load the grammar and look at the profile. */
function timed(command, sandbox, count = 60) {
  const asked = [];
  const script = callScript(count, 'exec_command', () => ({ cmd: 'true' }));
  const timedScript = (step) => {
    asked.push(performance.now());
    return script(step);
  };
  return withDaemon({ command, script: timedScript, env: ownHome }, async (daemon) => {
    await daemon.initialize();
    const seen = await daemon.runTurn(await daemon.startThread({ sandbox }), 'go');
    const done = seen.filter(({ method, params }) => method === 'item/completed' && params.item.status === 'completed');
    if (done.length < count) throw new Error(`${done.length} of ${count} commands completed`);
    return median(
      asked
        .slice(1)
        .map((at, i) => at - asked[i])
        .slice(FIRST),
    );
  });
}

const commands = async (command) => ({
  execMs: await timed(command, 'danger-full-access'),
  execSandboxMs: await timed(command, 'workspace-write'),
});

const FLOOD = 100_000_000;
const LINE = 'a line of the flood that goes through';

function flood(command) {
  const cmd = `yes ${LINE} | head -c ${FLOOD}`;
  const args = { cmd, yield_time_ms: 30_000 };
  const script = (step) =>
    step === 0 || step === 2 ? [callItem('exec_command', step === 0 ? { cmd: 'true' } : args)] : [messageItem('done')];
  return withDaemon({ command, script, env: ownHome }, async (daemon) => {
    await daemon.initialize();
    const threadId = await daemon.startThread();
    await daemon.runTurn(threadId, 'warm up');
    const before = residentMegabytes(daemon.child.pid);
    const seen = await daemon.runTurn(threadId, 'go');
    const item = seen.find(({ method, params }) => method === 'item/completed' && params.item.type === 'commandExecution').params.item;
    if (item.exitCode !== 0) throw new Error(`the flood ended with ${item.exitCode}`);
    return {
      floodMbPerSecond: FLOOD / 1_000 / item.durationMs,
      floodGrowthMb: residentMegabytes(daemon.child.pid, 'VmHWM') - before,
    };
  });
}

export const commandScenarios = { commands, flood };
