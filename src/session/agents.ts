// Sub-agents: who works for whom, how it stands with them, and who waits for that. An agent is a thread like any other; what is special is
// only here: its parent hears of its end, and an interrupt of the parent ends its work.
import { RpcError } from '../common/errors.ts';
import { newId } from '../common/ids.ts';
import type { MessageItem } from '../protocol/response-item.ts';
import { type AgentPort, type AgentState, isAtRest, type SpawnedAgent, type SpawnRequest, stateForModel } from '../tools/agents.ts';
import { ToolError } from '../tools/result.ts';
import { inputMessage } from './input-message.ts';
import type { SettingsPatch } from './settings.ts';
import type { Thread } from './thread.ts';
import { spawnOf } from './thread-view.ts';
import { hookContext } from './turn-hooks.ts';
import type { LoopResult } from './turn-loop.ts';
import { lastText, type TurnRecord } from './turn-record.ts';

export interface TeamPorts {
  find(threadId: string): Thread | undefined;
  /** A new thread that works for another one. Rejects with an RpcError for settings that no model could follow. */
  make(parent: Thread, request: SpawnRequest, nickname: string): Promise<Thread>;
  /** A stored thread that worked for this one; null when there is none of that id. */
  load(threadId: string, parentId: string): Promise<Thread | null>;
  putAway(threadId: string): Promise<void>;
  /** Whoever listens to the parent listens to the agent from now on. `isNew`: no client knows that the thread is loaded. */
  announce(parentId: string, agent: Thread, isNew: boolean): void;
  /** How many agents may be at work or at hand below one root. */
  limit(parent: Thread): number;
}

interface Member {
  readonly id: string;
  readonly parentId: string;
  readonly nickname: string;
  /** The turn of the parent that made it; null for one that was brought back. */
  readonly madeIn: string | null;
  /** How its last turn ended; while it runs, its thread says so. */
  last: AgentState;
  /** Its parent has not read of that yet. */
  untold: boolean;
  /** Its parent ends what it does, and knows. */
  stopping: boolean;
}

const NICKNAMES = [
  'Alder',
  'Birch',
  'Cedar',
  'Elm',
  'Fir',
  'Hazel',
  'Juniper',
  'Larch',
  'Maple',
  'Oak',
  'Pine',
  'Rowan',
  'Spruce',
  'Willow',
  'Yew',
];
const NOT_FOUND: AgentState = { status: 'notFound', message: null };
const SHUTDOWN: AgentState = { status: 'shutdown', message: null };

function stateAfter({ end, error }: LoopResult, record: TurnRecord): AgentState {
  if (end === 'completed') return { status: 'completed', message: lastText(record) };
  return end === 'failed' ? { status: 'errored', message: error?.message ?? 'the turn failed' } : { status: 'interrupted', message: null };
}

function stateOnLoad(last: TurnRecord | undefined): AgentState {
  if (!last) return { status: 'pendingInit', message: null };
  if (last.status === 'failed') return { status: 'errored', message: last.error?.message ?? null };
  return { status: last.status === 'completed' ? 'completed' : 'interrupted', message: lastText(last) };
}

/** What an agent may do is what its parent may do. */
const rightsOf = ({ state: { settings } }: Thread): SettingsPatch => ({
  sandbox: settings.sandbox,
  approvalPolicy: settings.approvalPolicy,
  approvalsReviewer: settings.approvalsReviewer,
});

const asToolError = (error: unknown): unknown =>
  error instanceof RpcError ? new ToolError('tool_error', `Nothing was done: ${error.message}`) : error;

const newsOf = ({ id, nickname, last }: Member): MessageItem =>
  inputMessage(
    'user',
    `<subagent_notification>\n${JSON.stringify({ agent_id: id, nickname, status: stateForModel(last) })}\n</subagent_notification>`,
  );

const unknownAgent = (id: string): ToolError =>
  new ToolError('not_found', `There is no agent ${id} of this thread. Nothing was done. Use an agent_id that spawn_agent answered with.`);

export class AgentTeam {
  readonly #ports: TeamPorts;
  readonly #members = new Map<string, Member>();
  /** Called when an agent has come to rest. */
  readonly #waiters = new Set<() => void>();
  /** Agents that are being made: they count already. */
  readonly #coming = new Set<{ root: string }>();
  /** Agents that are being brought back: whoever asks for one meanwhile waits for the same. */
  readonly #loading = new Map<string, Promise<Thread>>();
  #made = 0;

  constructor(ports: TeamPorts) {
    this.#ports = ports;
  }

  /** The agents of one thread, for its tools. */
  portFor(parentId: string): AgentPort {
    return {
      spawn: (request, turnId, signal) => this.#spawn(parentId, request, turnId, signal),
      send: (agentId, text, interrupt) => this.#send(parentId, agentId, text, interrupt),
      state: (agentId) => this.#stateOf(this.#member(parentId, agentId)),
      wait: (agentIds, timeoutMs, signal) => this.#wait(parentId, agentIds, timeoutMs, signal),
      resume: (agentId) => this.#resume(parentId, agentId),
      close: (agentId) => this.#close(parentId, agentId),
    };
  }

