// The tools of each thread: which built-ins it has, by its configuration, and what they are made of.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { EffectiveConfig } from '../config/schema.ts';
import { featureEnabled, toolEnabled } from '../config/switches.ts';
import { validateAmendment } from '../exec/policy/amendments.ts';
import { parseScript } from '../exec/policy/parse.ts';
import type { HookSet } from '../hooks/definitions.ts';
import { nodePatchFs } from '../patch/fs.ts';
import type { HostedSpec } from '../protocol/tool-spec.ts';
import type { ThreadTools, ToolHost } from '../session/thread-tools.ts';
import { ArtifactStore, noArtifacts } from '../tools/artifacts.ts';
import { CommandCalls } from '../tools/exec/command-calls.ts';
import type { ExecHost } from '../tools/exec/host.ts';
import { UserShells } from '../tools/exec/user-shell.ts';
import { ApprovalGate, type ApprovalRequest } from '../tools/gates/approval.ts';
import { ApprovalStore } from '../tools/gates/approval-store.ts';
import { PatchCalls } from '../tools/patch/patch-calls.ts';
import type { ModelAbilities } from '../tools/plan.ts';
import type { ToolRuntime } from '../tools/runtime.ts';
import { agentTools } from '../tools/runtimes/agents.ts';
import { applyPatch } from '../tools/runtimes/apply-patch.ts';
import { currentTime, getContextRemaining, newContext } from '../tools/runtimes/context-window.ts';
import { execCommand } from '../tools/runtimes/exec-command.ts';
import { readArtifact } from '../tools/runtimes/read-artifact.ts';
import { requestPermissions } from '../tools/runtimes/request-permissions.ts';
import { requestUserInput } from '../tools/runtimes/request-user-input.ts';
import { localShell, shellCommand } from '../tools/runtimes/shell-command.ts';
import { updatePlan } from '../tools/runtimes/update-plan.ts';
import { viewImage } from '../tools/runtimes/view-image.ts';
import { writeStdin } from '../tools/runtimes/write-stdin.ts';
import { TraceFile } from '../tools/trace-file.ts';
import type { ExecServices } from './exec-services.ts';
import type { HookServices } from './hook-services.ts';

const NO_HOSTED: readonly HostedSpec[] = [];

/** The provider's own search on the web: live, or in what the provider has kept. */
function webSearchOf(config: EffectiveConfig): readonly HostedSpec[] {
  const mode = config.web_search;
  if (mode === 'disabled' || !toolEnabled(config, 'web_search', true)) return NO_HOSTED;
  return [{ type: 'hosted', name: 'web_search', ...(mode ? { options: { external_web_access: mode === 'live' } } : {}) }];
}

/** A runtime as the registry takes it: its argument type is its own business. */
const runtime = <A>(tool: ToolRuntime<A>): ToolRuntime => tool as unknown as ToolRuntime;

/** Tools that run beside the daemon, as a thread has them. */
export interface OutsideTools extends Pick<ThreadTools, 'started' | 'announced' | 'ready'> {
  tools(abilities: ModelAbilities): readonly ToolRuntime[];
  close(): void;
}

export class ThreadToolbox {
  readonly #exec: ExecServices;
  readonly #hooks: HookServices;
  readonly #home: string;
  readonly #traces: boolean;

  /** `traces`: the calls of every thread are traced into a file, whatever its configuration says. */
  constructor(exec: ExecServices, hooks: HookServices, home: string, options: { traces?: boolean } = {}) {
    this.#exec = exec;
    this.#hooks = hooks;
    this.#home = home;
    this.#traces = options.traces ?? false;
  }

