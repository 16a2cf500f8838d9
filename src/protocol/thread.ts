// Threads: the unit a client starts, resumes and lists, and its settings.
import * as z from 'zod';
import { ThreadItem } from './item.ts';
import { ReasoningEffort } from './primitives.ts';
import { type Infer, schema } from './schema.ts';
import { Turn } from './turn.ts';

export const CapabilityRootLocation = schema(() =>
  z.object({ environmentId: z.string(), path: z.string(), type: z.literal('environment') }),
);
export type CapabilityRootLocation = Infer<typeof CapabilityRootLocation>;

export const DynamicToolNamespaceTool = schema(() =>
  z.object({
    deferLoading: z.boolean().nullish(),
    description: z.string(),
    inputSchema: z.unknown(),
    name: z.string(),
    timeoutMs: z.int().min(1).nullish(),
    type: z.literal('function'),
  }),
);
export type DynamicToolNamespaceTool = Infer<typeof DynamicToolNamespaceTool>;

export const DynamicToolSpec = schema(() =>
  z.union([
    DynamicToolNamespaceTool(),
    z.object({ type: z.literal('namespace'), name: z.string(), description: z.string(), tools: z.array(DynamicToolNamespaceTool()) }),
  ]),
);
export type DynamicToolSpec = Infer<typeof DynamicToolSpec>;

export const GitInfo = schema(() => z.object({ branch: z.string().nullish(), originUrl: z.string().nullish(), sha: z.string().nullish() }));
export type GitInfo = Infer<typeof GitInfo>;

export const SelectedCapabilityRoot = schema(() => z.object({ id: z.string(), location: CapabilityRootLocation() }));
export type SelectedCapabilityRoot = Infer<typeof SelectedCapabilityRoot>;

export const SubAgentSource = schema(() =>
  z.union([
    z.enum(['review', 'compact', 'memory_consolidation']),
    z.object({
      thread_spawn: z.object({
        agent_nickname: z.string().nullish(),
        agent_path: z.string().nullish(),
        agent_role: z.string().nullish(),
        depth: z.int(),
        parent_thread_id: z.string(),
      }),
    }),
    z.object({ other: z.string() }),
  ]),
);
export type SubAgentSource = Infer<typeof SubAgentSource>;

export const SessionSource = schema(() =>
  z.union([
    z.enum(['cli', 'vscode', 'exec', 'appServer', 'unknown']),
    z.object({ custom: z.string() }),
    z.object({ subAgent: SubAgentSource() }),
  ]),
);
export type SessionSource = Infer<typeof SessionSource>;

export const ThreadEnvironment = schema(() =>
  z.object({ cwd: z.string(), environmentId: z.string(), runtimeWorkspaceRoots: z.array(z.string()) }),
);
export type ThreadEnvironment = Infer<typeof ThreadEnvironment>;

export const ThreadExtra = schema(() => z.looseObject({}));
export type ThreadExtra = Infer<typeof ThreadExtra>;

export const ThreadHistoryMode = schema(() => z.enum(['legacy', 'paginated']));
export type ThreadHistoryMode = Infer<typeof ThreadHistoryMode>;

export const ThreadSection = schema(() => z.looseObject({}));
export type ThreadSection = Infer<typeof ThreadSection>;

export const ThreadSource = schema(() => z.string());
export type ThreadSource = Infer<typeof ThreadSource>;

export const ThreadActiveFlag = schema(() => z.enum(['waitingOnApproval', 'waitingOnUserInput']));
export type ThreadActiveFlag = Infer<typeof ThreadActiveFlag>;

export const ThreadStatus = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('notLoaded') }),
    z.object({ type: z.literal('idle') }),
    z.object({ type: z.literal('systemError') }),
    z.object({ activeFlags: z.array(ThreadActiveFlag()), type: z.literal('active') }),
  ]),
);
export type ThreadStatus = Infer<typeof ThreadStatus>;

export const Thread = schema(() =>
  z.object({
    agentNickname: z.string().nullish(),
    agentRole: z.string().nullish(),
    attachedToThreadId: z.string().nullish(),
    canAcceptDirectInput: z.boolean().nullish(),
    cliVersion: z.string(),
    createdAt: z.int(),
    cwd: z.string(),
    daybreakEnabled: z.boolean().nullish(),
    environments: z.array(ThreadEnvironment()).nullish(),
    ephemeral: z.boolean(),
    extra: ThreadExtra().nullish(),
    forkedFromId: z.string().nullish(),
    gitInfo: GitInfo().nullish(),
    historyMode: ThreadHistoryMode().optional(),
    id: z.string(),
    model: z.string().nullish(),
    modelProvider: z.string(),
    name: z.string().nullish(),
    originator: z.string().nullish(),
    parentThreadId: z.string().nullish(),
    path: z.string().nullish(),
    preview: z.string(),
    projectId: z.string().nullable(),
    reasoningEffort: ReasoningEffort().nullish(),
    recencyAt: z.int().nullish(),
    section: ThreadSection().nullish(),
    sectionEnteredAt: z.int().nullish(),
    sessionId: z.string(),
    source: SessionSource(),
    status: ThreadStatus(),
    threadSource: ThreadSource().nullish(),
    turns: z.array(Turn()),
    updatedAt: z.int(),
  }),
);
export type Thread = Infer<typeof Thread>;

export const ThreadItemEntry = schema(() =>
  z.object({
    completedAtMs: z.int().nullish(),
    item: ThreadItem(),
    outputDeferred: z.boolean().optional(),
    startedAtMs: z.int().nullish(),
    turnId: z.string(),
  }),
);
export type ThreadItemEntry = Infer<typeof ThreadItemEntry>;

export const ThreadItemOutputDeferral = schema(() =>
  z.object({ commandExecution: z.boolean().optional(), mcpToolCall: z.boolean().optional() }),
);
export type ThreadItemOutputDeferral = Infer<typeof ThreadItemOutputDeferral>;
