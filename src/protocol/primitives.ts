// Small shared vocabulary of the wire: enumerations, policies and scalars that several resources use.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';

export const ActivePermissionProfile = schema(() => z.object({ extends: z.string().nullish(), id: z.string() }));
export type ActivePermissionProfile = Infer<typeof ActivePermissionProfile>;

export const AgentMessageModeration = schema(() => z.looseObject({}));
export type AgentMessageModeration = Infer<typeof AgentMessageModeration>;

export const ApprovalsReviewer = schema(() => z.enum(['user', 'auto_review', 'guardian_subagent']));
export type ApprovalsReviewer = Infer<typeof ApprovalsReviewer>;

export const AskForApproval = schema(() =>
  z.union([
    z.enum(['untrusted', 'on-request', 'never']),
    z.object({
      granular: z.object({
        mcp_elicitations: z.boolean(),
        request_permissions: z.boolean().optional(),
        rules: z.boolean(),
        sandbox_approval: z.boolean(),
        skill_approval: z.boolean().optional(),
      }),
    }),
  ]),
);
export type AskForApproval = Infer<typeof AskForApproval>;

export const ModeKind = schema(() => z.enum(['plan', 'default']));
export type ModeKind = Infer<typeof ModeKind>;

export const ReasoningEffort = schema(() => z.string());
export type ReasoningEffort = Infer<typeof ReasoningEffort>;

export const Settings = schema(() =>
  z.object({ developer_instructions: z.string().nullish(), model: z.string(), reasoning_effort: ReasoningEffort().nullish() }),
);
export type Settings = Infer<typeof Settings>;

export const CollaborationMode = schema(() => z.object({ mode: ModeKind(), settings: Settings() }));
export type CollaborationMode = Infer<typeof CollaborationMode>;

export const CyberAccessProgram = schema(() => z.looseObject({}));
export type CyberAccessProgram = Infer<typeof CyberAccessProgram>;

export const DeprecationNoticeNotification = schema(() => z.object({ details: z.string().nullish(), summary: z.string() }));
export type DeprecationNoticeNotification = Infer<typeof DeprecationNoticeNotification>;

export const FunctionCallOutputBody = schema(() => z.unknown());
export type FunctionCallOutputBody = Infer<typeof FunctionCallOutputBody>;

export const GatewayAuth = schema(() => z.looseObject({}));
export type GatewayAuth = Infer<typeof GatewayAuth>;

export const ImageGenerationFailure = schema(() => z.looseObject({}));
export type ImageGenerationFailure = Infer<typeof ImageGenerationFailure>;

export const ImageGenerationInputImage = schema(() => z.looseObject({}));
export type ImageGenerationInputImage = Infer<typeof ImageGenerationInputImage>;

export const MemoryCitation = schema(() => z.looseObject({}));
export type MemoryCitation = Infer<typeof MemoryCitation>;

export const MisalignmentErrorDetails = schema(() => z.looseObject({}));
export type MisalignmentErrorDetails = Infer<typeof MisalignmentErrorDetails>;

export const MultiAgentMode = schema(() => z.union([z.enum(['explicitRequestOnly', 'proactive']), z.object({ custom: z.string() })]));
export type MultiAgentMode = Infer<typeof MultiAgentMode>;

export const MultiAgentVersion = schema(() => z.looseObject({}));
export type MultiAgentVersion = Infer<typeof MultiAgentVersion>;

export const NetworkAccess = schema(() => z.enum(['restricted', 'enabled']));
export type NetworkAccess = Infer<typeof NetworkAccess>;

export const Personality = schema(() => z.enum(['none', 'friendly', 'pragmatic']));
export type Personality = Infer<typeof Personality>;

export const ReasoningSummary = schema(() => z.enum(['auto', 'concise', 'detailed', 'none']));
export type ReasoningSummary = Infer<typeof ReasoningSummary>;

export const RequestId = schema(() => z.union([z.string(), z.int()]));
export type RequestId = Infer<typeof RequestId>;

export const Resource = schema(() => z.looseObject({}));
export type Resource = Infer<typeof Resource>;

export const ResourceTemplate = schema(() => z.looseObject({}));
export type ResourceTemplate = Infer<typeof ResourceTemplate>;

export const ResponseItem = schema(() => z.looseObject({}));
export type ResponseItem = Infer<typeof ResponseItem>;

export const SandboxMode = schema(() => z.enum(['read-only', 'workspace-write', 'danger-full-access']));
export type SandboxMode = Infer<typeof SandboxMode>;

export const SandboxPolicy = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('dangerFullAccess') }),
    z.object({ networkAccess: z.boolean().optional(), type: z.literal('readOnly') }),
    z.object({ networkAccess: NetworkAccess().optional(), type: z.literal('externalSandbox') }),
    z.object({
      excludeSlashTmp: z.boolean().optional(),
      excludeTmpdirEnvVar: z.boolean().optional(),
      networkAccess: z.boolean().optional(),
      type: z.literal('workspaceWrite'),
      writableRoots: z.array(z.string()).optional(),
    }),
  ]),
);
export type SandboxPolicy = Infer<typeof SandboxPolicy>;

export const SortDirection = schema(() => z.enum(['asc', 'desc']));
export type SortDirection = Infer<typeof SortDirection>;

export const Tool = schema(() => z.looseObject({}));
export type Tool = Infer<typeof Tool>;

export const WarningNotification = schema(() => z.object({ message: z.string(), threadId: z.string().nullish() }));
export type WarningNotification = Infer<typeof WarningNotification>;

export const WorkspaceRouting = schema(() => z.looseObject({}));
export type WorkspaceRouting = Infer<typeof WorkspaceRouting>;
