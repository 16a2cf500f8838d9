// The tools around sub-agents: make one, give it more to do, wait for it, bring it back, end it.
import type { CollabAgentState, CollabAgentTool, ThreadItem } from '../../protocol/item.ts';
import type { ReasoningEffort } from '../../protocol/primitives.ts';
import type { JsonSchema } from '../../protocol/tool-spec.ts';
import { type AgentPort, type AgentState, isAtRest, shownState, stateForModel } from '../agents.ts';
import type { ToolEvents } from '../events.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { type ToolOutput, textOutput } from '../result.ts';
import type { Invocation, StepFacts, ToolRuntime, Validation } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';

type AgentItem = Extract<ThreadItem, { type: 'collabAgentToolCall' }>;

const NAMESPACE = 'multi_agent_v1';
const NAMESPACE_TEXT = 'Sub-agents: threads that work for you beside your own work, each with a context of its own.';

const DEFAULT_WAIT_MS = 30_000;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 3_600_000;

const text = (description: string) => ({ type: 'string', description }) as const;
const id = text('The agent_id that spawn_agent answered with.');

/** What a tool of this family is made of. */
interface Form<A> {
  name: string;
  tool: CollabAgentTool;
  description: string;
  parameters: JsonSchema;
  /** What its item shows from the beginning. */
  begins(args: A): Partial<AgentItem>;
  check?(args: A): string | null;
  /** Does the work; gives what the item shows in the end beside, and what the model reads. */
  run(args: A, invocation: Invocation<A>, signal: AbortSignal): Promise<{ shown: Partial<AgentItem>; answer: unknown }>;
}

function itemFor(tool: CollabAgentTool, itemId: string, step: StepFacts, shown: Partial<AgentItem>): AgentItem {
  const bare: AgentItem = {
    type: 'collabAgentToolCall',
    id: itemId,
    tool,
    status: 'inProgress',
    senderThreadId: step.threadId,
    receiverThreadIds: [],
    prompt: null,
    model: null,
    reasoningEffort: null,
    agentsStates: {},
  };
  return { ...bare, ...shown };
}

function end(events: ToolEvents, itemId: string, shown: Partial<AgentItem>): void {
  const handle = events.itemOf(itemId);
  if (handle) handle.complete({ ...(handle.current as AgentItem), status: 'completed', ...shown });
}

function runtimeOf<A>(form: Form<A>): ToolRuntime<A> {
  const { name, tool, description, parameters } = form;
  return {
    name: { name, namespace: NAMESPACE },
    namespaceDescription: NAMESPACE_TEXT,
    spec: { type: 'function', name, description, parameters, strict: false },
    exposure: 'deferred',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: false,
    audience: 'spawner',
    validate: (payload): Validation<A> => {
      const read = readFunctionPayload<A>(name, payload, parameters);
      const problem = read.ok ? form.check?.(read.args) : null;
      return problem ? { ok: false, problem } : read;
    },
    begin: (call, args, step, events) => {
      events.startItem(itemFor(tool, call.itemId, step, form.begins(args)), { abandoned: (item) => failedItem(item) });
    },
    run: async (invocation, signal): Promise<ToolOutput> => {
      const { shown, answer } = await form.run(invocation.args, invocation, signal);
      end(invocation.events, invocation.call.itemId, shown);
      return textOutput(JSON.stringify(answer));
    },
  };
}

const statesOf = (states: ReadonlyMap<string, AgentState>): Record<string, CollabAgentState> =>
  Object.fromEntries([...states].map(([agentId, state]) => [agentId, shownState(state)]));

interface SpawnArgs {
  message: string;
  model?: string | null;
  reasoning_effort?: ReasoningEffort | null;
  fork_context?: boolean | null;
}

const spawnAgent = (agents: AgentPort): ToolRuntime<SpawnArgs> =>
  runtimeOf({
    name: 'spawn_agent',
    tool: 'spawnAgent',
    description:
      'Gives a task to a new agent, which works in a thread of its own, in the same folder and under the same permissions. Answers at once with its agent_id; wait_agent gives its result. Use it for parts that do not depend on each other. The agent knows only what the message says, unless fork_context is set.',
    parameters: {
      type: 'object',
      properties: {
        message: { ...text('The task, with everything that the agent has to know.'), minLength: 1 },
        model: { type: ['string', 'null'], description: 'Another model than yours.' },
        reasoning_effort: { type: ['string', 'null'], description: 'Another reasoning effort than yours.' },
        fork_context: { type: ['boolean', 'null'], description: 'True: the agent begins with this conversation.' },
      },
      required: ['message'],
    },
    begins: ({ message, model, reasoning_effort }) => ({
      prompt: message,
      model: model ?? null,
      reasoningEffort: reasoning_effort ?? null,
    }),
    run: async ({ message, model, reasoning_effort, fork_context }, { step }, signal) => {
      const request = { message, model: model ?? null, effort: reasoning_effort ?? null, forkContext: fork_context ?? false };
      const { agentId, nickname, ...used } = await agents.spawn(request, step.turnId, signal);
      const shown = { receiverThreadIds: [agentId], model: used.model, reasoningEffort: used.effort };
      return {
        shown: { ...shown, agentsStates: { [agentId]: shownState(agents.state(agentId)) } },
        answer: { agent_id: agentId, nickname },
      };
    },
  });

