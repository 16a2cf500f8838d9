// Turns: one user input and all that followed, with its status, usage and errors.
import * as z from 'zod';
import { ThreadItem, UserInput } from './item.ts';
import {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  CyberAccessProgram,
  FunctionCallOutputBody,
  MisalignmentErrorDetails,
  MultiAgentMode,
  Personality,
  ReasoningEffort,
  ReasoningSummary,
  SandboxPolicy,
} from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const AdditionalContextKind = schema(() => z.enum(['untrusted', 'application']));
export type AdditionalContextKind = Infer<typeof AdditionalContextKind>;

export const AdditionalContextEntry = schema(() =>
  z.object({ kind: AdditionalContextKind(), name: z.string().nullish(), value: z.string() }),
);
export type AdditionalContextEntry = Infer<typeof AdditionalContextEntry>;

export const NonSteerableTurnKind = schema(() => z.enum(['review', 'compact']));
export type NonSteerableTurnKind = Infer<typeof NonSteerableTurnKind>;

export const CodexErrorInfo = schema(() =>
  z.union([
    z.enum([
      'contextWindowExceeded',
      'sessionBudgetExceeded',
      'usageLimitExceeded',
      'rateLimitExceeded',
      'flexUnavailable',
      'serverOverloaded',
      'modelNotFound',
      'policyCapacityUnavailable',
      'cyberPolicy',
      'bioPolicy',
      'misalignmentPolicyViolation',
      'tooManyDenials',
      'internalServerError',
      'unauthorized',
      'badRequest',
      'threadRollbackFailed',
      'sandboxError',
      'other',
      'inferenceHookDenied',
    ]),
    z.object({ httpConnectionFailed: z.object({ httpStatusCode: z.int().min(0.0).nullish() }) }),
    z.object({ responseStreamConnectionFailed: z.object({ httpStatusCode: z.int().min(0.0).nullish() }) }),
    z.object({ responseStreamDisconnected: z.object({ httpStatusCode: z.int().min(0.0).nullish() }) }),
    z.object({ responseTooManyFailedAttempts: z.object({ httpStatusCode: z.int().min(0.0).nullish() }) }),
    z.object({ activeTurnNotSteerable: z.object({ turnKind: NonSteerableTurnKind() }) }),
  ]),
);
export type CodexErrorInfo = Infer<typeof CodexErrorInfo>;

export const TurnError = schema(() =>
  z.object({
    additionalDetails: z.string().nullish(),
    codexErrorInfo: CodexErrorInfo().nullish(),
    message: z.string(),
    misalignment: MisalignmentErrorDetails().nullish(),
  }),
);
export type TurnError = Infer<typeof TurnError>;

export const ErrorNotification = schema(() =>
  z.object({ error: TurnError(), threadId: z.string(), turnId: z.string(), willRetry: z.boolean() }),
);
export type ErrorNotification = Infer<typeof ErrorNotification>;

