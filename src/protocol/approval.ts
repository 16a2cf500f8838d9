// Server requests: what only the frontend or its user can decide or do, and the form of the answers.
import * as z from 'zod';
import { CommandAction, DynamicToolCallOutputContentItem } from './item.ts';
import { RequestId } from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const FileSystemAccessMode = schema(() => z.enum(['read', 'write', 'deny']));
export type FileSystemAccessMode = Infer<typeof FileSystemAccessMode>;

export const FileSystemPath = schema(() => z.looseObject({}));
export type FileSystemPath = Infer<typeof FileSystemPath>;

export const FileSystemSandboxEntry = schema(() => z.object({ access: FileSystemAccessMode(), path: FileSystemPath() }));
export type FileSystemSandboxEntry = Infer<typeof FileSystemSandboxEntry>;

export const AdditionalFileSystemPermissions = schema(() =>
  z.object({
    entries: z.array(FileSystemSandboxEntry()).nullish(),
    globScanMaxDepth: z.int().min(1.0).nullish(),
    read: z.array(z.string()).nullish(),
    write: z.array(z.string()).nullish(),
  }),
);
export type AdditionalFileSystemPermissions = Infer<typeof AdditionalFileSystemPermissions>;

export const AdditionalNetworkPermissions = schema(() => z.object({ enabled: z.boolean().nullish() }));
export type AdditionalNetworkPermissions = Infer<typeof AdditionalNetworkPermissions>;

export const AdditionalPermissionProfile = schema(() =>
  z.object({ fileSystem: AdditionalFileSystemPermissions().nullish(), network: AdditionalNetworkPermissions().nullish() }),
);
export type AdditionalPermissionProfile = Infer<typeof AdditionalPermissionProfile>;

export const NetworkPolicyAmendment = schema(() => z.looseObject({}));
export type NetworkPolicyAmendment = Infer<typeof NetworkPolicyAmendment>;

export const CommandExecutionApprovalDecision = schema(() =>
  z.union([
    z.enum(['accept', 'acceptForSession', 'decline', 'cancel']),
    z.object({ acceptWithExecpolicyAmendment: z.object({ execpolicy_amendment: z.array(z.string()) }) }),
    z.object({ applyNetworkPolicyAmendment: z.object({ network_policy_amendment: NetworkPolicyAmendment() }) }),
  ]),
);
export type CommandExecutionApprovalDecision = Infer<typeof CommandExecutionApprovalDecision>;

export const CommandExecutionApprovalKind = schema(() => z.enum(['command', 'writeStdin', 'humanCommand']));
export type CommandExecutionApprovalKind = Infer<typeof CommandExecutionApprovalKind>;

export const NetworkApprovalContext = schema(() => z.looseObject({}));
export type NetworkApprovalContext = Infer<typeof NetworkApprovalContext>;