interface SendArgs {
  target: string;
  message: string;
  interrupt?: boolean | null;
}

const sendInput = (agents: AgentPort): ToolRuntime<SendArgs> =>
  runtimeOf({
    name: 'send_input',
    tool: 'sendInput',
    description: 'Gives an agent more to do. It takes it up while it works, or begins again when it is done.',
    parameters: {
      type: 'object',
      properties: {
        target: id,
        message: { ...text('What is to be done, or told.'), minLength: 1 },
        interrupt: { type: ['boolean', 'null'], description: 'True: what it does now is ended first.' },
      },
      required: ['target', 'message'],
    },
    begins: ({ target, message }) => ({ receiverThreadIds: [target], prompt: message }),
    run: async ({ target, message, interrupt }) => {
      const submission = await agents.send(target, message, interrupt ?? false);
      return { shown: { agentsStates: { [target]: shownState(agents.state(target)) } }, answer: { submission_id: submission } };
    },
  });

interface WaitArgs {
  targets: string[];
  timeout_ms?: number | null;
}

const waitAgent = (agents: AgentPort): ToolRuntime<WaitArgs> =>
  runtimeOf({
    name: 'wait_agent',
    tool: 'wait',
    description:
      'Waits until at least one of the agents is done and answers with the states of those that are: the last message of one that completed, the error of one that failed. Call it again for the others.',
    parameters: {
      type: 'object',
      properties: {
        targets: { type: 'array', minItems: 1, items: id, description: 'The agents to wait for.' },
        timeout_ms: {
          type: ['number', 'null'],
          description: `At most this long, in milliseconds; ${DEFAULT_WAIT_MS} when it is left out.`,
        },
      },
      required: ['targets'],
    },
    begins: ({ targets }) => ({ receiverThreadIds: targets }),
    run: async ({ targets, timeout_ms }, _invocation, signal) => {
      const timeout = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, timeout_ms ?? DEFAULT_WAIT_MS));
      const states = await agents.wait(targets, timeout, signal);
      const status = Object.fromEntries([...states].map(([agentId, state]) => [agentId, stateForModel(state)]));
      return { shown: { agentsStates: statesOf(states) }, answer: { status, timed_out: states.size === 0 } };
    },
  });

interface AgentArgs {
  id: string;
}

const ONE_AGENT: JsonSchema = { type: 'object', properties: { id }, required: ['id'] };

const resumeAgent = (agents: AgentPort): ToolRuntime<AgentArgs> =>
  runtimeOf({
    name: 'resume_agent',
    tool: 'resumeAgent',
    description: 'Brings back an agent that was closed, with all that it knew. Then send_input gives it more to do.',
    parameters: ONE_AGENT,
    begins: (args) => ({ receiverThreadIds: [args.id] }),
    run: async (args) => {
      const state = await agents.resume(args.id);
      return { shown: { agentsStates: { [args.id]: shownState(state) } }, answer: { status: stateForModel(state) } };
    },
  });

const closeAgent = (agents: AgentPort): ToolRuntime<AgentArgs> =>
  runtimeOf({
    name: 'close_agent',
    tool: 'closeAgent',
    description: 'Ends an agent: what it does is interrupted. Close those that you need no more, so that you can have others.',
    parameters: ONE_AGENT,
    begins: (args) => ({ receiverThreadIds: [args.id] }),
    run: async (args) => {
      const before = await agents.close(args.id);
      const state: AgentState = isAtRest(before) ? before : { status: 'shutdown', message: null };
      return { shown: { agentsStates: { [args.id]: shownState(state) } }, answer: { previous_status: stateForModel(before) } };
    },
  });

const asRuntime = <A>(tool: ToolRuntime<A>): ToolRuntime => tool as unknown as ToolRuntime;

export const agentTools = (agents: AgentPort): ToolRuntime[] => [
  asRuntime(spawnAgent(agents)),
  asRuntime(sendInput(agents)),
  asRuntime(waitAgent(agents)),
  asRuntime(resumeAgent(agents)),
  asRuntime(closeAgent(agents)),
];
