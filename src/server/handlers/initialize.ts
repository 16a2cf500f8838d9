// The handshake. Clients gate features on the protocol version in `userAgent`, so its form is fixed.
import { arch, platform, release } from 'node:os';
import { invalidParams, invalidRequest } from '../../common/errors.ts';
import { HARNESSD_VERSION, PROTOCOL_VERSION } from '../../common/version.ts';
import type { HandlersFor } from '../handler.ts';

const FAMILY = process.platform === 'win32' ? 'windows' : 'unix';
const OS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'windows' };

/** What may stand in an HTTP header: the name is sent to model providers. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

export interface InitializePorts {
  home: string;
  /** Called once the answer is on its way. */
  onReady(client: Parameters<HandlersFor<'initialize'>['initialize']>[1]['client']): void;
}

export function initializeHandlers(ports: InitializePorts): HandlersFor<'initialize'> {
  return {
    initialize: ({ clientInfo, capabilities }, { client, after }) => {
      if (client.identity) throw invalidRequest('Already initialized');
      if (!HEADER_VALUE.test(clientInfo.name))
        throw invalidParams(`params.clientInfo.name: expected printable ASCII, got ${JSON.stringify(clientInfo.name).slice(0, 120)}`);
      client.identity = { name: clientInfo.name, version: clientInfo.version, experimental: capabilities?.experimentalApi ?? false };
      client.connection.setOptOut(new Set(capabilities?.optOutNotificationMethods ?? []));
      after(() => ports.onReady(client));
      const name = clientInfo.name.replaceAll('/', '-');
      return {
        userAgent: `${name}/${PROTOCOL_VERSION} (${platform()} ${release()}; ${arch()}; harnessd/${HARNESSD_VERSION})`,
        codexHome: ports.home,
        platformFamily: FAMILY,
        platformOs: OS[process.platform] ?? process.platform,
      };
    },
  };
}
