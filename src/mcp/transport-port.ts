// How a server's transport is opened: a seam between a server's life and what carries its messages.
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type HttpOptions, openHttp } from './http-transport.ts';
import type { ProcessPort } from './process-port.ts';
import type { ServerSpec } from './server-spec.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A transport that can say why it ended. */
export type ServerConnection = Transport & { readonly endReason?: string | null };
export type OpenTransport = (spec: ServerSpec) => Promise<ServerConnection>;

export interface TransportPorts {
  processes: ProcessPort;
  /** The stored login of a remote server, if there is one. */
  auth?(spec: ServerSpec): HttpOptions['auth'];
}

export const openTransport =
  ({ processes, auth }: TransportPorts): OpenTransport =>
  async (spec) => {
    const { transport } = spec;
    if (transport.type === 'stdio') return new StdioTransport(processes.start(transport));
    return openHttp({ url: transport.url, headers: transport.headers, auth: auth?.(spec) });
  };
