// Queued inputs and goals of a thread.
import * as z from 'zod';
import { UserInput } from './item.ts';
import { request } from './method-spec.ts';
import { type Infer, schema } from './schema.ts';
import { Turn } from './turn.ts';

export const QueuedSubmission = schema(() =>
  z.object({
    clientUserMessageId: z.string(),
    id: z.string(),
    input: z.array(UserInput()),
    responsesapiClientMetadata: z.record(z.string(), z.string()).nullish(),
  }),
);
export type QueuedSubmission = Infer<typeof QueuedSubmission>;

export const ThreadGoalStatus = schema(() => z.enum(['active', 'paused', 'blocked', 'usageLimited', 'budgetLimited', 'complete']));
export type ThreadGoalStatus = Infer<typeof ThreadGoalStatus>;

export const ThreadGoal = schema(() =>
  z.object({
    createdAt: z.int(),
    objective: z.string(),
    status: ThreadGoalStatus(),
    threadId: z.string(),
    timeUsedSeconds: z.int(),
    tokenBudget: z.int().nullish(),
    tokensUsed: z.int(),
    updatedAt: z.int(),
  }),
);
export type ThreadGoal = Infer<typeof ThreadGoal>;

export const ThreadGoalMutationOrigin = schema(() => z.enum(['user', 'automatic']));
export type ThreadGoalMutationOrigin = Infer<typeof ThreadGoalMutationOrigin>;

export const ThreadGoalClearParams = schema(() => z.object({ origin: ThreadGoalMutationOrigin().nullish(), threadId: z.string() }));
export type ThreadGoalClearParams = Infer<typeof ThreadGoalClearParams>;

export const ThreadGoalClearResponse = schema(() => z.object({ cleared: z.boolean() }));
export type ThreadGoalClearResponse = Infer<typeof ThreadGoalClearResponse>;

export const ThreadGoalClearedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadGoalClearedNotification = Infer<typeof ThreadGoalClearedNotification>;

export const ThreadGoalGetParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadGoalGetParams = Infer<typeof ThreadGoalGetParams>;

export const ThreadGoalGetResponse = schema(() => z.object({ goal: ThreadGoal().nullish() }));
export type ThreadGoalGetResponse = Infer<typeof ThreadGoalGetResponse>;

export const ThreadGoalSetParams = schema(() =>
  z.object({
    objective: z.string().nullish(),
    origin: ThreadGoalMutationOrigin().nullish(),
    status: ThreadGoalStatus().nullish(),
    threadId: z.string(),
    tokenBudget: z.int().nullish(),
  }),
);
export type ThreadGoalSetParams = Infer<typeof ThreadGoalSetParams>;

export const ThreadGoalSetResponse = schema(() => z.object({ goal: ThreadGoal() }));
export type ThreadGoalSetResponse = Infer<typeof ThreadGoalSetResponse>;

export const ThreadGoalUpdatedNotification = schema(() =>
  z.object({ goal: ThreadGoal(), threadId: z.string(), turnId: z.string().nullish() }),
);
export type ThreadGoalUpdatedNotification = Infer<typeof ThreadGoalUpdatedNotification>;

export const ThreadQueueAddParams = schema(() =>
  z.object({
    clientUserMessageId: z.string(),
    input: z.array(UserInput()),
    responsesapiClientMetadata: z.record(z.string(), z.string()).nullish(),
    threadId: z.string(),
  }),
);
export type ThreadQueueAddParams = Infer<typeof ThreadQueueAddParams>;

export const ThreadQueueAddResponse = schema(() => z.object({ queuedSubmission: QueuedSubmission() }));
export type ThreadQueueAddResponse = Infer<typeof ThreadQueueAddResponse>;

export const ThreadQueueChangedNotification = schema(() => z.object({ threadId: z.string() }));
export type ThreadQueueChangedNotification = Infer<typeof ThreadQueueChangedNotification>;

export const ThreadQueueDeleteParams = schema(() => z.object({ queuedSubmissionId: z.string(), threadId: z.string() }));
export type ThreadQueueDeleteParams = Infer<typeof ThreadQueueDeleteParams>;

export const ThreadQueueDeleteResponse = schema(() => z.object({ deleted: z.boolean() }));
export type ThreadQueueDeleteResponse = Infer<typeof ThreadQueueDeleteResponse>;

export const ThreadQueueListParams = schema(() =>
  z.object({ cursor: z.string().nullish(), limit: z.int().min(0.0).nullish(), threadId: z.string() }),
);
export type ThreadQueueListParams = Infer<typeof ThreadQueueListParams>;

export const ThreadQueueListResponse = schema(() => z.object({ data: z.array(QueuedSubmission()), nextCursor: z.string().nullish() }));
export type ThreadQueueListResponse = Infer<typeof ThreadQueueListResponse>;

export const ThreadQueueReorderParams = schema(() => z.object({ queuedSubmissionIds: z.array(z.string()), threadId: z.string() }));
export type ThreadQueueReorderParams = Infer<typeof ThreadQueueReorderParams>;

export const ThreadQueueReorderResponse = schema(() => z.object({}));
export type ThreadQueueReorderResponse = Infer<typeof ThreadQueueReorderResponse>;

export const ThreadQueueStartParams = schema(() => z.object({ queuedSubmissionId: z.string().nullish(), threadId: z.string() }));
export type ThreadQueueStartParams = Infer<typeof ThreadQueueStartParams>;

export const ThreadQueueStartResponse = schema(() => z.object({ turn: Turn() }));
export type ThreadQueueStartResponse = Infer<typeof ThreadQueueStartResponse>;

export const ThreadQueueUpdateParams = schema(() =>
  z.object({
    input: z.array(UserInput()),
    queuedSubmissionId: z.string(),
    responsesapiClientMetadata: z.record(z.string(), z.string()).nullish(),
    threadId: z.string(),
  }),
);
export type ThreadQueueUpdateParams = Infer<typeof ThreadQueueUpdateParams>;

export const ThreadQueueUpdateResponse = schema(() => z.object({ queuedSubmission: QueuedSubmission() }));
export type ThreadQueueUpdateResponse = Infer<typeof ThreadQueueUpdateResponse>;

const experimental = { scope: 'thread', stability: 'experimental' } as const;

export const queueGoalRequests = {
  'thread/goal/set': request(ThreadGoalSetParams, ThreadGoalSetResponse, { scope: 'thread' }),
  'thread/goal/get': request(ThreadGoalGetParams, ThreadGoalGetResponse, { scope: 'thread' }),
  'thread/goal/clear': request(ThreadGoalClearParams, ThreadGoalClearResponse, { scope: 'thread' }),
  'thread/queue/add': request(ThreadQueueAddParams, ThreadQueueAddResponse, experimental),
  'thread/queue/list': request(ThreadQueueListParams, ThreadQueueListResponse, experimental),
  'thread/queue/update': request(ThreadQueueUpdateParams, ThreadQueueUpdateResponse, experimental),
  'thread/queue/delete': request(ThreadQueueDeleteParams, ThreadQueueDeleteResponse, experimental),
  'thread/queue/reorder': request(ThreadQueueReorderParams, ThreadQueueReorderResponse, experimental),
  'thread/queue/start': request(ThreadQueueStartParams, ThreadQueueStartResponse, experimental),
} as const;
