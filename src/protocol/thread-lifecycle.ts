// What a client does with a thread, from start to delete, and what it is told about it.
import * as z from 'zod';
import {
  ActivePermissionProfile,
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  MultiAgentMode,
  Personality,
  ReasoningEffort,
  ReasoningSummary,
  ResponseItem,
  SandboxMode,
  SandboxPolicy,
  SortDirection,
} from './primitives.ts';
import { type Infer, schema } from './schema.ts';
import { SelectedCapabilityRoot, Thread, ThreadEnvironment, ThreadHistoryMode, ThreadSource, ThreadStatus } from './thread.ts';
import { TurnEnvironmentParams, TurnItemsView, TurnsPage } from './turn.ts';

/** What start, resume and fork may set for a thread. */
const overrides = () => ({
  approvalPolicy: AskForApproval().nullish(),
  approvalsReviewer: ApprovalsReviewer().nullish(),
  baseInstructions: z.string().nullish(),
  config: z.record(z.string(), z.unknown()).nullish(),
  cwd: z.string().nullish(),
  developerInstructions: z.string().nullish(),
  model: z.string().nullish(),
  modelProvider: z.string().nullish(),
  permissions: z.string().nullish(),
  runtimeWorkspaceRoots: z.array(z.string()).nullish(),
  sandbox: SandboxMode().nullish(),
  serviceTier: z.string().nullish(),
});

/** What start, resume and fork answer: the thread and the settings in force. */
const openedThread = () => ({
  activePermissionProfile: ActivePermissionProfile().nullish(),
  approvalPolicy: AskForApproval(),
  approvalsReviewer: ApprovalsReviewer(),
  cwd: z.string(),
  disabledPluginIds: z.array(z.string()).optional(),
  instructionSources: z.array(z.string()).optional(),
  model: z.string(),
  modelProvider: z.string(),
  multiAgentMode: MultiAgentMode().optional(),
  reasoningEffort: ReasoningEffort().nullish(),
  runtimeWorkspaceRoots: z.array(z.string()).optional(),
  sandbox: SandboxPolicy(),
  serviceTier: z.string().nullish(),
  thread: Thread(),
});

export const ThreadArchiveParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadArchiveParams = Infer<typeof ThreadArchiveParams>;

export const ThreadArchiveResponse = schema(() => z.object({}));
export type ThreadArchiveResponse = Infer<typeof ThreadArchiveResponse>;

export const ThreadArchivedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadArchivedNotification = Infer<typeof ThreadArchivedNotification>;

export const ThreadClosedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadClosedNotification = Infer<typeof ThreadClosedNotification>;

export const ThreadCompactStartParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadCompactStartParams = Infer<typeof ThreadCompactStartParams>;

export const ThreadCompactStartResponse = schema(() => z.object({}));
export type ThreadCompactStartResponse = Infer<typeof ThreadCompactStartResponse>;

export const ThreadDeleteParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadDeleteParams = Infer<typeof ThreadDeleteParams>;

export const ThreadDeleteResponse = schema(() => z.object({}));
export type ThreadDeleteResponse = Infer<typeof ThreadDeleteResponse>;

export const ThreadDeletedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadDeletedNotification = Infer<typeof ThreadDeletedNotification>;

export const ThreadForkParams = schema(() =>
  z.object({
    ...overrides(),
    attachToSource: z.boolean().nullish(),
    beforeTurnId: z.string().nullish(),
    deferGoalContinuation: z.boolean().nullish(),
    ephemeral: z.boolean().nullish(),
    excludeTurns: z.boolean().nullish(),
    experimentalDisablePredictionMcp: z.boolean().nullish(),
    experimentalPredictionMode: z.boolean().nullish(),
    lastTurnId: z.string().nullish(),
    path: z.string().nullish(),
    threadId: z.string(),
    threadSource: ThreadSource().nullish(),
  }),
);
export type ThreadForkParams = Infer<typeof ThreadForkParams>;

export const ThreadForkResponse = schema(() =>
  z.object({
    ...openedThread(),
  }),
);
export type ThreadForkResponse = Infer<typeof ThreadForkResponse>;

export const ThreadInjectItemsParams = schema(() => z.object({ items: z.array(z.unknown()), threadId: z.string() }));
export type ThreadInjectItemsParams = Infer<typeof ThreadInjectItemsParams>;

export const ThreadInjectItemsResponse = schema(() => z.object({}));
export type ThreadInjectItemsResponse = Infer<typeof ThreadInjectItemsResponse>;

