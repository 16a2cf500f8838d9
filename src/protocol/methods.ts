// The four method tables: every method that crosses the wire, with its shapes, scope and stability. Handlers, types, gating and the
// generated schemas all derive from here; a method that is not listed does not exist.
import { accountNotifications, accountRequests } from './account-methods.ts';
import {
  CommandExecutionRequestApprovalParams,
  CommandExecutionRequestApprovalResponse,
  DynamicToolCallParams,
  DynamicToolCallResponse,
  FileChangeRequestApprovalParams,
  FileChangeRequestApprovalResponse,
  PermissionsRequestApprovalParams,
  PermissionsRequestApprovalResponse,
  ServerRequestResolvedNotification,
  ToolRequestUserInputParams,
  ToolRequestUserInputResponse,
} from './approval.ts';
import {
  CollaborationModeListParams,
  CollaborationModeListResponse,
  ExperimentalFeatureEnablementSetParams,
  ExperimentalFeatureEnablementSetResponse,
  ExperimentalFeatureListParams,
  ExperimentalFeatureListResponse,
  ModelListParams,
  ModelListResponse,
  ModelProviderCapabilitiesReadParams,
  ModelProviderCapabilitiesReadResponse,
  ModelProviderListParams,
  ModelProviderListResponse,
  PermissionProfileListParams,
  PermissionProfileListResponse,
  SkillsChangedNotification,
  SkillsConfigWriteParams,
  SkillsConfigWriteResponse,
  SkillsListParams,
  SkillsListResponse,
} from './catalog.ts';
import {
  ConfigBatchWriteParams,
  ConfigReadParams,
  ConfigReadResponse,
  ConfigRequirementsReadResponse,
  ConfigValueWriteParams,
  ConfigWarningNotification,
  ConfigWriteResponse,
} from './config.ts';
import { ServerDiagnosticsResponse } from './diagnostics.ts';
import {
  ThreadBackgroundTerminalsCleanParams,
  ThreadBackgroundTerminalsCleanResponse,
  ThreadBackgroundTerminalsListParams,
  ThreadBackgroundTerminalsListResponse,
  ThreadBackgroundTerminalsTerminateParams,
  ThreadBackgroundTerminalsTerminateResponse,
  ThreadShellCommandParams,
  ThreadShellCommandResponse,
} from './exec.ts';
import { HookCompletedNotification, HookStartedNotification, HooksListParams, HooksListResponse } from './hook.ts';
import { hostNotifications, hostRequests } from './host-methods.ts';
import { InitializeParams, InitializeResponse } from './initialize.ts';
import {
  AgentMessageDeltaNotification,
  CommandExecutionOutputDeltaNotification,
  FileChangeOutputDeltaNotification,
  FileChangePatchUpdatedNotification,
  ItemCompletedNotification,
  ItemStartedNotification,
  PlanDeltaNotification,
  ReasoningSummaryPartAddedNotification,
  ReasoningSummaryTextDeltaNotification,
  ReasoningTextDeltaNotification,
  TerminalInteractionNotification,
} from './item.ts';
import {
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
  McpServerOauthLoginCompletedNotification,
  McpServerStatusUpdatedNotification,
  McpToolCallProgressNotification,
} from './mcp.ts';
import { mcpRequests } from './mcp-methods.ts';
import { None, notification, request } from './method-spec.ts';
import { DeprecationNoticeNotification, WarningNotification } from './primitives.ts';
import { ReviewStartParams, ReviewStartResponse } from './review.ts';
import type { Infer } from './schema.ts';
import {
  ThreadItemsListParams,
  ThreadItemsListResponse,
  ThreadItemsReadParams,
  ThreadItemsReadResponse,
  ThreadListParams,
  ThreadListResponse,
  ThreadLoadedListParams,
  ThreadLoadedListResponse,
  ThreadReadParams,
  ThreadReadResponse,
  ThreadSearchOccurrencesParams,
  ThreadSearchOccurrencesResponse,
  ThreadSearchParams,
  ThreadSearchResponse,
  ThreadTurnsListParams,
  ThreadTurnsListResponse,
} from './thread-history.ts';
import {
  ThreadArchivedNotification,
  ThreadArchiveParams,
  ThreadArchiveResponse,
  ThreadClosedNotification,
  ThreadCompactStartParams,
  ThreadCompactStartResponse,
  ThreadDeletedNotification,
  ThreadDeleteParams,
  ThreadDeleteResponse,
  ThreadForkParams,
  ThreadForkResponse,
  ThreadInjectItemsParams,
  ThreadInjectItemsResponse,
  ThreadMetadataUpdateParams,
  ThreadMetadataUpdateResponse,
  ThreadNameUpdatedNotification,
  ThreadResumeParams,
  ThreadResumeResponse,
  ThreadRevertedNotification,
  ThreadRevertParams,
  ThreadRevertResponse,
  ThreadRollbackParams,
  ThreadRollbackResponse,
  ThreadSetNameParams,
  ThreadSetNameResponse,
  ThreadSettingsUpdatedNotification,
  ThreadSettingsUpdateParams,
  ThreadSettingsUpdateResponse,
  ThreadStartedNotification,
  ThreadStartParams,
  ThreadStartResponse,
  ThreadStatusChangedNotification,
  ThreadUnarchivedNotification,
  ThreadUnarchiveParams,
  ThreadUnarchiveResponse,
  ThreadUnsubscribeParams,
  ThreadUnsubscribeResponse,
} from './thread-lifecycle.ts';
import {
  queueGoalRequests,
  ThreadGoalClearedNotification,
  ThreadGoalUpdatedNotification,
  ThreadQueueChangedNotification,
} from './thread-queue-goal.ts';
import {
  ErrorNotification,
  ThreadTokenUsageUpdatedNotification,
  TurnCompletedNotification,
  TurnDiffUpdatedNotification,
  TurnInterruptParams,
  TurnInterruptResponse,
  TurnPlanUpdatedNotification,
  TurnSettingsUpdateParams,
  TurnSettingsUpdateResponse,
  TurnStartedNotification,
  TurnStartParams,
  TurnStartResponse,
  TurnSteerParams,
  TurnSteerResponse,
} from './turn.ts';

