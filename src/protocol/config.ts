// Reading and writing configuration over the wire.
import * as z from 'zod';
import { TextRange } from './item.ts';
import { type Infer, schema } from './schema.ts';

export const Config = schema(() => z.looseObject({}));
export type Config = Infer<typeof Config>;

export const MergeStrategy = schema(() => z.enum(['replace', 'upsert']));
export type MergeStrategy = Infer<typeof MergeStrategy>;

export const ConfigEdit = schema(() => z.object({ keyPath: z.string(), mergeStrategy: MergeStrategy(), value: z.unknown() }));
export type ConfigEdit = Infer<typeof ConfigEdit>;

export const ConfigBatchWriteParams = schema(() =>
  z.object({
    edits: z.array(ConfigEdit()),
    expectedVersion: z.string().nullish(),
    filePath: z.string().nullish(),
    reloadUserConfig: z.boolean().nullish(),
  }),
);
export type ConfigBatchWriteParams = Infer<typeof ConfigBatchWriteParams>;

export const ConfigLayerSource = schema(() => z.looseObject({}));
export type ConfigLayerSource = Infer<typeof ConfigLayerSource>;

export const ConfigLayer = schema(() =>
  z.object({ config: z.unknown(), disabledReason: z.string().nullish(), name: ConfigLayerSource(), version: z.string() }),
);
export type ConfigLayer = Infer<typeof ConfigLayer>;

export const ConfigLayerMetadata = schema(() => z.object({ name: ConfigLayerSource(), version: z.string() }));
export type ConfigLayerMetadata = Infer<typeof ConfigLayerMetadata>;

export const ConfigReadParams = schema(() => z.object({ cwd: z.string().nullish(), includeLayers: z.boolean().nullish() }));
export type ConfigReadParams = Infer<typeof ConfigReadParams>;

export const ConfigReadResponse = schema(() =>
  z.object({ config: Config(), layers: z.array(ConfigLayer()).nullish(), origins: z.record(z.string(), ConfigLayerMetadata()) }),
);
export type ConfigReadResponse = Infer<typeof ConfigReadResponse>;

export const ConfigRequirements = schema(() => z.looseObject({}));
export type ConfigRequirements = Infer<typeof ConfigRequirements>;

export const ConfigRequirementsReadResponse = schema(() =>
  z.object({ requirements: ConfigRequirements().nullish(), supportsIndependentSpeedModes: z.boolean().nullish() }),
);
export type ConfigRequirementsReadResponse = Infer<typeof ConfigRequirementsReadResponse>;

export const ConfigValueWriteParams = schema(() =>
  z.object({
    expectedVersion: z.string().nullish(),
    filePath: z.string().nullish(),
    keyPath: z.string(),
    mergeStrategy: MergeStrategy(),
    value: z.unknown(),
  }),
);
export type ConfigValueWriteParams = Infer<typeof ConfigValueWriteParams>;

export const ConfigWarningNotification = schema(() =>
  z.object({ details: z.string().nullish(), path: z.string().nullish(), range: TextRange().nullish(), summary: z.string() }),
);
export type ConfigWarningNotification = Infer<typeof ConfigWarningNotification>;

export const OverriddenMetadata = schema(() =>
  z.object({ effectiveValue: z.unknown(), message: z.string(), overridingLayer: ConfigLayerMetadata() }),
);
export type OverriddenMetadata = Infer<typeof OverriddenMetadata>;

export const WriteStatus = schema(() => z.enum(['ok', 'okOverridden']));
export type WriteStatus = Infer<typeof WriteStatus>;

export const ConfigWriteResponse = schema(() =>
  z.object({ filePath: z.string(), overriddenMetadata: OverriddenMetadata().nullish(), status: WriteStatus(), version: z.string() }),
);
export type ConfigWriteResponse = Infer<typeof ConfigWriteResponse>;