export const ThreadMetadataGitInfoUpdateParams = schema(() =>
  z.object({ branch: z.string().nullish(), originUrl: z.string().nullish(), sha: z.string().nullish() }),
);
export type ThreadMetadataGitInfoUpdateParams = Infer<typeof ThreadMetadataGitInfoUpdateParams>;

export const ThreadMetadataUpdateParams = schema(() =>
  z.object({
    daybreakEnabled: z.boolean().nullish(),
    gitInfo: ThreadMetadataGitInfoUpdateParams().nullish(),
    projectId: z.string().nullish(),
    threadId: z.string(),
  }),
);
export type ThreadMetadataUpdateParams = Infer<typeof ThreadMetadataUpdateParams>;

export const ThreadMetadataUpdateResponse = schema(() => z.object({ thread: Thread() }));
export type ThreadMetadataUpdateResponse = Infer<typeof ThreadMetadataUpdateResponse>;

export const ThreadNameUpdatedNotification = schema(() => z.object({ threadId: z.string(), threadName: z.string().nullish() }));
export type ThreadNameUpdatedNotification = Infer<typeof ThreadNameUpdatedNotification>;

export const ThreadResumeInitialTurnsPageParams = schema(() =>
  z.object({ itemsView: TurnItemsView().nullish(), limit: z.int().min(0.0).nullish(), sortDirection: SortDirection().nullish() }),
);
export type ThreadResumeInitialTurnsPageParams = Infer<typeof ThreadResumeInitialTurnsPageParams>;

export const ThreadResumeParams = schema(() =>
  z.object({
    ...overrides(),
    dynamicTools: z.unknown().optional(),
    excludeTurns: z.boolean().nullish(),
    history: z.array(ResponseItem()).nullish(),
    initialTurnsPage: ThreadResumeInitialTurnsPageParams().nullish(),
    path: z.string().nullish(),
    personality: Personality().nullish(),
    threadId: z.string(),
  }),
);
export type ThreadResumeParams = Infer<typeof ThreadResumeParams>;

export const ThreadResumeResponse = schema(() =>
  z.object({
    ...openedThread(),
    collaborationMode: CollaborationMode().nullish(),
    initialTurnsPage: TurnsPage().nullish(),
    itemsBackwardsCursor: z.string().nullish(),
    turnsBackwardsCursor: z.string().nullish(),
  }),
);
export type ThreadResumeResponse = Infer<typeof ThreadResumeResponse>;

export const ThreadRevertParams = schema(() => z.object({ beforeTurnId: z.string(), threadId: z.string() }));
export type ThreadRevertParams = Infer<typeof ThreadRevertParams>;

export const ThreadRevertResponse = schema(() =>
  z.object({ itemsBackwardsCursor: z.string().nullish(), thread: Thread(), turnsBackwardsCursor: z.string().nullish() }),
);
export type ThreadRevertResponse = Infer<typeof ThreadRevertResponse>;

export const ThreadRevertedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadRevertedNotification = Infer<typeof ThreadRevertedNotification>;

/** The older way back: by a number of turns. */
export const ThreadRollbackParams = schema(() => z.object({ numTurns: z.int().min(1), threadId: z.string() }));
export type ThreadRollbackParams = Infer<typeof ThreadRollbackParams>;

export const ThreadRollbackResponse = schema(() => z.object({ thread: Thread() }));
export type ThreadRollbackResponse = Infer<typeof ThreadRollbackResponse>;

export const ThreadSetNameParams = schema(() => z.object({ name: z.string(), threadId: z.string() }));
export type ThreadSetNameParams = Infer<typeof ThreadSetNameParams>;

export const ThreadSetNameResponse = schema(() => z.object({}));
export type ThreadSetNameResponse = Infer<typeof ThreadSetNameResponse>;

export const ThreadSettings = schema(() =>
  z.object({
    activePermissionProfile: ActivePermissionProfile().nullish(),
    approvalPolicy: AskForApproval(),
    approvalsReviewer: ApprovalsReviewer(),
    collaborationMode: CollaborationMode(),
    cwd: z.string(),
    disabledPluginIds: z.array(z.string()).optional(),
    effort: ReasoningEffort().nullish(),
    environments: z.array(ThreadEnvironment()).nullish(),
    model: z.string(),
    modelProvider: z.string(),
    multiAgentMode: MultiAgentMode().optional(),
    personality: Personality().nullish(),
    sandboxPolicy: SandboxPolicy(),
    serviceTier: z.string().nullish(),
    summary: ReasoningSummary().nullish(),
  }),
);
export type ThreadSettings = Infer<typeof ThreadSettings>;

