// Lists that clients ask for first: models, providers, features, permission profiles, modes, skills.
import * as z from 'zod';
import { GatewayAuth, ModeKind, MultiAgentVersion, ReasoningEffort } from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const CollaborationModeListParams = schema(() => z.object({}));
export type CollaborationModeListParams = Infer<typeof CollaborationModeListParams>;

export const CollaborationModeMask = schema(() =>
  z.object({
    mode: ModeKind().nullish(),
    model: z.string().nullish(),
    name: z.string(),
    reasoning_effort: ReasoningEffort().nullable().nullish(),
  }),
);
export type CollaborationModeMask = Infer<typeof CollaborationModeMask>;

export const CollaborationModeListResponse = schema(() => z.object({ data: z.array(CollaborationModeMask()) }));
export type CollaborationModeListResponse = Infer<typeof CollaborationModeListResponse>;

export const ExperimentalFeatureStage = schema(() => z.enum(['beta', 'underDevelopment', 'stable', 'deprecated', 'removed']));
export type ExperimentalFeatureStage = Infer<typeof ExperimentalFeatureStage>;

export const ExperimentalFeature = schema(() =>
  z.object({
    announcement: z.string().nullish(),
    defaultEnabled: z.boolean(),
    description: z.string().nullish(),
    displayName: z.string().nullish(),
    enabled: z.boolean(),
    name: z.string(),
    stage: ExperimentalFeatureStage(),
  }),
);
export type ExperimentalFeature = Infer<typeof ExperimentalFeature>;

export const ExperimentalFeatureListParams = schema(() =>
  z.object({ cursor: z.string().nullish(), limit: z.int().min(0.0).nullish(), threadId: z.string().nullish() }),
);
export type ExperimentalFeatureListParams = Infer<typeof ExperimentalFeatureListParams>;

export const ExperimentalFeatureListResponse = schema(() =>
  z.object({ data: z.array(ExperimentalFeature()), nextCursor: z.string().nullish() }),
);
export type ExperimentalFeatureListResponse = Infer<typeof ExperimentalFeatureListResponse>;

export const InputModality = schema(() => z.enum(['text', 'image', 'audio']));
export type InputModality = Infer<typeof InputModality>;

export const ModelAccessPrograms = schema(() => z.looseObject({}));
export type ModelAccessPrograms = Infer<typeof ModelAccessPrograms>;

export const ModelAvailabilityNux = schema(() => z.looseObject({}));
export type ModelAvailabilityNux = Infer<typeof ModelAvailabilityNux>;

export const ModelServiceTier = schema(() => z.object({ description: z.string(), id: z.string(), name: z.string() }));
export type ModelServiceTier = Infer<typeof ModelServiceTier>;

export const ModelUpgradeInfo = schema(() => z.looseObject({}));
export type ModelUpgradeInfo = Infer<typeof ModelUpgradeInfo>;

export const ReasoningEffortOption = schema(() => z.object({ description: z.string(), reasoningEffort: ReasoningEffort() }));
export type ReasoningEffortOption = Infer<typeof ReasoningEffortOption>;

export const Model = schema(() =>
  z.object({
    additionalSpeedTiers: z.array(z.string()).optional(),
    availabilityNux: ModelAvailabilityNux().nullish(),
    availableAccessPrograms: ModelAccessPrograms().nullish(),
    defaultReasoningEffort: ReasoningEffort(),
    defaultServiceTier: z.string().nullish(),
    description: z.string(),
    displayName: z.string(),
    hidden: z.boolean(),
    id: z.string(),
    inputModalities: z.array(InputModality()).optional(),
    isDefault: z.boolean(),
    model: z.string(),
    modelSpecialty: z.string().nullish(),
    multiAgentVersion: MultiAgentVersion().nullish(),
    serviceTiers: z.array(ModelServiceTier()).optional(),
    supportedReasoningEfforts: z.array(ReasoningEffortOption()),
    supportsPersonality: z.boolean().optional(),
    upgrade: z.string().nullish(),
    upgradeInfo: ModelUpgradeInfo().nullish(),
  }),
);
export type Model = Infer<typeof Model>;

export const ModelListParams = schema(() =>
  z.object({
    cursor: z.string().nullish(),
    includeHidden: z.boolean().nullish(),
    limit: z.int().min(0.0).nullish(),
    modelProvider: z.string().nullish(),
  }),
);
export type ModelListParams = Infer<typeof ModelListParams>;

export const ModelListResponse = schema(() => z.object({ data: z.array(Model()), nextCursor: z.string().nullish() }));
export type ModelListResponse = Infer<typeof ModelListResponse>;

export const ModelProviderCapabilitiesReadParams = schema(() => z.object({}));
export type ModelProviderCapabilitiesReadParams = Infer<typeof ModelProviderCapabilitiesReadParams>;