  /** Loaded agents of a thread, and theirs, down to the last. */
  below(parentId: string): Thread[] {
    return this.#membersOf(parentId).flatMap(({ id }) => [this.#ports.find(id) ?? [], this.below(id)].flat());
  }

  /** A thread may do less, or more, from now on: so may its agents. */
  rightsChanged(thread: Thread): void {
    for (const { id } of this.#membersOf(thread.id)) {
      const agent = this.#ports.find(id);
      agent?.patchSettings(rightsOf(thread))();
    }
  }

  /** Turns of a thread are gone: so are the agents that were made in them. */
  async reverted(parentId: string, turnIds: ReadonlySet<string>): Promise<void> {
    for (const { id, madeIn } of this.#membersOf(parentId)) {
      if (madeIn === null || !turnIds.has(madeIn)) continue;
      await this.#ports.putAway(id);
      this.#members.delete(id);
    }
  }

  /** What a thread has to be told of its agents: each end once. */
  takeNews(parentId: string): MessageItem[] {
    const news = this.#membersOf(parentId).filter((member) => member.untold && isAtRest(this.#stateOf(member)));
    for (const member of news) member.untold = false;
    return news.map(newsOf);
  }

  turnEnded(threadId: string, result: LoopResult, record: TurnRecord): void {
    if (result.end === 'interrupted') for (const agent of this.below(threadId)) void this.#stop(agent);
    const member = this.#members.get(threadId);
    if (!member) return;
    const { last, stopping } = member;
    member.stopping = false;
    const now = stateAfter(result, record);
    // A turn without a word, a command of the user for one, takes no result away.
    if (now.status === 'completed' && now.message === null && last.status === 'completed') return;
    member.last = now;
    member.untold = !(result.end === 'interrupted' && stopping);
    this.#wake();
  }

