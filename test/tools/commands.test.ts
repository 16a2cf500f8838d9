import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EffectiveConfig } from '../../src/config/schema.ts';
import { nodePatchFs } from '../../src/patch/fs.ts';
import type { ToolCallItem } from '../../src/protocol/response-item.ts';
import { ExecServices } from '../../src/server/exec-services.ts';
import { noArtifacts } from '../../src/tools/artifacts.ts';
import type { FrontendOutcome, FrontendPort } from '../../src/tools/events.ts';
import { CommandCalls } from '../../src/tools/exec/command-calls.ts';
import { ApprovalGate } from '../../src/tools/gates/approval.ts';
import { ApprovalStore } from '../../src/tools/gates/approval-store.ts';
import { ParallelGate } from '../../src/tools/gates/parallel.ts';
import { Orchestrator } from '../../src/tools/orchestrator.ts';
import { PatchCalls } from '../../src/tools/patch/patch-calls.ts';
import { buildPlan } from '../../src/tools/plan.ts';
import { textOf } from '../../src/tools/result.ts';
import { readCallItem, ToolRouter } from '../../src/tools/router.ts';
import type { StepFacts, ToolRuntime } from '../../src/tools/runtime.ts';
import { execCommand } from '../../src/tools/runtimes/exec-command.ts';
import { localShell, shellCommand } from '../../src/tools/runtimes/shell-command.ts';
import { ABLE, facts, NO_HOOKS, recordingEvents, registryOf } from './support.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tools-commands-'));
const services = new ExecServices({ home, env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' } });
let sandboxed = false;
beforeAll(async () => {
  sandboxed = (await services.sandboxWarning()) === null;
});
afterAll(async () => {
  await services.endAll(100);
  fs.rmSync(home, { recursive: true, force: true });
});

function setUp(config: Partial<EffectiveConfig> = {}, decisions: string[] = []) {
  const cwd = fs.mkdtempSync(path.join(home, 'work-'));
  const calls = new CommandCalls(
    services.hostFor('thread', config as EffectiveConfig, () => null),
    new PatchCalls(nodePatchFs(), noArtifacts),
  );
  const asked: { itemId: string; reason: string }[] = [];
  const frontend: FrontendPort = {
    open: (_method, params) => {
      asked.push(params as never);
      return {
        outcome: Promise.resolve({ type: 'answered', value: { decision: decisions.shift() } } as unknown as FrontendOutcome<never>),
        cancel: () => {},
      };
    },
  };
  const orchestrator = new Orchestrator({
    approvals: new ApprovalGate(new ApprovalStore(), frontend, async () => null),
    hooks: NO_HOOKS,
    onTrace: () => {},
  });
  const registry = registryOf([execCommand(calls), shellCommand(calls), localShell(calls)] as unknown as ToolRuntime[]);
  const router = new ToolRouter(registry, buildPlan(registry, { abilities: ABLE, hosted: [] }));
  const events = recordingEvents();
  const gate = new ParallelGate();
  const run = (item: ToolCallItem, more: Partial<StepFacts> = {}, signal = new AbortController().signal) => {
    const { name, payload, replyAs } = readCallItem(item);
    const callId = item.call_id ?? 'none';
    return orchestrator.run({
      call: { callId, itemId: callId, name, payload, replyAs },
      route: router.route(name, replyAs),
      step: facts({ cwd, sandbox: { type: 'dangerFullAccess' }, ...more }),
      events,
      ticket: gate.take({ type: 'shared' }),
      signal,
    });
  };
  return { cwd, asked, events, router, run };
}

const call = (name: string, args: unknown, call_id = 'c1'): ToolCallItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: JSON.stringify(args),
});
const written = (text: string): string => text.slice(text.indexOf('\nOutput:\n') + 9);

