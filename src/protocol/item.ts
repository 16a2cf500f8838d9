// Thread items and the notifications that carry them: what a client shows as the story of a turn.
import * as z from 'zod';
import {
  AgentMessageModeration,
  FunctionCallOutputBody,
  ImageGenerationFailure,
  ImageGenerationInputImage,
  MemoryCitation,
  ReasoningEffort,
} from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const AgentMessageDelivery = schema(() => z.literal('async'));
export type AgentMessageDelivery = Infer<typeof AgentMessageDelivery>;

export const AgentMessageDeltaNotification = schema(() =>
  z.object({ delta: z.string(), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type AgentMessageDeltaNotification = Infer<typeof AgentMessageDeltaNotification>;

export const AsyncUserInputQuestion = schema(() => z.object({ options: z.array(z.string()).nullish(), title: z.string() }));
export type AsyncUserInputQuestion = Infer<typeof AsyncUserInputQuestion>;

export const ByteRange = schema(() => z.object({ end: z.int().min(0.0), start: z.int().min(0.0) }));
export type ByteRange = Infer<typeof ByteRange>;

export const CollabAgentStatus = schema(() =>
  z.enum(['pendingInit', 'running', 'interrupted', 'completed', 'errored', 'shutdown', 'notFound']),
);
export type CollabAgentStatus = Infer<typeof CollabAgentStatus>;

export const CollabAgentState = schema(() => z.object({ message: z.string().nullish(), status: CollabAgentStatus() }));
export type CollabAgentState = Infer<typeof CollabAgentState>;

export const CollabAgentTool = schema(() =>
  z.enum(['spawnAgent', 'sendInput', 'resumeAgent', 'wait', 'closeAgent', 'sendMessage', 'followupTask', 'interruptAgent', 'listAgents']),
);
export type CollabAgentTool = Infer<typeof CollabAgentTool>;

export const CollabAgentToolCallStatus = schema(() => z.enum(['inProgress', 'completed', 'failed', 'interrupted']));
export type CollabAgentToolCallStatus = Infer<typeof CollabAgentToolCallStatus>;

export const CommandAction = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ command: z.string(), name: z.string(), path: z.string(), type: z.literal('read') }),
    z.object({ command: z.string(), path: z.string().nullish(), type: z.literal('listFiles') }),
    z.object({ command: z.string(), path: z.string().nullish(), query: z.string().nullish(), type: z.literal('search') }),
    z.object({ command: z.string(), type: z.literal('unknown') }),
  ]),
);
export type CommandAction = Infer<typeof CommandAction>;

export const CommandExecutionOutputDeltaNotification = schema(() =>
  z.object({ delta: z.string(), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type CommandExecutionOutputDeltaNotification = Infer<typeof CommandExecutionOutputDeltaNotification>;

export const CommandExecutionSource = schema(() => z.enum(['agent', 'userShell', 'unifiedExecStartup', 'unifiedExecInteraction']));
export type CommandExecutionSource = Infer<typeof CommandExecutionSource>;

export const CommandExecutionStatus = schema(() => z.enum(['inProgress', 'completed', 'failed', 'declined']));
export type CommandExecutionStatus = Infer<typeof CommandExecutionStatus>;

export const DynamicToolCallOutputContentItem = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ text: z.string(), type: z.literal('inputText') }),
    z.object({ imageUrl: z.string(), type: z.literal('inputImage') }),
    z.object({ audioUrl: z.string(), type: z.literal('inputAudio') }),
  ]),
);
export type DynamicToolCallOutputContentItem = Infer<typeof DynamicToolCallOutputContentItem>;

export const DynamicToolCallStatus = schema(() => z.enum(['inProgress', 'completed', 'failed']));
export type DynamicToolCallStatus = Infer<typeof DynamicToolCallStatus>;

export const FileChangeOutputDeltaNotification = schema(() =>
  z.object({ delta: z.string(), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type FileChangeOutputDeltaNotification = Infer<typeof FileChangeOutputDeltaNotification>;

export const PatchChangeKind = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('add') }),
    z.object({ type: z.literal('delete') }),
    z.object({ move_path: z.string().nullish(), type: z.literal('update') }),
  ]),
);
export type PatchChangeKind = Infer<typeof PatchChangeKind>;

export const FileUpdateChange = schema(() => z.object({ diff: z.string(), kind: PatchChangeKind(), path: z.string() }));
export type FileUpdateChange = Infer<typeof FileUpdateChange>;

