// Hooks as a client sees them: definitions and runs.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';

export const HookEventName = schema(() =>
  z.enum([
    'preModelRequest',
    'postModelRequest',
    'preToolUse',
    'permissionRequest',
    'postToolUse',
    'preCompact',
    'postCompact',
    'sessionStart',
    'sessionEnd',
    'userPromptSubmit',
    'subagentStart',
    'subagentStop',
    'stop',
    'interrupt',
  ]),
);
export type HookEventName = Infer<typeof HookEventName>;

export const HookExecutionMode = schema(() => z.enum(['sync', 'async']));
export type HookExecutionMode = Infer<typeof HookExecutionMode>;

export const HookHandlerType = schema(() => z.enum(['command', 'mcpTool', 'prompt', 'agent']));
export type HookHandlerType = Infer<typeof HookHandlerType>;

export const HookOutputEntryKind = schema(() => z.enum(['warning', 'stop', 'feedback', 'context', 'error']));
export type HookOutputEntryKind = Infer<typeof HookOutputEntryKind>;

export const HookOutputEntry = schema(() => z.object({ kind: HookOutputEntryKind(), text: z.string() }));
export type HookOutputEntry = Infer<typeof HookOutputEntry>;

export const HookRunStatus = schema(() => z.enum(['running', 'completed', 'failed', 'blocked', 'stopped']));
export type HookRunStatus = Infer<typeof HookRunStatus>;

export const HookScope = schema(() => z.enum(['thread', 'turn']));
export type HookScope = Infer<typeof HookScope>;

export const HookSource = schema(() =>
  z.enum([
    'system',
    'user',
    'project',
    'mdm',
    'sessionFlags',
    'plugin',
    'cloudRequirements',
    'cloudManagedConfig',
    'legacyManagedConfigFile',
    'legacyManagedConfigMdm',
    'unknown',
  ]),
);
export type HookSource = Infer<typeof HookSource>;

export const HookRunSummary = schema(() =>
  z.object({
    completedAt: z.int().nullish(),
    displayOrder: z.int(),
    durationMs: z.int().nullish(),
    entries: z.array(HookOutputEntry()),
    eventName: HookEventName(),
    executionMode: HookExecutionMode(),
    handlerType: HookHandlerType(),
    id: z.string(),
    scope: HookScope(),
    source: HookSource().optional(),
    sourcePath: z.string(),
    startedAt: z.int(),
    status: HookRunStatus(),
    statusMessage: z.string().nullish(),
  }),
);
export type HookRunSummary = Infer<typeof HookRunSummary>;

export const HookCompletedNotification = schema(() =>
  z.object({ run: HookRunSummary(), threadId: z.string(), turnId: z.string().nullish() }),
);
export type HookCompletedNotification = Infer<typeof HookCompletedNotification>;

export const HookErrorInfo = schema(() => z.object({ message: z.string(), path: z.string() }));
export type HookErrorInfo = Infer<typeof HookErrorInfo>;

export const HookTrustStatus = schema(() => z.enum(['managed', 'untrusted', 'trusted', 'modified']));
export type HookTrustStatus = Infer<typeof HookTrustStatus>;

/** What is told of every hook, whatever handles it. */
const hookFields = () => ({
  additionalContextLimit: z.int().min(0.0).nullish(),
  currentHash: z.string(),
  displayOrder: z.int(),
  enabled: z.boolean(),
  environmentId: z.string().nullish(),
  eventName: HookEventName(),
  isManaged: z.boolean(),
  key: z.string(),
  matcher: z.string().nullish(),
  pluginId: z.string().nullish(),
  source: HookSource(),
  sourcePath: z.string(),
  statusMessage: z.string().nullish(),
  timeoutSec: z.int().min(0.0),
  trustStatus: HookTrustStatus(),
});

export const HookMetadata = schema(() =>
  z.union([
    z.object({ ...hookFields(), async: z.boolean().optional(), command: z.string(), handlerType: z.literal('command') }),
    z.object({ ...hookFields(), handlerType: z.literal('mcpTool'), server: z.string(), tool: z.string() }),
    z.object({ ...hookFields(), handlerType: z.literal('prompt') }),
    z.object({ ...hookFields(), handlerType: z.literal('agent') }),
  ]),
);
export type HookMetadata = Infer<typeof HookMetadata>;

export const HookStartedNotification = schema(() =>
  z.object({ run: HookRunSummary(), threadId: z.string(), turnId: z.string().nullish() }),
);
export type HookStartedNotification = Infer<typeof HookStartedNotification>;

export const HooksListEntry = schema(() =>
  z.object({ cwd: z.string(), errors: z.array(HookErrorInfo()), hooks: z.array(HookMetadata()), warnings: z.array(z.string()) }),
);
export type HooksListEntry = Infer<typeof HooksListEntry>;

export const HooksListParams = schema(() => z.object({ cwds: z.array(z.string()).nullish(), threadId: z.string().nullish() }));
export type HooksListParams = Infer<typeof HooksListParams>;

export const HooksListResponse = schema(() => z.object({ data: z.array(HooksListEntry()) }));
export type HooksListResponse = Infer<typeof HooksListResponse>;
