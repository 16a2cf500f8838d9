// Host files and file search.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';

export const FsChangedNotification = schema(() => z.object({ changedPaths: z.array(z.string()), watchId: z.string() }));
export type FsChangedNotification = Infer<typeof FsChangedNotification>;

export const FsCopyParams = schema(() =>
  z.object({ destinationPath: z.string(), recursive: z.boolean().nullish(), sourcePath: z.string() }),
);
export type FsCopyParams = Infer<typeof FsCopyParams>;

export const FsCopyResponse = schema(() => z.object({}));
export type FsCopyResponse = Infer<typeof FsCopyResponse>;

export const FsCreateDirectoryParams = schema(() => z.object({ path: z.string(), recursive: z.boolean().nullish() }));
export type FsCreateDirectoryParams = Infer<typeof FsCreateDirectoryParams>;

export const FsCreateDirectoryResponse = schema(() => z.object({}));
export type FsCreateDirectoryResponse = Infer<typeof FsCreateDirectoryResponse>;

export const FsGetMetadataParams = schema(() => z.object({ path: z.string() }));
export type FsGetMetadataParams = Infer<typeof FsGetMetadataParams>;

export const FsGetMetadataResponse = schema(() =>
  z.object({ createdAtMs: z.int(), isDirectory: z.boolean(), isFile: z.boolean(), isSymlink: z.boolean(), modifiedAtMs: z.int() }),
);
export type FsGetMetadataResponse = Infer<typeof FsGetMetadataResponse>;

export const FsReadDirectoryEntry = schema(() => z.object({ fileName: z.string(), isDirectory: z.boolean(), isFile: z.boolean() }));
export type FsReadDirectoryEntry = Infer<typeof FsReadDirectoryEntry>;

export const FsReadDirectoryParams = schema(() => z.object({ path: z.string() }));
export type FsReadDirectoryParams = Infer<typeof FsReadDirectoryParams>;

export const FsReadDirectoryResponse = schema(() => z.object({ entries: z.array(FsReadDirectoryEntry()) }));
export type FsReadDirectoryResponse = Infer<typeof FsReadDirectoryResponse>;

export const FsReadFileParams = schema(() => z.object({ path: z.string() }));
export type FsReadFileParams = Infer<typeof FsReadFileParams>;

export const FsReadFileResponse = schema(() => z.object({ dataBase64: z.string() }));
export type FsReadFileResponse = Infer<typeof FsReadFileResponse>;

export const FsRemoveParams = schema(() => z.object({ force: z.boolean().nullish(), path: z.string(), recursive: z.boolean().nullish() }));
export type FsRemoveParams = Infer<typeof FsRemoveParams>;

export const FsRemoveResponse = schema(() => z.object({}));
export type FsRemoveResponse = Infer<typeof FsRemoveResponse>;

export const FsUnwatchParams = schema(() => z.object({ watchId: z.string() }));
export type FsUnwatchParams = Infer<typeof FsUnwatchParams>;

export const FsUnwatchResponse = schema(() => z.object({}));
export type FsUnwatchResponse = Infer<typeof FsUnwatchResponse>;

export const FsWatchParams = schema(() => z.object({ path: z.string(), watchId: z.string() }));
export type FsWatchParams = Infer<typeof FsWatchParams>;

export const FsWatchResponse = schema(() => z.object({ path: z.string() }));
export type FsWatchResponse = Infer<typeof FsWatchResponse>;

export const FsWriteFileParams = schema(() => z.object({ dataBase64: z.string(), path: z.string() }));
export type FsWriteFileParams = Infer<typeof FsWriteFileParams>;

export const FsWriteFileResponse = schema(() => z.object({}));
export type FsWriteFileResponse = Infer<typeof FsWriteFileResponse>;

export const FuzzyFileSearchMatchType = schema(() => z.enum(['file', 'directory']));
export type FuzzyFileSearchMatchType = Infer<typeof FuzzyFileSearchMatchType>;

export const FuzzyFileSearchParams = schema(() =>
  z.object({ cancellationToken: z.string().nullish(), query: z.string(), roots: z.array(z.string()) }),
);
export type FuzzyFileSearchParams = Infer<typeof FuzzyFileSearchParams>;

export const FuzzyFileSearchResult = schema(() =>
  z.object({
    file_name: z.string(),
    indices: z.array(z.int().min(0.0)).nullish(),
    match_type: FuzzyFileSearchMatchType(),
    path: z.string(),
    root: z.string(),
    score: z.int().min(0.0),
  }),
);
export type FuzzyFileSearchResult = Infer<typeof FuzzyFileSearchResult>;

export const FuzzyFileSearchResponse = schema(() => z.object({ files: z.array(FuzzyFileSearchResult()) }));
export type FuzzyFileSearchResponse = Infer<typeof FuzzyFileSearchResponse>;

export const FuzzyFileSearchSessionStartParams = schema(() => z.object({ roots: z.array(z.string()), sessionId: z.string() }));
export type FuzzyFileSearchSessionStartParams = Infer<typeof FuzzyFileSearchSessionStartParams>;

export const FuzzyFileSearchSessionStartResponse = schema(() => z.object({}));
export type FuzzyFileSearchSessionStartResponse = Infer<typeof FuzzyFileSearchSessionStartResponse>;

export const FuzzyFileSearchSessionUpdateParams = schema(() => z.object({ query: z.string(), sessionId: z.string() }));
export type FuzzyFileSearchSessionUpdateParams = Infer<typeof FuzzyFileSearchSessionUpdateParams>;

export const FuzzyFileSearchSessionUpdateResponse = schema(() => z.object({}));
export type FuzzyFileSearchSessionUpdateResponse = Infer<typeof FuzzyFileSearchSessionUpdateResponse>;

export const FuzzyFileSearchSessionStopParams = schema(() => z.object({ sessionId: z.string() }));
export type FuzzyFileSearchSessionStopParams = Infer<typeof FuzzyFileSearchSessionStopParams>;

export const FuzzyFileSearchSessionStopResponse = schema(() => z.object({}));
export type FuzzyFileSearchSessionStopResponse = Infer<typeof FuzzyFileSearchSessionStopResponse>;

export const FuzzyFileSearchSessionUpdatedNotification = schema(() =>
  z.object({ files: z.array(FuzzyFileSearchResult()), query: z.string(), sessionId: z.string() }),
);
export type FuzzyFileSearchSessionUpdatedNotification = Infer<typeof FuzzyFileSearchSessionUpdatedNotification>;

export const FuzzyFileSearchSessionCompletedNotification = schema(() => z.object({ sessionId: z.string() }));
export type FuzzyFileSearchSessionCompletedNotification = Infer<typeof FuzzyFileSearchSessionCompletedNotification>;