describe('older command tools', () => {
  it('[tools.shell-command] is not listed, and runs a command line or an argv on the path of any other command', async () => {
    const s = setUp();
    expect(s.router.plan.specs.map((spec) => ('name' in spec ? spec.name : spec.type))).toEqual(['exec_command']);
    fs.mkdirSync(path.join(s.cwd, 'in'));
    const outputs = [
      await s.run(call('shell_command', { command: 'pwd; echo "a  b"', workdir: 'in' })),
      await s.run(call('shell_command', { command: ['bash', '-lc', 'echo "$0" one; exit 3'] }, 'c2')),
      await s.run(call('shell_command', { command: ['printf', '%s|', 'a b', "it's"], login: false }, 'c3')),
    ];
    expect(outputs.map((output) => [output.success, written(textOf(output))])).toEqual([
      [true, `${path.join(s.cwd, 'in')}\na  b\n`],
      [false, expect.stringMatching(/bash one\n$/)],
      [true, "a b|it's|"],
    ]);
    expect(s.events.itemOf('c1')?.current).toMatchObject({ type: 'commandExecution', source: 'agent', status: 'completed', exitCode: 0 });
  });

  it('[tools.local-shell] takes the local_shell_call item of a provider as a call of its own', async () => {
    const s = setUp();
    const output = await s.run({
      type: 'local_shell_call',
      call_id: 'ls',
      status: 'completed',
      action: { type: 'exec', command: ['sh', '-c', 'echo from $PWD'], working_directory: null, timeout_ms: 5_000 },
    });
    expect(written(textOf(output))).toBe(`from ${s.cwd}\n`);
    const wrong = await s.run({ type: 'local_shell_call', call_id: 'odd', action: { type: 'click' } });
    expect([wrong.category, textOf(wrong)]).toEqual([
      'invalid_arguments',
      expect.stringMatching(/command.*Expected: type: any \(required\), command: string \| array \(required\)/s),
    ]);
  });

  it('[tools.shell-timeout] ends a command at its limit and says that it may have had effects', async () => {
    const s = setUp();
    const output = await s.run(call('shell_command', { command: 'echo begun; sleep 30', timeout_ms: 600, login: false }));
    expect([output.category, output.uncertainOutcome, textOf(output)]).toEqual([
      'timeout',
      true,
      expect.stringMatching(/Process was ended: it ran over its limit of 600 ms[\s\S]*begun/),
    ]);
    expect(s.events.itemOf('c1')?.current).toMatchObject({ status: 'failed', exitCode: 124 });
  });

  it('[tools.shell-patch] hands a patch in such a command to the patch tool', async () => {
    const s = setUp();
    const patch = '*** Begin Patch\n*** Add File: made.txt\n+line\n*** End Patch';
    const output = await s.run(call('shell_command', { command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF`] }));
    expect([output.success, fs.readFileSync(path.join(s.cwd, 'made.txt'), 'utf8'), s.events.itemOf('c1')?.current.type]).toEqual([
      true,
      'line\n',
      'fileChange',
    ]);
  });
});

describe('a denied command', () => {
  const readOnly: Partial<StepFacts> = { sandbox: { type: 'readOnly' } };
  const write = call('exec_command', { cmd: 'echo first; echo x >> made.txt', login: false });
  const retry = { features: { retry_after_denial: true } };

  it('[tools.denied-offered] is offered for a second run outside the sandbox, where that is switched on, with its first output', async ({
    skip,
  }) => {
    if (!sandboxed) skip();
    const s = setUp(retry, ['accept']);
    const output = await s.run(write, readOnly);
    expect(s.asked.length).toBe(1);
    expect(s.asked[0].reason).toMatch(
      /^The sandbox stopped this command\. Run it again, from its beginning and outside the sandbox\? What it did before stays done\. Its output so far:\nfirst\n[^\n]*Read-only file system$/,
    );
    expect([output.success, fs.readFileSync(path.join(s.cwd, 'made.txt'), 'utf8')]).toEqual([true, 'x\n']);
    expect(textOf(output)).toMatch(
      /The sandbox stopped this command[\s\S]*The user let it run once more, outside the sandbox\. That run:\n[\s\S]*Process exited with code 0/,
    );
    expect(s.events.log.map((entry) => entry.replace(s.asked[0].itemId, 'second'))).toEqual([
      'started c1',
      'completed c1 failed',
      'started second',
      'completed second completed',
    ]);
  });

  it('[tools.denied-silent] is not run again when that is off, under never, or when the user declines', async ({ skip }) => {
    if (!sandboxed) skip();
    for (const [config, policy, asked] of [
      [{}, 'on-request', 0],
      [retry, 'never', 0],
      [retry, 'on-request', 1],
    ] as const) {
      const s = setUp(config, ['decline']);
      const output = await s.run(write, { ...readOnly, approvalPolicy: policy });
      expect([s.asked.length, output.success, fs.existsSync(path.join(s.cwd, 'made.txt'))]).toEqual([asked, false, false]);
    }
  });
});
