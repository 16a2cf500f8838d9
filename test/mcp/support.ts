// Pools over real processes, and what their servers logged.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { LocalProcessRunner } from '../../src/exec/runner.ts';
import { McpPool } from '../../src/mcp/pool.ts';
import type { CallOptions, PooledServer } from '../../src/mcp/server.ts';
import type { ServerSpec } from '../../src/mcp/server-spec.ts';
import { openTransport } from '../../src/mcp/transport-port.ts';
import { mcpProcesses } from '../../src/server/mcp-process.ts';

const SCRIPT = path.join(import.meta.dirname, 'stdio-server.mjs');

export type Logged = { event: string; [name: string]: unknown };

export interface Bench {
  pool: McpPool;
  cwd: string;
  spec(flags?: string[], more?: Partial<ServerSpec>): ServerSpec;
  logged(event?: string): Logged[];
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

export function bench(options: { lingerMs?: number } = {}): Bench {
  const cwd = mkdtempSync(path.join(tmpdir(), 'harnessd-mcp-'));
  const log = path.join(cwd, 'log');
  const runner = new LocalProcessRunner();
  const pool = new McpPool(openTransport({ processes: mcpProcesses(runner) }), options);
  cleanups.push(async () => {
    await pool.closeAll();
    await runner.endAll(200);
    rmSync(cwd, { recursive: true, force: true });
  });
  const env = { PATH: process.env.PATH ?? '', MCP_TEST_LOG: log };
  return {
    pool,
    cwd,
    spec: (flags = [], more = {}) => ({
      name: 'test',
      transport: { type: 'stdio', argv: [process.execPath, SCRIPT, ...flags], cwd, env },
      startupTimeoutMs: 10_000,
      ...more,
    }),
    logged: (event) => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
      return lines.map((line) => JSON.parse(line) as Logged).filter((entry) => !event || entry.event === event);
    },
  };
}

export const forever = (): AbortSignal => new AbortController().signal;

export function call(server: PooledServer, name: string, args: Record<string, unknown> = {}, options: Partial<CallOptions> = {}) {
  return server.request(
    'tools/call',
    { name, arguments: args },
    { caller: { elicit: async () => ({ action: 'decline' }) }, timeoutMs: 10_000, signal: forever(), ...options },
  );
}

export const said = (text: string) => ({ content: [{ type: 'text', text }] });

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export async function until(test: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !test(); ) {
    if (Date.now() > end) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
