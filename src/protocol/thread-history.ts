// Reading stored threads: lists, pages of turns and items, search.
import * as z from 'zod';
import { SortDirection } from './primitives.ts';
import { type Infer, schema } from './schema.ts';
import { Thread, ThreadItemEntry, ThreadItemOutputDeferral } from './thread.ts';
import { Turn, TurnItemsView } from './turn.ts';

export const ThreadItemsListAnchor = schema(() => z.object({ itemId: z.string(), type: z.literal('item') }));
export type ThreadItemsListAnchor = Infer<typeof ThreadItemsListAnchor>;

export const ThreadItemsListCursor = schema(() => z.union([z.string(), ThreadItemsListAnchor()]));
export type ThreadItemsListCursor = Infer<typeof ThreadItemsListCursor>;

export const ThreadItemsListParams = schema(() =>
  z.object({
    cursor: ThreadItemsListCursor().nullish(),
    deferOutput: ThreadItemOutputDeferral().nullish(),
    limit: z.int().min(0.0).nullish(),
    sortDirection: SortDirection().nullish(),
    threadId: z.string(),
    turnId: z.string().nullish(),
  }),
);
export type ThreadItemsListParams = Infer<typeof ThreadItemsListParams>;

export const ThreadItemsListResponse = schema(() =>
  z.object({ backwardsCursor: z.string().nullish(), data: z.array(ThreadItemEntry()), nextCursor: z.string().nullish() }),
);
export type ThreadItemsListResponse = Infer<typeof ThreadItemsListResponse>;

export const ThreadItemsReadParams = schema(() => z.object({ itemIds: z.array(z.string()), threadId: z.string(), turnId: z.string() }));
export type ThreadItemsReadParams = Infer<typeof ThreadItemsReadParams>;

export const ThreadItemsReadResponse = schema(() => z.object({ data: z.array(ThreadItemEntry()) }));
export type ThreadItemsReadResponse = Infer<typeof ThreadItemsReadResponse>;

export const ThreadListCwdFilter = schema(() => z.union([z.string(), z.array(z.string())]));
export type ThreadListCwdFilter = Infer<typeof ThreadListCwdFilter>;

export const ThreadSortKey = schema(() => z.enum(['created_at', 'updated_at', 'recency_at', 'section_position']));
export type ThreadSortKey = Infer<typeof ThreadSortKey>;

export const ThreadSourceKind = schema(() =>
  z.enum([
    'cli',
    'vscode',
    'exec',
    'appServer',
    'subAgent',
    'subAgentReview',
    'subAgentCompact',
    'subAgentThreadSpawn',
    'subAgentOther',
    'unknown',
  ]),
);
export type ThreadSourceKind = Infer<typeof ThreadSourceKind>;

export const ThreadListParams = schema(() =>
  z.object({
    ancestorThreadId: z.string().nullish(),
    archived: z.boolean().nullish(),
    attachedToThreadId: z.string().nullish(),
    currentAccountOnly: z.boolean().nullish(),
    cursor: z.string().nullish(),
    cwd: ThreadListCwdFilter().nullish(),
    excludedThreadIds: z.array(z.string()).nullish(),
    includeAttachedThreads: z.boolean().nullish(),
    includedThreadIds: z.array(z.string()).nullish(),
    limit: z.int().min(0.0).nullish(),
    modelProviders: z.array(z.string()).nullish(),
    originators: z.array(z.string()).nullish(),
    parentThreadId: z.string().nullish(),
    projectId: z.string().nullish(),
    searchTerm: z.string().nullish(),
    sectionId: z.string().nullish(),
    sortDirection: SortDirection().nullish(),
    sortKey: ThreadSortKey().nullish(),
    sourceKinds: z.array(ThreadSourceKind()).nullish(),
    useStateDbOnly: z.boolean().nullish(),
  }),
);
export type ThreadListParams = Infer<typeof ThreadListParams>;

export const ThreadUnreadPosition = schema(() =>
  z.discriminatedUnion('type', [z.object({ type: z.literal('threadStart') }), z.object({ turnId: z.string(), type: z.literal('turn') })]),
);
export type ThreadUnreadPosition = Infer<typeof ThreadUnreadPosition>;

export const ThreadReadState = schema(() => z.object({ firstUnread: ThreadUnreadPosition().nullish(), revision: z.string() }));
export type ThreadReadState = Infer<typeof ThreadReadState>;

