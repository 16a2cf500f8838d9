// What the daemon tells about itself: sizes and counts, never content. The counts come from those who own them.
import { memoryUsage, pid, uptime } from 'node:process';
import type { HandlersFor } from '../handler.ts';

export interface DiagnosticsPorts {
  /** This request included. */
  requestsInFlight(): number;
  loadedThreads(): number;
  activeTurns(): number;
  /** Questions to the frontend without an answer. */
  pendingServerRequests(): number;
}

export function diagnosticsHandlers(ports: DiagnosticsPorts): HandlersFor<'server/diagnostics'> {
  return {
    'server/diagnostics': () => {
      const { rss, heapUsed, heapTotal, external } = memoryUsage();
      return {
        pid,
        uptimeMs: Math.round(uptime() * 1000),
        memory: { rssBytes: rss, heapUsedBytes: heapUsed, heapTotalBytes: heapTotal, externalBytes: external },
        requestsInFlight: ports.requestsInFlight(),
        loadedThreads: ports.loadedThreads(),
        activeTurns: ports.activeTurns(),
        pendingServerRequests: ports.pendingServerRequests(),
      };
    },
  };
}