export const FileChangePatchUpdatedNotification = schema(() =>
  z.object({ changes: z.array(FileUpdateChange()), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type FileChangePatchUpdatedNotification = Infer<typeof FileChangePatchUpdatedNotification>;

export const HookPromptFragment = schema(() => z.object({ hookRunId: z.string(), text: z.string() }));
export type HookPromptFragment = Infer<typeof HookPromptFragment>;

export const ImageDetail = schema(() => z.enum(['auto', 'low', 'high', 'original']));
export type ImageDetail = Infer<typeof ImageDetail>;

export const McpAppUi = schema(() => z.looseObject({}));
export type McpAppUi = Infer<typeof McpAppUi>;

export const McpToolCallAppContext = schema(() => z.looseObject({}));
export type McpToolCallAppContext = Infer<typeof McpToolCallAppContext>;

export const McpToolCallError = schema(() => z.object({ message: z.string() }));
export type McpToolCallError = Infer<typeof McpToolCallError>;

export const McpToolCallResult = schema(() =>
  z.object({ _meta: z.unknown().optional(), content: z.array(z.unknown()), structuredContent: z.unknown().optional() }),
);
export type McpToolCallResult = Infer<typeof McpToolCallResult>;

export const McpToolCallStatus = schema(() => z.enum(['inProgress', 'completed', 'failed']));
export type McpToolCallStatus = Infer<typeof McpToolCallStatus>;

export const MessagePhase = schema(() => z.enum(['commentary', 'partial_answer', 'final_answer']));
export type MessagePhase = Infer<typeof MessagePhase>;

export const PatchApplyStatus = schema(() => z.enum(['inProgress', 'completed', 'failed', 'declined']));
export type PatchApplyStatus = Infer<typeof PatchApplyStatus>;

export const SubAgentActivityKind = schema(() => z.enum(['started', 'interacted', 'interrupted', 'completed']));
export type SubAgentActivityKind = Infer<typeof SubAgentActivityKind>;

export const TextElement = schema(() => z.object({ byteRange: ByteRange(), placeholder: z.string().nullish() }));
export type TextElement = Infer<typeof TextElement>;

export const UserInput = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ text: z.string(), text_elements: z.array(TextElement()).nullish(), type: z.literal('text') }),
    z.object({ detail: ImageDetail().nullish(), type: z.literal('image'), url: z.string() }),
    z.object({ detail: ImageDetail().nullish(), path: z.string(), type: z.literal('localImage') }),
    z.object({ type: z.literal('audio'), url: z.string() }),
    z.object({ path: z.string(), type: z.literal('localAudio') }),
    z.object({ name: z.string(), path: z.string(), type: z.literal('skill') }),
    z.object({ name: z.string(), path: z.string(), type: z.literal('mention') }),
  ]),
);
export type UserInput = Infer<typeof UserInput>;

export const WebSearchAction = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ queries: z.array(z.string()).nullish(), query: z.string().nullish(), type: z.literal('search') }),
    z.object({ type: z.literal('openPage'), url: z.string().nullish() }),
    z.object({ pattern: z.string().nullish(), type: z.literal('findInPage'), url: z.string().nullish() }),
    z.object({ type: z.literal('other') }),
  ]),
);
export type WebSearchAction = Infer<typeof WebSearchAction>;

/** When the work of an item began and ended; null where that is not known. */
const timed = () => ({ completedAtMs: z.int().nullish(), startedAtMs: z.int().nullish() });