export const TokenUsageBreakdown = schema(() =>
  z.object({
    cacheWriteInputTokens: z.int().optional(),
    cachedInputTokens: z.int(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    reasoningOutputTokens: z.int(),
    totalTokens: z.int(),
  }),
);
export type TokenUsageBreakdown = Infer<typeof TokenUsageBreakdown>;

export const ThreadTokenUsage = schema(() =>
  z.object({ last: TokenUsageBreakdown(), modelContextWindow: z.int().nullish(), total: TokenUsageBreakdown() }),
);
export type ThreadTokenUsage = Infer<typeof ThreadTokenUsage>;

export const ThreadTokenUsageUpdatedNotification = schema(() =>
  z.object({ threadId: z.string(), tokenUsage: ThreadTokenUsage(), turnId: z.string() }),
);
export type ThreadTokenUsageUpdatedNotification = Infer<typeof ThreadTokenUsageUpdatedNotification>;

export const TurnItemsView = schema(() => z.enum(['notLoaded', 'summary', 'full']));
export type TurnItemsView = Infer<typeof TurnItemsView>;

export const TurnStatus = schema(() => z.enum(['completed', 'interrupted', 'failed', 'inProgress']));
export type TurnStatus = Infer<typeof TurnStatus>;

export const Turn = schema(() =>
  z.object({
    completedAt: z.int().nullish(),
    durationMs: z.int().nullish(),
    error: TurnError().nullish(),
    id: z.string(),
    items: z.array(ThreadItem()),
    itemsView: TurnItemsView().optional(),
    rootTurnId: z.string().nullish(),
    startedAt: z.int().nullish(),
    status: TurnStatus(),
  }),
);
export type Turn = Infer<typeof Turn>;

export const TurnCompletedNotification = schema(() => z.object({ threadId: z.string(), turn: Turn() }));
export type TurnCompletedNotification = Infer<typeof TurnCompletedNotification>;

export const TurnDiffUpdatedNotification = schema(() => z.object({ diff: z.string(), threadId: z.string(), turnId: z.string() }));
export type TurnDiffUpdatedNotification = Infer<typeof TurnDiffUpdatedNotification>;

export const TurnEnvironmentParams = schema(() =>
  z.object({ cwd: z.string(), environmentId: z.string(), runtimeWorkspaceRoots: z.array(z.string()).nullish() }),
);
export type TurnEnvironmentParams = Infer<typeof TurnEnvironmentParams>;

export const TurnInterruptParams = schema(() => z.object({ threadId: z.string(), turnId: z.string() }));
export type TurnInterruptParams = Infer<typeof TurnInterruptParams>;

export const TurnInterruptResponse = schema(() => z.object({}));
export type TurnInterruptResponse = Infer<typeof TurnInterruptResponse>;

export const TurnPlanStepStatus = schema(() => z.enum(['pending', 'inProgress', 'completed']));
export type TurnPlanStepStatus = Infer<typeof TurnPlanStepStatus>;

export const TurnPlanStep = schema(() => z.object({ status: TurnPlanStepStatus(), step: z.string() }));
export type TurnPlanStep = Infer<typeof TurnPlanStep>;

export const TurnPlanUpdatedNotification = schema(() =>
  z.object({ explanation: z.string().nullish(), plan: z.array(TurnPlanStep()), threadId: z.string(), turnId: z.string() }),
);
export type TurnPlanUpdatedNotification = Infer<typeof TurnPlanUpdatedNotification>;

export const TurnToolOutput = schema(() =>
  z.object({ name: z.string(), namespace: z.string().nullish(), output: FunctionCallOutputBody(), retain: z.boolean().nullish() }),
);
export type TurnToolOutput = Infer<typeof TurnToolOutput>;

export const TurnStartParams = schema(() =>
  z.object({
    additionalContext: z.record(z.string(), AdditionalContextEntry()).nullish(),
    approvalPolicy: AskForApproval().nullish(),
    approvalsReviewer: ApprovalsReviewer().nullish(),
    clientUserMessageId: z.string().nullish(),
    collaborationMode: CollaborationMode().nullish(),
    cwd: z.string().nullish(),
    cyberAccessProgram: CyberAccessProgram().nullish(),
    disabledPluginIds: z.array(z.string()).nullish(),
    effort: ReasoningEffort().nullish(),
    environments: z.array(TurnEnvironmentParams()).nullish(),
    input: z.array(UserInput()),
    model: z.string().nullish(),
    multiAgentMode: MultiAgentMode().nullish(),
    outputSchema: z.unknown().nullish(),
    parentTurnId: z.string().nullish(),
    permissions: z.string().nullish(),
    personality: Personality().nullish(),
    responsesapiClientMetadata: z.record(z.string(), z.string()).nullish(),
    responsesapiClientMetadataPatch: z.record(z.string(), z.string()).nullish(),
    rootTurnId: z.string().nullish(),
    runtimeWorkspaceRoots: z.array(z.string()).nullish(),
    sandboxPolicy: SandboxPolicy().nullish(),
    serviceTier: z.string().nullish(),
    serviceTierForTurn: z.string().nullish(),
    summary: ReasoningSummary().nullish(),
    threadId: z.string(),
    toolOutput: TurnToolOutput().nullish(),
    turnTrigger: z.string().nullish(),
  }),
);
export type TurnStartParams = Infer<typeof TurnStartParams>;

export const TurnStartResponse = schema(() => z.object({ turn: Turn() }));
export type TurnStartResponse = Infer<typeof TurnStartResponse>;

export const TurnStartedNotification = schema(() => z.object({ threadId: z.string(), turn: Turn() }));
export type TurnStartedNotification = Infer<typeof TurnStartedNotification>;

export const TurnSteerParams = schema(() =>
  z.object({
    additionalContext: z.record(z.string(), AdditionalContextEntry()).nullish(),
    clientUserMessageId: z.string().nullish(),
    expectedTurnId: z.string(),
    input: z.array(UserInput()),
    responsesapiClientMetadata: z.record(z.string(), z.string()).nullish(),
    responsesapiClientMetadataPatch: z.record(z.string(), z.string()).nullish(),
    threadId: z.string(),
  }),
);
export type TurnSteerParams = Infer<typeof TurnSteerParams>;

export const TurnSteerResponse = schema(() => z.object({ turnId: z.string() }));
export type TurnSteerResponse = Infer<typeof TurnSteerResponse>;

export const TurnSettingsUpdateParams = schema(() =>
  z.strictObject({
    approvalsReviewer: ApprovalsReviewer().nullish(),
    effort: ReasoningEffort().nullish(),
    model: z.string().nullish(),
    serviceTier: z.string().nullish(),
    summary: ReasoningSummary().nullish(),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type TurnSettingsUpdateParams = Infer<typeof TurnSettingsUpdateParams>;

export const TurnSettingsUpdateResponse = schema(() => z.object({ status: z.enum(['applied', 'targetUnavailable']) }));
export type TurnSettingsUpdateResponse = Infer<typeof TurnSettingsUpdateResponse>;

export const TurnsPage = schema(() =>
  z.object({ backwardsCursor: z.string().nullish(), data: z.array(Turn()), nextCursor: z.string().nullish() }),
);
export type TurnsPage = Infer<typeof TurnsPage>;
