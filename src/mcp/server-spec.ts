// How a server is reached. Two specs with the same key mean the same server, so threads that agree on the key share one process.
import { createHash } from 'node:crypto';

export type ServerTransport =
  | { readonly type: 'stdio'; readonly argv: readonly string[]; readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  | { readonly type: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface ServerSpec {
  /** As in the configuration; two names may mean one server. */
  readonly name: string;
  readonly transport: ServerTransport;
  readonly startupTimeoutMs: number;
}

const sorted = (record: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

/** Environment and headers take part, so the key is a digest: it may be logged and stored. */
export function serverKey(transport: ServerTransport): string {
  const parts =
    transport.type === 'stdio'
      ? ['stdio', transport.argv, transport.cwd, sorted(transport.env)]
      : ['http', transport.url, sorted(transport.headers)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