export const CommandExecutionRequestApprovalParams = schema(() =>
  z.object({
    additionalPermissions: AdditionalPermissionProfile().nullish(),
    approvalId: z.string().nullish(),
    availableDecisions: z.array(CommandExecutionApprovalDecision()).nullish(),
    command: z.string().nullish(),
    commandActions: z.array(CommandAction()).nullish(),
    cwd: z.string().nullish(),
    /** There when the command holds characters that hide or reorder text: the same, with those spelled out. To be shown, not run. */
    displayCommand: z.string().optional(),
    environmentId: z.string().nullish(),
    itemId: z.string(),
    kind: CommandExecutionApprovalKind().nullish(),
    networkApprovalContext: NetworkApprovalContext().nullish(),
    proposedExecpolicyAmendment: z.array(z.string()).nullish(),
    proposedNetworkPolicyAmendments: z.array(NetworkPolicyAmendment()).nullish(),
    reason: z.string().nullish(),
    startedAtMs: z.int(),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type CommandExecutionRequestApprovalParams = Infer<typeof CommandExecutionRequestApprovalParams>;

export const CommandExecutionRequestApprovalResponse = schema(() => z.object({ decision: CommandExecutionApprovalDecision() }));
export type CommandExecutionRequestApprovalResponse = Infer<typeof CommandExecutionRequestApprovalResponse>;

export const DynamicToolCallParams = schema(() =>
  z.object({
    arguments: z.unknown(),
    callId: z.string(),
    namespace: z.string().nullish(),
    threadId: z.string(),
    tool: z.string(),
    turnId: z.string(),
  }),
);
export type DynamicToolCallParams = Infer<typeof DynamicToolCallParams>;

export const DynamicToolCallResponse = schema(() =>
  z.object({ contentItems: z.array(DynamicToolCallOutputContentItem()), success: z.boolean() }),
);
export type DynamicToolCallResponse = Infer<typeof DynamicToolCallResponse>;

export const FileChangeApprovalDecision = schema(() => z.enum(['accept', 'acceptForSession', 'decline', 'cancel']));
export type FileChangeApprovalDecision = Infer<typeof FileChangeApprovalDecision>;

export const FileChangeRequestApprovalParams = schema(() =>
  z.object({
    grantRoot: z.string().nullish(),
    itemId: z.string(),
    reason: z.string().nullish(),
    startedAtMs: z.int(),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type FileChangeRequestApprovalParams = Infer<typeof FileChangeRequestApprovalParams>;

export const FileChangeRequestApprovalResponse = schema(() => z.object({ decision: FileChangeApprovalDecision() }));
export type FileChangeRequestApprovalResponse = Infer<typeof FileChangeRequestApprovalResponse>;

export const GrantedPermissionProfile = schema(() =>
  z.object({ fileSystem: AdditionalFileSystemPermissions().nullish(), network: AdditionalNetworkPermissions().nullish() }),
);
export type GrantedPermissionProfile = Infer<typeof GrantedPermissionProfile>;

export const PermissionGrantScope = schema(() => z.enum(['turn', 'session']));
export type PermissionGrantScope = Infer<typeof PermissionGrantScope>;

export const RequestPermissionProfile = schema(() =>
  z.object({ fileSystem: AdditionalFileSystemPermissions().nullish(), network: AdditionalNetworkPermissions().nullish() }),
);
export type RequestPermissionProfile = Infer<typeof RequestPermissionProfile>;

export const PermissionsRequestApprovalParams = schema(() =>
  z.object({
    cwd: z.string(),
    environmentId: z.string().nullish(),
    itemId: z.string(),
    permissions: RequestPermissionProfile(),
    reason: z.string().nullish(),
    startedAtMs: z.int(),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type PermissionsRequestApprovalParams = Infer<typeof PermissionsRequestApprovalParams>;

export const PermissionsRequestApprovalResponse = schema(() =>
  z.object({ permissions: GrantedPermissionProfile(), scope: PermissionGrantScope().optional(), strictAutoReview: z.boolean().nullish() }),
);
export type PermissionsRequestApprovalResponse = Infer<typeof PermissionsRequestApprovalResponse>;

export const ServerRequestResolvedNotification = schema(() => z.object({ requestId: RequestId(), threadId: z.string() }));
export type ServerRequestResolvedNotification = Infer<typeof ServerRequestResolvedNotification>;

export const ToolRequestUserInputAnswer = schema(() => z.object({ answers: z.array(z.string()) }));
export type ToolRequestUserInputAnswer = Infer<typeof ToolRequestUserInputAnswer>;

export const ToolRequestUserInputOption = schema(() => z.object({ description: z.string(), label: z.string() }));
export type ToolRequestUserInputOption = Infer<typeof ToolRequestUserInputOption>;

export const ToolRequestUserInputQuestion = schema(() =>
  z.object({
    header: z.string(),
    id: z.string(),
    isOther: z.boolean().optional(),
    isSecret: z.boolean().optional(),
    options: z.array(ToolRequestUserInputOption()).nullish(),
    question: z.string(),
  }),
);
export type ToolRequestUserInputQuestion = Infer<typeof ToolRequestUserInputQuestion>;

export const ToolRequestUserInputParams = schema(() =>
  z.object({
    autoResolutionMs: z.int().min(0.0).nullish(),
    isBlocking: z.boolean(),
    itemId: z.string(),
    questions: z.array(ToolRequestUserInputQuestion()),
    threadId: z.string(),
    turnId: z.string(),
  }),
);
export type ToolRequestUserInputParams = Infer<typeof ToolRequestUserInputParams>;

export const ToolRequestUserInputResponse = schema(() => z.object({ answers: z.record(z.string(), ToolRequestUserInputAnswer()) }));
export type ToolRequestUserInputResponse = Infer<typeof ToolRequestUserInputResponse>;