export const ModelProviderCapabilitiesReadResponse = schema(() => z.object({ imageGeneration: z.boolean(), webSearch: z.boolean() }));
export type ModelProviderCapabilitiesReadResponse = Infer<typeof ModelProviderCapabilitiesReadResponse>;

export const ModelProviderListParams = schema(() => z.object({}));
export type ModelProviderListParams = Infer<typeof ModelProviderListParams>;

export const ProviderSettings = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('openai') }),
    z.object({ auth: GatewayAuth(), type: z.literal('customGateway') }),
    z.object({ profile: z.string().nullish(), region: z.string().nullish(), type: z.literal('bedrock') }),
    z.object({
      credentialFile: z.string().nullish(),
      location: z.string().nullish(),
      projectId: z.string().nullish(),
      type: z.literal('gcp'),
    }),
  ]),
);
export type ProviderSettings = Infer<typeof ProviderSettings>;

export const ModelProviderSummary = schema(() =>
  z.object({ baseUrl: z.string().nullish(), canEdit: z.boolean(), id: z.string(), name: z.string(), settings: ProviderSettings() }),
);
export type ModelProviderSummary = Infer<typeof ModelProviderSummary>;

export const ModelProviderListResponse = schema(() =>
  z.object({ canChangeDefault: z.boolean(), data: z.array(ModelProviderSummary()), defaultProviderId: z.string() }),
);
export type ModelProviderListResponse = Infer<typeof ModelProviderListResponse>;

export const PermissionProfileListParams = schema(() =>
  z.object({ cursor: z.string().nullish(), cwd: z.string().nullish(), limit: z.int().min(0.0).nullish() }),
);
export type PermissionProfileListParams = Infer<typeof PermissionProfileListParams>;

export const PermissionProfileSummary = schema(() => z.object({ allowed: z.boolean(), description: z.string().nullish(), id: z.string() }));
export type PermissionProfileSummary = Infer<typeof PermissionProfileSummary>;

export const PermissionProfileListResponse = schema(() =>
  z.object({ data: z.array(PermissionProfileSummary()), nextCursor: z.string().nullish() }),
);
export type PermissionProfileListResponse = Infer<typeof PermissionProfileListResponse>;

export const SkillDependencies = schema(() => z.looseObject({}));
export type SkillDependencies = Infer<typeof SkillDependencies>;

export const SkillErrorInfo = schema(() => z.object({ message: z.string(), path: z.string() }));
export type SkillErrorInfo = Infer<typeof SkillErrorInfo>;

export const SkillInterface = schema(() => z.looseObject({}));
export type SkillInterface = Infer<typeof SkillInterface>;

export const SkillScope = schema(() => z.enum(['user', 'repo', 'system', 'admin']));
export type SkillScope = Infer<typeof SkillScope>;

export const SkillMetadata = schema(() =>
  z.object({
    dependencies: SkillDependencies().nullish(),
    description: z.string(),
    enabled: z.boolean(),
    interface: SkillInterface().nullish(),
    name: z.string(),
    path: z.string(),
    pluginId: z.string().nullish(),
    scope: SkillScope(),
    shortDescription: z.string().nullish(),
  }),
);
export type SkillMetadata = Infer<typeof SkillMetadata>;

export const SkillsChangedNotification = schema(() => z.object({}));
export type SkillsChangedNotification = Infer<typeof SkillsChangedNotification>;

export const SkillsListEntry = schema(() =>
  z.object({ cwd: z.string(), errors: z.array(SkillErrorInfo()), skills: z.array(SkillMetadata()) }),
);
export type SkillsListEntry = Infer<typeof SkillsListEntry>;

export const SkillsListParams = schema(() => z.object({ cwds: z.array(z.string()).nullish(), forceReload: z.boolean().nullish() }));
export type SkillsListParams = Infer<typeof SkillsListParams>;

export const SkillsListResponse = schema(() => z.object({ data: z.array(SkillsListEntry()) }));
export type SkillsListResponse = Infer<typeof SkillsListResponse>;

export const ExperimentalFeatureEnablementSetParams = schema(() => z.object({ enablement: z.record(z.string(), z.boolean()) }));
export type ExperimentalFeatureEnablementSetParams = Infer<typeof ExperimentalFeatureEnablementSetParams>;

export const ExperimentalFeatureEnablementSetResponse = schema(() => z.object({ enablement: z.record(z.string(), z.boolean()) }));
export type ExperimentalFeatureEnablementSetResponse = Infer<typeof ExperimentalFeatureEnablementSetResponse>;

/** Exactly one of `name` and `path` says which skill. */
export const SkillsConfigWriteParams = schema(() =>
  z.object({ enabled: z.boolean(), name: z.string().nullish(), path: z.string().nullish() }),
);
export type SkillsConfigWriteParams = Infer<typeof SkillsConfigWriteParams>;

export const SkillsConfigWriteResponse = schema(() => z.object({ effectiveEnabled: z.boolean() }));
export type SkillsConfigWriteResponse = Infer<typeof SkillsConfigWriteResponse>;