  forThread(host: ToolHost, config: EffectiveConfig, hookSet: HookSet, mcp: OutsideTools): ThreadTools {
    const artifacts = new ArtifactStore(path.join(this.#home, 'artifacts', host.threadId));
    const exec = this.#exec.hostFor(host.threadId, config, (callId) => spillPath(host, artifacts, callId));
    const patches = new PatchCalls(nodePatchFs(), host.keepsArtifacts ? artifacts : noArtifacts, ({ sandbox, cwd, turnId }) =>
      exec.grants.permissions(sandbox, cwd, turnId),
    );
    const builtins = builtinTools(host, config, { exec, artifacts, patches });
    const asksInDefault = featureEnabled(config, 'default_mode_request_user_input');
    // One list for each of the two, kept: plans are cached by its identity.
    const [asking, working] = [true, asksInDefault].map((available) => [...builtins, runtime(requestUserInput(host.frontend, available))]);
    const hooks = this.#hooks.forThread(host, hookSet, config.shell_environment_policy ?? {});
    const webSearch = webSearchOf(config);
    const traced = host.keepsArtifacts && (this.#traces || featureEnabled(config, 'trace'));
    const shells = new UserShells(exec);
    const traces = traced ? new TraceFile(this.#home, host.threadId) : null;
    return {
      sources: {
        builtins: () => (host.settings().collaborationMode?.mode === 'plan' ? asking : working),
        external: (abilities: ModelAbilities) => mcp.tools(abilities),
        hosted: (abilities: ModelAbilities) => (abilities.webSearch ? webSearch : NO_HOSTED),
        strict: config.tools?.strict ?? false,
        suggest: toolEnabled(config, 'suggest', false),
        identity: host.identity,
        ...(config.agents?.max_depth === undefined ? {} : { maxDepth: config.agents.max_depth }),
      },
      approvals: new ApprovalGate(new ApprovalStore(), host.frontend, (amendment, request) => amend(exec, amendment, request)),
      hooks,
      started: () => mcp.started(),
      announced: () => mcp.announced(),
      ready: (text, signal) => mcp.ready(text, signal),
      onTrace: (trace) => {
        logger().debug(trace, 'tool call');
        traces?.add(trace);
      },
      terminals: async () =>
        (await exec.sessions.list()).map((session) => ({
          itemId: session.itemId,
          processId: String(session.id),
          command: session.command,
          cwd: session.cwd,
          osPid: session.pid,
          cpuPercent: session.cpuPercent,
          rssKb: session.rssKb,
        })),
      terminate: (processId) => exec.sessions.terminate(Number(processId)),
      terminateAll: async () => {
        await exec.sessions.terminateAll();
      },
      turnEnded: async (turnId, interrupted) => {
        patches.turnEnded(turnId);
        exec.grants.turnEnded(turnId);
        if (!interrupted) return;
        const ours = [...exec.startedIn].filter(([, turn]) => turn === turnId).map(([id]) => id);
        await Promise.all(ours.map((id) => exec.sessions.terminate(id)));
      },
      runUserShell: (run) => shells.run({ ...run, cwd: host.settings().cwd }),
      close: async () => {
        await shells.close();
        await hooks.close();
        mcp.close();
        await exec.sessions.terminateAll(300);
        await traces?.flush();
      },
    };
  }
}

/** The folder is made only when there is something to put into it; a command runs without it, too. */
function spillPath(host: ToolHost, artifacts: ArtifactStore, callId: string): string | null {
  if (!host.keepsArtifacts) return null;
  const file = artifacts.pathOf(callId);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return file;
  } catch (error) {
    logger().warn({ file, error: messageOf(error) }, 'the output of a command cannot be kept');
    return null;
  }
}

interface ToolParts {
  exec: ExecHost;
  artifacts: ArtifactStore;
  patches: PatchCalls;
}

function builtinTools(host: ToolHost, config: EffectiveConfig, { exec, artifacts, patches }: ToolParts): readonly ToolRuntime[] {
  const commands = new CommandCalls(exec, patches);
  const tools: ToolRuntime[] = [
    runtime(execCommand(commands)),
    runtime(writeStdin(exec)),
    runtime(shellCommand(commands)),
    runtime(localShell(commands)),
  ];
  if (toolEnabled(config, 'apply_patch', true)) tools.push(runtime(applyPatch(patches)));
  if (toolEnabled(config, 'update_plan', true)) tools.push(runtime(updatePlan()));
  if (toolEnabled(config, 'view_image', true)) tools.push(runtime(viewImage()));
  if (featureEnabled(config, 'request_permissions_tool')) {
    const granted = exec.grants.add.bind(exec.grants);
    tools.push(runtime(requestPermissions({ frontend: host.frontend, granted })));
  }
  if (toolEnabled(config, 'current_time', false)) tools.push(runtime(currentTime()));
  if (featureEnabled(config, 'token_budget')) tools.push(runtime(getContextRemaining(() => host.tokens())), runtime(newContext()));
  if (host.keepsArtifacts) tools.push(runtime(readArtifact(artifacts)));
  if (featureEnabled(config, 'multi_agent', true)) tools.push(...agentTools(host.agents));
  return tools;
}

/** A rule that came with an approval: stored when it covers the command that was asked about, and nothing wider. */
async function amend(exec: ExecHost, amendment: readonly string[], request: ApprovalRequest): Promise<string | null> {
  if (request.ask.kind !== 'command') return 'a file change takes no command rule';
  const problem = validateAmendment(amendment, await parseScript(request.ask.script));
  if (problem) return problem;
  await exec.addRule(amendment);
  return null;
}