export type { NotificationSpec, RequestSpec, Scope, Stability } from './method-spec.ts';

export const clientRequests = {
  initialize: request(InitializeParams, InitializeResponse, { scope: 'connection' }),
  'thread/start': request(ThreadStartParams, ThreadStartResponse, {
    scope: 'process',
    experimental:
      'allowProviderModelFallback daybreakEnabled dynamicTools environments experimentalRawEvents historyMode mockExperimentalField multiAgentMode permissions projectId runtimeWorkspaceRoots selectedCapabilityRoots',
  }),
  'thread/resume': request(ThreadResumeParams, ThreadResumeResponse, {
    scope: 'thread',
    experimental: 'dynamicTools history initialTurnsPage path permissions runtimeWorkspaceRoots',
  }),
  'thread/fork': request(ThreadForkParams, ThreadForkResponse, {
    scope: 'thread',
    experimental:
      'attachToSource beforeTurnId deferGoalContinuation experimentalPredictionMode experimentalDisablePredictionMcp path permissions runtimeWorkspaceRoots',
  }),
  'thread/read': request(ThreadReadParams, ThreadReadResponse, { scope: 'thread' }),
  'thread/list': request(ThreadListParams, ThreadListResponse, {
    scope: 'process',
    experimental: 'ancestorThreadId attachedToThreadId includeAttachedThreads parentThreadId projectId',
  }),
  'thread/search': request(ThreadSearchParams, ThreadSearchResponse, { scope: 'process', stability: 'experimental' }),
  'thread/loaded/list': request(ThreadLoadedListParams, ThreadLoadedListResponse, { scope: 'process' }),
  'thread/turns/list': request(ThreadTurnsListParams, ThreadTurnsListResponse, { scope: 'thread' }),
  'thread/items/list': request(ThreadItemsListParams, ThreadItemsListResponse, { scope: 'thread' }),
  'thread/items/read': request(ThreadItemsReadParams, ThreadItemsReadResponse, { scope: 'thread', stability: 'experimental' }),
  'thread/searchOccurrences': request(ThreadSearchOccurrencesParams, ThreadSearchOccurrencesResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'thread/unsubscribe': request(ThreadUnsubscribeParams, ThreadUnsubscribeResponse, { scope: 'thread' }),
  'thread/name/set': request(ThreadSetNameParams, ThreadSetNameResponse, { scope: 'thread' }),
  'thread/archive': request(ThreadArchiveParams, ThreadArchiveResponse, { scope: 'thread' }),
  'thread/unarchive': request(ThreadUnarchiveParams, ThreadUnarchiveResponse, { scope: 'thread' }),
  'thread/delete': request(ThreadDeleteParams, ThreadDeleteResponse, { scope: 'thread' }),
  'thread/revert': request(ThreadRevertParams, ThreadRevertResponse, { scope: 'thread' }),
  'thread/rollback': request(ThreadRollbackParams, ThreadRollbackResponse, { scope: 'thread' }),
  'thread/metadata/update': request(ThreadMetadataUpdateParams, ThreadMetadataUpdateResponse, {
    scope: 'thread',
    experimental: 'daybreakEnabled projectId',
  }),
  'thread/settings/update': request(ThreadSettingsUpdateParams, ThreadSettingsUpdateResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'thread/inject_items': request(ThreadInjectItemsParams, ThreadInjectItemsResponse, { scope: 'thread' }),
  'thread/shellCommand': request(ThreadShellCommandParams, ThreadShellCommandResponse, { scope: 'thread' }),
  'thread/compact/start': request(ThreadCompactStartParams, ThreadCompactStartResponse, { scope: 'thread' }),
  'thread/backgroundTerminals/list': request(ThreadBackgroundTerminalsListParams, ThreadBackgroundTerminalsListResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'thread/backgroundTerminals/terminate': request(ThreadBackgroundTerminalsTerminateParams, ThreadBackgroundTerminalsTerminateResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'thread/backgroundTerminals/clean': request(ThreadBackgroundTerminalsCleanParams, ThreadBackgroundTerminalsCleanResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'turn/start': request(TurnStartParams, TurnStartResponse, {
    scope: 'thread',
    experimental:
      'additionalContext collaborationMode cyberAccessProgram environments multiAgentMode permissions responsesapiClientMetadata responsesapiClientMetadataPatch runtimeWorkspaceRoots',
  }),
  'turn/steer': request(TurnSteerParams, TurnSteerResponse, {
    scope: 'thread',
    experimental: 'additionalContext responsesapiClientMetadata responsesapiClientMetadataPatch',
  }),
  'turn/interrupt': request(TurnInterruptParams, TurnInterruptResponse, { scope: 'thread' }),
  'turn/settings/update': request(TurnSettingsUpdateParams, TurnSettingsUpdateResponse, { scope: 'thread', stability: 'experimental' }),
  ...queueGoalRequests,
  'review/start': request(ReviewStartParams, ReviewStartResponse, { scope: 'thread' }),
  ...hostRequests,
  'config/read': request(ConfigReadParams, ConfigReadResponse, { scope: 'process' }),
  'config/value/write': request(ConfigValueWriteParams, ConfigWriteResponse, { scope: 'process' }),
  'config/batchWrite': request(ConfigBatchWriteParams, ConfigWriteResponse, { scope: 'process' }),
  'configRequirements/read': request(None, ConfigRequirementsReadResponse, { scope: 'process' }),
  'model/list': request(ModelListParams, ModelListResponse, { scope: 'process' }),
  'modelProvider/list': request(ModelProviderListParams, ModelProviderListResponse, { scope: 'process' }),
  'modelProvider/capabilities/read': request(ModelProviderCapabilitiesReadParams, ModelProviderCapabilitiesReadResponse, {
    scope: 'process',
  }),
  'permissionProfile/list': request(PermissionProfileListParams, PermissionProfileListResponse, { scope: 'process' }),
  'experimentalFeature/list': request(ExperimentalFeatureListParams, ExperimentalFeatureListResponse, { scope: 'process' }),
  'experimentalFeature/enablement/set': request(ExperimentalFeatureEnablementSetParams, ExperimentalFeatureEnablementSetResponse, {
    scope: 'process',
  }),
  'collaborationMode/list': request(CollaborationModeListParams, CollaborationModeListResponse, {
    scope: 'process',
    stability: 'experimental',
  }),
  'skills/list': request(SkillsListParams, SkillsListResponse, { scope: 'process' }),
  'skills/config/write': request(SkillsConfigWriteParams, SkillsConfigWriteResponse, { scope: 'process' }),
  'hooks/list': request(HooksListParams, HooksListResponse, { scope: 'process' }),
  ...mcpRequests,
  ...accountRequests,
  'server/diagnostics': request(None, ServerDiagnosticsResponse, { scope: 'process', stability: 'experimental' }),
} as const;

export const serverRequests = {
  'item/commandExecution/requestApproval': request(CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse, {
    scope: 'thread',
  }),
  'item/fileChange/requestApproval': request(FileChangeRequestApprovalParams, FileChangeRequestApprovalResponse, { scope: 'thread' }),
  'item/permissions/requestApproval': request(PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse, { scope: 'thread' }),
  'item/tool/call': request(DynamicToolCallParams, DynamicToolCallResponse, { scope: 'thread' }),
  'item/tool/requestUserInput': request(ToolRequestUserInputParams, ToolRequestUserInputResponse, {
    scope: 'thread',
    stability: 'experimental',
  }),
  'mcpServer/elicitation/request': request(McpServerElicitationRequestParams, McpServerElicitationRequestResponse, { scope: 'thread' }),
} as const;

export const serverNotifications = {
  ...hostNotifications,
  ...accountNotifications,
  configWarning: notification(ConfigWarningNotification, 'process'),
  deprecationNotice: notification(DeprecationNoticeNotification, 'process'),
  error: notification(ErrorNotification, 'thread'),
  'hook/completed': notification(HookCompletedNotification, 'thread'),
  'hook/started': notification(HookStartedNotification, 'thread'),
  'item/agentMessage/delta': notification(AgentMessageDeltaNotification, 'thread'),
  'item/commandExecution/outputDelta': notification(CommandExecutionOutputDeltaNotification, 'thread'),
  'item/commandExecution/terminalInteraction': notification(TerminalInteractionNotification, 'thread'),
  'item/completed': notification(ItemCompletedNotification, 'thread'),
  'item/fileChange/outputDelta': notification(FileChangeOutputDeltaNotification, 'thread'),
  'item/fileChange/patchUpdated': notification(FileChangePatchUpdatedNotification, 'thread'),
  'item/mcpToolCall/progress': notification(McpToolCallProgressNotification, 'thread'),
  'item/plan/delta': notification(PlanDeltaNotification, 'thread'),
  'item/reasoning/summaryPartAdded': notification(ReasoningSummaryPartAddedNotification, 'thread'),
  'item/reasoning/summaryTextDelta': notification(ReasoningSummaryTextDeltaNotification, 'thread'),
  'item/reasoning/textDelta': notification(ReasoningTextDeltaNotification, 'thread'),
  'item/started': notification(ItemStartedNotification, 'thread'),
  'mcpServer/oauthLogin/completed': notification(McpServerOauthLoginCompletedNotification, 'process'),
  'mcpServer/startupStatus/updated': notification(McpServerStatusUpdatedNotification, 'process'),
  'serverRequest/resolved': notification(ServerRequestResolvedNotification, 'thread'),
  'skills/changed': notification(SkillsChangedNotification, 'process'),
  'thread/archived': notification(ThreadArchivedNotification, 'thread'),
  'thread/closed': notification(ThreadClosedNotification, 'thread'),
  'thread/deleted': notification(ThreadDeletedNotification, 'thread'),
  'thread/goal/cleared': notification(ThreadGoalClearedNotification, 'thread'),
  'thread/goal/updated': notification(ThreadGoalUpdatedNotification, 'thread'),
  'thread/name/updated': notification(ThreadNameUpdatedNotification, 'thread'),
  'thread/queue/changed': notification(ThreadQueueChangedNotification, 'thread'),
  'thread/reverted': notification(ThreadRevertedNotification, 'thread'),
  'thread/settings/updated': notification(ThreadSettingsUpdatedNotification, 'thread'),
  'thread/started': notification(ThreadStartedNotification, 'thread'),
  'thread/status/changed': notification(ThreadStatusChangedNotification, 'thread'),
  'thread/tokenUsage/updated': notification(ThreadTokenUsageUpdatedNotification, 'thread'),
  'thread/unarchived': notification(ThreadUnarchivedNotification, 'thread'),
  'turn/completed': notification(TurnCompletedNotification, 'thread'),
  'turn/diff/updated': notification(TurnDiffUpdatedNotification, 'thread'),
  'turn/plan/updated': notification(TurnPlanUpdatedNotification, 'thread'),
  'turn/started': notification(TurnStartedNotification, 'thread'),
  warning: notification(WarningNotification, 'process'),
} as const;

export const clientNotifications = {
  initialized: notification(None, 'connection'),
} as const;

export type ClientRequestMethod = keyof typeof clientRequests;
export type ServerRequestMethod = keyof typeof serverRequests;
export type ServerNotificationMethod = keyof typeof serverNotifications;

export type ParamsOf<M extends ClientRequestMethod> = Infer<(typeof clientRequests)[M]['params']>;
export type ResultOf<M extends ClientRequestMethod> = Infer<(typeof clientRequests)[M]['result']>;
export type ServerRequestParams<M extends ServerRequestMethod> = Infer<(typeof serverRequests)[M]['params']>;
export type ServerRequestResult<M extends ServerRequestMethod> = Infer<(typeof serverRequests)[M]['result']>;
export type NotificationParams<M extends ServerNotificationMethod> = Infer<(typeof serverNotifications)[M]['params']>;

export const isClientRequest = (method: string): method is ClientRequestMethod => Object.hasOwn(clientRequests, method);