export const ThreadSettingsUpdateParams = schema(() =>
  z.object({
    approvalPolicy: AskForApproval().nullish(),
    approvalsReviewer: ApprovalsReviewer().nullish(),
    collaborationMode: CollaborationMode().nullish(),
    cwd: z.string().nullish(),
    dynamicTools: z.unknown().optional(),
    disabledPluginIds: z.array(z.string()).nullish(),
    effort: ReasoningEffort().nullish(),
    environments: z.array(TurnEnvironmentParams()).nullish(),
    model: z.string().nullish(),
    multiAgentMode: MultiAgentMode().nullish(),
    permissions: z.string().nullish(),
    personality: Personality().nullish(),
    sandboxPolicy: SandboxPolicy().nullish(),
    serviceTier: z.string().nullish(),
    summary: ReasoningSummary().nullish(),
    threadId: z.string(),
  }),
);
export type ThreadSettingsUpdateParams = Infer<typeof ThreadSettingsUpdateParams>;

export const ThreadSettingsUpdateResponse = schema(() => z.object({}));
export type ThreadSettingsUpdateResponse = Infer<typeof ThreadSettingsUpdateResponse>;

export const ThreadSettingsUpdatedNotification = schema(() => z.object({ threadId: z.string(), threadSettings: ThreadSettings() }));
export type ThreadSettingsUpdatedNotification = Infer<typeof ThreadSettingsUpdatedNotification>;

export const ThreadStartSource = schema(() => z.enum(['startup', 'clear']));
export type ThreadStartSource = Infer<typeof ThreadStartSource>;

export const ThreadStartParams = schema(() =>
  z.object({
    ...overrides(),
    allowProviderModelFallback: z.boolean().nullish(),
    daybreakEnabled: z.boolean().nullish(),
    dynamicTools: z.unknown().optional(),
    environments: z.array(TurnEnvironmentParams()).nullish(),
    ephemeral: z.boolean().nullish(),
    experimentalRawEvents: z.boolean().nullish(),
    historyMode: ThreadHistoryMode().nullish(),
    mockExperimentalField: z.string().nullish(),
    multiAgentMode: MultiAgentMode().nullish(),
    personality: Personality().nullish(),
    projectId: z.string().nullish(),
    selectedCapabilityRoots: z.array(SelectedCapabilityRoot()).nullish(),
    serviceName: z.string().nullish(),
    sessionStartSource: ThreadStartSource().nullish(),
    threadSource: ThreadSource().nullish(),
  }),
);
export type ThreadStartParams = Infer<typeof ThreadStartParams>;

export const ThreadStartResponse = schema(() =>
  z.object({
    ...openedThread(),
  }),
);
export type ThreadStartResponse = Infer<typeof ThreadStartResponse>;

export const ThreadStartedNotification = schema(() => z.object({ thread: Thread() }));
export type ThreadStartedNotification = Infer<typeof ThreadStartedNotification>;

export const ThreadStatusChangedNotification = schema(() => z.object({ status: ThreadStatus(), threadId: z.string() }));
export type ThreadStatusChangedNotification = Infer<typeof ThreadStatusChangedNotification>;

export const ThreadUnarchiveParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadUnarchiveParams = Infer<typeof ThreadUnarchiveParams>;

export const ThreadUnarchiveResponse = schema(() => z.object({ thread: Thread() }));
export type ThreadUnarchiveResponse = Infer<typeof ThreadUnarchiveResponse>;

export const ThreadUnarchivedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadUnarchivedNotification = Infer<typeof ThreadUnarchivedNotification>;

export const ThreadUnsubscribeParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadUnsubscribeParams = Infer<typeof ThreadUnsubscribeParams>;

export const ThreadUnsubscribeStatus = schema(() => z.enum(['notLoaded', 'notSubscribed', 'unsubscribed']));
export type ThreadUnsubscribeStatus = Infer<typeof ThreadUnsubscribeStatus>;

export const ThreadUnsubscribeResponse = schema(() => z.object({ status: ThreadUnsubscribeStatus() }));
export type ThreadUnsubscribeResponse = Infer<typeof ThreadUnsubscribeResponse>;