export const ThreadItem = schema(() =>
  z.discriminatedUnion('type', [
    z.object({
      ...timed(),
      clientId: z.string().nullish(),
      content: z.array(UserInput()),
      id: z.string(),
      type: z.literal('userMessage'),
    }),
    z.object({
      ...timed(),
      fragments: z.array(HookPromptFragment()),
      id: z.string(),
      type: z.literal('hookPrompt'),
    }),
    z.object({
      ...timed(),
      delivery: AgentMessageDelivery().nullish(),
      id: z.string(),
      memoryCitation: MemoryCitation().nullish(),
      moderation: AgentMessageModeration().nullish(),
      phase: MessagePhase().nullish(),
      questions: z.array(AsyncUserInputQuestion()).nullish(),
      text: z.string(),
      type: z.literal('agentMessage'),
    }),
    z.object({
      ...timed(),
      id: z.string(),
      name: z.string(),
      namespace: z.string().nullish(),
      output: FunctionCallOutputBody(),
      type: z.literal('functionCallOutput'),
    }),
    z.object({
      ...timed(),
      id: z.string(),
      text: z.string(),
      type: z.literal('plan'),
    }),
    z.object({
      ...timed(),
      content: z.array(z.string()).optional(),
      id: z.string(),
      summary: z.array(z.string()).optional(),
      type: z.literal('reasoning'),
    }),
    z.object({
      ...timed(),
      aggregatedOutput: z.string().nullish(),
      command: z.string(),
      commandActions: z.array(CommandAction()),
      cwd: z.string(),
      durationMs: z.int().nullish(),
      exitCode: z.int().nullish(),
      id: z.string(),
      pluginId: z.string().nullish(),
      processId: z.string().nullish(),
      scriptPath: z.string().nullish(),
      source: CommandExecutionSource().optional(),
      status: CommandExecutionStatus(),
      type: z.literal('commandExecution'),
    }),
    z.object({
      ...timed(),
      changes: z.array(FileUpdateChange()),
      id: z.string(),
      status: PatchApplyStatus(),
      type: z.literal('fileChange'),
    }),
    z.object({
      ...timed(),
      appContext: McpToolCallAppContext().nullish(),
      arguments: z.unknown(),
      durationMs: z.int().nullish(),
      environmentId: z.string().nullish(),
      error: McpToolCallError().nullish(),
      id: z.string(),
      mcpAppResourceUri: z.string().nullish(),
      mcpAppUi: McpAppUi().nullish(),
      pluginId: z.string().nullish(),
      readOnlyHint: z.boolean().nullish(),
      result: McpToolCallResult().nullish(),
      server: z.string(),
      status: McpToolCallStatus(),
      tool: z.string(),
      type: z.literal('mcpToolCall'),
    }),
    z.object({
      ...timed(),
      arguments: z.unknown(),
      contentItems: z.array(DynamicToolCallOutputContentItem()).nullish(),
      durationMs: z.int().nullish(),
      id: z.string(),
      namespace: z.string().nullish(),
      status: DynamicToolCallStatus(),
      success: z.boolean().nullish(),
      tool: z.string(),
      type: z.literal('dynamicToolCall'),
    }),
    z.object({
      ...timed(),
      agentsStates: z.record(z.string(), CollabAgentState()),
      id: z.string(),
      model: z.string().nullish(),
      prompt: z.string().nullish(),
      reasoningEffort: ReasoningEffort().nullish(),
      receiverThreadIds: z.array(z.string()),
      senderThreadId: z.string(),
      status: CollabAgentToolCallStatus(),
      tool: CollabAgentTool(),
      type: z.literal('collabAgentToolCall'),
    }),
    z.object({
      ...timed(),
      agentPath: z.string(),
      agentThreadId: z.string(),
      id: z.string(),
      kind: SubAgentActivityKind(),
      model: z.string().nullish(),
      reasoningEffort: ReasoningEffort().nullish(),
      type: z.literal('subAgentActivity'),
    }),
    z.object({
      ...timed(),
      action: WebSearchAction().nullish(),
      id: z.string(),
      query: z.string(),
      results: z.array(z.unknown()).nullish(),
      type: z.literal('webSearch'),
    }),
    z.object({
      ...timed(),
      id: z.string(),
      path: z.string(),
      type: z.literal('imageView'),
    }),
    z.object({
      ...timed(),
      durationMs: z.int().min(0.0),
      id: z.string(),
      type: z.literal('sleep'),
    }),
    z.object({
      ...timed(),
      failure: ImageGenerationFailure().nullish(),
      generationId: z.string().nullish(),
      id: z.string(),
      inputImages: z.array(ImageGenerationInputImage()).optional(),
      revisedPrompt: z.string().nullish(),
      savedPath: z.string().nullish(),
      status: z.string(),
      transparentBackground: z.boolean().nullish(),
      type: z.literal('imageGeneration'),
    }),
    z.object({
      ...timed(),
      id: z.string(),
      review: z.string(),
      type: z.literal('enteredReviewMode'),
    }),
    z.object({
      ...timed(),
      id: z.string(),
      review: z.string(),
      type: z.literal('exitedReviewMode'),
    }),
    z.object({ ...timed(), id: z.string(), type: z.literal('contextCompaction') }),
  ]),
);
export type ThreadItem = Infer<typeof ThreadItem>;

export const ItemCompletedNotification = schema(() =>
  z.object({
    completedAtMs: z.int(),
    contentTokenCount: z.int().min(0.0).nullish(),
    item: ThreadItem(),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type ItemCompletedNotification = Infer<typeof ItemCompletedNotification>;

export const ItemStartedNotification = schema(() =>
  z.object({ item: ThreadItem(), startedAtMs: z.int(), threadId: z.string(), turnId: z.string() }),
);
export type ItemStartedNotification = Infer<typeof ItemStartedNotification>;

export const PlanDeltaNotification = schema(() =>
  z.object({ delta: z.string(), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type PlanDeltaNotification = Infer<typeof PlanDeltaNotification>;

export const ReasoningSummaryPartAddedNotification = schema(() =>
  z.object({ itemId: z.string(), summaryIndex: z.int(), threadId: z.string(), turnId: z.string() }),
);
export type ReasoningSummaryPartAddedNotification = Infer<typeof ReasoningSummaryPartAddedNotification>;

export const ReasoningSummaryTextDeltaNotification = schema(() =>
  z.object({ delta: z.string(), itemId: z.string(), summaryIndex: z.int(), threadId: z.string(), turnId: z.string() }),
);
export type ReasoningSummaryTextDeltaNotification = Infer<typeof ReasoningSummaryTextDeltaNotification>;

export const ReasoningTextDeltaNotification = schema(() =>
  z.object({ contentIndex: z.int(), delta: z.string(), itemId: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type ReasoningTextDeltaNotification = Infer<typeof ReasoningTextDeltaNotification>;

export const TerminalInteractionNotification = schema(() =>
  z.object({ itemId: z.string(), processId: z.string(), stdin: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type TerminalInteractionNotification = Infer<typeof TerminalInteractionNotification>;

export const TextPosition = schema(() => z.object({ column: z.int().min(0.0), line: z.int().min(0.0) }));
export type TextPosition = Infer<typeof TextPosition>;

export const TextRange = schema(() => z.object({ end: TextPosition(), start: TextPosition() }));
export type TextRange = Infer<typeof TextRange>;
