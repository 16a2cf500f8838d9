// What the daemon tells about itself: sizes and counts, never content.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';

export const ServerDiagnosticsResponse = schema(() =>
  z.object({
    pid: z.int(),
    uptimeMs: z.int(),
    memory: z.object({ rssBytes: z.int(), heapUsedBytes: z.int(), heapTotalBytes: z.int(), externalBytes: z.int() }),
    requestsInFlight: z.int(),
    loadedThreads: z.int(),
    activeTurns: z.int(),
    pendingServerRequests: z.int(),
  }),
);
export type ServerDiagnosticsResponse = Infer<typeof ServerDiagnosticsResponse>;