  #stop(agent: Thread): Promise<void> {
    const member = this.#members.get(agent.id);
    if (member && agent.activeTurnId !== null) member.stopping = true;
    return agent.stop();
  }

  /** A thread is put away: its agents have nobody to work for. */
  async gone(threadId: string): Promise<void> {
    const agents = this.#membersOf(threadId);
    await Promise.all(agents.map(({ id }) => this.#ports.putAway(id)));
    for (const { id } of agents) this.#members.delete(id);
    const member = this.#members.get(threadId);
    if (!member || isAtRest(member.last)) return;
    member.last = SHUTDOWN;
    this.#wake();
  }

  #membersOf(parentId: string): Member[] {
    return [...this.#members.values()].filter((member) => member.parentId === parentId);
  }

  #member(parentId: string, agentId: string): Member | undefined {
    const member = this.#members.get(agentId);
    return member?.parentId === parentId ? member : undefined;
  }

  #stateOf(member: Member | undefined): AgentState {
    if (!member) return NOT_FOUND;
    return this.#ports.find(member.id)?.activeTurnId ? { status: 'running', message: null } : member.last;
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** The thread that all others above work for. */
  #rootOf(threadId: string): string {
    let root = threadId;
    for (let above = this.#members.get(root); above; above = this.#members.get(root)) root = above.parentId;
    return root;
  }

  async #spawn(parentId: string, request: SpawnRequest, turnId: string, signal: AbortSignal): Promise<SpawnedAgent> {
    const parent = this.#ports.find(parentId);
    if (!parent) throw new ToolError('cancelled', 'The thread is being put away. No agent was made.');
    this.#checkLimit(parent);
    const child = await this.#make(parent, request, turnId);
    return this.#begin(parent, child, request, turnId, signal);
  }

  /** Makes a thread for an agent, which counts from the beginning. */
  async #make(parent: Thread, request: SpawnRequest, turnId: string): Promise<Thread> {
    const nickname = NICKNAMES[this.#made++ % NICKNAMES.length];
    const place = { root: this.#rootOf(parent.id) };
    this.#coming.add(place);
    try {
      const child = await this.#ports.make(parent, request, nickname);
      this.#keep({ id: child.id, parentId: parent.id, nickname, madeIn: turnId, last: stateOnLoad(undefined) });
      this.#ports.announce(parent.id, child, true);
      return child;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      throw new ToolError('invalid_arguments', `No agent was made: ${error.message}`);
    } finally {
      this.#coming.delete(place);
    }
  }

  #keep(member: Omit<Member, 'untold' | 'stopping'>): void {
    this.#members.set(member.id, { ...member, untold: false, stopping: false });
  }

  #checkLimit(parent: Thread): void {
    const root = this.#rootOf(parent.id);
    const made = [...this.#members.values()].filter(({ id, last }) => last.status !== 'shutdown' && this.#rootOf(id) === root).length;
    const there = made + [...this.#coming].filter((place) => place.root === root).length;
    const limit = this.#ports.limit(parent);
    if (there < limit) return;
    throw new ToolError(
      'tool_error',
      `There are ${there} agents, and ${limit} is the most. No agent was made. Close one that you need no more (close_agent), or do this part yourself.`,
    );
  }

  async #begin(parent: Thread, child: Thread, request: SpawnRequest, turnId: string, signal: AbortSignal): Promise<SpawnedAgent> {
    const texts = await parent.tools.hooks.subagentStart(turnId, { id: child.id, kind: 'default' }, signal);
    for (const text of texts) child.log.history('context', hookContext(text), null);
    if (signal.aborted) {
      await this.#close(parent.id, child.id);
      throw new ToolError('cancelled', 'aborted by user before the agent began.');
    }
    this.#say(child, request.message);
    const { model, effort } = child.state.settings;
    return { agentId: child.id, nickname: this.#members.get(child.id)?.nickname ?? '', model, effort };
  }

  /** Begins a turn of the agent, or adds to the one that runs. */
  #say(child: Thread, text: string): string {
    const id = newId();
    const input = [{ type: 'text' as const, text, text_elements: [] }];
    try {
      child.startTurn({ id, clientId: null, input, context: [] }, { patch: {}, outputSchema: undefined }).run();
    } catch (error) {
      throw asToolError(error);
    }
    return id;
  }

  async #send(parentId: string, agentId: string, text: string, interrupt: boolean): Promise<string> {
    const child = await this.#loaded(parentId, agentId);
    if (interrupt) await this.#stop(child);
    const member = this.#member(parentId, agentId);
    if (member) member.untold = false;
    return this.#say(child, text);
  }

  /** The thread of an agent, loaded when it was put away. */
  async #loaded(parentId: string, agentId: string): Promise<Thread> {
    const member = this.#member(parentId, agentId);
    const there = member && member.last.status !== 'shutdown' ? this.#ports.find(agentId) : undefined;
    if (there) {
      await there.whole();
      return there;
    }
    const key = `${parentId} ${agentId}`;
    let loading = this.#loading.get(key);
    if (!loading) {
      loading = this.#load(parentId, agentId, member).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
  }

  async #load(parentId: string, agentId: string, member: Member | undefined): Promise<Thread> {
    const parent = this.#ports.find(parentId);
    if (!parent) throw unknownAgent(agentId);
    const place = { root: this.#rootOf(parentId) };
    if (!member || member.last.status === 'shutdown') {
      this.#checkLimit(parent);
      this.#coming.add(place);
    }
    try {
      const isNew = !this.#ports.find(agentId);
      const child = await this.#ports.load(agentId, parentId);
      if (!child) throw unknownAgent(agentId);
      child.patchSettings(rightsOf(parent))();
      const nickname = member?.nickname ?? spawnOf(child.state.meta.source)?.agent_nickname ?? NICKNAMES[0];
      this.#keep({ id: agentId, parentId, nickname, madeIn: member?.madeIn ?? null, last: stateOnLoad(child.state.turns.at(-1)) });
      this.#ports.announce(parentId, child, isNew);
      return child;
    } catch (error) {
      throw asToolError(error);
    } finally {
      this.#coming.delete(place);
    }
  }

  async #resume(parentId: string, agentId: string): Promise<AgentState> {
    await this.#loaded(parentId, agentId);
    return this.#stateOf(this.#member(parentId, agentId));
  }

  async #close(parentId: string, agentId: string): Promise<AgentState> {
    const member = this.#member(parentId, agentId);
    if (!member) throw unknownAgent(agentId);
    const before = this.#stateOf(member);
    await this.#ports.putAway(agentId);
    member.last = SHUTDOWN;
    member.untold = false;
    this.#wake();
    return before;
  }

  #atRest(parentId: string, agentIds: readonly string[]): Map<string, AgentState> {
    const states = agentIds.map((agentId) => [agentId, this.#stateOf(this.#member(parentId, agentId))] as const);
    return new Map(states.filter(([, state]) => isAtRest(state)));
  }

  async #wait(
    parentId: string,
    agentIds: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, AgentState>> {
    // Those of an earlier daemon, or of a time before the parent was put away, are brought back: how they ended is in their records.
    const unknown = agentIds.filter((agentId) => !this.#member(parentId, agentId));
    for (const agentId of unknown) await this.#loaded(parentId, agentId).catch(() => null);
    if (this.#atRest(parentId, agentIds).size === 0)
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiters.delete(check);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const check = () => {
          if (this.#atRest(parentId, agentIds).size > 0) done();
        };
        const timer = setTimeout(done, timeoutMs);
        this.#waiters.add(check);
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
      });
    const rest = this.#atRest(parentId, agentIds);
    if (rest.size === 0 && signal.aborted)
      throw new ToolError('cancelled', 'aborted by user before an agent was done. The agents were ended, too.');
    for (const agentId of rest.keys()) {
      const member = this.#member(parentId, agentId);
      if (member) member.untold = false;
    }
    return rest;
  }
}