export const ThreadListResponse = schema(() =>
  z.object({
    backwardsCursor: z.string().nullish(),
    data: z.array(Thread()),
    nextCursor: z.string().nullish(),
    readStates: z.record(z.string(), ThreadReadState()).nullish(),
  }),
);
export type ThreadListResponse = Infer<typeof ThreadListResponse>;

export const ThreadLoadedListParams = schema(() => z.object({ cursor: z.string().nullish(), limit: z.int().min(0.0).nullish() }));
export type ThreadLoadedListParams = Infer<typeof ThreadLoadedListParams>;

export const ThreadLoadedListResponse = schema(() => z.object({ data: z.array(z.string()), nextCursor: z.string().nullish() }));
export type ThreadLoadedListResponse = Infer<typeof ThreadLoadedListResponse>;

export const ThreadReadParams = schema(() => z.object({ includeTurns: z.boolean().nullish(), threadId: z.string() }));
export type ThreadReadParams = Infer<typeof ThreadReadParams>;

export const ThreadReadResponse = schema(() => z.object({ readState: ThreadReadState().nullish(), thread: Thread() }));
export type ThreadReadResponse = Infer<typeof ThreadReadResponse>;

export const ThreadSearchSortKey = schema(() => z.enum(['created_at', 'updated_at', 'recency_at']));
export type ThreadSearchSortKey = Infer<typeof ThreadSearchSortKey>;

export const ThreadSearchParams = schema(() =>
  z.object({
    archived: z.boolean().nullish(),
    currentAccountOnly: z.boolean().nullish(),
    cursor: z.string().nullish(),
    includeAttachedThreads: z.boolean().nullish(),
    limit: z.int().min(0.0).nullish(),
    searchTerm: z.string(),
    sortDirection: SortDirection().nullish(),
    sortKey: ThreadSearchSortKey().nullish(),
    sourceKinds: z.array(ThreadSourceKind()).nullish(),
  }),
);
export type ThreadSearchParams = Infer<typeof ThreadSearchParams>;

export const ThreadSearchResult = schema(() => z.object({ snippet: z.string(), thread: Thread() }));
export type ThreadSearchResult = Infer<typeof ThreadSearchResult>;

export const ThreadSearchResponse = schema(() =>
  z.object({ backwardsCursor: z.string().nullish(), data: z.array(ThreadSearchResult()), nextCursor: z.string().nullish() }),
);
export type ThreadSearchResponse = Infer<typeof ThreadSearchResponse>;

export const ThreadTurnsListParams = schema(() =>
  z.object({
    cursor: z.string().nullish(),
    itemsView: TurnItemsView().nullish(),
    limit: z.int().min(0.0).nullish(),
    sortDirection: SortDirection().nullish(),
    threadId: z.string(),
  }),
);
export type ThreadTurnsListParams = Infer<typeof ThreadTurnsListParams>;

export const ThreadTurnsListResponse = schema(() =>
  z.object({ backwardsCursor: z.string().nullish(), data: z.array(Turn()), nextCursor: z.string().nullish() }),
);
export type ThreadTurnsListResponse = Infer<typeof ThreadTurnsListResponse>;

export const ThreadSearchOccurrencesParams = schema(() =>
  z.object({ cursor: z.string().nullish(), limit: z.int().min(0.0).nullish(), searchTerm: z.string(), threadId: z.string() }),
);
export type ThreadSearchOccurrencesParams = Infer<typeof ThreadSearchOccurrencesParams>;

/** Offsets in UTF-16 code units. */
export const ThreadSearchTextRange = schema(() => z.object({ end: z.int().min(0.0), start: z.int().min(0.0) }));
export type ThreadSearchTextRange = Infer<typeof ThreadSearchTextRange>;

export const ThreadSearchOccurrence = schema(() =>
  z.object({
    itemId: z.string(),
    snippet: z.string(),
    snippetMatchRange: ThreadSearchTextRange(),
    turnCursor: z.string(),
    turnId: z.string(),
  }),
);
export type ThreadSearchOccurrence = Infer<typeof ThreadSearchOccurrence>;

export const ThreadSearchOccurrencesResponse = schema(() =>
  z.object({ data: z.array(ThreadSearchOccurrence()), nextCursor: z.string().nullish() }),
);
export type ThreadSearchOccurrencesResponse = Infer<typeof ThreadSearchOccurrencesResponse>;
